"""Training: data of a benchmark, of mined pairs or of a gold set -> a checkpoint. Needs the extra `neural`.

In: triples, pairs or gold descriptions, and a base model. Out: a folder with safetensors that the models' room opens.
One `Trainer` takes a task through its epochs; retrievers on triples (*Numbers Matter* 3.3), the ranking model and the
description parser (*Quantity Retrieval* 5.1 and 4.2) are such tasks.
"""
