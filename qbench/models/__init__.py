"""Neural models that turn texts into vectors or tags. Needs the extra `neural`.

In: texts, and a model's name or folder. Out: arrays. Training and benchmarks are in other rooms.
Follows *Quantity Retrieval*, sections 3.1 (the tagger) and 3.3 (the bi-encoder), *WolfPQ*, section 2.2.3, and *Numbers
Matter* eq. 6 (ColBERT) and 8 (SPLADE).
"""
