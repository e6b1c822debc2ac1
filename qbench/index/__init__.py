"""The concept/unit index and the quantity index of a corpus.

In: a source of documents and an extractor's options. Out: a folder with the sentences, their quantities, and every
(concept, unit) pair with its values and sentences, as Parquet. Follows *Numbers Matter*, sections 3.2.1 and B.1.
"""

from qbench.index.build import build_index
from qbench.index.disk import Index

__all__ = ["Index", "build_index"]
