"""Relevant sentences and hard negatives of a query (*Numbers Matter* 3.3.3, look-up and lists)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import inf
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.generation.evidence import UNSCALED
from qbench.generation.gists import unmeasured
from qbench.generation.mentions import Mentions
from qbench.generation.options import GenerationOptions
from qbench.generation.rounding import rows_same_as_written, same_as_written
from qbench.number_sets import in_both, sorted_set
from qbench.quantities.codes import COMPARATOR_CODES
from qbench.quantities.concept_match import concept_grade, stated_concept
from qbench.quantities.conditions import BROKEN, MET, RELATIVE_TOLERANCE, UNDECIDED, opposed, verdicts
from qbench.quantities.languages import ENGLISH
from qbench.quantities.types import Condition, Quantity
from qbench.quantities.units import load_units

FEW = 4
"""With fewer relevant sentences than this, it does not matter whether they are of one document."""

Holds = Literal["yes", "no", "unclear"]


@dataclass(frozen=True, slots=True)
class Labels:
    """The sentences of one query, as rows of `Mentions.texts`, ascending.

    Attributes:
        relevant: sentences that satisfy the query; grades: 2 for the exact concept, 1 for a more specific one.
        positives: s+, sentences of grade 2.
        negatives: s-, sentences with the exact concept that certainly do not satisfy the query.
        undecided: sentences that may well satisfy it, which no rule can tell: neither relevant nor negatives.
    """

    relevant: NDArray[np.int64]
    grades: NDArray[np.int8]
    positives: NDArray[np.int64]
    negatives: NDArray[np.int64]
    undecided: NDArray[np.int64]


def label(conditions: Sequence[Condition], mentions: Mentions) -> Labels:
    """Label all sentences for a query whose conditions must all be met, each by some mention of the sentence.

    A sentence is relevant if for every condition it has a sure mention of the concept (or a more specific one) that is
    met; its grade is the least over the conditions. It is undecided if it is not relevant and for every condition it
    has a mention that may be meant and may meet it: by its concept (`Mentions.close`), or because the sentence says all
    words of the query's concept. It is a negative if it has a sure mention of every condition's very concept, in a
    comparable unit, and some condition is met or left open by no mention at all whose concept shares a word with the
    query's or is unknown. All others are neither.
    """
    results = [_look_up(condition, mentions) for condition in conditions]
    relevant = reduce(in_both, [docs for docs, _, _ in results])
    if mentions.given and len(conditions) > 1:
        relevant = relevant[_of_one_thing(conditions, relevant, mentions)]
    grades = reduce(np.minimum, [grades[np.searchsorted(docs, relevant)] for docs, grades, _ in results])
    spoken = np.setdiff1d(reduce(in_both, [docs for _, _, docs in results]), relevant, assume_unique=True)
    broken = np.zeros(spoken.size, dtype=bool)
    for condition in conditions:
        broken |= _surely_broken(condition, spoken, mentions)
    possible = reduce(in_both, [_possible(condition, mentions) for condition in conditions])
    undecided = np.setdiff1d(possible, relevant, assume_unique=True)
    negatives = np.setdiff1d(spoken[broken], undecided, assume_unique=True)
    return Labels(relevant, grades, relevant[grades == 2], negatives, undecided)


def _of_one_thing(conditions: Sequence[Condition], docs: NDArray[np.int64], mentions: Mentions) -> NDArray[np.bool_]:
    """Whether one thing of a sentence meets all conditions, in a corpus that came with its quantities.

    Mentions are of one thing if their concepts share a stretch of the text, which names it. Where no two mentions of
    the sentence share one, it speaks of one thing, unless it states the same concept twice.

    Args:
        conditions: of the query.
        docs: shape (n,), sentences in which each condition is met by some mention.
        mentions: of the corpus.

    Returns:
        shape (n,).
    """
    rows = mentions.rows_of_docs(docs)
    met = {f"met {n}": pl.Series(_met(condition, rows, mentions)) for n, condition in enumerate(conditions)}
    said = mentions.table.select("concept", "concept_spans")[rows].with_row_index("mention")
    said = said.with_columns(doc=pl.Series(mentions.doc[rows]), **met)
    stretches = said.filter(pl.col("concept_spans").list.len() > 0).explode("concept_spans")
    # Mentions that meet one condition each have a stretch in common if, and only if, some stretch is of such a mention
    # for every condition.
    of_stretch = (
        stretches.unique(["mention", "concept_spans"])
        .group_by("doc", "concept_spans")
        .agg(of_several=pl.len() > 1, meets_all=pl.all_horizontal(pl.col(*met).any()))
    )
    of_doc = of_stretch.group_by("doc").agg(shares=pl.col("of_several").any(), one_meets=pl.col("meets_all").any())
    found = (
        said.group_by("doc", maintain_order=True)
        .agg(alone=pl.len() == 1, no_concept_twice=pl.col("concept").n_unique() == pl.len())
        .join(of_doc, on="doc", how="left", maintain_order="left")
        .with_columns(pl.col("shares", "one_meets").fill_null(value=False))
    )
    by_stretch = pl.col("alone") | pl.col("shares")
    return found.select(pl.when(by_stretch).then("one_meets").otherwise("no_concept_twice")).to_series().to_numpy()


def _met(condition: Condition, rows: NDArray[np.int64], mentions: Mentions) -> NDArray[np.bool_]:
    """Shape of `rows`: which mentions surely meet a condition."""
    answering = np.isin(mentions.concept[rows], mentions.graded(condition.concept)[0])
    same = mentions.base[rows] == mentions.base_code.get(condition.base_unit, -1)
    met: NDArray[np.bool_] = answering & same & mentions.sure[rows] & (_codes(condition, rows, mentions) == MET)
    return met


def capped(labels: Labels, mentions: Mentions, options: GenerationOptions) -> Labels:
    """The labels with no more than the caps of the options allow: what is beyond them becomes undecided.

    Boilerplate repeats one statement with other numbers, and a long document may hold most of what answers a query:
    both would make many judgments of one. The shares hold of what is kept.
    """
    order = labels.relevant[np.argsort(-labels.grades, kind="stable")]
    kept = order[_before(mentions.alike[order]) < options.alike]
    if mentions.source.max(initial=0) > 0:  # of a single document, all is of it
        kept = _shared(kept, mentions.source[kept], options.document_share)
    keep = np.isin(labels.relevant, kept)
    if keep.all():
        return labels
    beyond = labels.relevant[~keep]
    return replace(
        labels,
        relevant=labels.relevant[keep],
        grades=labels.grades[keep],
        positives=np.setdiff1d(labels.positives, beyond, assume_unique=True),
        undecided=np.union1d(labels.undecided, beyond),
    )


def _shared(docs: NDArray[np.int64], sources: NDArray[np.int64], share: float) -> NDArray[np.int64]:
    """The first of some sentences of which no source has more than a share, or the first `FEW` less one.

    >>> _shared(np.array([10, 11, 12, 13, 14, 15]), np.array([0, 0, 0, 0, 1, 1]), 0.5).tolist()
    [10, 11, 14, 15]
    >>> _shared(np.array([10, 11, 12, 13, 14]), np.array([0, 0, 0, 0, 0]), 0.5).tolist()
    [10, 11, 12]
    """
    counts = np.sort(np.unique(sources, return_counts=True)[1])
    most = np.arange(1, counts.max(initial=0) + 1)
    sums = np.cumsum(counts.size - np.searchsorted(counts, most))  # of all sources, at most so many of each
    allowed = np.flatnonzero(most <= share * sums)
    if docs.size < FEW or not allowed.size or sums[allowed[-1]] < FEW:
        return docs[: FEW - 1]
    kept: NDArray[np.int64] = docs[_before(sources) < most[allowed[-1]]]
    return kept


def _before(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many of the same code stand before each.

    >>> _before(np.array([7, 3, 7, 7, 3])).tolist()
    [0, 0, 1, 2, 1]
    """
    order = np.argsort(codes, kind="stable")
    before = np.empty(codes.size, dtype=np.int64)
    before[order] = np.arange(codes.size) - np.searchsorted(codes[order], codes[order])
    return before


def _look_up(condition: Condition, mentions: Mentions) -> tuple[NDArray[np.int64], NDArray[np.int8], NDArray[np.int64]]:
    """The sentences that surely meet a condition, their grades, and the sentences with its exact concept."""
    codes, grades = mentions.graded(condition.concept)
    rows = mentions.rows_of_concepts(codes)
    rows = rows[mentions.sure[rows]]
    rows = rows[mentions.base[rows] == mentions.base_code.get(condition.base_unit, -1)]
    grade = grades[np.searchsorted(codes, mentions.concept[rows])]
    met = _codes(condition, rows, mentions) == MET
    docs = mentions.docs_of(rows[met])
    best = np.isin(docs, mentions.doc[rows[met & (grade == 2)]]).astype(np.int8) + np.int8(1)
    return docs, best, mentions.docs_of(rows[grade == 2])


def _possible(condition: Condition, mentions: Mentions) -> NDArray[np.int64]:
    """The sentences with a mention that may be meant and that does not break the condition, ascending."""
    family = "" if mentions.given else mentions.family_of(condition.unit)
    concepts = [condition.concept, *unmeasured(condition.concept, family, mentions.language)]
    close = mentions.rows_of_concepts(sorted_set(np.concatenate([mentions.close(concept) for concept in concepts])))
    said = mentions.rows_of_docs(mentions.docs_saying(condition.concept))
    found = [_counting(condition, mentions)] if family == "count" else []
    for rows in (close, said):
        same = rows[mentions.base[rows] == mentions.base_code.get(condition.base_unit, -1)]
        found.append(same[_codes(condition, same, mentions) != BROKEN])
    # How much an amount is whose scale stands elsewhere in its document, its number does not say.
    same = close[mentions.base[close] == mentions.base_code.get(condition.base_unit, -1)]
    found.append(same[mentions.doubt[same] == UNSCALED])
    # A number in a unit of a neighbouring kind (a bare one and an amount, a rate and an amount) does not compare.
    near = [mentions.base_code[base] for base in neighbours(condition.base_unit, mentions.bases)]
    found.append(close[np.isin(mentions.base[close], near)])
    return mentions.docs_of(np.concatenate(found))


def _counting(condition: Condition, mentions: Mentions) -> NDArray[np.int64]:
    """The mentions that may count what a condition counts, under whatever unit they were read, and do not break it."""
    rows = mentions.counting(condition.concept)
    low, high = (mentions.table[end].to_numpy()[rows] for end in ("value", "high"))
    codes = verdicts(low, high, mentions.comparator[rows], condition, mentions.change[rows])
    kept: NDArray[np.int64] = rows[(codes != BROKEN) & (low == np.round(low))]
    return kept


def neighbours(base: str, bases: Iterable[str]) -> list[str]:
    """The units among `bases` that may say the same as `base`, but do not compare with it.

    A bare number may stand for an amount ("revenues 12 mln"), a rate for its amount ("cents a share", "cents") or for
    its number ("visitors per hour", "per hour"), a time for an age.

    >>> neighbours("dollar", ["", "dollar", "dollar per share", "kilogram"])
    ['', 'dollar per share']
    >>> neighbours("hertz", ["visitor per second", "metre per second"]), neighbours("plate per litre", ["per litre"])
    (['visitor per second'], ['per litre'])
    """
    ages = {"year", "second", "year of age"}
    return [
        other
        for other in bases
        if other != base
        and (
            not other
            or not base
            or other.startswith(f"{base} per ")
            or base.startswith(f"{other} per ")
            or _number_of(other, base)
            or _number_of(base, other)
            or {base, other} <= ages
        )
    ]


def _number_of(rate: str, base: str) -> bool:
    """Whether a rate says what is counted by what `base` says alone: "visitor per second" and hertz."""
    top, _, below = rate.rpartition(" per ")
    return bool(top) and f"per {below}" == ("per second" if base == "hertz" else base) and top not in load_units()


def _surely_broken(condition: Condition, docs: NDArray[np.int64], mentions: Mentions) -> NDArray[np.bool_]:
    """Shape (docs,): whether no mention that could be meant meets the condition or leaves it open."""
    rows = mentions.rows_of_docs(docs)
    rows = rows[mentions.base[rows] == mentions.base_code.get(condition.base_unit, -1)]
    rows = rows[np.isin(mentions.concept[rows], mentions.related(condition.concept))]
    possible = mentions.doc[rows[_codes(condition, rows, mentions) != BROKEN]]
    return ~np.isin(docs, possible)


def _codes(condition: Condition, rows: NDArray[np.int64], mentions: Mentions) -> NDArray[np.int8]:
    low, high, comparator = mentions.low[rows], mentions.high[rows], mentions.comparator[rows]
    codes = verdicts(low, high, comparator, condition, mentions.change[rows])
    # "Almost 100" may be less than 100, and "about 100" more: neither is equal to 100, above it or at most as much.
    about = np.flatnonzero(comparator == COMPARATOR_CODES["~"])
    bounds = np.array([condition.base_value, condition.base_high])
    beside = np.abs(low[about, None] - bounds) <= RELATIVE_TOLERANCE * np.abs(bounds)
    near = rows_same_as_written(condition, rows, mentions)
    near[about[beside.any(axis=1)]] = True
    codes[near & ~opposed(mentions.change[rows], condition)] = UNDECIDED
    return codes


def meets(quantity: Quantity, condition: Condition) -> bool | None:
    """Whether a mention meets a condition by unit, value and change; None if undecided.

    A mention that is only about as much as a bound of the condition leaves it open, as does one in another unit that is
    the same as far as it is written. Otherwise these are the answers of
    `qbench.quantities.conditions.verdict`, worked out in another way: the values that the mention allows and those that
    the condition allows are two intervals, and one lies inside the other, apart from it, or neither.
    """
    if quantity.base_unit != condition.base_unit:
        return False
    if {quantity.change, condition.change} == {"up", "down"}:
        return False
    comparator, wanted = quantity.comparator, condition.comparator
    if comparator == "~" and 0 in (
        _side(quantity.base_value, mark) for mark in (condition.base_value, condition.base_high)
    ):
        return None
    if same_as_written(quantity, condition):
        return None
    low, low_open = (-inf, False) if comparator in ("<", "<=") else (quantity.base_value, comparator == ">")
    high, high_open = (inf, False) if comparator in (">", ">=") else (quantity.base_high, comparator == "<")
    start, start_open = (-inf, False) if wanted in ("<", "<=") else (condition.base_value, wanted == ">")
    end, end_open = (inf, False) if wanted in (">", ">=") else (condition.base_high, wanted == "<")
    after, before = _side(low, start), _side(high, end)
    inside = (after > 0 or (after == 0 and (low_open or not start_open))) and (
        before < 0 or (before == 0 and (high_open or not end_open))
    )
    above, below = _side(low, end), _side(high, start)
    apart = (above > 0 or (above == 0 and (low_open or end_open))) or (
        below < 0 or (below == 0 and (high_open or start_open))
    )
    met, broken = (apart, inside) if wanted == "!=" else (inside, apart)
    if broken:
        return False
    return True if met and quantity.change == condition.change else None


def _side(value: float, mark: float) -> int:
    """-1 below the mark, 0 at it (as exactly as units convert), 1 above it."""
    if value == mark or abs(value - mark) <= RELATIVE_TOLERANCE * abs(mark) < inf:
        return 0
    return 1 if value > mark else -1


def holds(
    conditions: Iterable[Condition], quantities: Sequence[Quantity], language: str = ENGLISH, *, given: bool = False
) -> Holds:
    """Whether a sentence with these quantities satisfies a query: the check before a label is written.

    Checks the mentions one by one, independently of `label` except for the rule for concepts.

    Returns:
        "yes" for a positive, "no" for a negative, "unclear" for neither.
    """
    certain, possible = True, True
    for condition in conditions:
        met = maybe = False
        for quantity in quantities:
            answer = meets(quantity, condition)
            if answer is False:
                continue
            spans = () if given else quantity.concept_spans
            stated = stated_concept(quantity.concept, quantity.unit, quantity.family, language, spans)
            grade = concept_grade(condition.concept, stated, language)
            met |= answer is True and grade > 0
            maybe |= grade != 0
        certain &= met
        possible &= maybe
    return "yes" if certain else "unclear" if possible else "no"


def confirmed(
    conditions: Iterable[Condition], docs: NDArray[np.int64], grades: NDArray[np.int8], mentions: Mentions
) -> NDArray[np.bool_]:
    """Check judgments before they are written, by sentence instead of by concept.

    Args:
        conditions: of the query.
        docs: shape (n,), judged sentences, ascending.
        grades: shape (n,), their judgments.
        mentions: mentions of the sentences.

    Returns:
        shape (n,), whether the mentions of each sentence give exactly that grade.
    """
    rows = mentions.rows_of_docs(docs)
    position = np.searchsorted(docs, mentions.doc[rows])
    concepts, code = np.unique(mentions.concept[rows], return_inverse=True)
    least = np.full(docs.size, 2, dtype=np.int8)
    for condition in conditions:
        of_concepts = [concept_grade(condition.concept, mentions.concepts[c], mentions.language) for c in concepts]
        grade = np.maximum(np.array(of_concepts, dtype=np.int8), 0)[code]
        comparable = mentions.base[rows] == mentions.base_code.get(condition.base_unit, -1)
        met = comparable & mentions.sure[rows] & (_codes(condition, rows, mentions) == MET)
        best = np.zeros(docs.size, dtype=np.int8)
        np.maximum.at(best, position[met], grade[met])
        least = np.minimum(least, best)
    same: NDArray[np.bool_] = least == grades
    return same
