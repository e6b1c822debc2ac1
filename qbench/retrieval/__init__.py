"""Systems as values, what they search in, and running them on a benchmark.

In: a `Benchmark` and systems in the grammar of `qbench.retrieval.grammar`. Out: a `RunResult` per system, kept on disk.
Follows *Numbers Matter*, section 3.2 (QBM25, BM25_filter), and the naming of systems of *WolfPQ*.
"""
