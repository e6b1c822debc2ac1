"""The kinds of retrievers that are trained, and of samples that they learn from."""

from __future__ import annotations

from typing import Literal, get_args

Kind = Literal["bi-encoder", "colbert", "splade", "aggretriever", "numcolbert", "deepquant", "codedcolbert"]
"""Kinds of retrievers that are trained on triples."""

Method = Literal["original", "unit", "value"]
"""How samples are made: as they stand in the corpus, or with another unit or value."""

METHODS: tuple[Method, ...] = get_args(Method)
