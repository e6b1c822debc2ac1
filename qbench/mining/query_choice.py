"""The choice of a test set's queries among descriptions, and what the corpus loses for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.quantities.languages import ENGLISH
from qbench.retrieval.analysis import CHUNK, tokenized

if TYPE_CHECKING:
    Rows = NDArray[np.int64]

BLOCK = 1024
"""Number of candidates whose agreeing records are in memory at once."""

SHARED = "their value is that of too many records"
REPEATED = "their words are those of another query"
ALONE = "every paraphrase repeats them, or had to go for another query"
NEEDED = "they are the only answer of another query"


@dataclass
class Selection:
    """The chosen queries.

    Attributes:
        queries: rows of the chosen records, in the order of choice.
        relevant: for each query, the rows whose value agrees with its own, itself left out; some may be removed.
        removed: evidence groups that leave the corpus.
        dropped: reason -> number of candidates that were rejected for it.
    """

    queries: list[int] = field(default_factory=list)
    relevant: list[Rows] = field(default_factory=list)
    removed: set[int] = field(default_factory=set)
    dropped: Counter[str] = field(default_factory=Counter)


def same_words(texts: pl.Series, language: str = ENGLISH) -> Rows:
    """Group texts by their words: the first row with the same words, for each text.

    Words are tokens, as in a search: case, punctuation and white space do not count. A text without a token is a group
    of its own.

    Args:
        texts: shape (n,).
        language: code of their language.

    Returns:
        shape (n,), each at most its own row.

    >>> import polars as pl
    >>> same_words(pl.Series(["Net income, 2021", "net  income 2021", "sales", "", ""])).tolist()
    [0, 0, 2, 3, 4]
    """
    starts = range(0, max(len(texts), 1), CHUNK)
    chunks = [tokenized(texts.slice(start, CHUNK), language).list.join(" ") for start in starts]
    frame = pl.DataFrame({"words": pl.concat(chunks)}).with_row_index("row").with_columns(pl.col("row").cast(pl.Int64))
    first = frame.select(pl.when(pl.col("words") == "").then("row").otherwise(pl.col("row").min().over("words")))
    return first.to_series().to_numpy()


def evidence_groups(records: pl.DataFrame, language: str = ENGLISH) -> Rows:
    """Group records by their sentence, or sentences of the same words.

    Args:
        records: `description_schema`, n rows.
        language: code of their language.

    Returns:
        shape (n,).
    """
    numbered = records.select("doc_id").with_row_index("row").with_columns(pl.col("row").cast(pl.Int64))
    own = numbered.select(pl.col("row").min().over("doc_id")).to_series().to_numpy()
    heads = np.unique(own)
    return heads[same_words(records["sentence"].gather(heads), language)][np.searchsorted(heads, own)]


def choose_queries(
    candidates: Sequence[int],
    paraphrases: Mapping[int, Collection[int]],
    words: Rows,
    groups: Rows,
    agreeing: Callable[[Rows], pl.DataFrame],
    *,
    max_queries: int,
) -> Selection:
    """Take candidates one after the other, as long as every query taken has an answer left.

    The evidence of each query leaves the corpus: its sentence, every sentence of the same words, and the sentences of
    records with the same words and value as the query. The rest must hold a paraphrase of it, and of each query taken
    before.

    Args:
        candidates: rows, in order of preference.
        paraphrases: row of each candidate -> rows of its mined paraphrases.
        words: `same_words` of the descriptions.
        groups: `evidence_groups`.
        agreeing: rows -> columns query_row, doc_row of all records whose values agree; none for a row with which too
            many agree, so that its value means too little.
        max_queries: maximum number of queries.
    """
    taken = Selection()
    used_words: set[int] = set()
    answers: list[set[int]] = []  # the groups with a paraphrase of each query taken
    needed_by: dict[int, list[int]] = {}
    for row, docs in _with_agreeing(candidates, agreeing):
        if len(taken.queries) == max_queries:
            break
        reason, own, held = "", set[int](), set[int]()
        if not docs.size:
            reason = SHARED
        elif int(words[row]) in used_words:
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
        used_words.add(int(words[row]))
        taken.removed |= own
        taken.queries.append(row)
        taken.relevant.append(docs)
    return taken


def _with_agreeing(candidates: Sequence[int], agreeing: Callable[[Rows], pl.DataFrame]) -> Iterator[tuple[int, Rows]]:
    """Each candidate with the rows whose value agrees with its own, itself excluded, in ascending order."""
    for start in range(0, len(candidates), BLOCK):
        block = candidates[start : start + BLOCK]
        pairs = agreeing(np.array(block, dtype=np.int64)).filter(pl.col("query_row") != pl.col("doc_row"))
        rows = pairs.select(pl.col("query_row", "doc_row").cast(pl.Int64)).sort("query_row", "doc_row")
        queries, docs = rows["query_row"].to_numpy(), rows["doc_row"].to_numpy()
        for row in block:
            low, high = np.searchsorted(queries, [row, row + 1])
            yield row, docs[low:high]
