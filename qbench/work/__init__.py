"""Work on many chunks: tasks, a pool of processes that runs them, and the shards that they make.

In: a task (a module's function) and chunks of input. Out: for each chunk named byte strings, written whole into a
folder, so that an interrupted run resumes. The papers are silent on this: it is what index, retrieval and mining share.
"""
