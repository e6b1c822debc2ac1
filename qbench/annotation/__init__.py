"""People's judgments: a benchmark's queries as sheets to fill in, and from filled sheets a judged benchmark.

In: a benchmark, runs, expansions; later the files that annotators give back. Out: sheets (CSV, and a page that works
from a file), a benchmark with graded judgments, how far the annotators agree. Follows *Numbers Matter*, appendix C.1.
"""
