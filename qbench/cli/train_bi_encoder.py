"""`qbench train bi-encoder`: the ranking model of *Quantity Retrieval*, or a retriever tuned on triples."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from qbench.cli.train_retriever import LossName, MaxLength, Output, Overwrite, Seed, train_on_triples


def bi_encoder(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="PAIRS|BENCH", help="Pairs of `qbench mine-paraphrases`, or a benchmark with training queries."
        ),
    ],
    output: Output,
    model: Annotated[
        str,
        typer.Option(
            help="What is tuned: a folder, or a name on the hub, of a sentence-transformers model or of a plain BERT."
        ),
    ],
    epochs: Annotated[
        int | None, typer.Option(min=1, help="Passes over the paraphrases or positives. [default: 20; BENCH: 2]")
    ] = None,
    batch_size: Annotated[int | None, typer.Option(min=2, help="Pairs per step. [default: 120; BENCH: 32]")] = None,
    lr: Annotated[float, typer.Option(help="Highest learning rate.")] = 2e-5,
    margin: Annotated[
        float | None, typer.Option(help="PAIRS: cosine distance that confusing pairs are pushed to. [default: 0.5]")
    ] = None,
    negatives: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Confusing pairs per query and epoch, at most [default: 5]; BENCH: own negatives of a positive "
            "[default: 1].",
        ),
    ] = None,
    max_length: MaxLength = 0,
    max_pairs: Annotated[
        int,
        typer.Option(
            min=0, help="Pairs per epoch, at most, those of queries with a paraphrase, or not yet seen, first; 0: all."
        ),
    ] = 0,
    dev_share: Annotated[
        float | None,
        typer.Option(
            help="PAIRS: share of the training documents that is held out to choose the best epoch; 0: none. "
            "[default: 0.1]"
        ),
    ] = None,
    patience: Annotated[
        int | None,
        typer.Option(min=1, help="Stop after so many epochs without a better figure there. [default: 5; BENCH: 2]"),
    ] = None,
    accumulation: Annotated[
        int | None, typer.Option(min=1, help="BENCH: batches per step of the optimiser. [default: 1]")
    ] = None,
    loss: Annotated[LossName | None, typer.Option(help="BENCH: the loss over triples. [default: infonce]")] = None,
    scale: Annotated[
        float | None, typer.Option(min=0, help="BENCH: of the cosines in the softmax. [default: 20]")
    ] = None,
    method: Annotated[
        list[str] | None, typer.Option("--method", help="BENCH: samples to learn from. [default: all]")
    ] = None,
    kind: Annotated[
        list[str] | None, typer.Option("--kind", help="BENCH: kinds of queries to learn from. [default: all]")
    ] = None,
    joint: Annotated[
        Path | None, typer.Option(metavar="BENCH", help="BENCH: another one to learn from besides.")
    ] = None,
    joint_share: Annotated[
        float | None, typer.Option(min=0, max=0.9, help="BENCH: share of the batches of --joint. [default: 0.25]")
    ] = None,
    lowest_grade: Annotated[
        int | None,
        typer.Option(min=1, help="BENCH: lowest grade of a positive, where it has judgments alone. [default: 1]"),
    ] = None,
    dev_queries: Annotated[
        int | None, typer.Option(min=0, help="BENCH: development queries that choose the epoch. [default: 200]")
    ] = None,
    teacher: Annotated[
        str | None,
        typer.Option(help="BENCH: a ColBERT to learn from instead of the labels, as TCT-ColBERT did: folder or name."),
    ] = None,
    temperature: Annotated[
        float | None, typer.Option(help="BENCH: the teacher's scores are divided by it. [default: 1]")
    ] = None,
    seed: Seed = 13,
    overwrite: Overwrite = False,
) -> None:
    """Tune a single-vector encoder: on mined paraphrases, or on a benchmark's training triples.

    On pairs, descriptions of one fact get vectors close together (C_q-BERT-WS of Quantity Retrieval); search with the
    result as "BERT-WS(model=CHECKPOINT)". On a benchmark, queries come close to the texts that satisfy them; search
    with it as "SBERT_ft(model=CHECKPOINT)", or, after a --teacher, as "TCT-ColBERT(markers=none, model=CHECKPOINT)". An
    interrupted training goes on after its last finished epoch when the same command is given again.

    Example: qbench train bi-encoder pairs -o ranker --model bert-base-chinese
    """
    given = {name: value for name, value in locals().items() if value is not None}
    source, output, model = given.pop("source"), given.pop("output"), given.pop("model")
    overwrite = given.pop("overwrite")
    if _holds_pairs(source):
        _refuse(given, "a benchmark", _ON_TRIPLES)
        _on_pairs(source, output, model, given, overwrite)
    else:
        _refuse(given, "pairs", _ON_PAIRS)
        general = given.pop("joint", None)
        lists = {name: given.pop(name, None) for name in ("method", "kind")}
        options = {"bench": source, "output": output, "model": model, "joint": general, "overwrite": overwrite}
        system = "TCT-ColBERT(markers=none, model={})" if "teacher" in given else "SBERT_ft(model={})"
        train_on_triples("bi-encoder", system, {**options, **lists, **given})


_ON_TRIPLES = (
    "accumulation",
    "loss",
    "scale",
    "method",
    "kind",
    "joint",
    "joint_share",
    "lowest_grade",
    "dev_queries",
    "teacher",
    "temperature",
)
_ON_PAIRS = ("margin", "dev_share")


def _holds_pairs(source: Path) -> bool:
    from qbench.mining.types import PAIRS_KIND
    from qbench.store import MANIFEST, read_manifest

    return (source / MANIFEST).is_file() and read_manifest(source).kind == PAIRS_KIND


def _refuse(given: dict[str, Any], needs: str, names: tuple[str, ...]) -> None:
    from qbench.errors import OptionError

    for name in names:
        if name in given:
            raise OptionError(f"--{name.replace('_', '-')} needs {needs} to train on", value=given[name])


def _on_pairs(pairs: Path, output: Path, model: str, options: dict[str, Any], overwrite: bool) -> None:
    from qbench.cli import console
    from qbench.training.bi_encoder import train_bi_encoder
    from qbench.training.recipes import PairRecipe

    with console.progress("train") as progress:
        manifest = train_bi_encoder(
            pairs, output, model, PairRecipe(**options), overwrite=overwrite, progress=progress, on_epoch=_show_epoch
        )
    _report_pairs(output, manifest.counts)


def _show_epoch(record: dict[str, Any]) -> None:
    from qbench.cli.console import note

    name = f"epoch {record['epoch']}" if record["epoch"] else "untrained"
    loss = f"loss {record['loss']:.3f}  " if "loss" in record else ""
    note(f"{name:10} {loss}{_figures(record['dev']) if 'dev' in record else ''}".rstrip())


def _report_pairs(output: Path, counts: dict[str, Any]) -> None:
    from qbench.cli.console import note, out

    lines = [f"{'split':6}{'queries':>10}{'paraphrases':>13}{'confusing':>12}"]
    for split, sizes in counts["splits"].items():
        lines.append(f"{split:6}{sizes['queries']:>10,}{sizes['paraphrases']:>13,}{sizes['confusing']:>12,}")
    lines += [f"left out, {reason.replace('_', ' ')}: {n:,}" for reason, n in counts["left_out"].items() if n]
    lines.append(f"best epoch: {counts['best_epoch']} of {counts['epochs']}")
    for name, title in _FIGURES.items():
        if counts[name]:
            lines.append(f"{title}: {_figures(counts[name])}")
    for line in lines:
        out().print(line, markup=False)
    note(
        f"Written to {output}; search a test set with it: qbench leaderboard TESTSET --systems "
        f"'C_q-BERT-WS(model={output})', or an index: qbench retrieve-quantity INDEX ... --system "
        f"'BERT-WS(model={output})'"
    )


_FIGURES = {
    "dev_untrained": "dev, untrained",
    "dev": "dev",
    "test_downsampled": "test, down-sampled, threshold of dev",
    "test_downsampled_best_threshold": "test, down-sampled, its own best threshold",
}


def _figures(found: dict[str, Any]) -> str:
    nearest = found["nearest_is_paraphrase"]
    shown = "" if nearest is None else f"  nearest is paraphrase {nearest:.3f}"
    return f"F1 {found['f1']:.3f}  precision {found['precision']:.3f}  recall {found['recall']:.3f}{shown}"
