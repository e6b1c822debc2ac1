"""Runs -> evaluation: per-query scores, tests of the differences between systems, means by kind of query.

In: runs, qrels and queries, as frames and values. Out: frames, one row per score, per pair of systems, per bucket.
Follows *Numbers Matter*, section 4 (measures and the permutation test) and figure 1 (buckets).
"""
