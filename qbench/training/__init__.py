"""Training: data of a benchmark, of pairs or of a gold set -> a checkpoint. Needs the extra `neural`.

In: pairs or gold descriptions, and a base model. Out: a folder with safetensors that the models' room opens.
Follows *Quantity Retrieval*, sections 4.2 (the description parser) and 5.1 (the ranking model).
"""
