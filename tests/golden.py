"""Golden outputs: what the main commands make from the embedded corpus, as digests that change when results change.

    python -m tests.golden FOLDER             make everything in FOLDER and compare it with tests/golden.json
    python -m tests.golden FOLDER --update    make it, and write what it is as the new golden.json
    python -m tests.golden FOLDER --bytes F   compare also byte for byte with the file F, or write F if it is absent

A digest leaves out what may differ between two equal results: times, sizes on disk, memory, versions, keys and the
digests of other artefacts. Numbers are compared to six significant digits, because sums differ in the last bits
between processors; those of neural models to three. `--bytes` compares whole tables on one machine.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import polars as pl

GOLDEN = Path(__file__).with_name("golden.json")

EXPERIMENT = """
title = "Golden"

[inputs]
bench = { help = "a benchmark with training samples" }
model = { help = "an encoder" }

[training]
bench = "{bench}"
epochs = 2
max_pairs = 64
batch_size = 8
max_length = 24
dev_queries = 20

[[mask]]
name = "values"
bench = "{bench}"
what = "values"

[[train]]
name = "single"
kind = "bi-encoder"
model = "{model}"

[[train]]
name = "multi"
kind = "colbert"
model = "{model}"

[[train]]
name = "sparse"
kind = "splade"
model = "{model}"

[[board]]
name = "plain"
bench = "{bench}"
measures = ["nDCG@10", "P@10"]

[board.systems]
"BM25" = "BM25"
"QBM25" = "QBM25"
"SBERT_ft" = "SBERT_ft(model={single})"
"SPLADE_ft" = "SPLADE_ft(model={sparse})"
"ColBERT_ft" = "ColBERT_ft(model={multi})"

[[board]]
name = "masked"
bench = "{values}"
systems = { "BM25" = "BM25", "QBM25" = "QBM25" }
measures = ["nDCG@10", "P@10"]

[[table]]
title = "Rows"
boards = ["plain"]
against = { "QBM25" = "BM25" }

[[table]]
title = "Boards"
measures = ["nDCG@10"]
change_from = "plain"
"""

SYSTEMS = (
    "QBM25(alpha=0.5, phi=relative, terms=all)",
    "BM25(engine=rank-bm25)",
    "QSBERT(model={model})",
    "SBERT(model={model}, dtype=int8, engine=faiss)",
    "TCT-ColBERT(model={model}, dtype=float16)",
    "Aggretriever(model={model})",
    "ColBERT(model={model}, dtype=int8)",
    "ColBERT(model={model}, engine=centroids)",
    "QSPLADE(model={model})",
    "BM25 + QColBERT(model={model}, k=50)",
    "BM25_filter + SBERT(model={model}, k=50)-I(alpha=0.3)",
    "QBM25 + SPLADE(model={model}, k=50)-RRF",
)

_UNSTABLE = re.compile(
    r"seconds|bytes|size|_ms|ms_|^ms|peak|version|digest|sha256|^key$|^command$|^keys$|^base$|revision|time|cost"
)
"""Names of JSON fields and columns that two equal results may not share."""


def make(folder: Path) -> None:
    """Run the commands in `folder`."""
    from tests.encoder_factories import tiny_bert

    folder.mkdir(parents=True, exist_ok=True)
    logs: list[str] = []

    def qbench(*arguments: str) -> None:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "160", "HF_HUB_OFFLINE": "1"}
        done = subprocess.run(
            [sys.executable, "-m", "qbench", *arguments], cwd=folder, capture_output=True, text=True, env=environment
        )
        if done.returncode:
            raise SystemExit(f"qbench {' '.join(arguments)}\n{done.stdout}\n{done.stderr}")
        logs.append(f"$ qbench {' '.join(arguments)}\n{done.stdout}")

    qbench("leaderboard", "-o", "board")
    qbench("build-index", "qbench-leaderboard/embedded/corpus", "-o", "index")
    qbench("gen-queries", "index", "-o", "bench", "--max-train", "150", "--max-dev", "40", "--value-permutation")
    qbench("describe", "index", "-o", "descriptions")
    qbench("mine-paraphrases", "descriptions", "-o", "pairs")
    qbench("test-set", "make", "pairs", "-o", "test-set")
    qbench("leaderboard", "test-set", "-o", "quantities", "--systems", "C_s-BM25", "--systems", "C_q-BM25")
    licence = ("--licence", "cc-by-4.0", "--repo-id", "me/numbers")
    qbench("publish", "bench", *licence, "--dry-run", "-o", "published")

    words = set(re.findall(r"[a-z]+", " ".join(pl.read_parquet(folder / "bench/corpus.parquet")["text"]).lower()))
    tiny_bert(folder / "model", words, positions=40, head=True)
    (folder / "experiment.toml").write_text(EXPERIMENT, encoding="utf-8")
    given = ("--with", "model=model")
    qbench("leaderboard", "bench", "--suite", "experiment.toml", *given, "-o", "experiment")
    systems = [word for name in SYSTEMS for word in ("--systems", name.format(model="model"))]
    qbench("leaderboard", "bench", *systems, "--depth", "100", "--resamples", "500", "-o", "neural")
    (folder / "log.txt").write_text("\n".join(logs), encoding="utf-8")


def outputs(folder: Path) -> dict[str, Callable[[int], str]]:
    """What is compared, by name: from a number of significant digits to a digest."""
    found: dict[str, Callable[[int], str]] = {}

    def tables(name: str, *skipped: str) -> None:
        for path in sorted((folder / name).glob("*.parquet")):
            if path.name not in skipped:
                found[f"{name}/{path.name}"] = lambda digits, path=path: _frame_digest(pl.read_parquet(path), digits)

    for name in ("index", "bench", "descriptions", "pairs", "test-set"):
        tables(name)
        found[f"{name} counts"] = lambda digits, name=name: _json_digest(
            json.loads((folder / name / "manifest.json").read_text())["counts"], digits
        )
    for name in ("board", "quantities", "neural"):
        tables(name)
        runs = folder / name / "runs"
        for path in sorted(runs.glob("*/manifest.json"), key=lambda p: _run_name(p)):
            found[f"{name} run {_run_name(path)}"] = lambda digits, path=path: _frame_digest(
                pl.read_parquet(path.with_name("run.parquet")), digits
            )
    for path in sorted((folder / "experiment").rglob("cells.parquet")):
        found[f"experiment/{path.name}"] = lambda digits, path=path: _frame_digest(pl.read_parquet(path), digits)
    for path in sorted((folder / "experiment").rglob("history.json")):
        found[f"experiment history {_kind_of(path)}"] = lambda digits, path=path: _json_digest(
            json.loads(path.read_text()), digits
        )
    for path in sorted((folder / "published").rglob("*")):
        if path.is_file():
            name = str(path.relative_to(folder))
            if path.suffix == ".parquet":
                found[name] = lambda digits, path=path: _frame_digest(pl.read_parquet(path), digits)
            elif path.suffix in (".json", ".jsonl", ".md", ".txt"):
                found[name] = lambda digits, path=path: _text_digest(path)
            else:
                found[name] = lambda digits: "present"
    return found


def _run_name(manifest: Path) -> str:
    params = json.loads(manifest.read_text())["params"]
    return f"{params['system']} [{params['conditions']}]"


def _kind_of(history: Path) -> str:
    return str(json.loads((history.parent / "manifest.json").read_text())["kind"])


def _text_digest(path: Path) -> str:
    """Of a text without lines that speak of digests, sizes, commands and versions."""
    lines = [
        line
        for line in path.read_text(encoding="utf-8").splitlines()
        if not re.search(r"[0-9a-f]{12,}|qbench \d|version|bytes|revision|--", line)
    ]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


_ALIASES = (("bound", "comparator"), ("part", "split"), ("suite", "experiment"), ("board", "leaderboard"))


def _name(name: str) -> str:
    """The name of a column or field, whatever it was called before."""
    for old, new in _ALIASES:
        name = re.sub(rf"(^|_){old}(?=_|s?$)", rf"\g<1>{new}", name)
    return name


def _json_digest(value: Any, digits: int) -> str:
    return hashlib.sha256(json.dumps(_plain(value, digits), sort_keys=True).encode()).hexdigest()[:16]


def _plain(value: Any, digits: int) -> Any:
    if isinstance(value, dict):
        return {_name(str(k)): _plain(v, digits) for k, v in value.items() if not _UNSTABLE.search(str(k))}
    if isinstance(value, list | tuple):
        return [_plain(item, digits) for item in value]
    return _rounded(value, digits)


def _rounded(value: Any, digits: int) -> Any:
    return f"{value:.{digits}g}" if isinstance(value, float) else value


def _frame_digest(frame: pl.DataFrame, digits: int) -> str:
    kept = frame.select(sorted((name for name in frame.columns if not _UNSTABLE.search(name)), key=_name))
    lines = (json.dumps(_plain(row, digits), ensure_ascii=False, default=str) for row in kept.iter_rows())
    return hashlib.sha256("\n".join([",".join(map(_name, kept.columns)), *lines]).encode()).hexdigest()[:16]


def digits_of(name: str) -> int:
    """How many digits of a name's numbers are compared: models' figures differ more between machines."""
    return 3 if name.startswith(("neural", "experiment")) else 6


def digests(folder: Path, digits: Callable[[str], int] = digits_of) -> dict[str, str]:
    """The digest of every output in `folder`."""
    return {name: digest(digits(name)) for name, digest in outputs(folder).items()}


def differences(old: dict[str, str], new: dict[str, str]) -> list[str]:
    """What is not the same, one line each."""
    names: Iterable[str] = sorted({*old, *new})
    return [
        f"{name}: {'new' if name not in old else 'gone' if name not in new else 'changed'}"
        for name in names
        if old.get(name) != new.get(name)
    ]


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--bytes", type=Path)
    arguments = parser.parse_args()
    make(arguments.folder)
    new = digests(arguments.folder)
    if arguments.update:
        GOLDEN.write_text(json.dumps(new, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    found = differences(json.loads(GOLDEN.read_text(encoding="utf-8")), new)
    if arguments.bytes:
        exact = digests(arguments.folder, lambda name: 17)
        if not arguments.bytes.exists():
            arguments.bytes.write_text(json.dumps(exact, indent=1), encoding="utf-8")
        found += [f"exactly: {line}" for line in differences(json.loads(arguments.bytes.read_text()), exact)]
    sys.stdout.write("".join(f"{line}\n" for line in found) or "all golden outputs are equal\n")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
