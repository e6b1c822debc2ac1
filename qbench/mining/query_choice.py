"""Which descriptions become the queries of a test set, and what has to leave the corpus for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.retrieval.analysis import CHUNK, tokenized

if TYPE_CHECKING:
    Rows = NDArray[np.int64]

BLOCK = 1024
"""Candidates whose agreeing records are in memory at once."""

SHARED = "their value is that of too many records"
REPEATED = "their words are those of another query"
ALONE = "every paraphrase repeats them, or had to go for another query"
NEEDED = "they are the only answer of another query"


@dataclass
class Selection:
    """What was chosen.

    Attributes:
        queries: rows of the chosen records, in the order of choice.
        relevant: for each query, the rows whose value agrees with its own, itself left out; some may be removed.
        removed: evidence groups that leave the corpus.
        dropped: reason -> number of candidates that were not taken for it.
    """

    queries: list[int] = field(default_factory=list)
    relevant: list[Rows] = field(default_factory=list)
    removed: set[int] = field(default_factory=set)
    dropped: Counter[str] = field(default_factory=Counter)


def same_words(texts: pl.Series) -> Rows:
    """For each text, a number that it shares with the texts of the same words: the first row that has them.

    Words are tokens, as in a search: case, punctuation and white space do not count. A text without a token is like no
    other.

    Args:
        texts: shape (n,).

    Returns:
        shape (n,), each at most its own row.

    >>> import polars as pl
    >>> same_words(pl.Series(["Net income, 2021", "net  income 2021", "sales", "", ""])).tolist()
    [0, 0, 2, 3, 4]
    """
    parts = [tokenized(texts.slice(start, CHUNK)).list.join(" ") for start in range(0, max(len(texts), 1), CHUNK)]
    frame = pl.DataFrame({"words": pl.concat(parts)}).with_row_index("row").with_columns(pl.col("row").cast(pl.Int64))
    first = frame.select(pl.when(pl.col("words") == "").then("row").otherwise(pl.col("row").min().over("words")))
    return first.to_series().to_numpy()


def evidence_groups(records: pl.DataFrame) -> Rows:
    """For each record, a number that it shares with the records of its sentence and of sentences of the same words.

    Args:
        records: `description_schema`, n rows.

    Returns:
        shape (n,).
    """
    numbered = records.select("doc_id").with_row_index("row").with_columns(pl.col("row").cast(pl.Int64))
    own = numbered.select(pl.col("row").min().over("doc_id")).to_series().to_numpy()
    heads = np.unique(own)
    return heads[same_words(records["sentence"].gather(heads))][np.searchsorted(heads, own)]


def choose_queries(
    candidates: Sequence[int],
    paraphrases: Mapping[int, Collection[int]],
    words: Rows,
    groups: Rows,
    agreeing: Callable[[Rows], pl.DataFrame],
    *,
    max_queries: int,
) -> Selection:
    """Take candidates one after the other, as long as every query taken keeps an answer.

    With a query its own evidence leaves the corpus: its sentence, every sentence of the same words, and the sentences
    of records with the query's very words and value. What remains must hold a paraphrase of it, and of each query taken
    before.

    Args:
        candidates: rows, the first ones first.
        paraphrases: row of each candidate -> rows of its mined paraphrases.
        words: as `same_words` gives them for the descriptions.
        groups: as `evidence_groups` gives them.
        agreeing: rows -> columns query_row, doc_row of all records whose values agree; nothing for a row with which too
            many agree, so that its value means too little.
        max_queries: how many to take at most.
    """
    taken = Selection()
    spoken: set[int] = set()
    answers: list[set[int]] = []  # of each query taken: the groups that hold a paraphrase of it
    needed_by: dict[int, list[int]] = {}
    for row, docs in _with_agreeing(candidates, agreeing):
        if len(taken.queries) == max_queries:
            break
        reason, own, held = "", set[int](), set[int]()
        if not docs.size:
            reason = SHARED
        elif int(words[row]) in spoken:
            reason = REPEATED
        else:
            own = {int(groups[row]), *groups[docs[words[docs] == words[row]]].tolist()}
            held = {int(groups[doc]) for doc in paraphrases[row] if doc in docs} - own - taken.removed
            lost = own - taken.removed
            short = any(not answers[q] - lost for group in lost for q in needed_by.get(group, ()))
            reason = ALONE if not held else NEEDED if short else ""
        if reason:
            taken.dropped[reason] += 1
            continue
        for group in own - taken.removed:
            for q in needed_by.get(group, ()):
                answers[q].discard(group)
        for group in held:
            needed_by.setdefault(group, []).append(len(answers))
        answers.append(held)
        spoken.add(int(words[row]))
        taken.removed |= own
        taken.queries.append(row)
        taken.relevant.append(docs)
    return taken


def _with_agreeing(candidates: Sequence[int], agreeing: Callable[[Rows], pl.DataFrame]) -> Iterator[tuple[int, Rows]]:
    """Each candidate with the rows whose value agrees with its own, itself left out, in ascending order."""
    for start in range(0, len(candidates), BLOCK):
        some = candidates[start : start + BLOCK]
        found = agreeing(np.array(some, dtype=np.int64)).filter(pl.col("query_row") != pl.col("doc_row"))
        parts = found.select(pl.col("query_row", "doc_row").cast(pl.Int64)).sort("query_row", "doc_row")
        asked, docs = parts["query_row"].to_numpy(), parts["doc_row"].to_numpy()
        for row in some:
            low, high = np.searchsorted(asked, [row, row + 1])
            yield row, docs[low:high]
