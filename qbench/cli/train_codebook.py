"""`qbench train codebook`: WolfPQ and its variants."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from qbench.cli.options import Overwrite
from qbench.cli.records import FormatOption
from qbench.cli.training import Output, best_epoch, report, run
from qbench.training.codebook_recipe import CodebookRecipe


def codebook(
    bench: Annotated[
        Path, typer.Argument(metavar="BENCH", help="A benchmark with judged training queries, or a BEIR folder.")
    ],
    output: Output,
    encoder: Annotated[str, typer.Option(help="The encoder as a system, such as TCT-ColBERT(model=my-tct).")],
    recipe: CodebookRecipe,
    work: Annotated[
        Path | None,
        typer.Option(help="Folder whose indexes hold the vectors. [default: qbench-leaderboard/NAME, as leaderboards]"),
    ] = None,
    overwrite: Overwrite = False,
    output_format: FormatOption = "text",
) -> None:
    """Train a codebook for ranking (WolfPQ 5.3); an index with it has the files, size and speed of PQ's.

    An interrupted training resumes after its last evaluation when the same command is run again.

    Example: qbench train codebook my-benchmark -o wolf --encoder "TCT-ColBERT(model=my-tct)" --variant WolfPQI --M 48
    """
    from qbench.benchmark.disk import open_benchmark
    from qbench.cli.leaderboard import HOME
    from qbench.training.codebook import train_codebook

    folder = work or HOME / (bench.resolve().name or "benchmark")
    options = {"work": folder, "overwrite": overwrite}
    counts = run(train_codebook, open_benchmark(bench), output, encoder, recipe, **options, figures=_figures)
    lines = [
        f"queries: {counts['queries']:,}  development: {counts['dev_queries']:,}",
        f"distortion: {counts['distortion_pq']:.4g} of PQ, {counts['distortion']:.4g} now",
        best_epoch(counts),
    ]
    if counts["dev"] is not None:
        lines.append(f"nDCG@10 on dev: {counts['dev_untrained']:.3f} pre-trained, {counts['dev']:.3f} now")
    fusion = f"-I(alpha={recipe.alpha:g})" if recipe.interpolated else ""
    system = f"BM25 + {encoder}-{recipe.variant}(codebook={output}){fusion}"
    report(lines, counts, output_format, output, f"search with it: --systems '{system}'")


def _figures(record: dict[str, Any]) -> str:
    ndcg = f"nDCG@10 {record['ndcg']:.3f}  " if "ndcg" in record else ""
    return f"{ndcg}distortion {record['distortion']:.4g}"
