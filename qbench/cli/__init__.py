"""The command line: one short file per verb; each imports what it needs when it runs.

In: words typed by a person. Out: artefacts on disk, tables on the terminal, exit code 0 (done), 1 (a clear error),
2 (wrong usage).
"""
