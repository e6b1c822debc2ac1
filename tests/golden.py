"""Golden outputs: what the main commands make from the embedded corpus, as digests that change when results change.

    python -m tests.golden FOLDER             make everything in FOLDER and compare it with tests/golden.json
    python -m tests.golden FOLDER --lexical   leave out what models make, as the test does
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
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import polars as pl

GOLDEN = Path(__file__).with_name("golden.json")

LEXICAL = """
title = "Golden"

[inputs]
bench = { help = "a benchmark" }

[[mask]]
name = "values"
bench = "{bench}"
what = "values"

[[leaderboard]]
name = "plain"
bench = "{bench}"
systems = { "BM25" = "BM25", "QBM25" = "QBM25" }
measures = ["nDCG@10", "P@10"]

[[leaderboard]]
name = "masked"
bench = "{values}"
systems = { "BM25" = "BM25", "QBM25" = "QBM25" }
measures = ["nDCG@10", "P@10"]

[[table]]
title = "Rows"
against = { "QBM25" = "BM25" }

[[table]]
title = "Boards"
measures = ["nDCG@10"]
change_from = "plain"
"""

NEURAL = """
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

[[train]]
name = "student"
kind = "bi-encoder"
model = "{model}"
teacher = "{multi}"

[[leaderboard]]
name = "plain"
bench = "{bench}"
measures = ["nDCG@10", "P@10"]

[leaderboard.systems]
"BM25" = "BM25"
"SBERT_ft" = "SBERT_ft(model={single})"
"SPLADE_ft" = "SPLADE_ft(model={sparse})"
"ColBERT_ft" = "ColBERT_ft(model={multi})"
"TCT-ColBERT" = "TCT-ColBERT(model={student}, markers=none)"

[[table]]
title = "Rows"
against = { "SBERT_ft" = "BM25" }
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


def make(folder: Path, *, neural: bool = True) -> None:
    """Run the commands in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "log.txt"

    def qbench(*arguments: str) -> None:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "160", "HF_HUB_OFFLINE": "1"}
        done = subprocess.run(
            [sys.executable, "-m", "qbench", *arguments], cwd=folder, capture_output=True, text=True, env=environment
        )
        with log.open("a", encoding="utf-8") as stream:
            stream.write(f"$ qbench {' '.join(arguments)}\n{done.stdout}{done.stderr}\n")
        if done.returncode:
            raise SystemExit(f"qbench {' '.join(arguments)}\n{done.stdout}\n{done.stderr}")

    qbench("leaderboard", "-o", "board")
    qbench("build-index", "qbench-leaderboard/embedded/corpus", "-o", "index")
    qbench("gen-queries", "index", "-o", "bench", "--max-train", "150", "--max-dev", "40", "--value-permutation")
    qbench("describe", "index", "-o", "descriptions")
    qbench("mine-paraphrases", "descriptions", "-o", "pairs")
    qbench("test-set", "make", "pairs", "-o", "test-set")
    qbench("leaderboard", "test-set", "-o", "quantities", "--systems", "C_s-BM25", "--systems", "C_q-BM25")
    licence = ("--licence", "cc-by-4.0", "--repo-id", "me/numbers")
    qbench("publish", "bench", *licence, "--dry-run", "-o", "published")
    (folder / "lexical.toml").write_text(LEXICAL, encoding="utf-8")
    qbench("leaderboard", "bench", "--experiment", "lexical.toml", "-o", "experiment")
    if not neural:
        return
    from tests.encoder_factories import tiny_bert

    words = set(re.findall(r"[a-z]+", " ".join(pl.read_parquet(folder / "bench/corpus.parquet")["text"]).lower()))
    tiny_bert(folder / "model", words, positions=40, head=True)
    tiny_bert(folder / "plain", words, positions=40)
    (folder / "neural.toml").write_text(NEURAL, encoding="utf-8")
    qbench("leaderboard", "bench", "--experiment", "neural.toml", "--with", "model=model", "-o", "neural-experiment")
    qbench("train", "bi-encoder", "pairs", "-o", "neural-pairs", "--model", "plain", "--epochs", "2")
    systems = [word for name in SYSTEMS for word in ("--systems", name.format(model="model"))]
    qbench("leaderboard", "bench", *systems, "--depth", "100", "--resamples", "500", "-o", "neural")


def digests(folder: Path, digits: Callable[[str], int] | None = None) -> dict[str, str]:
    """The digest of every output in `folder`; outputs of one name (the runs of one system) share one."""
    found: dict[str, list[str]] = {}
    for name, path in _outputs(folder):
        name = re.sub(r"/\S*/|-[0-9a-f]{8}\b", lambda match: "/" if "/" in match[0] else "", name)
        found.setdefault(name, []).append(_digest(path, (digits or digits_of)(name)))
    return {name: ones[0] if len(ones) == 1 else _json_digest(sorted(ones), 0) for name, ones in sorted(found.items())}


def _outputs(folder: Path) -> Iterator[tuple[str, Path]]:
    """What is compared: names and files."""
    for name in ("index", "bench", "descriptions", "pairs", "test-set"):
        yield from ((f"{name} {path.name}", path) for path in (folder / name).glob("*.parquet"))
        yield f"{name} counts", folder / name / "manifest.json"
    for name in ("board", "quantities", "experiment", "neural-experiment", "neural"):
        for path in (folder / name).rglob("*.parquet"):
            if path.name == "run.parquet":
                yield f"{name} run {_run_name(path)}", path
            elif not {"indexes", "checkpoints"} & set(path.parts):
                yield f"{name} {path.parent.name} {path.name}", path
        yield from ((f"{name} {path.stem}", path) for path in (folder / name).glob("*/[es]*.json"))
    for path in folder.glob("neural*/**/log.json"):
        yield f"{path.relative_to(folder).parts[0]} training {_training_name(path)}", path
    for path in (folder / "published").rglob("*"):
        if path.is_file():
            yield " ".join(path.relative_to(folder).parts), path


def _digest(path: Path, digits: int) -> str:
    if path.suffix == ".parquet":
        return _frame_digest(pl.read_parquet(path), digits)
    if path.suffix == ".json":
        value = json.loads(path.read_text(encoding="utf-8"))
        # Of a manifest what was counted, of an experiment its tables; a training's log is a list, and all of it counts.
        kept = value if isinstance(value, list) else {key: value[key] for key in ("counts", "tables") if key in value}
        return _json_digest(kept, digits)
    return _text_digest(path) if path.suffix in (".jsonl", ".md", ".txt") else "present"


def _run_name(run: Path) -> str:
    params = json.loads(run.with_name("manifest.json").read_text())["params"]
    return f"{params['system']} [{params['conditions']}]"


def _training_name(log: Path) -> str:
    manifest = json.loads((log.parent / "manifest.json").read_text())
    return f"{manifest['kind']}{' with a teacher' if manifest['params'].get('teacher') else ''}"


def _text_digest(path: Path) -> str:
    """Of a text without indented blocks (commands, parameters) and lines about digests, sizes and versions."""
    lines = [
        line
        for line in path.read_text(encoding="utf-8").splitlines()
        if not re.search(r"^    |[0-9a-f]{12,}|qbench \d|version|bytes|revision|--", line)
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
    return 3 if name.startswith("neural") else 6


def expected(*, neural: bool = True) -> dict[str, str]:
    """The golden digests."""
    kept: dict[str, str] = json.loads(GOLDEN.read_text(encoding="utf-8"))
    return {name: digest for name, digest in kept.items() if neural or not name.startswith("neural")}


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
    parser.add_argument("--lexical", action="store_true")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--bytes", type=Path)
    arguments = parser.parse_args()
    make(arguments.folder, neural=not arguments.lexical)
    new = digests(arguments.folder)
    if arguments.update:
        GOLDEN.write_text(json.dumps(new, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    found = differences(expected(neural=not arguments.lexical), new)
    if arguments.bytes:
        exact = digests(arguments.folder, lambda name: 17)
        if not arguments.bytes.exists():
            arguments.bytes.write_text(json.dumps(exact, indent=1), encoding="utf-8")
        found += [f"exactly: {line}" for line in differences(json.loads(arguments.bytes.read_text()), exact)]
    sys.stdout.write("".join(f"{line}\n" for line in found) or "all golden outputs are equal\n")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
