"""Measures by name, and the score of every query.

A name is a value that parses back: `parse_measures([name]) == (name,)` for every name that it returns. Names are those
of ir-measures, and two of *Quantity Retrieval* (section 5.3):

- `Exist@n` is 1 where one of the first n documents is relevant, else 0: another name of Success@n.
- `AP_found@n` is the paper's AP@n (its mean is the paper's MAP@n): the sum of P@i over the relevant ranks i <= n,
  divided by the number of relevant documents *among the first n*, and 0 where there is none. The AP@n of ir-measures
  and trec_eval divides by the number of all relevant documents, and MAP@n is their other name for it, here as there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from qbench.benchmark.types import UNDECIDED
from qbench.errors import InputError, OptionError, UnknownNameError

DEFAULT_MEASURES: tuple[str, ...] = ("nDCG@10", "P@10", "RR@10", "R@100", "AP")
"""Those of *Numbers Matter*, table 2, and average precision. The first is the primary one."""

BLOCK = 500_000
"""About how many judgments are looked at together: ir-measures takes a dictionary of them, 200 bytes each."""

DESCRIBED: dict[str, str] = {
    "nDCG@10": "gain of the first 10, by grade and discounted by rank, as a share of what the best order would give",
    "nDCG": "the same over the whole ranking",
    "P@10": "share of the first 10 that is relevant",
    "P(rel=2)@10": "share of the first 10 with a grade of 2 or more; `rel` may be given to any measure that counts",
    "R@100": "share of all relevant documents that is among the first 100",
    "RR@10": "1 / rank of the first relevant document, 0 if it is not among the first 10 (MRR@10 is its mean)",
    "AP": "mean of the precision at each relevant document, those that were not found counting 0",
    "AP@10": "the same over the first 10, divided by the number of all relevant documents",
    "Rprec": "precision at the rank that is the number of relevant documents",
    "Success@5": "1 if one of the first 5 is relevant, else 0",
    "ERR@20": "expected reciprocal rank: a reader goes down the list and stops at what satisfies, by grade",
    "Judged@10": "share of the first 10 that has a judgment, relevant or not",
    "Bpref": "how often judged relevant documents stand before judged irrelevant ones; the unjudged do not count",
    "Exist@1": "*Quantity Retrieval* 5.3: 1 if one of the first n is relevant, another name of Success@n",
    "AP_found@10": "*Quantity Retrieval* 5.3: AP over the first n, divided by the relevant documents among these n",
}
"""Measures by name, in our own words. ir-measures has more, and any cutoff will do."""

_EXAMPLES = ", ".join(DESCRIBED)

_OWN = ("Exist", "AP_found")
"""Names that ir-measures does not have; a cutoff follows."""


def score_schema() -> dict[str, pl.DataType | type[pl.DataType]]:
    """Columns of per-query scores."""
    return {"query_id": pl.String, "measure": pl.String, "value": pl.Float64}


def parse_measures(names: Iterable[str], primary: str | None = None) -> tuple[str, ...]:
    """The canonical names of some measures, in the order given, each once ("MRR@10" -> "RR@10").

    Args:
        names: what ir-measures parses, Exist@n and AP_found@n.
        primary: this one comes first, whether or not it is among the names.

    Raises:
        UnknownNameError: a name is not known, or nothing installed can compute it.
        OptionError: no name was given.
    """
    first = () if primary is None else (primary,)
    parsed = tuple(dict.fromkeys(str(_parse(name)) for name in (*first, *names)))
    if not parsed:
        raise OptionError("no measure given", remedy=f"For example: {_EXAMPLES}")
    return parsed


def relevant_queries(qrels: pl.DataFrame) -> list[str]:
    """The ids of the queries with a document of grade 1 or more, sorted: the ones that can be scored.

    Args:
        qrels: columns query_id, doc_id, grade.
    """
    return qrels.filter(pl.col("grade") >= 1)["query_id"].unique().sort().to_list()


def score_run(
    run: pl.DataFrame, qrels: pl.DataFrame, measures: Sequence[str], query_ids: Sequence[str]
) -> pl.DataFrame:
    """The value of each measure for each query.

    Binary measures count grades of 1 and more as relevant (say `P(rel=2)@10` for another threshold). Documents are
    taken in the order of `rank`: scores are not looked at, because ir-measures breaks their ties in different ways
    in different measures. An undecided document (`UNDECIDED`) is taken out of the ranking before anything is
    counted, so that it is neither a hit nor a miss (condensed lists: Sakai, SIGIR 2007). A query of which the run
    has nothing scores 0; a query that is not in `query_ids` is ignored.

    Args:
        run: columns query_id, doc_id, rank.
        qrels: columns query_id, doc_id, grade.
        measures: names that `parse_measures` takes.
        query_ids: the queries that count.

    Returns:
        `score_schema`, one row per query and measure, ordered by query id, then by measure in the order given.

    Raises:
        InputError: a document appears twice for a query, a query of `query_ids` has no relevant document, or a
            measure has no finite value for a query.
        UnknownNameError: as in `parse_measures`.
    """
    names = parse_measures(measures)
    parsed = [_parse(name) for name in names]
    wanted = pl.DataFrame({"query_id": sorted(set(query_ids))}, schema={"query_id": pl.String})
    _check(run.join(wanted, on="query_id", how="semi"), qrels, wanted)
    values = pl.concat(
        [pl.DataFrame(schema=score_schema())]
        + [_all_measures(*_decided(*of_some), parsed) for of_some in _in_blocks(run, qrels, wanted)]
    )
    broken = values.filter(~pl.col("value").is_finite())
    if broken.height:
        query_id, measure, _ = broken.row(0)
        raise InputError(
            f"{measure} has no value for query {query_id}", remedy="Leave this measure out: its mean would mislead"
        )
    order = pl.DataFrame({"measure": list(names)}).with_row_index("_order")
    return (
        wanted.join(order, how="cross")
        .join(values, on=["query_id", "measure"], how="left")
        .sort("query_id", "_order")
        .select("query_id", "measure", pl.col("value").fill_null(0.0))
    )


@dataclass(frozen=True)
class _Own:
    """A measure that ir-measures does not have under this name."""

    name: str
    cutoff: int

    def __str__(self) -> str:
        return f"{self.name}@{self.cutoff}"


def _parse(name: str) -> Any:
    import ir_measures

    own = re.fullmatch(rf"({'|'.join(_OWN)})(?:@(\d+))?", name.strip())
    if own is not None:
        if not own[2] or not int(own[2]):
            remedy = f"Give a cutoff, as in {own[1]}@10"
            raise UnknownNameError("this measure needs a cutoff of at least 1", value=name, remedy=remedy)
        return _Own(own[1], int(own[2]))
    pipeline: Any = ir_measures.DefaultPipeline
    try:
        measure = ir_measures.parse_measure(name.strip())
        supported = pipeline.supports(measure)
    except (NameError, ValueError, TypeError, AssertionError, RecursionError) as fault:
        # ir-measures checks parameters by assertion; a measure without a cutoff that needs one fails here too.
        raise UnknownNameError("unknown measure", value=name, remedy=_remedy(name)) from fault
    if re.search(r"@0+$", str(measure)):
        raise UnknownNameError("a cutoff is at least 1", value=name, remedy=f"Such as: {_EXAMPLES}")
    if not supported:
        raise UnknownNameError("nothing installed computes this measure", value=name, remedy=_install(measure, name))
    return measure


def _install(measure: Any, name: str) -> str:
    """The remedy for a measure whose package is not installed."""
    import ir_measures

    for provider in ir_measures.DefaultPipeline.providers:
        how = provider.install_instructions()
        if how and not provider.is_available() and provider.supports(measure):
            return f"It needs {provider.NAME}: {how}"
    return _remedy(name)


def _remedy(name: str) -> str:
    from ir_measures.measures import registry

    word = re.split(r"[@(]", name.strip())[0]
    if word.lower() in map(str.lower, _OWN):
        return f"Did you mean {next(own for own in _OWN if own.lower() == word.lower())}@10? Such as: {_EXAMPLES}"
    same = next((registered for registered in registry if registered.lower() == word.lower()), None)
    if same is not None and same != word:
        return f"Capitals count: did you mean {same}? Such as: {_EXAMPLES}"
    if same is not None and "@" not in name and _works(f"{same}@10"):
        return f"Give a cutoff, as in {same}@10. Such as: {_EXAMPLES}"
    return f"Such as: {_EXAMPLES}; ir-measures lists them all"


def _works(name: str) -> bool:
    import ir_measures

    pipeline: Any = ir_measures.DefaultPipeline
    try:
        return bool(pipeline.supports(ir_measures.parse_measure(name)))
    except AssertionError:
        return False


def _in_blocks(
    run: pl.DataFrame, qrels: pl.DataFrame, wanted: pl.DataFrame
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """The run and the judgments of blocks of queries, which have about `BLOCK` judgments each."""
    places = _places(qrels)
    if places["query_id"].is_duplicated().any():
        qrels = qrels.sort("query_id", maintain_order=True)
        places = _places(qrels)
    # Judgments are sliced: a join for each block would read all of them each time.
    sizes = wanted.join(places, on="query_id", how="left", maintain_order="left")
    blocks = sizes.with_columns(block=pl.col("len").cum_sum() // BLOCK)
    for some in blocks.partition_by("block", maintain_order=True):
        slices = [qrels.slice(start, length) for start, length in some.select("start", "len").iter_rows()]
        yield run.join(some, on="query_id", how="semi"), pl.concat(slices)


def _places(qrels: pl.DataFrame) -> pl.DataFrame:
    """Where the judgments of each query stand: columns query_id, start and len, a row for each unbroken stretch."""
    stretches = qrels["query_id"].rle().struct.unnest()
    return stretches.select(
        "len", query_id="value", start=pl.col("len").cum_sum().cast(pl.Int64) - pl.col("len").cast(pl.Int64)
    )


def _decided(run: pl.DataFrame, qrels: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A run and judgments without the documents that are undecided for a query."""
    undecided = qrels.filter(pl.col("grade") == UNDECIDED)
    if not undecided.height:
        return run, qrels
    run = run.join(undecided, on=["query_id", "doc_id"], how="anti", maintain_order="left")
    return run, qrels.filter(pl.col("grade") != UNDECIDED)


def _check(run: pl.DataFrame, qrels: pl.DataFrame, wanted: pl.DataFrame) -> None:
    missing = wanted.join(qrels.filter(pl.col("grade") >= 1), on="query_id", how="anti")
    if missing.height:
        raise InputError(
            f"{missing.height} queries have no relevant document and cannot be scored",
            value=missing["query_id"][0],
            remedy="Leave them out, or check the qrels",
        )
    twice = run.filter(pl.struct("query_id", "doc_id").is_duplicated())
    if twice.height:
        query_id, doc_id = twice.select("query_id", "doc_id").row(0)
        raise InputError(f"document {doc_id} appears twice for query {query_id} in a run")


def _all_measures(run: pl.DataFrame, qrels: pl.DataFrame, measures: list[Any]) -> pl.DataFrame:
    """The values of all measures: Exist@n is Success@n of ir-measures, and AP_found@n is ours."""
    import ir_measures

    exist = {m: ir_measures.Success @ m.cutoff for m in measures if isinstance(m, _Own) and m.name == "Exist"}
    theirs = dict.fromkeys(exist.get(m, m) for m in measures if m in exist or not isinstance(m, _Own))
    computed = _calculate(run, qrels, list(theirs)) if theirs else pl.DataFrame(schema=score_schema())
    frames = [computed]
    for own, same in exist.items():
        frames.append(computed.filter(pl.col("measure") == str(same)).with_columns(measure=pl.lit(str(own))))
    for own in measures:
        if isinstance(own, _Own) and own not in exist:
            value = precision_over_found(run, qrels, own.cutoff)
            frames.append(value.select("query_id", measure=pl.lit(str(own)), value="value"))
    return pl.concat(frames)


def precision_over_found(run: pl.DataFrame, qrels: pl.DataFrame, cutoff: int) -> pl.DataFrame:
    """AP@n of *Quantity Retrieval*, section 5.3: sum_i P@i R_i / sum_i R_i, i = 1..n, R_i whether rank i is relevant.

    A ranking with one relevant document, at rank 1, has 1, whatever the number of relevant documents it misses.

    Args:
        run: columns query_id, doc_id, rank.
        qrels: columns query_id, doc_id, grade; grades of 1 and more are relevant.
        cutoff: n.

    Returns:
        columns query_id, value; only the queries with a relevant document among the first n.
    """
    position = pl.int_range(1, pl.len() + 1).over("query_id")
    top = run.sort("query_id", "rank").with_columns(position=position).filter(pl.col("position") <= cutoff)
    hits = top.join(
        qrels.filter(pl.col("grade") >= 1), on=["query_id", "doc_id"], how="semi", maintain_order="left"
    ).with_columns(hit=pl.int_range(1, pl.len() + 1).over("query_id"))
    return hits.group_by("query_id", maintain_order=True).agg(value=(pl.col("hit") / pl.col("position")).mean())


def _calculate(run: pl.DataFrame, qrels: pl.DataFrame, measures: list[Any]) -> pl.DataFrame:
    """Values from ir-measures, with numbers for ids: some providers write files that other ids would break."""
    import ir_measures

    query_ids = qrels["query_id"].unique().sort().to_list()
    queries = pl.DataFrame({"query_id": query_ids}).with_row_index("q", offset=1)
    docs = pl.concat([run["doc_id"], qrels["doc_id"]]).unique().sort().to_frame().with_row_index("d")

    def numbered(frame: pl.DataFrame) -> pl.DataFrame:
        return (
            frame.join(queries, on="query_id", maintain_order="left")
            .join(docs, on="doc_id", maintain_order="left")
            .with_columns(pl.col("q", "d").cast(pl.String))
        )

    values = ir_measures.iter_calc(measures, _grades(numbered(qrels)), _decreasing(numbered(run.sort("rank"))))
    rows = [(query_ids[int(value.query_id) - 1], str(value.measure), float(value.value)) for value in values]
    return pl.DataFrame(rows, schema=score_schema(), orient="row")


def _grades(qrels: pl.DataFrame) -> dict[str, dict[str, int]]:
    return {
        str(key[0]): dict(zip(group["d"].to_list(), group["grade"].to_list(), strict=True))
        for key, group in qrels.partition_by("q", as_dict=True).items()
    }


def _decreasing(run: pl.DataFrame) -> dict[str, dict[str, float]]:
    """Query -> document -> a score that falls strictly from row to row."""
    return {
        str(key[0]): dict(zip(group["d"].to_list(), map(float, range(group.height, 0, -1)), strict=True))
        for key, group in run.partition_by("q", as_dict=True).items()
    }
