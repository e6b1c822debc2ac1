"""The command line: one short file per verb; each imports what it needs when it runs.

In: a command line. Out: artefacts on disk, tables on the terminal, exit code 0 (done), 1 (a clear error),
2 (wrong usage).
"""
