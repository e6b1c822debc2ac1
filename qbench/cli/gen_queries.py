"""`qbench gen-queries`: from an index to a benchmark."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qbench.cli.chat_options import ChatOptions, ChatServerOptions, note_spent, print_forecast
from qbench.cli.from_options import UNRECORDED, CommandLine, command
from qbench.cli.options import Overwrite
from qbench.cli.recorded import file_name
from qbench.cli.records import Format, FormatOption, print_table
from qbench.errors import OptionError
from qbench.generation.options import GenerationOptions, TestKind
from qbench.options import again, check, option
from qbench.work.engines import EngineOptions

if TYPE_CHECKING:
    from qbench.benchmark.benchmark import Benchmark
    from qbench.generation.rewrite import Rewriting
    from qbench.index.disk import Index

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@dataclass(frozen=True)
class RewriteOptions:
    """Which test queries a chat model phrases."""

    rewrite: bool = option(
        False, help="Let a chat model phrase test queries as a person would; the options below are for that."
    )
    kinds: tuple[TestKind, ...] = option(
        ("wo_surface",), help="Kinds of test queries that are rewritten.", flag="rewrite-kinds", comma=True
    )
    prompt: str = option(
        "general",
        help="Prompt of the model: general, in the language of the index, or a TOML file.",
        flag="rewrite-prompt",
        recorded=file_name,
    )

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True)
class RewriteChatOptions(ChatOptions):
    """The chat model; --seed is the benchmark's."""

    seed: int = again(ChatOptions, "seed", flag="model-seed")


@command(app, "gen-queries")
def gen_queries(
    index: Annotated[Path, typer.Argument(help="Folder of an index, made by `qbench build-index`.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="BENCH", help="Folder of the benchmark.")],
    options: GenerationOptions,
    rewrite: RewriteOptions,
    chat: RewriteChatOptions,
    server: ChatServerOptions,
    engine: EngineOptions,
    line: CommandLine,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Processes that label, or tasks at a time with Ray. [default: this process]"),
        UNRECORDED,
    ] = None,
    overwrite: Overwrite = False,
    output_format: FormatOption = "text",
) -> None:
    """Generate a benchmark (queries, labels, training samples) from an index.

    Every label is checked again before it is written; what was rejected, and why, is counted. With --workers or
    --engine ray, queries are labelled by other processes, and an interrupted run resumes.

    Example: qbench gen-queries news-index -o news-bench --expansions synonyms.tsv
    """
    from qbench.benchmark.disk import open_benchmark
    from qbench.cli import console
    from qbench.generation.generate import generate, rewriting_forecast
    from qbench.index.disk import Index
    from qbench.store import read_manifest
    from qbench.work.pool import in_processes

    opened = Index.open(index)
    labels = engine.chosen(workers) or (None if workers is None or workers == 1 else in_processes(workers))
    rewriting = _rewriting(opened, output, rewrite, chat, server)
    with console.progress("gen-queries") as progress:
        if rewriting is not None and server.dry_run:
            estimate = rewriting_forecast(opened, options, rewriting, progress=progress)
            print_forecast("queries", rewriting.asking, estimate)
            return
        folder = generate(
            opened,
            output,
            options,
            rewriting=rewriting,
            engine=labels,
            command=line,
            overwrite=overwrite,
            progress=progress,
        )
    benchmark = open_benchmark(folder)
    if options.expansions is None and not benchmark.factual:
        console.note("no expansions were given, so there are only seen and unseen queries")
    if rewriting is not None:
        note_spent(rewriting.asking, benchmark.params["counts"]["rewriting"]["asked by"])
    _report(benchmark, read_manifest(folder).counts["content"]["judgments"], output_format)


def _rewriting(
    index: Index, output: Path, rewrite: RewriteOptions, chat: ChatOptions, server: ChatServerOptions
) -> Rewriting | None:
    from qbench.generation.rewrite import Rewriting

    if rewrite.rewrite:
        language = index.extractor_options().language
        return Rewriting(chat.asking("rewrite", rewrite.prompt, output, server, language), rewrite.kinds)
    if chat.model is not None or server.dry_run or server.replay:
        raise OptionError("a model is only used with --rewrite", remedy="Add it, or omit the model's options")
    return None


def _report(benchmark: Benchmark, judgments: int, output_format: Format) -> None:
    from qbench.benchmark.card import printable
    from qbench.cli import console
    from qbench.generation.report import sample_queries, unasked_units, unusual

    counts = benchmark.params["counts"]
    if not benchmark.factual:
        _note_pairs(counts)
    odd = unusual(benchmark, counts["rejected"])
    for reason, number in counts["rejected"].items():
        console.note(f"rejected: {number:,} {reason}" + (f" (not normal: {odd[reason]})" if reason in odd else ""))
    if counts["rejected"]:
        console.note("these numbers are normal" if not odd else "the other numbers are normal")
    for warning in unasked_units(benchmark):
        console.note(f"warning: {warning}")
    lines = [*_query_table(benchmark), "", *(_sample_table(benchmark) if benchmark.samples.height else ())]
    texts = "documents" if benchmark.factual else "sentences"
    lines += [
        "",
        f"{benchmark.corpus.height:,} {texts}, {len(benchmark.queries):,} queries, {judgments:,} "
        f"judgments, {benchmark.samples.height:,} samples, {benchmark.triples.height:,} triples",
        "",
        *(f"  {printable(query.text)}" for query in sample_queries(benchmark)),
    ]
    (names, *rows) = _query_counts(benchmark)
    print_table(lines, (dict(zip(map(str, names), row, strict=True)) for row in rows), output_format)


def _note_pairs(counts: dict[str, Any]) -> None:
    """What was asked about of an index's pairs, and what was left out."""
    from qbench.cli import console

    pairs, groups = counts["pairs"], counts["groups of concepts"]
    console.note(
        f"{pairs['asked about']:,} of {pairs['in the index']:,} pairs are asked about; groups of concepts: "
        + ", ".join(f"{number:,} {part}" for part, number in groups.items())
    )
    for reason, number in pairs["left out"].items():
        console.note(f"left out: {number:,} {reason}")
    if (counted := counts.get("concepts with expansions")) is not None:
        console.note(
            f"{counted['asked about']:,} of {counted['in the file']:,} concepts with expansions are asked about"
        )
    if (rewriting := counts.get("rewriting")) is not None:
        console.note(
            f"{rewriting['rewritten']:,} of {rewriting['asked about']:,} queries are rewritten; "
            "the others are unchanged"
        )


def _query_table(benchmark: Benchmark) -> list[str]:
    from qbench.cli.console import aligned

    (header, *rows) = _query_counts(benchmark)
    return aligned([str(name) for name in header], rows)


def _query_counts(benchmark: Benchmark) -> list[list[str | int]]:
    """Names of columns, then the numbers of queries by split, kind and comparator."""
    from qbench.benchmark.types import KINDS, SPLITS
    from qbench.quantities.types import COMPARATORS

    columns = [*map(str, COMPARATORS), "several"]
    counts: Counter[tuple[str, str, str]] = Counter()
    for query in benchmark.queries:
        column = query.conditions[0].comparator if len(query.conditions) == 1 else "several"
        counts[query.split, query.kind, column] += 1
    rows: list[list[str | int]] = [["split", "kind", *columns, "all"]]
    for split in SPLITS:
        for kind in KINDS:
            numbers = [counts[split, kind, column] for column in columns]
            if any(numbers):
                rows.append([split, kind, *numbers, sum(numbers)])
    return rows


def _sample_table(benchmark: Benchmark) -> list[str]:
    from qbench.cli.console import aligned

    counts = Counter(benchmark.samples.select("method", "label").iter_rows())
    methods = sorted({method for method, _ in counts})
    rows: list[list[str | int]] = [[method, counts[method, 1], counts[method, 0]] for method in methods]
    return aligned(["samples", "positive", "negative"], rows)
