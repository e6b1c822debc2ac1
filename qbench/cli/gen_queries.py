"""`qbench gen-queries`: from an index to a benchmark."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from qbench.benchmark.disk import Benchmark

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
    from qbench.generation.generate import generate
    from qbench.generation.options import GenerationOptions

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
        kinds=tuple(kind.strip() for kind in kinds.split(",") if kind.strip()),  # type: ignore[misc]
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
        folder = generate(index, output, options, overwrite=overwrite, progress=progress)
    if expansions is None:
        console.note("no expansions were given, so there are only seen and unseen queries")
    _report(open_benchmark(folder))


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
    return _aligned(["part", "kind", *columns, "all"], rows)


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
