"""The contents of a card by kind of artefact: tables, counts, charts, checks, examples, limits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from qbench.artefacts import open_artefact
from qbench.benchmark import card as parts
from qbench.benchmark.audits import audit_of, read_audit
from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.check import check
from qbench.benchmark.disk import KIND as BENCHMARK
from qbench.benchmark.disk import open_benchmark
from qbench.benchmark.findings import Finding
from qbench.errors import InputError
from qbench.evaluation.buckets import MAGNITUDES, magnitude, query_buckets
from qbench.mining.describe import Descriptions
from qbench.mining.paraphrases import Pairs
from qbench.mining.report import samples
from qbench.mining.types import DESCRIPTIONS_KIND, PAIRS_KIND
from qbench.progress import Progress, silent
from qbench.publishing.configs import TABLES, Configs, benchmark_configs, pair_configs
from qbench.publishing.picture import Panel
from qbench.quantities.units import load_units
from qbench.store import Manifest, read_manifest

_DIGITS = tuple(map(str, range(100)))

EXAMPLES = 5
"""Number of pairs on a card."""

ABOUT: Mapping[str, str] = {
    BENCHMARK: parts.ABOUT,
    PAIRS_KIND: "Pairs of descriptions of quantities, mined by qbench: two descriptions with the same value are "
    "probably one fact (paraphrases), two that are alike and have other values are not (confusing pairs).",
    DESCRIPTIONS_KIND: "A corpus of quantities with their descriptions, made by qbench: for each quantity of a text "
    "the words that say what it is.",
}

_QUANTITY_RETRIEVAL = (
    "Towards Efficient Quantity Retrieval from Text: an Approach via Description Parsing and Weak Supervision"
)
METHODS: Mapping[str, str] = {
    BENCHMARK: "Numbers Matter! Bringing Quantity-awareness to Retrieval Systems",
    PAIRS_KIND: _QUANTITY_RETRIEVAL,
    DESCRIPTIONS_KIND: _QUANTITY_RETRIEVAL,
}
"""Kind of artefact -> the paper of its method."""

KINDS = tuple(ABOUT)
"""Kinds of artefacts that can be published."""


@dataclass(frozen=True)
class Contents:
    """The contents of an artefact's card.

    Attributes:
        kind, manifest: of the artefact.
        configs: configurations in other tools' layout.
        tables: configuration -> the artefact's own table, if it has rows.
        counts: numbers and distributions, nested.
        panels: the charts of the picture.
        checked: Markdown about label checks; "" if there are none.
        audit: paragraphs about the audit of the labels; () where there are no labels.
        errors: number of errors among them.
        examples, limits: Markdown.
        left_out: counts of what was left out, by reason.
    """

    kind: str
    manifest: Manifest
    configs: Configs
    tables: Mapping[str, str]
    counts: Mapping[str, Any]
    panels: Sequence[Panel]
    checked: str = ""
    audit: Sequence[str] = ()
    errors: int = 0
    examples: Sequence[str] = ()
    limits: str = ""
    left_out: Mapping[str, Any] = field(default_factory=dict)


def open_contents(folder: Path, *, texts: bool = True, progress: Progress = silent) -> Contents:
    """Open an artefact, check that it is complete, and summarise it.

    Args:
        folder: a benchmark, pairs or descriptions.
        texts: whether texts of the corpus may be shown.
        progress: called during the checks.

    Raises:
        InputError: the folder is none of these, unfinished or changed.
    """
    manifest = read_manifest(folder)
    if manifest.kind not in KINDS:
        inside = " It holds two benchmarks: publish FOLDER/sentences or FOLDER/descriptions"
        raise InputError(
            f"a qbench {manifest.kind} cannot be published",
            file=folder,
            remedy=f"Publish a benchmark, pairs or descriptions.{inside if manifest.kind == 'test set' else ''}",
        )
    open_artefact(folder, content=True)
    if manifest.kind == BENCHMARK:
        return _benchmark(open_benchmark(folder), manifest, texts, progress)
    return _mined(folder, manifest, texts)


def _benchmark(benchmark: Benchmark, manifest: Manifest, texts: bool, progress: Progress) -> Contents:
    findings = check(benchmark, progress=progress)
    tables = {
        config: table
        for config, table in TABLES[BENCHMARK].items()
        if (frame := benchmark.table(table)) is not None and frame.height and (texts or table != "samples")
    }
    return Contents(
        kind=BENCHMARK,
        manifest=manifest,
        configs=benchmark_configs(benchmark, texts=texts),
        tables=tables,
        counts=parts.summary(benchmark),
        panels=_query_panels(benchmark),
        checked=_findings(findings),
        audit=parts.audit_section(audit_of(benchmark.audit, manifest.digest)),
        errors=sum(finding.severity == "error" for finding in findings),
        examples=parts.examples(benchmark) if texts else (),
        limits=parts.limits(benchmark),
        left_out=benchmark.params.get("counts") or {},
    )


def _query_panels(benchmark: Benchmark) -> list[Panel]:
    """Comparators, unit families, magnitudes and kinds of the queries."""
    units = load_units()
    families = {}
    if benchmark.quantities is not None:
        families = dict(benchmark.quantities.select("unit", "family").unique().iter_rows())

    def family(unit: str) -> str:
        return families.get(unit) or units.get(unit).family

    buckets = query_buckets(benchmark.queries, family)
    titles = {
        "comparator": "comparator",
        "family": "unit family",
        "magnitude": "magnitude of the value",
        "kind": "kind",
    }
    panels = []
    for dimension, title in titles.items():
        counts = Counter(bucket for _, name, bucket in buckets.iter_rows() if name == dimension)
        panels.append(_panel(f"queries by {title}", counts, MAGNITUDES if dimension == "magnitude" else ()))
    return panels


def _mined(folder: Path, manifest: Manifest, texts: bool) -> Contents:
    table = Descriptions.open(folder).read()
    counts: dict[str, Any] = {"descriptions": table.height, "documents": table["source_id"].n_unique()}
    panels = _mention_panels(table)
    configs: Configs = {}
    examples: list[str] = []
    audit: list[str] = []
    limits = "- Descriptions are found by a program, and some are wrong or not complete."
    if manifest.kind == PAIRS_KIND:
        mined = Pairs.open(folder)
        pairs = mined.table().collect()
        configs = pair_configs(pairs, table) if texts else {}
        labels = pairs.group_by("split", "label").len().sort("split", "label").iter_rows()
        counts["pairs"] = {f"{split}, {label}": number for split, label, number in labels}
        agreed = Counter(str(n) for n in pairs.filter(pl.col("label") == "paraphrase")["digits"])
        panels = [
            Panel("pairs by split and label", counts["pairs"], ordered=True),
            _panel("paraphrases by digits that agree", agreed, _DIGITS),
            *panels[:2],
        ]
        if texts:
            shown = pairs.filter(pl.col("label") == "paraphrase")
            seed = int(manifest.params.get("seed", 0))
            examples = ["## Examples", "\n".join(samples(table.lazy(), shown, EXAMPLES, seed))]
        audit = parts.audit_section(audit_of(read_audit(folder), manifest.digest))
        limits += (
            "\n- Pairs are labelled by their values alone: equal values may be chance (`p_fact` "
            "estimates that they are not), and other values may be the same fact at another time."
        )
    return Contents(
        kind=manifest.kind,
        manifest=manifest,
        configs=configs,
        tables={c: t for c, t in TABLES[manifest.kind].items() if texts or t != "descriptions"},
        counts=counts,
        panels=panels,
        audit=audit,
        examples=examples,
        limits=limits,
        left_out={name: value for name, value in manifest.counts.items() if isinstance(value, (int, dict))},
    )


def _mention_panels(table: pl.DataFrame) -> list[Panel]:
    families = Counter(family or "no unit" for family in table["family"])
    return [
        _panel("descriptions by unit family", families),
        _panel("descriptions by magnitude of the value", Counter(map(magnitude, table["value"])), MAGNITUDES),
        _panel("descriptions by comparator", Counter(table["comparator"])),
        _panel("descriptions by significant digits", Counter(map(str, table["digits"])), _DIGITS),
    ]


def _panel(title: str, counts: Mapping[str, int], order: Iterable[str] = ()) -> Panel:
    first = [name for name in order if name in counts]
    rest = sorted(name for name in counts if name not in first)
    return Panel(title, {name: counts[name] for name in (*first, *rest)}, ordered=bool(first))


def _findings(findings: Sequence[Finding]) -> str:
    """The findings of `qbench benchmark check` as Markdown."""
    errors, warnings = (sum(f.severity == level for f in findings) for level in ("error", "warning"))
    lines = [f"`qbench benchmark check`: {errors} errors, {warnings} warnings."]
    if findings:
        lines += ["", "| rule | | what |", "|---|---|---|"]
        lines += [f"| {f.rule} | {f.severity} | {parts.markdown(f.message)} |" for f in findings]
    return "\n".join(lines)
