"""Training of a codebook: WolfPQ and its variants, and the quantisers that it is compared with.

Source: *WolfPQ* 5.3.4 and 5.3.5. Documents and queries are encoded once; what is trained is the quantiser.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from qbench.benchmark.benchmark import Benchmark, benchmark_key
from qbench.compression.quantiser import KIND
from qbench.models.encoders import require_neural
from qbench.models.folders import LOG, model_digest, model_folder
from qbench.progress import Progress, silent
from qbench.retrieval.systems import Stage
from qbench.store import Manifest, drafting, read_manifest, write_json
from qbench.training.codebook_data import CodebookData, encoder_stage, read_codebook_data
from qbench.training.codebook_recipe import CodebookRecipe
from qbench.training.codebook_task import CodebookTask
from qbench.training.contextual import ContextualTask
from qbench.training.jpq import JpqTask
from qbench.training.repconc import RepconcTask
from qbench.training.trainer import History, Record, train_checkpoint, training_key
from qbench.training.wolfpq import DpqTask, WolfTask


def train_codebook(
    benchmark: Benchmark,
    output: Path,
    encoder: str,
    recipe: CodebookRecipe = CodebookRecipe(),
    *,
    work: Path,
    overwrite: bool = False,
    progress: Progress = silent,
    on_epoch: Callable[[Record], None] | None = None,
    read: Callable[..., CodebookData] = read_codebook_data,
) -> Manifest:
    """Train a codebook for the vectors of an encoder; the artefact is what `-WolfPQ(codebook=...)` and its kin take.

    An interrupted call resumes after its last evaluation. The weights with the best nDCG@10 on dev are kept, those
    after pre-training among the candidates.

    Args:
        benchmark: with judged training queries.
        output: the folder of the artefact.
        encoder: a system's name, such as TCT-ColBERT(model=my-tct).
        recipe: the options of the training.
        work: its folder `indexes` keeps the documents' vectors, as a leaderboard's output does.
        overwrite: replace another codebook in `output`.
        progress: is given the number of batches done.
        on_epoch: is called with the record of each epoch, that before fine-tuning first.
        read: reads what is learnt from; one that remembers serves several codebooks of an encoder.

    Returns:
        the manifest; `counts` has the distortion on the sample that PQ started from, before and after, and nDCG@10 on
        dev.

    Raises:
        OptionError: the recipe or the encoder makes no sense, or `output` holds something else.
        InputError: nothing can be learnt from the benchmark.
        MissingPackageError: torch is not installed.
    """
    recipe.check()
    require_neural()
    stage = encoder_stage(encoder, tokens=recipe.variant == "CQ")
    params = {
        "trained": KIND,
        "benchmark": benchmark_key(benchmark),
        "encoder": [stage.model.name, _identity(stage)],
        "base_name": str(stage.model),
        **asdict(recipe),
    }

    def make() -> CodebookTask:
        return open_task(read(benchmark, stage, work, recipe, progress), recipe, progress)

    if recipe.variant != "WolfPQPre":
        return train_checkpoint("codebook training", params, output, make, overwrite, progress, on_epoch)
    key = training_key("codebook training", params)
    with drafting(output, KIND, key, params, overwrite=overwrite) as draft:
        if draft is not None:
            task = make()
            record = {"epoch": 0, **task.evaluate()}
            task.save(draft.folder)
            write_json(draft.folder / LOG, [record])
            draft.counts = task.counts(History([record], 0, 0))
    return read_manifest(output, KIND)


def _identity(stage: Stage) -> dict[str, Any]:
    values: dict[str, Any] = asdict(stage.options())
    for option in stage.entry().declared:
        if "checkpoint" in option.extra:
            values[option.name] = model_digest(model_folder(values[option.name]), option.extra["checkpoint"])
    return {name: value for name, value in values.items() if name not in ("dtype", "engine", "nprobe")}


def open_task(data: CodebookData, recipe: CodebookRecipe, progress: Progress = silent) -> CodebookTask:
    """The task of a recipe's variant, pre-trained; arguments as in `CodebookTask`."""
    return _TASKS.get(recipe.variant, WolfTask)(data, recipe, progress)


_TASKS: dict[str, Callable[..., CodebookTask]] = {
    "DPQ": DpqTask,
    "RepCONC": RepconcTask,
    "JPQ": JpqTask,
    "CQ": ContextualTask,
}
"""Of the variants that are no WolfPQ."""
