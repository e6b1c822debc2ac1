"""Work on many chunks: tasks, a pool of processes that runs them, and the resulting shards.

In: a task (a module's function) and chunks of input. Out: for each chunk named byte strings, written whole into a
folder, so that an interrupted run resumes. Shared by index, retrieval and mining; no paper describes it.
"""
