"""Which mentions are sure: does the text tie the number to its concept, whatever a parser made of it?

A label is only as good as the reading behind it. A mention is sure where its concept and its number stand beside each
other, with nothing but linking words between them ("net income was", "5 mg of", "assets totaled about"). Elsewhere (a
clause, another number, a container, a list told apart by "respectively") the binding may be right, but a judgment built
on it would be a guess: such a mention makes its sentence undecided.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.quantities.concept_match import concept_stretches
from qbench.quantities.types import Span

LINKING = frozenset(
    "of was were is are be been being at to for the a an its their his her our on with in as has have had about around "
    "nearly approximately roughly almost some only just exactly than more less least most over under above below up "
    "minimum maximum no not average averaged averaging averages mean median totaled totalled totals total totaling "
    "totalling amounted amounts amount amounting came comes reached reaches stood stands reported reports recorded "
    "records equal equals equaled remained remains estimated worth by ended".split()
)
"""Words that may stand between a concept and its number without parting them."""

MANY = 12
"""In a sentence with more numbers than this (a flattened table), only a label right before its number counts."""

REACH = 60
"""Characters between concept and number, at most."""

_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_PARTING = re.compile(r"[,;()\[\]?!]|\.\s")
_BESIDE = re.compile(r"[\s:=(]{0,2}")
_MOVED_BEFORE = re.compile(
    r"\b(?:up|down|by|rose|risen|rises?|fell|fallen|falls?|grew|grown|grows?|gain(?:ed|s)?|jump(?:ed|s)?|drop(?:ped|s)?|"
    r"increas\w*|decreas\w*|declin\w*|reduc\w*|rais\w+|cut|improv\w*|growth|changes?|differences?)"
    r"(?:\s+(?:by|of|about|around|nearly|approximately|some|another|an?|the))*\s*[$€£¥]?\s*$",
    re.IGNORECASE,
)
_MOVED_AFTER = re.compile(
    r"\s*(?:increases?|decreases?|declines?|drops?|rises?|falls?|growth|reductions?|improvements?|higher|lower|more|less"
    r"|above|below|faster|slower|change|difference|from)\b",
    re.IGNORECASE,
)
_PER = re.compile(r"\s*(?:per|each|apiece|a|an|/)\s*\w", re.IGNORECASE)
_MOVE_OF = re.compile(
    r"\b(?:increase|decrease|decline|growth|reduction|rise|fall|drop|change|improvement)s?\s+(?:in|of)(?:\s+(?:the|its|our))?\s*$",
    re.IGNORECASE,
)
"""Before a concept: "a decline in volume of 9%" says no volume."""

_WITHIN = re.compile(
    r"\b(?:from|excluding|for|against|(?:related|relating|attributable)\s+to)(?:\s+(?:the|its|our))?\s*$", re.IGNORECASE
)
"""Before a concept that narrows another one down: "amortization of intangibles from acquisitions of $9 million"."""

_EFFECT = re.compile(
    r"\b(?:impact\w*|affect\w*|effects?|contribut\w*|offset\w*|attribut\w*|exchange|currenc(?:y|ies)|due\s+to|driven)\b",
    re.IGNORECASE,
)
"""In a sentence with a change: the number may be what one cause of it did, "rates reduced costs by $35 million"."""
_GAP = re.compile(
    r"\b(?:higher|lower|more|less|greater|larger|smaller|above|below|better|worse)\s+than\b", re.IGNORECASE
)
"""Beside a change: it may be the gap to another figure, "$8 million higher than net income"."""
_PAID = re.compile(r"\s*in\s+$", re.IGNORECASE)
_MEANS = frozenset({"cash", "stock", "shares"})
"""What a price is paid in: "for $1.2 billion in cash" says no cash."""

_ELSEWHERE = {
    "currency": _PER,
    "count": re.compile(r"\s*(?:and|or|/)\s*[^\W\d_]", re.IGNORECASE),
    "ratio": re.compile(r"\s*of\b", re.IGNORECASE),
}
"""What may follow an amount and change what it is about: "5 dollars a share", "44 men and women", "5% of sales"."""

_PART = re.compile(
    r"\b(?:includ\w+|exclud\w+|net of|of which|consist\w*|compris\w*|between|except|versus|vs|respectively)\b",
    re.IGNORECASE,
)
_RESPECTIVELY = re.compile(r"\brespectively\b", re.IGNORECASE)


def sure_mentions(table: pl.DataFrame, texts: Sequence[str]) -> NDArray[np.bool_]:
    """Whether each mention is sure.

    Args:
        table: n mentions (`quantity_schema`), those of a sentence one after the other.
        texts: n texts, the sentence of each mention.

    Returns:
        shape (n,). A mention without spans of its concept is sure: somebody else says what it is about.
    """
    columns = ["doc_id", "concept", "concept_spans", "change", "family"]
    places = ["value_start", "value_end", "unit_start", "unit_end"]
    rows = table.select(*columns, *places).rows(named=True)
    starts: dict[str, list[int]] = {}
    for row in rows:
        starts.setdefault(row["doc_id"], []).append(row["value_start"])
    flags = [_is_sure(row, text, starts[row["doc_id"]]) for row, text in zip(rows, texts, strict=True)]
    return np.array(flags, dtype=bool)


def _is_sure(row: dict[str, Any], text: str, values: Sequence[int]) -> bool:
    """Whether one mention is sure; `values` are where the values of all mentions of its sentence start."""
    value, unit = (row["value_start"], row["value_end"]), (row["unit_start"], row["unit_end"])
    if value[0] < 0:
        return True
    start, end = value if unit[0] < 0 else (min(value[0], unit[0]), max(value[1], unit[1]))
    if not row["change"] and _moves(text, start, end):
        return False
    if row["change"] and (_EFFECT.search(text) or _GAP.search(text, max(0, start - REACH), end + REACH)):
        return False
    if row["family"] in _ELSEWHERE and _ELSEWHERE[row["family"]].match(text, end):
        return False
    if row["family"] == "count" and unit[0] >= value[1] and value[1] - value[0] < 3 and text[unit[0]].isupper():
        return False  # "8 Interest payments are due": the number of a footnote
    if not row["concept_spans"]:
        return True
    spans = [span for _, span in concept_stretches(tuple(row["concept"].split()), row["concept_spans"], text)]
    if not spans and row["concept"]:
        return False
    lead = text[max(0, min(first for first, _ in spans) - REACH) : min(first for first, _ in spans)] if spans else ""
    if _WITHIN.search(lead) or (not row["change"] and _MOVE_OF.search(lead)):
        return False
    gap = _gap(text, (start, end), spans, len(values) > MANY)
    if gap is None:
        return False
    first, last = gap
    if row["concept"].lower() in _MEANS and _PAID.fullmatch(text, end, last):
        return False
    if any(first <= other < last for other in values if other != value[0]):
        return False
    return not (len(values) > 1 and _RESPECTIVELY.search(text))


def _moves(text: str, start: int, end: int) -> bool:
    """Whether the words around a number say that something moved by it."""
    return bool(_MOVED_BEFORE.search(text[max(0, start - 40) : start]) or _MOVED_AFTER.match(text, end))


def _gap(text: str, number: Span, spans: Sequence[Span], beside: bool) -> Span | None:
    """What stands between a number and the nearest stretch of its concept; None where it parts them."""
    start, end = number
    if any(first < end and start < last for first, last in spans):
        return start, start
    before = max((last for _, last in spans if last <= start), default=-1)
    after = min((first for first, _ in spans if first >= end), default=len(text) + REACH)
    # A concept before its number is the rule; one after it counts where it stands closer.
    first, last = (before, start) if before >= 0 and start - before <= after - end else (end, after)
    if last > len(text) or last - first > REACH:
        return None
    between = text[first:last]
    if beside and not _BESIDE.fullmatch(between):
        return None
    if _BESIDE.fullmatch(between):
        return first, last
    if _PARTING.search(between) or _PART.search(between):
        return None
    words = [word.lower() for word in _WORD.findall(between)]
    return (first, last) if all(word in LINKING or word.isdigit() for word in words) else None
