"""A table of facts -> a corpus of varied sentences whose quantities are known exactly.

In: a table (CSV, TSV, JSON lines, Parquet) and a short mapping, written or guessed. Out: the artefact "corpus":
sentences, their gold quantities, the facts that each one states, concept expansions. It stands in for the annotated
text that *Numbers Matter* (section 4) produced by hand; the sentences and their grammar are qbench's own.
"""
