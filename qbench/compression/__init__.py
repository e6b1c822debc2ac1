"""Codecs: how the vectors of documents are stored, and how queries score stored vectors.

In: vectors in single precision. Out: named arrays with a row per vector (codes, scales, ...), arrays that were learnt
from a sample (codebooks, ...), and scores of queries. A codec is a component of a system's name, `ColBERT-NAME(...)`,
as in *WolfPQ*; `float16` and `int8` are also values of `dtype=`, with which no larger copy of the vectors is stored.
"""
