"""The user's own documents, and a table of facts about them -> an index whose labels the table knows.

In: a table (CSV, TSV, JSON lines, Parquet), its mapping as `qbench synth` has it, and a corpus joined to it by id.
Out: the artefact "index", with the facts, the mentions that state them, and a report of where text and table disagree.
The queries of *DeepQuant* on OpenFoodFacts (several constraints on one product) are made from such facts.
"""
