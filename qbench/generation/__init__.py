"""Concept/unit index -> benchmark: templated queries, verified labels, training samples.

In: a finished index, and files with templates and concept expansions, which a chat model may write. Out: a benchmark
folder with train, dev and test splits. Follows *Numbers Matter*, sections 3.3.2 and 3.3.3, appendices B.2-B.9 and C.2.
"""
