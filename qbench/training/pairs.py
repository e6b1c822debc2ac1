"""Mined pairs as training data: read, checked, parted by document, sampled anew for each epoch.

Source: *Quantity Retrieval*, section 5.1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from qbench.errors import InputError
from qbench.mining.types import DESCRIPTIONS, PAIRS, PAIRS_KIND
from qbench.randomness import generator
from qbench.store import read_manifest

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl
    from numpy.typing import NDArray

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
        """How many queries, paraphrases and confusing pairs there are."""
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

    Duplicates are left out: they teach nothing. So are pairs with an empty description, and training pairs whose other
    description is of a document that is held out: the test must not be seen in training.

    Args:
        folder: the artefact.
        dev_share: of the training documents with paraphrases, how many are held out; 0 for none.
        seed: of that choice.

    Raises:
        InputError: a table is missing, cut short or names unknown descriptions; or nothing can be learnt from it.
    """
    read_manifest(folder, PAIRS_KIND)
    descriptions, pairs = _table(folder, DESCRIPTIONS), _table(folder, PAIRS)
    rows, left_out = _joined(folder, descriptions, pairs)
    _check(folder, rows)
    parts = _parted(folder, rows, descriptions["source_id"], dev_share, seed)
    left_out["across_splits"] = len(rows) - sum(len(part) for part in parts)
    train, dev, test = (_pairs(part) for part in parts)
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
    import polars as pl

    path = folder / name
    recorded = read_manifest(folder).files.get(name, {}).get("bytes")
    remedy = "Make the pairs again with `qbench mine-paraphrases`"
    if not path.is_file():
        raise InputError("the folder of pairs lacks this table", file=path, remedy=remedy)
    if recorded is not None and path.stat().st_size != recorded:
        raise InputError(f"the table is not as it was made: it had {recorded} bytes", file=path, remedy=remedy)
    try:
        return pl.read_parquet(path, glob=False, columns=list(_COLUMNS[name]))
    except (pl.exceptions.PolarsError, OSError) as fault:
        raise InputError(f"the table cannot be read: {str(fault).splitlines()[0]}", file=path, remedy=remedy) from None


def _joined(folder: Path, descriptions: pl.DataFrame, pairs: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, int]]:
    """The pairs with positions instead of ids, and what was left out."""
    import polars as pl

    empty = pl.col("description").str.strip_chars() == ""
    known = descriptions.select("description_id", empty=empty).with_row_index("position")
    for side in ("query", "doc"):
        names = {"description_id": f"{side}_id", "position": side, "empty": f"{side}_empty"}
        pairs = pairs.join(known.rename(names), on=f"{side}_id", how="left", maintain_order="left")
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
    kept = pairs.filter(pl.col("label") != "duplicate")
    whole = kept.filter(~pl.col("query_empty"), ~pl.col("doc_empty"))
    left_out = {"duplicates": pairs.height - kept.height, "empty_descriptions": kept.height - whole.height}
    rows = whole.select("query", "doc", "split", positive=pl.col("label") == "paraphrase")
    return rows.unique(["query", "doc"], keep="first", maintain_order=True).sort("query", "doc"), left_out


def _parted(
    folder: Path, rows: pl.DataFrame, sources: pl.Series, dev_share: float, seed: int
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """The rows for training, development and test; training rows touch no document of the other two."""
    import polars as pl

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
    import polars as pl

    positions = rows.select(pl.col("query", "doc").cast(pl.Int64))
    return Pairs(positions["query"].to_numpy(), positions["doc"].to_numpy(), rows["positive"].to_numpy())


def _check(folder: Path, rows: pl.DataFrame) -> None:
    import polars as pl

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
    """The pairs of one epoch: all paraphrases, and at most some confusing pairs per query.

    Args:
        data: knows the ids of the descriptions.
        pairs: a split of it.
        negatives: confusing pairs per query, at most.
        seed, epoch: name the choice; a query's choice does not depend on the other queries.
        max_pairs: at most so many pairs, those of queries with a paraphrase first; 0 for all.

    Returns:
        positions in `pairs`, ascending.
    """
    starts = pairs.starts()
    ends = np.append(starts[1:], len(pairs))
    order = np.arange(len(starts))
    if max_pairs:
        order = generator(seed, "queries", epoch).permutation(len(starts))
        found = np.add.reduceat(pairs.positive, starts, dtype=np.int64) if len(starts) else order
        order = order[np.argsort(found[order] == 0, kind="stable")]
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
    kept = np.concatenate(chosen)
    return np.sort(kept[:max_pairs] if max_pairs else kept)
