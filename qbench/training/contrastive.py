"""Training of a retriever on a benchmark's triples: `ColBERT_ft`, `SPLADE_ft`, `SBERT_ft`, and others.

Source: *Numbers Matter*, section 3.3 (joint quantity ranking) and appendix C.3: the models are tuned on generated
triples, for two epochs. A batch's texts serve as negatives of all its queries, but for those that may satisfy them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from qbench.benchmark.benchmark import Benchmark, benchmark_key
from qbench.errors import InputError, OptionError
from qbench.keys import revision
from qbench.models.folders import model_digest, model_folder
from qbench.options import declared, refusal
from qbench.progress import Progress, silent
from qbench.randomness import generator
from qbench.store import Manifest
from qbench.training.batch import Batch
from qbench.training.coded import code_of
from qbench.training.dev import DevPool, dev_pool
from qbench.training.kinds import Kind
from qbench.training.losses import LOSSES, Loss
from qbench.training.losses.ranking import Distillation
from qbench.training.opening import open_student
from qbench.training.recipes import LEARNING_RATES, ContrastiveRecipe
from qbench.training.satisfying import SatisfyingTexts
from qbench.training.students import Student
from qbench.training.trainer import (
    History,
    Record,
    Task,
    batches_by_length,
    seeded,
    train_checkpoint,
    training_key,
    training_params,
)
from qbench.training.triples import Drawn, Triples, read_triples

if TYPE_CHECKING:
    from torch import Tensor
    from torch.optim import Optimizer


def train_retriever(
    kind: Kind,
    benchmark: Benchmark,
    output: Path,
    model: str,
    recipe: ContrastiveRecipe = ContrastiveRecipe(),
    *,
    joint: Benchmark | None = None,
    teacher: str | None = None,
    overwrite: bool = False,
    progress: Progress = silent,
    on_epoch: Callable[[Record], None] | None = None,
) -> Manifest:
    """Tune a retriever on a benchmark's triples; write it as a folder that its system opens, and sentence-transformers.

    An interrupted call resumes after its last evaluation (see `Trainer`). The weights with the best nDCG@10 on dev are
    kept, which are the untrained ones where training made nothing better. A finished checkpoint is left as it is.

    Args:
        kind: "bi-encoder", "colbert", "splade", "numcolbert", "codedcolbert"; or "aggretriever" or "deepquant", which
            sentence-transformers does not know.
        benchmark: its train split is learnt from, its dev split chooses the weights.
        output: the folder of the checkpoint.
        model: the model to tune, a folder or a name on the hub.
        recipe: the options of the training.
        joint: a second, general benchmark to learn from, so that the model does not forget how to search.
        teacher: a ColBERT, a folder or a name on the hub, whose distribution over a batch's texts is learnt instead of
            the labels, as TCT-ColBERT was (*WolfPQ* eq. 2.7 to 2.9).
        overwrite: replace another checkpoint of the kind in `output`.
        progress: is given the number of batches done.
        on_epoch: is called with the record of each epoch, the untrained model's first.

    Returns:
        the manifest; `counts` holds the sizes of the data, and nDCG@10 before training and of the best weights.

    Raises:
        InputError: the model cannot be opened, or there is nothing to learn from.
        OptionError: the recipe makes no sense, or `output` holds something else.
        MissingPackageError: sentence-transformers is not installed.
        BusyError: another process is writing there.
    """
    recipe = replace(recipe, lr=recipe.lr or LEARNING_RATES[kind])
    recipe.check()
    _check_teacher(recipe, teacher)
    _check_data(recipe, benchmark, joint)
    params = _params(kind, benchmark, model, recipe, joint, teacher)

    def make() -> RetrieverTask:
        return _task(kind, benchmark, str(model_folder(model)), recipe, joint, teacher)

    return train_checkpoint("retriever training", params, output, make, overwrite, progress, on_epoch)


def _task(
    kind: Kind,
    benchmark: Benchmark,
    model: str,
    recipe: ContrastiveRecipe,
    joint: Benchmark | None,
    teacher: str | None,
) -> RetrieverTask:
    lowest = recipe.lowest_grade
    data = read_triples(benchmark, methods=recipe.methods, kinds=recipe.kinds, lowest_grade=lowest)
    general = None if joint is None else read_triples(joint, every_split=True, lowest_grade=lowest)
    data = data.limited(recipe.seed, recipe.limit)
    held_out = dev_pool(benchmark, recipe.dev_queries, recipe.seed)
    own = _own_options(kind, recipe)
    if kind == "bi-encoder" and teacher is not None:
        # A student of a ColBERT is compared as TCT-ColBERT is: by the dot product of the model's own vectors.
        own["dot"] = True
    if kind in ("numcolbert", "deepquant"):
        own["units"] = sorted({unit for some in (data, general) if some for unit in some.units})
    if kind == "codedcolbert":
        own["code"] = code_of([one for one in (benchmark, joint) if one], [one for one in (data, general) if one])
    with seeded(recipe.seed):
        student = open_student(
            kind,
            model,
            max_length=recipe.max_length,
            scale=recipe.scale,
            precision=recipe.precision,
            chunk=recipe.chunk,
            **own,
        )
    for source, triples in ((benchmark, data), (joint, general)):
        if student.reads_numbers and source and triples and not triples.text_mentions.known:
            # Of a sample the changed quantity alone would be known: its other numbers would be learnt as words.
            remedy = "Generate it again, or import it with its quantities extracted: --quantities ours"
            message = f"a {kind} learns from the quantities of all documents, and the benchmark has no table of them"
            raise InputError(message, value=source.name, remedy=remedy)
    loss = LOSSES[recipe.loss]
    if teacher is not None:
        loss = Loss(Distillation(_teacher(teacher, recipe), recipe.temperature), "like a teacher")
    return RetrieverTask(student, loss, data, general, held_out, recipe)


def _own_options(kind: Kind, recipe: ContrastiveRecipe) -> dict[str, Any]:
    """The recipe's options specific to some kinds of models, for those that this kind has."""
    named = {option.name for option in declared(ContrastiveRecipe) if kind in option.extra.get("models", ())}
    return {name: getattr(recipe, name) for name in named - {"temperature"}}


def _check_teacher(recipe: ContrastiveRecipe, teacher: str | None) -> None:
    """Refuse options that would have no effect."""
    if teacher is None and recipe.temperature != 1:
        remedy = "Name a teacher, or leave the temperature out"
        raise OptionError(
            "temperature divides the scores of a teacher, and there is none", value=recipe.temperature, remedy=remedy
        )
    if teacher is not None and recipe.loss != "infonce":
        remedy = "Leave the loss out"
        raise OptionError("with a teacher, its distribution is the loss", value=recipe.loss, remedy=remedy)


def idle_options(recipe: ContrastiveRecipe, benchmark: Benchmark, joint: Benchmark | None = None) -> dict[str, str]:
    """The options that change nothing, and would only give the same weights another key, with the reasons.

    Args:
        recipe: the options of a training.
        benchmark, joint: as in `train_retriever`.
    """
    with_triples = [data.triples.height > 0 for data in (benchmark, joint) if data is not None]
    idle = {
        "joint_share": "there is no other benchmark to learn from" * (joint is None),
        "lowest_grade": "positives come from triples, not from judgments" * all(with_triples),
        "satisfying": "this benchmark has no table of quantities" * (benchmark.quantities is None),
        "methods": "this benchmark has no triples, and is learnt from judgments" * (not with_triples[0]),
        "as_printed": "numbers are not compared without comparison_weight" * (recipe.comparison_weight == 0),
        "numbers_every": "all steps are on made-up numbers" * (recipe.numbers_first == 1),
        "contrast": "numbers are not contrasted without contrast_weight" * (recipe.contrast_weight == 0),
        "contrast_temperature": "numbers are not contrasted without contrast_weight" * (recipe.contrast_weight == 0),
    }
    standard = ContrastiveRecipe()

    def given(name: str) -> bool:
        values = (getattr(recipe, name), getattr(standard, name))
        one, usual = (set(value) if isinstance(value, tuple) else value for value in values)
        return bool(one != usual)

    return {name: reason for name, reason in idle.items() if reason and given(name)}


def _check_data(recipe: ContrastiveRecipe, benchmark: Benchmark, joint: Benchmark | None) -> None:
    for name, reason in idle_options(recipe, benchmark, joint).items():
        error = refusal(recipe, name, f"changes nothing: {reason}", getattr(recipe, name))
        error.remedy = "Leave it out"
        raise error


def _teacher(model: str, recipe: ContrastiveRecipe) -> Student:
    student = open_student("colbert", model, max_length=recipe.max_length, precision=recipe.precision)
    if student.start:
        remedy = "Name a ColBERT, or train one: qbench train colbert"
        raise OptionError("the teacher is not a ColBERT", value=model, remedy=remedy)
    return student


def setback(counts: Mapping[str, Any]) -> str | None:
    """A warning where no evaluation was better than the untrained model; None otherwise, or if nothing was held out.

    Args:
        counts: of the manifest that `train_retriever` gives.
    """
    if counts["dev"] is None or counts["best_epoch"]:
        return None
    remedy = "lower the learning rate, or learn from more positives"
    return f"training made nothing better than nDCG@10 {counts['dev']:.3f}: the untrained weights are kept; {remedy}"


def checkpoint_key(
    kind: Kind,
    benchmark: Benchmark,
    model: str,
    recipe: ContrastiveRecipe = ContrastiveRecipe(),
    *,
    joint: Benchmark | None = None,
    teacher: str | None = None,
) -> str:
    """The digest that `train_retriever` would give its checkpoint: of everything that can change it.

    Raises:
        InputError: a model cannot be opened.
    """
    recipe = replace(recipe, lr=recipe.lr or LEARNING_RATES[kind])
    return training_key("retriever training", _params(kind, benchmark, model, recipe, joint, teacher))


def _params(
    kind: Kind,
    benchmark: Benchmark,
    model: str,
    recipe: ContrastiveRecipe,
    joint: Benchmark | None,
    teacher: str | None,
) -> dict[str, Any]:
    inputs: dict[str, Any] = {
        "benchmark": benchmark_key(benchmark),
        "joint": None if joint is None else benchmark_key(joint),
        "teacher": None if teacher is None else model_digest(model_folder(teacher)),
    }
    if kind == "codedcolbert":
        inputs["codes"] = revision("coded token vectors")
    if kind == "deepquant":
        inputs["numbers"] = revision("deepquant training")
    params = training_params(kind, inputs, model, recipe, model_kind=_STARTS.get(kind, kind))
    # Options of other kinds of models change nothing.
    options = declared(ContrastiveRecipe)
    others = {option.name for option in options if kind not in option.extra.get("models", (kind,))}
    usual = {option.name for option in options if not option.extra.get("keyed", True)}
    others |= {name for name in usual if getattr(recipe, name) == getattr(ContrastiveRecipe(), name)}
    return {name: value for name, value in params.items() if name not in others}


_STARTS = {"colbert": "multi-vector", "numcolbert": "multi-vector", "codedcolbert": "multi-vector"}
"""What a model is opened as, where that is not the kind that it becomes."""


class RetrieverTask(Task[tuple[Triples, list[Drawn]]]):
    """A retriever that learns from triples, and is evaluated by nDCG@10 on held-out queries.

    Args:
        student: what learns.
        loss: which it lowers.
        data: the benchmark's triples.
        general: those of the second benchmark; None for none.
        held_out: the queries that choose the best weights; None for none.
        recipe: the options of the training.
    """

    def __init__(
        self,
        student: Student,
        loss: Loss,
        data: Triples,
        general: Triples | None,
        held_out: DevPool | None,
        recipe: ContrastiveRecipe,
    ) -> None:
        self.student, self.network, self.recipe = student, student.network, recipe
        self.data, self.general, self.held_out = data, general, held_out
        self._satisfying = SatisfyingTexts(data, recipe.seed)
        self._batch_negatives = loss.batch_negatives
        self._excluded = self._pairs = 0
        student.objective = loss.objective

    def batches(self, epoch: int) -> list[tuple[Triples, list[Drawn]]]:
        """The batches of an epoch; those of the general benchmark stand between the others, evenly."""
        recipe = self.recipe
        drawn = self.data.draw(recipe.seed, str(epoch), recipe.negatives, recipe.max_pairs)
        if recipe.satisfying:
            drawn = self._satisfying.added(drawn, recipe.satisfying, str(epoch))
        own = [(self.data, batch) for batch in self._cut(self.data, drawn, str(epoch))]
        if not self.general or not recipe.joint_share:
            return own
        # A share of few batches is one batch: a benchmark that was named is never left out.
        wanted = max(round(len(own) * recipe.joint_share / (1 - recipe.joint_share)), 1) * recipe.batch_size
        pool: list[Drawn] = []
        while len(pool) < wanted:
            pool += self.general.draw(recipe.seed, f"joint {epoch} {len(pool)}", recipe.negatives)
        others = [(self.general, batch) for batch in self._cut(self.general, pool[:wanted], f"joint {epoch}")]
        order = [(i + 0.5) / len(some) for some in (own, others) for i in range(len(some))]
        both = [*own, *others]
        return [both[i] for i in np.argsort(order, kind="stable").tolist()]

    def loss(self, batch: tuple[Triples, list[Drawn]], step: int, steps: int) -> Tensor:
        """The student's loss of a batch."""
        seen = Batch.of(*batch, step, steps, self.recipe.seed)
        if self._batch_negatives:
            self._excluded += int((~seen.compared).sum())
        self._pairs += seen.compared.size
        return self.student.loss(seen)

    def untrained(self) -> Record:
        """nDCG@10 before training, and what of the model is not trained yet."""
        return {**({"start": self.student.start} if self.student.start else {}), **self.evaluate()}

    def patient_until(self) -> float:
        """The share that is on made-up numbers alone."""
        return float(self.recipe.numbers_first)

    def epoch_figures(self) -> Record:
        """The share of a batch's texts that are no negatives because they may satisfy the query."""
        share = self._excluded / max(self._pairs, 1)
        self._excluded = self._pairs = 0
        return {"kept_from_being_negatives": share}

    def optimizer(self) -> Optimizer:
        """The student's."""
        return self.student.optimizer(self.recipe)

    def evaluate(self) -> Record:
        """nDCG@10 on the held-out queries, and how well numbers are read."""
        if self.held_out is None:
            return {}
        # As search reads texts, whatever their length in training.
        with self.student.whole():
            numbers = self.student.figures(self.held_out)
            return {"ndcg": self.held_out.score(self.student), **({"numbers": numbers} if numbers else {})}

    def figure(self, record: Record) -> float | None:
        """nDCG@10."""
        return record.get("ndcg")

    def save(self, folder: Path) -> None:
        """Write a folder that the model's system opens."""
        self.student.save(folder)

    def counts(self, history: History) -> dict[str, Any]:
        """Counts of the manifest."""
        return {
            **self.data.counts,
            "joint": self.general.counts if self.general else None,
            "dev_queries": len(self.held_out.queries) if self.held_out else 0,
            "dev_documents": len(self.held_out.texts) if self.held_out else 0,
            **super().counts(history),
            "scale": self.student.scale,
            "dev_untrained": history.record(0).get("ndcg"),
            "dev": history.record(history.best).get("ndcg"),
            "dev_numbers": history.record(history.best).get("numbers"),
        }

    def _cut(self, data: Triples, drawn: list[Drawn], epoch: str) -> list[list[Drawn]]:
        """Batches, in the order drawn, or of positives of similar length."""
        size = self.recipe.batch_size
        if self.recipe.by_length:
            lengths = [len(data.texts[positive]) for _, positive, _ in drawn]
            order = batches_by_length(lengths, size, generator(self.recipe.seed, "batches", epoch))
            return [[drawn[i] for i in batch] for batch in order]
        return [drawn[start : start + size] for start in range(0, len(drawn), size)]
