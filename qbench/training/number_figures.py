"""How well DeepQuant's layers of numbers do by themselves, on held-out queries and documents.

- *operator*: the share of the queries' numbers whose likeliest operator (eq. 1) is the one that is asked with.
- *unit*: the share of the queries' and documents' numbers whose likeliest unit is theirs.
- *comparison*: the share of pairs of values (a, b) for which N(op, a, b) is highest for the op that holds, b op a: one
  pair in three for each. The values are new, drawn within one bucket of `qbench.evaluation.buckets.MAGNITUDES`, evenly
  by their logarithm, to four digits; they stand in the place of a number in held-out queries and documents.
- *alpha*: the mean weight of the words (eq. 12) in the queries that have numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from qbench.evaluation.buckets import MAGNITUDES
from qbench.models.numbers import OPERATORS, Number
from qbench.models.single_vector import Role
from qbench.randomness import generator

if TYPE_CHECKING:
    from torch import Tensor

    from qbench.models.deepquant import DeepQuant
    from qbench.training.outputs import NumberedTexts
    from qbench.training.students import HeldOut

SEED = 7
CARRIERS = 16
"""Queries and documents whose number is replaced in each bucket, each for every operator."""
DOCUMENTS = 256
"""Documents whose units are predicted."""

_BORDERS = (-3, 0, 1, 2, 3, 6, 9)
"""Powers of ten between the buckets of magnitude but for 0."""


class NumberReader(Protocol):
    """`qbench.training.deepquant.DeepQuantStudent`, as far as it is asked here."""

    network: DeepQuant

    def embed_numbered(self, texts: Sequence[str], role: Role, numbers: Sequence[Sequence[Number]]) -> NumberedTexts:
        """Texts after the encoder."""
        ...


@dataclass(frozen=True)
class ValuePair:
    """Two values and what holds of them.

    Attributes:
        bucket: of `MAGNITUDES`.
        asked, stated: the values, a and b.
        operator: the one of `OPERATORS` for which b op a holds.
    """

    bucket: str
    asked: float
    stated: float
    operator: str


def value_pairs(count: int, seed: int = SEED) -> list[ValuePair]:
    """New pairs of values: `count` of each operator in each bucket of magnitude but "0"."""
    pairs = []
    for place, bucket in enumerate(MAGNITUDES[1:]):
        random = generator(seed, "value pairs", bucket)
        low, high = _BORDERS[place], _BORDERS[place + 1]
        for _ in range(count):
            # Away from the borders, so that there is a smaller and a larger value.
            a = random.uniform(low + 0.1 * (high - low), high - 0.1 * (high - low))
            value = _rounded(a)
            stated = {"<": _rounded(random.uniform(low, a)), "=": value, ">": _rounded(random.uniform(a, high))}
            pairs += [ValuePair(bucket, value, stated[op], _holding(value, stated[op])) for op in OPERATORS]
    return pairs


def _rounded(power: float) -> float:
    return float(f"{10.0**power:.3e}")


def _holding(asked: float, stated: float) -> str:
    # Rounding can make two values equal.
    return "=" if stated == asked else "<" if stated < asked else ">"


def number_figures(student: NumberReader, held_out: HeldOut) -> dict[str, float]:
    """The figures above; those for which there is no number are left out.

    Args:
        student: whose layers are asked.
        held_out: queries and documents.

    Returns:
        "operator", "alpha", "unit", "comparison", and "comparison BUCKET" for each magnitude, each in [0, 1].
    """
    import torch

    training = student.network.training
    student.network.eval()
    with torch.no_grad():
        texts = [query.text for query in held_out.queries]
        queries = student.embed_numbered(texts, "query", held_out.query_numbers)
        stating = [place for place, some in enumerate(held_out.text_numbers) if some][:DOCUMENTS]
        chosen = [held_out.texts[place] for place in stating]
        numbers = [held_out.text_numbers[place] for place in stating]
        documents = [student.embed_numbered(chosen, "document", numbers)] if chosen else []
        found = {**_operators(student, queries), **_units(student, (queries, *documents))}
        # Those with a number that was not cut off.
        asking = [one for one in zip(texts, queries.numbers, strict=True) if one[1]]
        stated = [one for side in documents for one in zip(chosen, side.numbers, strict=True) if one[1]]
        if asking and stated:
            found |= _comparisons(student, asking, stated)
    student.network.train(training)
    return found


def _operators(student: NumberReader, queries: NumberedTexts) -> dict[str, float]:
    import torch

    wanted = [number.operator for some in queries.numbers for number in some]
    known = np.array([bool(operator) for operator in wanted], dtype=bool)
    if not known.any():
        return {}
    likeliest = student.network.operators(queries.contextual.numbers).argmax(dim=1).cpu().numpy()
    right = np.array([OPERATORS[place] for place in likeliest]) == np.array(wanted)
    asking = torch.tensor([bool(some) for some in queries.numbers])
    alpha = student.network.alphas(queries.contextual).cpu()[asking].mean()
    return {"operator": float(right[known].mean()), "alpha": float(alpha)}


def _units(student: NumberReader, sides: Sequence[NumberedTexts]) -> dict[str, float]:
    right: list[bool] = []
    for side in sides:
        wanted = student.network.units.ids([number.unit for some in side.numbers for number in some])
        likeliest = student.network.heads.units(side.contextual.numbers).argmax(dim=1).cpu().numpy()
        right += (likeliest == wanted).tolist()
    return {"unit": float(np.mean(right))} if right else {}


Carrier = tuple[str, Sequence[Number]]
"""A text and its numbers."""


def _comparisons(student: NumberReader, queries: Sequence[Carrier], documents: Sequence[Carrier]) -> dict[str, float]:
    pairs = value_pairs(CARRIERS)
    towers = student.network.towers
    asked = towers.query(_first_numbers(student, queries, "query", [pair.asked for pair in pairs]))
    stated = towers.document(_first_numbers(student, documents, "document", [pair.stated for pair in pairs]))
    likeliest = (asked * stated).sum(dim=2).argmax(dim=1).cpu().numpy()
    right: NDArray[np.bool_] = np.array(OPERATORS)[likeliest] == np.array([pair.operator for pair in pairs])
    buckets = np.array([pair.bucket for pair in pairs])
    return {
        "comparison": float(right.mean()),
        **{f"comparison {bucket}": float(right[buckets == bucket].mean()) for bucket in MAGNITUDES[1:]},
    }


def _first_numbers(student: NumberReader, carriers: Sequence[Carrier], role: Role, values: Sequence[float]) -> Tensor:
    """The vectors of each value in the place of the first number of a text, shape (values, J)."""
    texts, numbers = [], []
    for place, value in enumerate(values):
        text, own = carriers[place % len(carriers)]
        texts.append(text)
        numbers.append([replace(own[0], value=value), *own[1:]])
    seen = student.embed_numbered(texts, role, numbers)
    return seen.vectors[range(len(texts)), seen.places[:, 0]]
