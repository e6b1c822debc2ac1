"""Human judgments: annotation sheets from a benchmark's queries, and a judged benchmark from completed sheets.

In: a benchmark, runs, expansions; the annotators' files. Out: sheets (CSV and an offline HTML page), a benchmark with
graded judgments, the agreement of the annotators. Follows *Numbers Matter*, appendix C.1.
"""
