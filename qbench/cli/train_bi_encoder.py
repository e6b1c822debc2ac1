"""`qbench train bi-encoder`: the ranking model of *Quantity Retrieval*, or a retriever trained on triples."""

from __future__ import annotations

from dataclasses import MISSING, make_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qbench.cli.options import Overwrite
from qbench.cli.records import Format, FormatOption
from qbench.cli.train_retriever import Joint, others_options, train_on_triples
from qbench.cli.training import Output, best_epoch, measured, report, run
from qbench.errors import OptionError
from qbench.options import Declared, declared, option
from qbench.training.recipes import ContrastiveRecipe, PairRecipe


def either(without: frozenset[str], **recipes: type[Any]) -> type[Any]:
    """A class of the options of several recipes, None by default; the source decides later which recipe is used.

    Args:
        without: fields that are left out.
        recipes: what the source of training data is called -> its recipe.
    """
    every: dict[str, dict[str, Declared]] = {}
    for source, recipe in recipes.items():
        for spec in declared(recipe):
            if spec.name not in without:
                every.setdefault(spec.name, {})[source] = spec
    fields = []
    for name, variants in every.items():
        first = next(iter(variants.values()))
        helps = {source: _help(spec) for source, spec in variants.items()}
        same = len(variants) == len(recipes) and len(set(helps.values())) == 1
        shown = next(iter(helps.values())) if same else " ".join(f"{spec}: {text}" for spec, text in helps.items())
        low, high = min(spec.low for spec in variants.values()), max(spec.high for spec in variants.values())
        fields.append((name, first.type | None, option(None, help=shown, low=low, high=high, **first.extra)))
    return make_dataclass("EitherRecipe", fields, frozen=True)


def _help(spec: Declared) -> str:
    """The help of an option, with its default."""
    if spec.default in (None, (), MISSING):
        return spec.help
    default = ", ".join(spec.default) if isinstance(spec.default, tuple) else spec.default
    return f"{spec.help.removesuffix('.')} [default: {default}]."


if TYPE_CHECKING:
    EitherRecipe = Any
else:
    EitherRecipe = either(others_options("bi-encoder"), PAIRS=PairRecipe, BENCH=ContrastiveRecipe)


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
            help="Model to start from: a folder, or a name on the hub, of a sentence-transformers model or of a plain "
            "BERT."
        ),
    ],
    recipe: EitherRecipe,
    joint: Joint = None,
    teacher: Annotated[
        str | None,
        typer.Option(help="BENCH: a ColBERT to learn from instead of the labels, as TCT-ColBERT did: folder or name."),
    ] = None,
    overwrite: Overwrite = False,
    output_format: FormatOption = "text",
) -> None:
    """Train a single-vector encoder on mined paraphrases, or on a benchmark's triples.

    On pairs, descriptions of one fact get vectors close together (C_q-BERT-WS of Quantity Retrieval); search with the
    result as "BERT-WS(model=CHECKPOINT)". On a benchmark, queries come close to the texts that satisfy them; search
    with it as "SBERT_ft(model=CHECKPOINT)", or, after a --teacher, as "TCT-ColBERT(markers=none, model=CHECKPOINT)". An
    interrupted training resumes after its last evaluation when the same command is run again.

    Example: qbench train bi-encoder pairs -o ranker --model bert-base-chinese
    """
    given = {name: value for name, value in vars(recipe).items() if value is not None}
    if _holds_pairs(source):
        _refuse({**given, "joint": joint, "teacher": teacher}, PairRecipe, "a benchmark")
        _on_pairs(source, output, model, PairRecipe(**given), overwrite, output_format)
        return
    _refuse(given, ContrastiveRecipe, "pairs")
    system = "SBERT_ft(model={})" if teacher is None else "TCT-ColBERT(markers=none, model={})"
    options = ContrastiveRecipe(**given)
    given_both = (system, source, output, model, options, joint, output_format)
    train_on_triples("bi-encoder", *given_both, teacher=teacher, overwrite=overwrite)


def _holds_pairs(source: Path) -> bool:
    from qbench.mining.types import PAIRS_KIND
    from qbench.store import MANIFEST, read_manifest

    return (source / MANIFEST).is_file() and read_manifest(source).kind == PAIRS_KIND


def _refuse(given: dict[str, Any], recipe: type[Any], needs: str) -> None:
    """Refuse options that are not of this recipe."""
    flags = {spec.name: spec.extra.get("flag", spec.name) for spec in declared(EitherRecipe)}
    names = {spec.name for spec in declared(recipe)}
    for name, value in given.items():
        if name not in names and value is not None:
            flag = flags.get(name, name).removeprefix("--").replace("_", "-")
            raise OptionError(f"--{flag} needs {needs} to train on", value=value)


def _on_pairs(
    pairs: Path, output: Path, model: str, recipe: PairRecipe, overwrite: bool, output_format: Format
) -> None:
    from qbench.training.bi_encoder import train_bi_encoder

    counts = run(train_bi_encoder, pairs, output, model, recipe, overwrite=overwrite, figures=_dev_figures)
    lines = [f"{'split':6}{'queries':>10}{'paraphrases':>13}{'confusing':>12}"]
    for split, sizes in counts["splits"].items():
        lines.append(f"{split:6}{sizes['queries']:>10,}{sizes['paraphrases']:>13,}{sizes['confusing']:>12,}")
    lines += [f"left out, {reason.replace('_', ' ')}: {n:,}" for reason, n in counts["left_out"].items() if n]
    lines.append(best_epoch(counts))
    lines += [f"{title}: {_figures(counts[name])}" for name, title in _FIGURES.items() if counts[name]]
    use = (
        f"search a test set with it: qbench leaderboard TESTSET --systems 'C_q-BERT-WS(model={output})', or an index: "
        f"qbench retrieve-quantity INDEX ... --system 'BERT-WS(model={output})'"
    )
    report(lines, counts, output_format, output, use)


_FIGURES = {
    "dev_untrained": "dev, untrained",
    "dev": "dev",
    "test_downsampled": "test, down-sampled, threshold of dev",
    "test_downsampled_best_threshold": "test, down-sampled, its own best threshold",
}


def _dev_figures(record: dict[str, Any]) -> str:
    return _figures(record["dev"]) if "dev" in record else ""


def _figures(measures: dict[str, Any]) -> str:
    nearest = measures["nearest_is_paraphrase"]
    shown = "" if nearest is None else f"  nearest is paraphrase {nearest:.3f}"
    return measured(measures, "f1", "precision", "recall") + shown
