"""Mined pairs as training data: read, checked, split by document, sampled again for each epoch.

Source: *Quantity Retrieval*, section 5.1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.artefacts import open_artefact
from qbench.corpora.streams import reading_parquet
from qbench.errors import InputError
from qbench.mining.types import DESCRIPTIONS, PAIRS, PAIRS_KIND
from qbench.randomness import generator

if TYPE_CHECKING:
    from pathlib import Path


_COLUMNS = {
    DESCRIPTIONS: ("description_id", "description", "source_id"),
    PAIRS: ("query_id", "doc_id", "label", "split"),
}


@dataclass(frozen=True)
class Pairs:
    """Pairs of descriptions, ordered by query, then document.

    Attributes:
        query, doc: shape (pairs,), positions of the descriptions in `PairData.texts`.
        positive: shape (pairs,), whether they are paraphrases.
    """

    query: NDArray[np.int64]
    doc: NDArray[np.int64]
    positive: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.query)

    def rows(self, chosen: NDArray[np.int64]) -> Pairs:
        """Some of the pairs."""
        return Pairs(self.query[chosen], self.doc[chosen], self.positive[chosen])

    def starts(self) -> NDArray[np.int64]:
        """Where each query's pairs begin, shape (queries,); they stand together."""
        first = np.ones(len(self), dtype=bool)
        first[1:] = self.query[1:] != self.query[:-1]
        return np.flatnonzero(first)

    def counts(self) -> dict[str, int]:
        """Number of queries, paraphrases and confusing pairs."""
        positives = int(self.positive.sum())
        return {"queries": len(self.starts()), "paraphrases": positives, "confusing": len(self) - positives}


@dataclass(frozen=True)
class PairData:
    """The splits of a folder of pairs.

    Attributes:
        texts, ids: the descriptions and their ids.
        train, dev, test: `dev` is held out of the training split, by document.
        counts: their sizes, and what was left out.
    """

    texts: list[str]
    ids: list[str]
    train: Pairs
    dev: Pairs
    test: Pairs
    counts: dict[str, Any] = field(default_factory=dict)


def read_pairs(folder: Path, *, dev_share: float, seed: int) -> PairData:
    """The training data in an artefact of `qbench mine-paraphrases`.

    Left out are duplicates, which teach nothing, pairs with an empty description, and training pairs whose other
    description is of a held-out document, because the test split must not be seen in training.

    Args:
        folder: the artefact.
        dev_share: share of the training documents with paraphrases that is held out as dev; 0 for none.
        seed: of that choice.

    Raises:
        InputError: a table is missing, cut short or names unknown descriptions; or nothing can be learnt from it.
    """
    open_artefact(folder, PAIRS_KIND, (DESCRIPTIONS, PAIRS))
    descriptions, pairs = _table(folder, DESCRIPTIONS), _table(folder, PAIRS)
    rows, left_out = _joined(folder, descriptions, pairs)
    _check(folder, rows)
    splits = _split_by_document(folder, rows, descriptions["source_id"], dev_share, seed)
    left_out["across_splits"] = len(rows) - sum(map(len, splits))
    train, dev, test = map(_pairs, splits)
    if not train.positive.any() or train.positive.all():
        raise InputError(
            "too few pairs are left to learn from beside the held-out documents and the test split",
            file=folder,
            remedy="Mine a larger corpus, or train with a smaller --dev-share",
        )
    sizes = {"train": train.counts(), "dev": dev.counts(), "test": test.counts()}
    texts, ids = descriptions["description"].to_list(), descriptions["description_id"].to_list()
    return PairData(texts, ids, train, dev, test, {"splits": sizes, "left_out": left_out})


def _table(folder: Path, name: str) -> pl.DataFrame:
    path = folder / name
    with reading_parquet(path, "the table cannot be read", "Make the pairs again with `qbench mine-paraphrases`"):
        return pl.read_parquet(path, glob=False, columns=list(_COLUMNS[name]))


def _joined(folder: Path, descriptions: pl.DataFrame, pairs: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, int]]:
    """The pairs with positions instead of ids, and the number of pairs left out, by reason."""
    empty = pl.col("description").str.strip_chars() == ""
    numbered = descriptions.select("description_id", empty=empty).with_row_index("position")
    for side in ("query", "doc"):
        names = {"description_id": f"{side}_id", "position": side, "empty": f"{side}_empty"}
        pairs = pairs.join(numbered.rename(names), on=f"{side}_id", how="left", maintain_order="left")
        lost = pairs.filter(pl.col(side).is_null())
        if lost.height:
            raise InputError(
                f"{lost.height} pairs name a description that is not in {DESCRIPTIONS}",
                file=folder / PAIRS,
                value=lost[f"{side}_id"][0],
            )
    for column, allowed in (("label", ("paraphrase", "confusing", "duplicate")), ("split", ("train", "test"))):
        wrong = pairs.filter(~pl.col(column).is_in(allowed) | pl.col(column).is_null())
        if wrong.height:
            raise InputError(f"{column} is one of {', '.join(allowed)}", file=folder / PAIRS, value=wrong[column][0])
    distinct = pairs.filter(pl.col("label") != "duplicate")
    whole = distinct.filter(~pl.col("query_empty"), ~pl.col("doc_empty"))
    left_out = {"duplicates": pairs.height - distinct.height, "empty_descriptions": distinct.height - whole.height}
    rows = whole.select("query", "doc", "split", positive=pl.col("label") == "paraphrase")
    return rows.unique(["query", "doc"], keep="first", maintain_order=True).sort("query", "doc"), left_out


def _split_by_document(
    folder: Path, rows: pl.DataFrame, sources: pl.Series, dev_share: float, seed: int
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """The rows for training, development and test; training rows touch no document of the other two."""
    rows = rows.with_columns(source=sources.gather(rows["query"]), other=sources.gather(rows["doc"]))
    test = pl.col("split") == "test"
    with_paraphrase = rows.filter(~test, pl.col("positive"))["source"].unique().sort().to_list()
    held: list[str] = []
    if dev_share:
        if len(with_paraphrase) < 2:
            raise InputError(
                f"paraphrases of the training split come from {len(with_paraphrase)} documents, and some are held out",
                file=folder,
                remedy="Mine pairs from more documents, or train without a held-out split: --dev-share 0",
            )
        count = min(max(1, round(dev_share * len(with_paraphrase))), len(with_paraphrase) - 1)
        held = [with_paraphrase[i] for i in generator(seed, "dev").permutation(len(with_paraphrase))[:count]]
    tested = rows.filter(test)["source"].unique()
    dev = ~test & pl.col("source").is_in(held)
    seen_elsewhere = pl.col("other").is_in(held) | pl.col("other").is_in(tested.implode())
    return rows.filter(~test, ~dev, ~seen_elsewhere), rows.filter(dev), rows.filter(test)


def _pairs(rows: pl.DataFrame) -> Pairs:
    positions = rows.select(pl.col("query", "doc").cast(pl.Int64))
    return Pairs(positions["query"].to_numpy(), positions["doc"].to_numpy(), rows["positive"].to_numpy())


def _check(folder: Path, rows: pl.DataFrame) -> None:
    train = rows.filter(pl.col("split") == "train")
    positives = int(train["positive"].sum())
    if not positives:
        raise InputError(
            "the training split holds no paraphrases to learn from", file=folder, remedy="Mine a larger corpus"
        )
    if positives == train.height:
        raise InputError(
            "the training split holds no confusing pairs, and without them all vectors may become one",
            file=folder,
            remedy="Mine pairs with confusing ones (a larger k)",
        )


def sampled(
    data: PairData, pairs: Pairs, negatives: int, seed: int, epoch: str, *, max_pairs: int = 0
) -> NDArray[np.int64]:
    """The pairs of one epoch: all paraphrases, and some confusing pairs per query.

    Args:
        data: has the ids of the descriptions.
        pairs: a split of it.
        negatives: largest number of confusing pairs per query.
        seed, epoch: name the choice; a query's choice does not depend on the other queries.
        max_pairs: largest number of pairs, those of queries with a paraphrase first; 0 for all.

    Returns:
        positions in `pairs`, ascending.
    """
    starts = pairs.starts()
    ends = np.append(starts[1:], len(pairs))
    order = np.arange(len(starts))
    if max_pairs:
        order = generator(seed, "queries", epoch).permutation(len(starts))
        paraphrases = np.add.reduceat(pairs.positive, starts, dtype=np.int64) if len(starts) else order
        order = order[np.argsort(paraphrases[order] == 0, kind="stable")]
    chosen, size = [np.empty(0, dtype=np.int64)], 0
    for query in order:
        rows = np.arange(starts[query], ends[query])
        positive = pairs.positive[rows]
        against = rows[~positive]
        if against.size > negatives:
            name = data.ids[pairs.query[starts[query]]]
            against = generator(seed, "negatives", f"{epoch}:{name}").choice(against, negatives, replace=False)
        chosen += [rows[positive], against]
        size += int(positive.sum()) + against.size
        if max_pairs and size >= max_pairs:
            break
    rows = np.concatenate(chosen)
    return np.sort(rows[:max_pairs] if max_pairs else rows)
