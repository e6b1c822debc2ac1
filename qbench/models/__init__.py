"""Neural models: what turns texts into vectors or tags. Needs the extra `neural`.

In: texts, and a model's name or folder. Out: arrays. Nothing here trains, and nothing here knows a benchmark.
Follows *Quantity Retrieval*, section 3.1 (the tagger) and 3.3 (the bi-encoder); *Numbers Matter* 3.2.2 (SPLADE).
"""
