"""Codecs: how the vectors of documents are stored, and how queries score stored vectors.

In: vectors in single precision. Out: named arrays with a row per vector (codes, scales, ...), arrays that were learnt
from a sample (codebooks, ...), and scores of queries. `float32`, `float16` and `int8` learn nothing and are chosen by
`dtype=` of a system; others are components of a system's name, `ColBERT-NAME(...)`, as in *WolfPQ*.
"""
