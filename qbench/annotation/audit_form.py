"""The labels of a benchmark for an audit: queries, judgments, training samples, and how each is shown."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import polars as pl

from qbench.annotation.audit_subject import Kind, Subject, Verdicts, by_query
from qbench.annotation.form import Item, Pair, Piece
from qbench.annotation.missed import likeliest
from qbench.annotation.options import AuditOptions
from qbench.annotation.page import DATA, pieces
from qbench.annotation.query_form import QueryForm
from qbench.benchmark.audits import SAMPLE, UNJUDGED
from qbench.benchmark.benchmark import Benchmark, benchmark_key
from qbench.benchmark.relax import unit_families
from qbench.errors import OptionError
from qbench.evaluation.buckets import query_buckets
from qbench.quantities.units import load_units
from qbench.sheets import one_line
from qbench.store import read_text

QUERY, RELEVANT, BY_TABLE, NOT_RELEVANT = "query", "relevant", "relevant by the table", "judged 0"
"""Kinds of labels; there are `UNJUDGED` documents too, and those of samples (`sample_kind`)."""

CAUSES: tuple[str, ...] = (
    "another thing",
    "number misread",
    "change, not level",
    "answers after all",
    "left open",
    "not a quantity",
    "unit does not fit",
    "nobody asks this",
    "incoherent text",
    "other",
)

_CLAIMS = {
    QUERY: "A query that somebody would ask, and that means its condition",
    RELEVANT: "Judged relevant: the text answers the query",
    NOT_RELEVANT: "Judged 0: the text does not answer the query",
    UNJUDGED: "Not judged, and so taken for not relevant: the text does not answer the query",
}
_OF_THINGS = {
    **_CLAIMS,
    RELEVANT: "Judged 2: this thing is what the query asks for, and the text states every number that it needs",
    BY_TABLE: "Judged 1: this thing is what the query asks for by the table, and the text does not state all of it",
    NOT_RELEVANT: "Judged 0: this thing is not what the query asks for",
    UNJUDGED: "Not judged, and so taken for not relevant: this thing is not what the query asks for",
}
"""Claims where a table of facts decides."""

_SAID = {"stated": "", "bounded": "", "unstated": " (not in the text)", "disagrees": " (the text says something else)"}
_MADE = {"unit": "with another unit", "value": "with another value"}
GROUPS = ("comparator", "kind", "family")
"""Dimensions of `qbench.evaluation.buckets` by which figures are given."""


def sample_kind(method: str, label: int) -> str:
    """The kind of a training sample.

    >>> sample_kind("unit", 0)
    'unit sample, negative'
    """
    return f"{method}{SAMPLE}{'positive' if label else 'negative'}"


def benchmark_subject(benchmark: Benchmark, options: AuditOptions) -> Subject:
    """The labels of a benchmark: queries and judgments of a split, and samples of all.

    Judgments that are neither relevant nor 0 (undecided ones) are not audited.

    Raises:
        OptionError: the split has no queries.
    """
    queries = {query.query_id: query for query in benchmark.queries_of(options.split)}
    if not queries:
        raise OptionError(f"{benchmark.name} has no queries in this split", value=options.split, remedy="Use --split")

    def kinds(subject: Subject) -> list[Kind]:
        judged = benchmark.qrels.filter(pl.col("query_id").is_in(list(queries)))
        alone = {name: [""] for name in queries}
        found = [Kind(QUERY, options.queries, alone)]
        # Where a table of facts decides, grade 1 is for what no text says: another claim, for which one sees the facts.
        by_table = (BY_TABLE, options.by_table, pl.col("grade") == 1)
        for name, number, holds in (
            (RELEVANT, options.relevant, pl.col("grade") > (1 if benchmark.factual else 0)),
            *((by_table,) if benchmark.facts is not None else ()),
            (NOT_RELEVANT, options.negative, pl.col("grade") == 0),
        ):
            found.append(Kind(name, number, by_query(judged.filter(holds).select("query_id", "doc_id").rows())))
        chosen = [queries[name] for name, _ in subject.draw(alone, options.missed, options.seed, UNJUDGED)]
        unjudged = likeliest(benchmark, chosen, options.likeliest)
        found.append(Kind(UNJUDGED, sum(map(len, unjudged.values())), unjudged, by_query="query with nothing missed"))
        return [*found, *_samples(benchmark, options.samples)]

    return Subject(
        name=benchmark.name,
        key=benchmark_key(benchmark),
        kinds=kinds,
        groups=_groups(benchmark),
        strata=("comparator", "query kind"),
        recorded=("split", "seed"),
        form=lambda items, key: BenchmarkForm(benchmark, items, key),
        guideline=_guideline(benchmark),
        prompt="benchmark",
        topics={query.query_id: query.topic for query in benchmark.queries},
        language=benchmark.language,
    )


def _guideline(benchmark: Benchmark) -> str:
    names = ("audit.md", "audit_things.md") if benchmark.factual else ("audit.md",)
    return "\n".join(read_text(DATA / name, "guideline") for name in names)


def _samples(benchmark: Benchmark, number: int) -> list[Kind]:
    samples = benchmark.samples
    names = samples.select("method", "label").unique().sort("method", "label").rows() if number else []
    known = [query.query_id for query in benchmark.queries]
    texts: dict[str, str] = dict(samples.select("sample_id", "text").iter_rows())
    return [
        Kind(
            sample_kind(method, label),
            number,
            by_query(
                samples.filter(
                    (pl.col("method") == method) & (pl.col("label") == label) & pl.col("query_id").is_in(known)
                )
                .select("query_id", "sample_id")
                .rows()
            ),
            texts=texts,
        )
        for method, label in names
    ]


def _groups(benchmark: Benchmark) -> dict[str, dict[str, str]]:
    units, families = load_units(), unit_families(benchmark)
    buckets = query_buckets(benchmark.queries, lambda name: families.get(name) or units.get(name).family)
    titles = {"kind": "query kind", "family": "unit family"}
    groups: dict[str, dict[str, str]] = {query.query_id: {} for query in benchmark.queries}
    for query_id, dimension, bucket in buckets.iter_rows():
        if dimension in GROUPS:
            groups[query_id][titles.get(dimension, dimension)] = bucket
    return groups


class BenchmarkForm(Verdicts, QueryForm):
    """The form of a benchmark's labels: queries by themselves, documents, and samples.

    Args:
        benchmark: that is audited.
        items: of the sheet; the source of each is its kind, its document a sample where that is the kind.
        key: of the sheet.
    """

    causes = CAUSES

    def __init__(self, benchmark: Benchmark, items: Sequence[Item], key: str) -> None:
        super().__init__(benchmark, items, key=key, scale="graded")
        self.labels, self.tones, self.highest = Verdicts.labels, Verdicts.tones, Verdicts.highest
        wanted = [item.doc_id for item in items if _of_sample(item)]
        rows: list[dict[str, Any]] = []
        if wanted:
            rows = benchmark.samples.filter(pl.col("sample_id").is_in(wanted)).to_dicts()
        self._samples = {row["sample_id"]: row for row in rows}
        made = [row["doc_id"] for row in rows if row["method"] in _MADE]
        originals = benchmark.corpus.filter(pl.col("doc_id").is_in(made)).select("doc_id", "text")
        self._originals: dict[str, str] = dict(originals.iter_rows())
        self._claims = _OF_THINGS if benchmark.factual else _CLAIMS
        units = {item.doc_id for item in items} | {row["doc_id"] for row in rows}
        self._facts = _facts(benchmark, units)
        self._numbers = {item.pair: number for number, item in enumerate(items, start=1)}

    def claim(self, item: Item) -> str:
        """What the label claims, and what the table says of the thing, if there is one."""
        kind = item.sources[0]
        if kind in self._claims:
            facts = self._facts.get(item.doc_id, "")
            return f"{self._claims[kind]}. The table: {facts}" if facts else self._claims[kind]
        sample = self._samples[item.doc_id]
        made = _MADE.get(sample["method"])
        what = "Training text of the corpus" if made is None else f"Training text, written anew {made}"
        claim = f"{what}: it {'answers' if sample['label'] else 'does not answer'} the query"
        facts = self._facts.get(sample["doc_id"], "")
        return f"{claim}. The table: {facts}" if facts else claim

    def cells(self, item: Item) -> list[str]:
        """The row of an item."""
        text, lines = self.query(item.query_id)
        marked = [piece[0] for piece in self.document(item)[1] if not isinstance(piece, str)]
        return [
            str(self._numbers[item.pair]),
            item.sources[0],
            item.query_id,
            one_line(text),
            "; ".join(lines),
            item.doc_id,
            self.claim(item),
            one_line(self._body(item)),
            one_line("; ".join(marked)),
            one_line(self._original(item)),
            "",
            "",
            "",
        ]

    def _original(self, item: Item) -> str:
        """The sentence that a permuted sample was made from; "" for all else."""
        row = self._samples.get(item.doc_id) if _of_sample(item) else None
        return self._originals.get(row["doc_id"], "") if row and row["method"] in _MADE else ""

    def document(self, item: Item) -> tuple[str, list[Piece]]:
        """The document's title, and the text with its quantities, or the sample's, marked."""
        if item.sources[0] == QUERY:
            return "", [self._body(item)]
        if _of_sample(item):
            row = self._samples[item.doc_id]
            return "", pieces(row["text"], [(row["value_start"], row["value_end"], "")])
        return super().document(item)

    def texts(self, pair: Pair) -> tuple[str, str] | None:
        """The texts of the query and of what is labelled."""
        item = self._items.get(pair)
        return None if item is None else (self._queries[pair[0]].text, self._body(item))

    def items(self, pairs: Collection[Pair]) -> list[Item]:
        """The items of some pairs, in the order of the sheet."""
        return [item for pair, item in self._items.items() if pair in pairs]

    def _body(self, item: Item) -> str:
        if item.sources[0] == QUERY:
            return self._queries[item.query_id].text
        if _of_sample(item):
            return str(self._samples[item.doc_id]["text"])
        return str(self._texts[item.doc_id][1])


def _facts(benchmark: Benchmark, doc_ids: Collection[str]) -> dict[str, str]:
    """What the table says of the things of some documents, as one line each; {} without a table."""
    if benchmark.facts is None:
        return {}
    wanted = pl.DataFrame({"doc_id": sorted(doc_ids)}, schema={"doc_id": pl.String})
    known = benchmark.corpus.select("doc_id", "source_id").join(wanted, on="doc_id", how="semi")
    rows = known.join(benchmark.facts, on="source_id", how="inner", maintain_order="left_right")
    found: dict[str, list[str]] = {}
    for row in rows.iter_rows(named=True):
        said = row["text"] or f"{row['value']:.6g} {row['unit']}".strip() + _SAID.get(row["status"], "")
        found.setdefault(row["doc_id"], []).append(f"{row['name']}: {one_line(said)}")
    return {doc_id: "; ".join(facts) for doc_id, facts in found.items()}


def _of_sample(item: Item) -> bool:
    return SAMPLE in item.sources[0]
