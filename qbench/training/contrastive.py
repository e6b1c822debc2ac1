"""Training of a retriever on a benchmark's triples: `ColBERT_ft`, `SPLADE_ft`, `SBERT_ft`, Aggretriever, TCT-ColBERT.

Source: *Numbers Matter*, section 3.3 (joint quantity ranking) and appendix C.3: the models are tuned on generated
triples, for two epochs. A batch's texts serve as negatives of all its queries, but for those that may satisfy them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from qbench.errors import OptionError
from qbench.keys import key
from qbench.models.folders import LOG, model_digest, model_folder, quiet
from qbench.options import declared
from qbench.progress import Progress, silent
from qbench.randomness import generator
from qbench.store import Draft, Manifest, drafting, finished, read_manifest, write_json
from qbench.training.dev import DevPool, dev_pool
from qbench.training.epochs import Record, adamw, set_rate, train_epochs
from qbench.training.recipes import LEARNING_RATES, ContrastiveRecipe, Kind
from qbench.training.students import SparseStudent, Student, open_student
from qbench.training.triples import Triples, read_triples

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from qbench.benchmark.disk import Benchmark

Drawn = tuple[int, int, list[int]]
"""A query, its positive, its negatives: positions in a `Triples`."""


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

    A killed call goes on after the last finished epoch, and then gives the same weights as one that was not killed (on
    a CPU, with the same versions and number of threads). The weights of the epoch with the best nDCG@10 on the
    development split are kept. Where everything was made already, nothing is done.

    Args:
        kind: "bi-encoder", "colbert", "splade", or "aggretriever", which sentence-transformers does not know.
        benchmark: its training split is learnt from, its development split chooses the epoch.
        output: the folder of the checkpoint.
        model: what is tuned, a folder or a name on the hub.
        recipe: how.
        joint: another benchmark to learn from besides, a general one, so that what the model knew is kept.
        teacher: a ColBERT, a folder or a name on the hub, whose distribution over a batch's texts is learnt instead of
            the labels, as TCT-ColBERT was (*WolfPQ* eq. 2.7 to 2.9).
        overwrite: replace another checkpoint of the kind in `output`.
        progress: told the number of steps done.
        on_epoch: called with the record of each epoch, the untrained model's first.

    Returns:
        the manifest; `counts` holds the sizes of the data, and nDCG@10 before training and of the best epoch.

    Raises:
        InputError: the model cannot be opened, or there is nothing to learn from.
        OptionError: the recipe makes no sense, or `output` holds something else.
        MissingPackageError: sentence-transformers is not installed.
        BusyError: another process is writing there.
    """
    recipe = replace(recipe, lr=recipe.lr or LEARNING_RATES[kind])
    recipe.check()
    _check_teacher(recipe, teacher)
    folder = model_folder(model)
    params = _params(kind, benchmark, model, recipe, joint, teacher)
    key = _key(params)
    if not finished(output, kind, key):
        with drafting(output, kind, key, params, overwrite=overwrite) as draft:
            lowest = recipe.lowest_grade
            data = read_triples(benchmark, methods=recipe.methods, kinds=recipe.kinds, lowest_grade=lowest)
            general = None if joint is None else read_triples(joint, every_split=True, lowest_grade=lowest)
            held_out = dev_pool(benchmark, recipe.dev_queries, recipe.seed)
            own = _own_options(kind, recipe)
            if kind == "bi-encoder" and teacher is not None:
                # What learns from a ColBERT is compared as TCT-ColBERT is: by the dot product of what the model gives.
                own["dot"] = True
            student = open_student(kind, str(folder), max_length=recipe.max_length, scale=recipe.scale, **own)
            wise = None if teacher is None else _teacher(teacher, recipe)
            _Training(student, data, general, held_out, recipe, draft, progress, on_epoch, wise).run()
    return read_manifest(output, kind)


def _own_options(kind: Kind, recipe: ContrastiveRecipe) -> dict[str, Any]:
    """The recipe's options that only some kinds of models have, this one among them, as its student takes them."""
    named = {one.name for one in declared(ContrastiveRecipe) if kind in one.extra.get("models", ())}
    return {name: getattr(recipe, name) for name in named - {"temperature"}}


def _check_teacher(recipe: ContrastiveRecipe, teacher: str | None) -> None:
    """Refuse what would do nothing."""
    if teacher is None and recipe.temperature != 1:
        remedy = "Name a teacher, or leave it away"
        raise OptionError("a temperature is for the scores of a teacher", value=recipe.temperature, remedy=remedy)
    if teacher is not None and recipe.loss != "infonce":
        remedy = "Leave the loss away"
        raise OptionError("with a teacher its distribution is learnt", value=recipe.loss, remedy=remedy)


def _teacher(model: str, recipe: ContrastiveRecipe) -> Student:
    found = open_student("colbert", model, max_length=recipe.max_length)
    if found.start:
        remedy = "Name a ColBERT, or train one: qbench train colbert"
        raise OptionError("this teacher has nothing to teach: it is no ColBERT", value=model, remedy=remedy)
    return found


def setback(counts: Mapping[str, Any]) -> str | None:
    """What to say where training made a model worse.

    Args:
        counts: of the manifest that `train_retriever` gives.

    Returns:
        None where it did not, or nothing was held out.
    """
    before, after = counts["dev_untrained"], counts["dev"]
    if after is None or after >= before:
        return None
    remedy = "lower the learning rate, or learn from more positives"
    return f"training took nDCG@10 on the development queries from {before:.3f} to {after:.3f}: {remedy}"


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
    return _key(_params(kind, benchmark, model, recipe, joint, teacher))


def _params(
    kind: Kind,
    benchmark: Benchmark,
    model: str,
    recipe: ContrastiveRecipe,
    joint: Benchmark | None,
    teacher: str | None,
) -> dict[str, Any]:
    from qbench.benchmark.disk import benchmark_key

    return {
        "trained": kind,
        "benchmark": benchmark_key(benchmark),
        "joint": None if joint is None else benchmark_key(joint),
        "teacher": None if teacher is None else model_digest(model_folder(teacher)),
        "base": model_digest(model_folder(model), "multi-vector" if kind == "colbert" else kind),
        "base_name": Path(model).name,
        **asdict(recipe),
    }


def _key(params: dict[str, Any]) -> str:

    return key("retriever training", **{k: v for k, v in params.items() if k != "base_name"})


class _Training:
    """One training: what its steps share."""

    def __init__(
        self,
        student: Student,
        data: Triples,
        general: Triples | None,
        held_out: DevPool | None,
        recipe: ContrastiveRecipe,
        draft: Draft,
        progress: Progress,
        on_epoch: Callable[[Record], None] | None,
        teacher: Student | None = None,
    ) -> None:
        self.teacher = teacher
        self.student, self.data, self.general, self.held_out = student, data, general, held_out
        self.recipe, self.draft, self.progress, self.on_epoch = recipe, draft, progress, on_epoch
        self.optimizer = adamw(student.network, recipe.lr, recipe.weight_decay)
        # Every epoch has as many batches as the first.
        self.batches = len(list(self._batches(1)))
        self.steps = -(-self.batches // recipe.accumulation)

    def run(self) -> None:
        made = {"start": self.student.start} if self.student.start else {}
        untrained = {"epoch": 0, **made, **self._on_dev()}
        self._tell(untrained)
        history, best = train_epochs(
            self.draft.folder,
            self.student.network,
            self.optimizer,
            lambda number: {**self._epoch(number), **self._on_dev()},
            lambda record: record.get("ndcg"),
            epochs=self.recipe.epochs,
            patience=self.recipe.patience,
            tell=self._tell,
        )
        log = [untrained, *history]
        self.draft.counts = {
            **self.data.counts,
            "joint": self.general.counts if self.general else None,
            "dev_queries": len(self.held_out.queries) if self.held_out else 0,
            "dev_documents": len(self.held_out.texts) if self.held_out else 0,
            "epochs": len(history),
            "best_epoch": best,
            "scale": self.student.scale,
            "dev_untrained": log[0].get("ndcg"),
            "dev": log[best].get("ndcg"),
        }
        with quiet():
            self.student.save(self.draft.folder)
        write_json(self.draft.folder / LOG, log)

    def _epoch(self, number: int) -> Record:
        """Train for one epoch; the mean loss per batch, and the share of texts kept from being negatives."""
        import torch

        recipe, network = self.recipe, self.student.network
        # The state of the generator is not kept: each epoch begins with its own.
        torch.manual_seed(int(generator(recipe.seed, "dropout", str(number)).integers(2**63)))
        network.train()
        total, masked, seen = 0.0, 0, 0
        for place, (data, batch) in enumerate(self._batches(number)):
            step = (number - 1) * self.steps + place // recipe.accumulation
            every = recipe.epochs * self.steps
            if place % recipe.accumulation == 0:
                set_rate(self.optimizer, recipe.lr, step, every, recipe.warmup)
                self.optimizer.zero_grad()
            if isinstance(self.student, SparseStudent):
                self.student.warm = min(1.0, 3 * (step + 1) / every)
            loss, kept = self._loss(data, batch)
            if not torch.isfinite(loss):
                raise OptionError(
                    f"the loss is no longer finite in epoch {number}", value=loss.item(), remedy="Lower the lr"
                )
            (loss / recipe.accumulation).backward()  # type: ignore[no-untyped-call]
            if place % recipe.accumulation == recipe.accumulation - 1 or place == self.batches - 1:
                torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
                self.optimizer.step()
            total, masked, seen = total + loss.item(), masked + int((~kept).sum()), seen + kept.size
            self.progress((number - 1) * self.batches + place + 1, recipe.epochs * self.batches, f"epoch {number}")
        return {"loss": total / self.batches, "kept_from_being_negatives": masked / max(seen, 1)}

    def _batches(self, number: int) -> Iterator[tuple[Triples, list[Drawn]]]:
        """The batches of an epoch; those of the general benchmark stand between the others, evenly."""
        recipe = self.recipe
        drawn = self.data.draw(recipe.seed, str(number), recipe.negatives, recipe.max_pairs)
        own = [drawn[start : start + recipe.batch_size] for start in range(0, len(drawn), recipe.batch_size)]
        share = recipe.joint_share if self.general else 0.0
        others: list[list[Drawn]] = []
        if self.general and share:
            # A share of few batches is one batch: what was asked for is never left out.
            wanted = max(round(len(own) * share / (1 - share)), 1) * recipe.batch_size
            pool: list[Drawn] = []
            while len(pool) < wanted:
                pool += self.general.draw(recipe.seed, f"joint {number} {len(pool)}", recipe.negatives)
            others = [pool[start : start + recipe.batch_size] for start in range(0, wanted, recipe.batch_size)]
        places = [(i + 0.5) / len(own) for i in range(len(own))] + [(i + 0.5) / len(others) for i in range(len(others))]
        for i in np.argsort(places, kind="stable").tolist():
            if i < len(own):
                yield self.data, own[i]
            elif self.general is not None:
                yield self.general, others[i - len(own)]

    def _loss(self, data: Triples, batch: Sequence[Drawn]) -> tuple[Tensor, NDArray[np.bool_]]:
        """The loss of a batch, and which texts each query is compared with."""
        import torch

        texts, positives, own, allowed = compared(data, batch)
        device = self.student.network.device
        half = device.type == "cuda" and torch.cuda.is_bf16_supported()
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=half):
            queries = self.student.embed([data.queries[query].text for query, _, _ in batch], "query")
            documents = self.student.embed([data.texts[text] for text in texts], "document")
        scores = self.student.scores(queries, documents)
        if self.teacher is not None:
            return self._distilled(self.teacher, data, batch, texts, scores), np.ones(own.shape, dtype=bool)
        at = torch.from_numpy(positives).to(device)
        if self.recipe.loss == "pairwise":
            from qbench.training.objectives import pairwise

            # A query's own negatives alone were to be compared.
            loss, kept = pairwise(scores, at, torch.from_numpy(own).to(device)), np.ones(own.shape, dtype=bool)
        else:
            from qbench.training.objectives import info_nce

            loss, kept = info_nce(scores, at, torch.from_numpy(allowed).to(device)), allowed
        penalty = self.student.penalty(queries, documents)
        return loss if penalty is None else loss + penalty, kept

    def _distilled(
        self, teacher: Student, data: Triples, batch: Sequence[Drawn], texts: Sequence[int], scores: Tensor
    ) -> Tensor:
        """How far the student's distribution over all texts of the batch is from the teacher's."""
        import torch

        from qbench.training.objectives import distillation

        teacher.network.eval()
        with torch.no_grad():
            queries = teacher.embed([data.queries[query].text for query, _, _ in batch], "query")
            wanted = teacher.scores(queries, teacher.embed([data.texts[text] for text in texts], "document"))
        every = torch.ones_like(scores, dtype=torch.bool)
        return distillation(scores, wanted.to(scores.device) / self.recipe.temperature, every)

    def _on_dev(self) -> Record:
        return {} if self.held_out is None else {"ndcg": self.held_out.score(self.student)}

    def _tell(self, record: Record) -> None:
        if self.on_epoch is not None:
            self.on_epoch(record)


def compared(
    data: Triples, batch: Sequence[Drawn]
) -> tuple[list[int], NDArray[np.int64], NDArray[np.bool_], NDArray[np.bool_]]:
    """Which texts of a batch each of its queries is compared with.

    Args:
        data: what the batch was drawn from.
        batch: n queries with a positive and negatives each.

    Returns:
        t texts, positions in `data.texts`, each once; the column of each query's positive, shape (n,); each query's own
        negatives, shape (n, t); and those together with the positive and every other text that cannot satisfy the
        query, shape (n, t).
    """
    texts = list(dict.fromkeys(text for _, positive, negatives in batch for text in (positive, *negatives)))
    column = {text: number for number, text in enumerate(texts)}
    positives = np.array([column[positive] for _, positive, _ in batch], dtype=np.int64)
    own = np.zeros((len(batch), len(texts)), dtype=bool)
    allowed = np.zeros_like(own)
    for row, (query, _, negatives) in enumerate(batch):
        own[row, [column[text] for text in negatives]] = True
        allowed[row] = [not data.may_satisfy(query, text) for text in texts]
    allowed |= own
    allowed[np.arange(len(batch)), positives] = True
    return texts, positives, own, allowed
