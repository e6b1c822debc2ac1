"""Leaderboards of systems and runs, as tables for the terminal, Markdown, LaTeX, JSON, Parquet and HTML.

In: a benchmark and the names of systems, or run files of other tools. Out: ranked rows with intervals, tests, costs and
buckets, on the terminal and in a folder. Follows *Numbers Matter*, table 2 and figure 1.
"""
