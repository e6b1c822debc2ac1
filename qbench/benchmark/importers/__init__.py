"""Benchmarks that others made, read into ours.

In: a BEIR folder, or a FinQuant or MedQuant folder. Out: a `Benchmark`, with counts of what was left out and why.
Follows *Numbers Matter*, C.1 and C.2, for the second.
"""
