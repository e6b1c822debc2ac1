"""Publishing: an artefact <-> a data set of the hub, or a folder laid out like one.

In: a benchmark, pairs or descriptions, and a licence. Out: Parquet in the layout that `datasets`, MTEB and
sentence-transformers load, a card with a picture, and the unchanged artefact, which `qbench pull` brings back.
"""
