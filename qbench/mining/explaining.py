"""Why two descriptions were mined as a pair: their words, their values, and how likely these agree by chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from qbench.errors import OptionError
from qbench.mining.paraphrases import Pairs
from qbench.mining.probability import RECORDS_PER_FACT
from qbench.quantities.languages import ENGLISH
from qbench.retrieval.analysis import token_lists, tokenized


@dataclass(frozen=True)
class Described:
    """A description and its quantity.

    Attributes:
        description_id, description, sentence: as in `description_schema`; "" where the sentence is not known.
        value, unit: as written.
        base_value, base_unit: as they are compared.
    """

    description_id: str
    description: str
    sentence: str
    value: float
    unit: str
    base_value: float
    base_unit: str


@dataclass(frozen=True)
class ExplainedPair:
    """A pair.

    Attributes:
        found: the description that was found.
        label, rank, score, digits, p_paper, p_fact: as in `pair_schema`.
        shared: each word of both descriptions, with the number of descriptions that have it; the rarest first.
        chance: that values agree by chance, behind `p_fact` (`qbench.mining.probability`); None where that is null.
    """

    found: Described
    label: str
    rank: int
    score: float
    digits: int
    p_paper: float | None
    p_fact: float | None
    shared: dict[str, int]
    chance: float | None


@dataclass(frozen=True)
class PairExplanation:
    """The pairs of a description.

    Attributes:
        query: the description that was searched with.
        descriptions: number of all descriptions.
        pairs: the best first.
    """

    query: Described
    descriptions: int
    pairs: list[ExplainedPair]


def explain_pairs(pairs: Pairs, query: str, *, top: int = 3, docs: Sequence[str] = ()) -> PairExplanation:
    """The pairs of a description, or some of them.

    Args:
        pairs: mined pairs.
        query: id of the description that was searched with.
        top: number of pairs.
        docs: ids of descriptions that were found, to explain instead of the best.

    Raises:
        OptionError: there is no such description, or it has no such pair.
    """
    table = pairs.descriptions().collect()
    rows = pairs.table().filter(pl.col("query_id") == query).sort("rank").collect()
    if not rows.height:
        known = (table["description_id"] == query).any()
        message = "this description has no pair" if known else "the pairs have no such description"
        example = pairs.table().select("query_id").head(1).collect()["query_id"].to_list()
        raise OptionError(message, value=query, remedy=f"Try {example[0]}" if example else "No pair was mined at all")
    if unknown := sorted(set(docs) - set(rows["doc_id"])):
        raise OptionError("the description has no pair with these", value=unknown)
    rows = rows.filter(pl.col("doc_id").is_in(list(docs))) if docs else rows.head(top)
    language = str(pairs.manifest.params.get("language", ENGLISH))
    described = _described(table, [query, *rows["doc_id"]])
    asked, *found = token_lists([described[name].description for name in (query, *rows["doc_id"])], language)
    counts = _frequencies(table["description"], asked, language)
    return PairExplanation(
        described[query],
        table.height,
        [
            ExplainedPair(
                **{name: row[name] for name in ("label", "rank", "score", "digits", "p_paper", "p_fact")},
                found=described[row["doc_id"]],
                shared=dict(sorted(((w, counts[w]) for w in {*asked} & {*words}), key=lambda pair: (pair[1], pair[0]))),
                chance=None if row["p_fact"] is None else _chance(row["p_fact"], row["rank"]),
            )
            for row, words in zip(rows.iter_rows(named=True), found, strict=True)
        ],
    )


def _chance(p_fact: float, rank: int) -> float:
    """P(Q|not F), which `qbench.mining.probability.rank_estimate` had for its estimate.

    >>> round(_chance(0.909, 20), 3)
    0.01
    """
    return RECORDS_PER_FACT * (1 / p_fact - 1) / rank


def _described(table: pl.DataFrame, names: Sequence[str]) -> dict[str, Described]:
    columns = ("description_id", "description", "sentence", "value", "unit", "base_value", "base_unit")
    rows = table.filter(pl.col("description_id").is_in(list(names))).select(columns)
    return {row[0]: Described(*row) for row in rows.iter_rows()}


def _frequencies(descriptions: pl.Series, words: Sequence[str], language: str) -> dict[str, int]:
    """In how many descriptions each word stands."""
    lists = tokenized(descriptions, language)
    return {word: int(lists.list.contains(word).sum()) for word in set(words)}
