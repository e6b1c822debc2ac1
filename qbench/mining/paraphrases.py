"""Paraphrases by value coincidence: from descriptions to pairs (*Quantity Retrieval*, section 3.2 and algorithm 1)."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench import keys
from qbench.artefacts import open_artefact, reading
from qbench.benchmark.parquet import scan_parquet
from qbench.errors import InputError
from qbench.index.merge import write_frames
from qbench.mining.describe import Descriptions
from qbench.mining.options import JoinOptions, MiningOptions
from qbench.mining.pair_labels import CONFUSING, DROPPED, DUPLICATE, PARAPHRASE, Records, label
from qbench.mining.probability import paper_estimate, rank_estimate, relative_width, value_shares
from qbench.mining.report import write_report
from qbench.mining.same_value import VALUE_COLUMNS, Values
from qbench.mining.self_join import Neighbours, self_join
from qbench.mining.terms import TermMatrix, term_matrix
from qbench.mining.types import DESCRIPTIONS, PAIRS, PAIRS_KIND, description_schema, pair_schema
from qbench.progress import Progress, silent
from qbench.randomness import generator
from qbench.store import Manifest, drafting, finished
from qbench.work.tasks import Engine

BLOCK = 4_096
"""Number of descriptions whose candidates are labelled at a time."""
_NAMES = {PARAPHRASE: "paraphrase", CONFUSING: "confusing", DUPLICATE: "duplicate"}


@dataclass(frozen=True)
class Pairs:
    """Mined pairs, opened; see `qbench.mining.types.pair_schema`.

    Attributes:
        path: the folder, which holds the descriptions too.
        manifest: its parameters and counts.
        new: whether this call made it.
    """

    path: Path
    manifest: Manifest
    new: bool = field(default=False, compare=False)

    @classmethod
    def open(cls, path: str | Path) -> Pairs:
        """Open a folder of pairs.

        Raises:
            InputError: it is missing, unfinished, something else, or a table is cut short.
        """
        folder = Path(path)
        return cls(folder, open_artefact(folder, PAIRS_KIND, (DESCRIPTIONS, PAIRS)))

    def descriptions(self) -> pl.LazyFrame:
        """`description_schema`."""
        return Descriptions(self.path, self.manifest).table()

    def table(self) -> pl.LazyFrame:
        """`pair_schema`."""
        with reading(self.path, self.manifest, PAIRS) as table:
            return pl.scan_parquet(table, glob=False)


def mine_paraphrases(
    descriptions: str | Path | Descriptions,
    output: str | Path,
    options: MiningOptions = MiningOptions(),
    *,
    threads: int | None = None,
    engine: Engine | None = None,
    overwrite: bool = False,
    progress: Progress = silent,
) -> Pairs:
    """Mine pairs of descriptions of the same fact, and pairs that are easily confused with them.

    Each description whose value has enough digits is a query of a BM25 search over all others; of its results, those
    with the same value are paraphrases, those with another value confusing (see `qbench.mining.same_value`). Confusing
    pairs are kept for descriptions with a paraphrase, unless all are asked for. Documents are split: training queries
    keep only results in training documents, test queries all results (section 5.1); so a training query has fewer than
    k candidates, by about the share of the test split.

    An interrupted run is resumed when the same call is made again.

    Args:
        descriptions: a description corpus, or its folder.
        output: folder of the pairs.
        options: of the mining.
        threads: number of threads of the search; None for the number of cores.
        engine: runs the search instead, with an `output` that every node of it sees under the same path.
        overwrite: replace other pairs in `output`.
        progress: receives the number of descriptions searched with.

    Raises:
        InputError: the descriptions are missing or damaged, or none has a value with enough digits.
        OptionError: `output` holds something else.
        BusyError: another process is writing to `output`.
    """
    source = descriptions if isinstance(descriptions, Descriptions) else Descriptions.open(descriptions)
    folder = Path(output)
    params = {"descriptions": source.manifest.digest, **asdict(options)}
    params |= {name: source.manifest.params[name] for name in ("licence", "language") if name in source.manifest.params}
    key = keys.key("pairs", **params)
    if "corpus" in source.manifest.params:
        params["corpus"] = source.manifest.params["corpus"]
    if finished(folder, PAIRS_KIND, key):
        return Pairs.open(folder)
    asked = _asked(source, options)
    with drafting(folder, PAIRS_KIND, key, params, overwrite=overwrite) as draft:
        if draft is None:
            return Pairs.open(folder)
        with reading(source.path, source.manifest, DESCRIPTIONS) as file:
            shutil.copyfile(file, draft.folder / DESCRIPTIONS)
        # A search takes hours, and others may replace the descriptions meanwhile: only the copy is read.
        table = scan_parquet(draft.folder / DESCRIPTIONS, description_schema())
        join = JoinOptions(k=options.k, k1=options.k1, b=options.b, threads=threads)
        matrix = term_matrix(table.select("description").collect().to_series(), source.language)
        neighbours = self_join(
            matrix, draft.folder / ".join", join, queries=asked.queries, engine=engine, progress=progress
        )
        # What the search held is gone before the descriptions' other columns are read.
        records = Records.of(table, asked.values, asked.test, source.language)
        counts: Counter[str] = Counter()
        names = table.select("description_id").collect().to_series()
        found = _pairs(names, records, (matrix, neighbours), asked.queries, options, counts)
        write_frames(found, draft.folder / PAIRS, pair_schema())
        pairs = pl.scan_parquet(draft.folder / PAIRS, glob=False)
        draft.counts = _counts(asked, pairs, counts)
        searched = table.select("digits", "family").collect()[asked.queries].with_columns(candidates=neighbours.found())
        write_report(draft.folder, draft.counts, table, pairs, searched, options.seed)
    return replace(Pairs.open(folder), new=True)


class _Asked(NamedTuple):
    """What is searched with, of n descriptions.

    Attributes:
        values: theirs.
        test: shape (n,), whether a description's document belongs to the test split.
        documents: number of documents.
        queries: shape (q,), positions of the descriptions to search with.
    """

    values: Values
    test: NDArray[np.bool_]
    documents: int
    queries: NDArray[np.intp]


def _asked(source: Descriptions, options: MiningOptions) -> _Asked:
    """What of some descriptions is searched with.

    Raises:
        InputError: the descriptions are damaged, or none has a value with enough digits.
    """
    source.check()
    with reading(source.path, source.manifest, DESCRIPTIONS) as file:
        light = scan_parquet(file, description_schema()).select("source_id", *VALUE_COLUMNS).collect()
    values, with_unit = Values.of(light), (light["base_unit"] != "").to_numpy()
    enough = values.usable & (values.digits >= options.min_digits)
    queries = np.flatnonzero(enough & (with_unit | options.bare))
    if not queries.size:
        raise InputError(
            "no description has a single, exact value with a unit and enough digits",
            file=source.path,
            value=f"{light.height:,} descriptions, {options.min_digits} digits",
            remedy="Lower --min-digits, or take numbers without a unit: --bare",
        )
    return _Asked(values, _split(light["source_id"], options), light["source_id"].n_unique(), queries)


def _split(documents: pl.Series, options: MiningOptions) -> NDArray[np.bool_]:
    """Whether each description's document belongs to the test split; shape (n,)."""
    names = documents.unique().sort()
    drawn = np.array([generator(options.seed, "split", name).random() for name in names])
    # An exact number of documents, not an expected one: a small corpus has a test split too.
    first = np.argsort(drawn, kind="stable")[: round(options.test_share * len(names))]
    return documents.is_in(names.gather(first).implode()).to_numpy()


def _pairs(
    names: pl.Series,
    records: Records,
    join: tuple[TermMatrix, Neighbours],
    queries: NDArray[np.int64],
    options: MiningOptions,
    counts: Counter[str],
) -> Iterator[pl.DataFrame]:
    """The pairs of a block of queries at a time, as `pair_schema`; dropped candidates are counted.

    Args:
        names: ids of the descriptions.
        records: of them.
        join: their terms, and what each query found.
        queries: positions of those that were searched with.
        options: of the mining.
        counts: receives the number of candidates, and of those dropped by reason.
    """
    matrix, neighbours = join
    values = records.values
    shares = value_shares(values.value, values.unit, values.usable)
    sizes = np.diff(matrix.starts)
    widths = relative_width(values.value, values.step)
    for start in range(0, queries.size, BLOCK):
        block = slice(start, start + BLOCK)
        docs = np.asarray(neighbours.docs[block])
        row, rank = np.nonzero(docs >= 0)
        a, b = queries[block][row], docs[row, rank].astype(np.int64)
        scores = np.asarray(neighbours.scores[block])[row, rank]
        shared = np.asarray(neighbours.shared[block])[row, rank]
        labels, digits, dropped = label(records, a, b, options)
        counts.update(dropped)
        counts["candidates"] += a.size
        same = np.flatnonzero((labels == PARAPHRASE) | (labels == DUPLICATE))
        p_paper, p_fact = np.full(a.size, np.nan), np.full(a.size, np.nan)
        width = np.maximum(widths[a], widths[b]) * _nearness(values, a, b, row)[row] / np.log(4)
        chance = np.maximum(width, np.maximum(shares[a], shares[b]))
        p_fact[same] = rank_estimate(rank[same] + 1, chance[same])
        terms = np.minimum(sizes[a[same]], sizes[b[same]])
        p_paper[same] = paper_estimate(digits[same], terms, records=len(matrix), vocabulary=matrix.df.size)
        weak = labels == PARAPHRASE
        content = np.zeros(a.size, np.int64)
        content[labels != DROPPED] = records.shared(a[labels != DROPPED], b[labels != DROPPED])
        few = weak & ((shared < options.min_terms) | (content == 0))
        unsure = weak & ~few & (p_fact < options.min_probability)
        _drop(labels, few, "too few shared terms", counts)
        _drop(labels, unsure, "too likely by chance", counts)
        useful = np.full(docs.shape[0], options.all_confusing)
        useful[row[labels == PARAPHRASE]] = True
        _drop(labels, (labels == CONFUSING) & ~useful[row], "confusing, without a paraphrase", counts)
        unlike = (labels == CONFUSING) & (content == 0)
        _drop(labels, unlike, "confusing, without a shared word that names something", counts)
        confusing = np.flatnonzero(labels == CONFUSING)
        easy = _easy(row[confusing], values.unit[a[confusing]] != values.unit[b[confusing]], options.confusing)
        _drop(labels, confusing[easy], "confusing, easier than others", counts)
        rest = np.flatnonzero(labels != DROPPED)
        yield _frame(names, records, (a, b, labels, rank, scores, digits, shared, p_paper, p_fact), rest)


def _drop(labels: NDArray[Any], rows: NDArray[np.bool_] | NDArray[np.intp], reason: str, counts: Counter[str]) -> None:
    counts[reason] += labels[rows].size
    labels[rows] = DROPPED


def _easy(row: NDArray[np.intp], other_unit: NDArray[np.bool_], most: int) -> NDArray[np.intp]:
    """The positions of candidates after the first `most` of their query: those with its unit first, then by rank."""
    order = np.lexsort((other_unit, row))
    starts = np.flatnonzero(np.diff(row[order], prepend=-1))
    place = np.arange(order.size) - np.repeat(starts, np.diff(starts, append=order.size))
    return order[place >= most]


def _nearness(values: Values, a: NDArray[np.int64], b: NDArray[np.int64], row: NDArray[np.intp]) -> NDArray[np.float64]:
    """The share of each query's candidates with its unit and a value within a factor of two; shape (rows,)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.abs(values.value[a] / values.value[b])
    near = (values.unit[a] == values.unit[b]) & (ratio >= 0.5) & (ratio <= 2)
    counts = np.bincount(row)
    shares: NDArray[np.float64] = np.bincount(row, weights=near) / np.maximum(counts, 1)
    return shares


def _frame(
    names: pl.Series, records: Records, columns: tuple[NDArray[Any], ...], rows: NDArray[np.intp]
) -> pl.DataFrame:
    a, b, labels, rank, scores, digits, shared, p_paper, p_fact = (column[rows] for column in columns)
    return pl.DataFrame(
        {
            "query_id": names.gather(a),
            "doc_id": names.gather(b),
            "label": pl.Series([_NAMES[int(value)] for value in labels], dtype=pl.String),
            "rank": rank + 1,
            "score": scores,
            "digits": digits,
            "shared": shared,
            "p_paper": pl.Series(p_paper).fill_nan(None),
            "p_fact": pl.Series(p_fact).fill_nan(None),
            "split": pl.Series(np.where(records.test[a], "test", "train").tolist(), dtype=pl.String),
        }
    ).cast(pair_schema())  # type: ignore[arg-type]


def _counts(asked: _Asked, pairs: pl.LazyFrame, counts: Counter[str]) -> dict[str, Any]:
    """Counts for the manifest and the report."""
    kinds = dict(pairs.group_by("label").len().collect().iter_rows())
    weak = pairs.filter(pl.col("label") == "paraphrase")
    per_split = weak.group_by("split").agg(pl.col("query_id").n_unique()).collect()
    candidates = counts.pop("candidates", 0)
    return {
        "descriptions": asked.test.size,
        "documents": asked.documents,
        "searched for": asked.queries.size,
        "candidates": candidates,
        "pairs": {name: kinds.get(name, 0) for name in _NAMES.values()},
        "queries with a paraphrase": dict(sorted(per_split.iter_rows())),
        "left out": {reason: number for reason, number in counts.items() if number},
    }
