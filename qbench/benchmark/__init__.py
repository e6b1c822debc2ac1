"""The benchmark on disk: schemas, checks, importers, exporters, card.

In: a corpus, queries with their conditions, judgments, training samples; or a BEIR, FinQuant or MedQuant folder. Out: a
folder of Parquet tables with a card and a manifest, or BEIR and TREC files. Follows *Numbers Matter*, appendix C.
"""
