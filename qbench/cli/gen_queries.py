"""`qbench gen-queries`: from an index to a benchmark."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qbench.cli.chat_options import (
    AllowMissing,
    BaseUrl,
    ChatRecording,
    MaxTokens,
    Model,
    ModelSeed,
    Temperature,
    Threads,
    Timeout,
    Tries,
    chat_access,
    tell_forecast,
    tell_spent,
)
from qbench.cli.options import BudgetText, DryRun, PricesFile, Replay

if TYPE_CHECKING:
    from qbench.benchmark.disk import Benchmark
    from qbench.generation.options import TestKind
    from qbench.generation.rewrite import Rewriting
    from qbench.llm.client import Access

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def gen_queries(
    index: Annotated[Path, typer.Argument(help="Folder of an index, made by `qbench build-index`.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the benchmark.")],
    expansions: Annotated[
        Path | None,
        typer.Option(help="Concept expansions: TSV (concept, tab, expansion) or JSON ({concept: [expansion, ...]})."),
    ] = None,
    templates: Annotated[Path | None, typer.Option(help="Query templates of your own (TOML).")] = None,
    kinds: Annotated[str, typer.Option(help="Kinds of test queries.")] = "seen,unseen,expansion,wo_surface",
    random_set: Annotated[
        bool, typer.Option("--random-set/--no-random-set", help="A second set of queries with random observed values.")
    ] = True,
    inclusive: Annotated[
        bool, typer.Option("--inclusive/--no-inclusive", help="Queries with at least and at most.")
    ] = True,
    ranges: Annotated[bool, typer.Option("--ranges/--no-ranges", help='Queries like "between 5 and 8".')] = True,
    negation: Annotated[bool, typer.Option("--negation/--no-negation", help='Queries like "not 5".')] = True,
    multi: Annotated[bool, typer.Option("--multi/--no-multi", help="Queries with two and three constraints.")] = True,
    expansion: Annotated[
        bool, typer.Option("--expansion/--no-expansion", help="Expanded concepts in train and dev too.")
    ] = True,
    original: Annotated[
        bool, typer.Option("--original/--no-original", help="Training samples: sentences as they are.")
    ] = True,
    unit_permutation: Annotated[
        bool, typer.Option("--unit-permutation/--no-unit-permutation", help="Training samples with another unit.")
    ] = True,
    value_permutation: Annotated[
        bool, typer.Option("--value-permutation/--no-value-permutation", help="Training samples with another value.")
    ] = False,
    samples: Annotated[int, typer.Option(help="Positives and negatives per query and method (the paper's n).")] = 2,
    other_unit: Annotated[
        float, typer.Option(help="Share of queries that ask in another unit, where one suits.")
    ] = 0.1,
    judged: Annotated[int, typer.Option(help="Hard negatives per query that get a judgment of 0, at most.")] = 10,
    min_sentences: Annotated[int, typer.Option(help="Sentences that a (concept, unit) pair needs.")] = 5,
    max_pairs: Annotated[int | None, typer.Option(help="Pairs to ask about, at most. Default: all.")] = None,
    max_train: Annotated[int, typer.Option(help="Training queries, at most.")] = 20_000,
    max_dev: Annotated[int, typer.Option(help="Development queries, at most.")] = 1_000,
    max_test: Annotated[int, typer.Option(help="Test queries, at most.")] = 2_000,
    dev_share: Annotated[float, typer.Option(help="Share of the pairs held out for development.")] = 0.1,
    test_share: Annotated[float, typer.Option(help="Share of the pairs held out for testing.")] = 0.2,
    corpus: Annotated[
        str, typer.Option(help="quantities: sentences with a quantity; all: every sentence.")
    ] = "quantities",
    seed: Annotated[int, typer.Option(help="Seed of every random choice.")] = 13,
    rewrite: Annotated[
        bool,
        typer.Option(
            "--rewrite", help="Let a chat model phrase test queries as a person would; the options below are for that."
        ),
    ] = False,
    rewrite_kinds: Annotated[str, typer.Option(help="Kinds of test queries that are rewritten.")] = "wo_surface",
    rewrite_prompt: Annotated[str, typer.Option(help="What the model is told: general, or a TOML file.")] = "general",
    model: Model = None,
    base_url: BaseUrl = "auto",
    temperature: Temperature = 1.0,
    model_seed: ModelSeed = 13,
    max_tokens: MaxTokens = 400,
    tries: Tries = 2,
    threads: Threads = 4,
    timeout: Timeout = 120.0,
    recording: ChatRecording = None,
    replay: Replay = False,
    budget: BudgetText = None,
    prices: PricesFile = None,
    dry_run: DryRun = False,
    allow_missing: AllowMissing = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace another benchmark in the output folder.")
    ] = False,
) -> None:
    """Generate a benchmark (queries, labels, training samples) from an index.

    Every label is checked again before it is written; what was rejected, and why, is counted.

    Example: qbench gen-queries news-index -o news-bench --expansions synonyms.tsv
    """
    from qbench.benchmark.disk import open_benchmark
    from qbench.cli import console
    from qbench.errors import OptionError
    from qbench.generation.generate import generate, rewriting_forecast
    from qbench.generation.options import GenerationOptions

    rewriting = None
    if rewrite:
        if model is None:
            raise OptionError("no model is named", remedy="Name the one that rewrites with --model")
        access = chat_access(output, recording, replay, budget, prices, threads, timeout)
        server = {"base_url": base_url, "temperature": temperature, "seed": model_seed, "max_tokens": max_tokens}
        rewriting = _rewriting(model, rewrite_prompt, server, access, tries, allow_missing, rewrite_kinds)
    elif model is not None or dry_run or replay:
        raise OptionError("a model is only asked with --rewrite", remedy="Add it, or leave the model's options away")
    options = GenerationOptions(
        seed=seed,
        corpus=corpus,  # type: ignore[arg-type]  # checked by the options
        min_sentences=min_sentences,
        max_pairs=max_pairs,
        max_train=max_train,
        max_dev=max_dev,
        max_test=max_test,
        dev_share=dev_share,
        test_share=test_share,
        kinds=_listed(kinds),
        random_set=random_set,
        inclusive=inclusive,
        ranges=ranges,
        negation=negation,
        multi=multi,
        expansion=expansion,
        original=original,
        unit_permutation=unit_permutation,
        value_permutation=value_permutation,
        samples=samples,
        other_unit=other_unit,
        judged=judged,
        templates=templates,
        expansions=expansions,
    )
    with console.progress("gen-queries") as progress:
        if rewriting is not None and dry_run:
            estimate = rewriting_forecast(index, options, rewriting, progress=progress)
            tell_forecast("queries", rewriting.asking, estimate)
            return
        folder = generate(index, output, options, rewriting=rewriting, overwrite=overwrite, progress=progress)
    if expansions is None:
        console.note("no expansions were given, so there are only seen and unseen queries")
    benchmark = open_benchmark(folder)
    if rewriting is not None:
        tell_spent(rewriting.asking, benchmark.params["counts"]["rewriting"]["asked by"])
    _report(benchmark)


def _rewriting(
    model: str, prompt: str, server: dict[str, Any], access: Access, tries: int, allow_missing: bool, kinds: str
) -> Rewriting:
    from qbench.generation.rewrite import Rewriting
    from qbench.llm.asking import Asking
    from qbench.llm.openai_chat import chat_server
    from qbench.llm.prompts import load_prompt

    asking = Asking(chat_server(model, load_prompt("rewrite", prompt), **server), access, tries, allow_missing)
    return Rewriting(asking, _listed(kinds))


def _listed(kinds: str) -> tuple[TestKind, ...]:
    """Kinds as the options check them."""
    return tuple(kind.strip() for kind in kinds.split(",") if kind.strip())  # type: ignore[misc]


def _report(benchmark: Benchmark) -> None:
    from qbench.cli import console

    counts = benchmark.params["counts"]
    pairs, groups = counts["pairs"], counts["groups of concepts"]
    console.note(
        f"{pairs['asked about']:,} of {pairs['in the index']:,} pairs are asked about; groups of concepts: "
        + ", ".join(f"{number:,} {part}" for part, number in groups.items())
    )
    if (known := counts.get("concepts with expansions")) is not None:
        console.note(f"{known['asked about']:,} of {known['in the file']:,} concepts with expansions are asked about")
    if (told := counts.get("rewriting")) is not None:
        console.note(
            f"{told['rewritten']:,} of {told['asked about']:,} queries are rewritten; the others stay as they are"
        )
    for reason, number in counts["rejected"].items():
        console.note(f"rejected: {number:,} {reason}")
    lines = [*_query_table(benchmark), "", *(_sample_table(benchmark) if benchmark.samples.height else ())]
    lines += [
        "",
        f"{benchmark.corpus.height:,} sentences, {len(benchmark.queries):,} queries, {benchmark.qrels.height:,} "
        f"judgments, {benchmark.samples.height:,} samples, {benchmark.triples.height:,} triples",
    ]
    for line in lines:
        console.out().print(line, markup=False, soft_wrap=True)


def _query_table(benchmark: Benchmark) -> list[str]:
    from qbench.benchmark.types import KINDS, SPLITS
    from qbench.quantities.types import COMPARATORS

    columns = [*map(str, COMPARATORS), "several"]
    counts: Counter[tuple[str, str, str]] = Counter()
    for query in benchmark.queries:
        asked = query.conditions[0].comparator if len(query.conditions) == 1 else "several"
        counts[query.split, query.kind, asked] += 1
    rows: list[list[str | int]] = []
    for split in SPLITS:
        for kind in KINDS:
            numbers = [counts[split, kind, column] for column in columns]
            if any(numbers):
                rows.append([split, kind, *numbers, sum(numbers)])
    return _aligned(["split", "kind", *columns, "all"], rows)


def _sample_table(benchmark: Benchmark) -> list[str]:
    counts = Counter(benchmark.samples.select("method", "label").iter_rows())
    methods = sorted({method for method, _ in counts})
    rows: list[list[str | int]] = [[method, counts[method, 1], counts[method, 0]] for method in methods]
    return _aligned(["samples", "positive", "negative"], rows)


def _aligned(header: list[str], rows: list[list[str | int]]) -> list[str]:
    """Columns as wide as their widest cell; words to the left, numbers to the right."""
    cells = [header, *([f"{cell:,}" if isinstance(cell, int) else cell for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    left = [isinstance(cell, str) for cell in rows[0]]
    return [
        "  ".join(
            cell.ljust(width) if word else cell.rjust(width)
            for cell, width, word in zip(row, widths, left, strict=True)
        ).rstrip()
        for row in cells
    ]
