"""Part of speech, head and relation of each token, from a spaCy pipeline: our own small one, or an installed one.

Ours is trained on UD English-EWT (scripts/train_parser.py). Pipelines with the relation names of CLEAR (en_core_web_*)
are brought to those of Universal Dependencies, so that the rules see one scheme.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Parse:
    """What a parser says of tokens, one entry for each of our tokens.

    Attributes:
        tags: Penn Treebank tags ("NNS", "VBD"); "" where the parser did not look.
        heads: index of the governing token; a token's own index for a root and where the parser did not look.
        relations: Universal Dependencies relations ("nsubj", "obl"); "part" for a further piece of a parser's word.
    """

    tags: Sequence[str]
    heads: Sequence[int]
    relations: Sequence[str]

    @cached_property
    def children(self) -> list[list[int]]:
        """For each token, the tokens that it governs, in order."""
        below: list[list[int]] = [[] for _ in self.tags]
        for k, head in enumerate(self.heads):
            if head != k:
                below[head].append(k)
        return below
