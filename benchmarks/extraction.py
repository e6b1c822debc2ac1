"""The quantity extractor against gold: every set of which we have one, one page; errors by kind; speed.

    python benchmarks/extraction.py quality DATA -o OUT --scorer SCORE_SCRIPT
    python benchmarks/extraction.py quality DATA --scorer SCORE_SCRIPT --errors even [--only "wrong unit"]
    python benchmarks/extraction.py speed DATA -o OUT

DATA holds `extraction/`, `retrieval/movieqa/` and `corpora/`; SCORE_SCRIPT is the CQE evaluation's counting, imported
from where it lies. `quality` writes OUT/extraction.md and .json, `speed` OUT/extraction_speed.md and .json.
Extractors are named as the library names them, with a spaCy model after a colon where it is not `--spacy-model`:
"rules", "rules:none" (no parser), "quantulum3".

`--errors` prints the errors of a half of NewsQuant instead, text and all: to the terminal only. What is written has
figures and no gold text.

How the sets are counted stands in `extraction_sets/common.py` and in each set's module. quantulum3 orders some of its
choices by Python's hash seed, so the script starts itself again with PYTHONHASHSEED=0, and with one thread for every
library.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType
from typing import Any

from extraction_sets import cqe, criteria, disambiguation, errors, grobid, measeval, movieqa, qure, recognizers, speed
from extraction_sets.common import System

SETS = {
    "newsquant": cqe,
    "recognizers": recognizers,
    "grobid": grobid,
    "measeval": measeval,
    "criteria": criteria,
    "qure": qure,
    "disambiguation": disambiguation,
    "movieqa": movieqa,
}
SLOW = ("grobid", "disambiguation", "qure", "measeval")
"""Sets to start first."""

FIXED = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def main() -> None:
    options = arguments()
    if options.what == "one":
        print(json.dumps(speed.one(System(options.label, options.spacy_model), options.text, options.times)))
        return
    systems = [System(name, options.spacy_model) for name in options.extractors.split(",")]
    if options.what == "speed":
        write(options.output, "extraction_speed", *run_speed(options, systems))
        return
    scorer = load(options.scorer)
    if options.errors:
        found, total = errors.find(options.data, systems[0], scorer, options.errors)
        errors.show(found, options.only)
        print(f"{systems[0].label}, {options.errors}: {total} gold quantities, {len(found)} errors")
        return
    write(options.output, "extraction", *run_quality(options, systems, scorer))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="what", required=True)
    quality = commands.add_parser("quality", help="every gold set, or the errors of one")
    quality.add_argument("--scorer", type=Path, required=True, help="the score script")
    quality.add_argument("--sets", default=",".join(SETS), help="some of: %(default)s")
    quality.add_argument("--errors", choices=cqe.PARTS, help="print the first extractor's errors on that half")
    quality.add_argument(
        "--only", help='with --errors: only those whose label holds this ("missed", "concept: partly")'
    )
    measure = commands.add_parser("speed", help="sentences per second, and growing texts")
    measure.add_argument("--sentences", type=int, default=3000)
    measure.add_argument("--times", type=int, nargs="+", default=[1, 4, 16], help="how much the texts grow")
    measure.add_argument("--limit", type=float, default=120.0, help="seconds that one growing text may take")
    for command in (quality, measure):
        command.add_argument("data", type=Path)
        command.add_argument("-o", "--output", type=Path, default=Path())
        command.add_argument("--extractors", default="rules,rules:none,quantulum3")
    one = commands.add_parser("one", help="one growing text in this process; `speed` calls it")
    one.add_argument("label")
    one.add_argument("text")
    one.add_argument("times", type=int)
    for command in (quality, measure, one):
        command.add_argument("--spacy-model", default="embedded", help="for extractors that name none after a colon")
    return parser.parse_args()


def load(path: Path) -> ModuleType:
    """The score script as a module, from where it lies."""
    spec = importlib.util.spec_from_file_location("score_extraction", path)
    if spec is None or spec.loader is None:
        sys.exit(f"{path} is no Python script")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_quality(
    options: argparse.Namespace, systems: Sequence[System], scorer: ModuleType
) -> tuple[list[str], dict[str, Any]]:
    lines = ["# The quantity extractor against gold", "", *machine()]
    names = options.sets.split(",")
    record: dict[str, Any] = {name: {} for name in names}
    failed = {s.label: 0 for s in systems if s.is_quantulum}
    jobs = [
        (name, s, options.data, options.scorer)
        for s in reversed(systems)
        for name in sorted(names, key=lambda n: n not in SLOW)
    ]
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        for (name, system, *_), (figures, failures) in zip(jobs, pool.map(one_set, jobs), strict=True):
            record[name][system.label] = figures
            if system.label in failed:
                failed[system.label] += failures
    for name in names:
        gold_set = SETS[name]
        record[name] = {s.label: record[name][s.label] for s in systems}
        lines += [f"## {gold_set.TITLE}", "", " ".join(gold_set.ABOUT.split()), "", *tables(record[name]), ""]
    if "newsquant" in record:
        record["errors"] = errors.table(options.data, systems[0], scorer)
        lines += [f"## {errors.TITLE} ({systems[0].label})", "", " ".join(errors.ABOUT.split()), ""]
        lines += error_table(record["errors"])
    record["failed"] = failed
    for label, count in failed.items():
        lines += ["", f"Texts on which {label} raised an exception, counted as without a mention: {count}."]
    return lines, record


def one_set(job: tuple[str, System, Path, Path]) -> tuple[list[dict[str, Any]], int]:
    """One set with one extractor, in a process of its own: its figures, and the texts that the extractor failed on."""
    name, system, data, scorer = job
    began = time.perf_counter()
    figures = [figure.figures() for figure in SETS[name].measure(data, system, load(scorer))]
    print(f"{system.label}: {name}: {time.perf_counter() - began:.1f} s", file=sys.stderr)
    return figures, system.failed


def tables(figures: dict[str, list[dict[str, Any]]]) -> list[str]:
    """P, R and F1 of all systems in one table, shares in another."""
    labels = list(figures)
    rows = list(zip(*figures.values(), strict=True))
    scores = [row for row in rows if "F1" in row[0]]
    shares = [row for row in rows if "F1" not in row[0]]
    lines: list[str] = []
    if scores:
        lines.append("| | gold | " + " | ".join(f"{name}: predicted | P | R | F1" for name in labels) + " |")
        lines.append("|---|" + "---:|" * (1 + 4 * len(labels)))
        for row in scores:
            cells = [f"{r['predicted']:,} | {r['P']:.1f} | {r['R']:.1f} | **{r['F1']:.1f}**" for r in row]
            lines.append(f"| {row[0]['what']} | {row[0]['gold']:,} | " + " | ".join(cells) + " |")
    if shares:
        lines += [""] if scores else []
        lines.append("| right, in per cent (of) | " + " | ".join(labels) + " |")
        lines.append("|---|" + "---:|" * len(labels))
        for row in shares:
            cells = [f"{r['per cent']:.1f} ({r['of']:,})" for r in row]
            lines.append(f"| {row[0]['what']} | " + " | ".join(cells) + " |")
    return lines


def error_table(rows: dict[str, dict[str, int]]) -> list[str]:
    lines = ["| | " + " | ".join(cqe.PARTS) + " |", "|---|" + "---:|" * len(cqe.PARTS)]
    for name, counts in rows.items():
        what, _, kind = name.partition("; ")
        label = f"{what}: {kind.partition(': ')[2]} ({kind.partition(': ')[0]})" if kind else f"**{what}**"
        lines.append(f"| {label} | " + " | ".join(str(counts[half]) for half in cqe.PARTS) + " |")
    return lines


def run_speed(options: argparse.Namespace, systems: Sequence[System]) -> tuple[list[str], dict[str, Any]]:
    script = Path(__file__).resolve()
    speed.pin()
    compared = speed.compare(speed.sentences(options.data, options.sentences), systems)
    slowest = compared["seconds"].get("quantulum3")
    lines = ["# Speed of the quantity extractor", "", *machine()]
    lines += [
        f"{compared['sentences']:,} sentences of sec_filings, {compared['characters']:,} characters; one core.",
        "",
    ]
    lines += ["| | seconds | sentences/s | to quantulum3 |", "|---|---:|---:|---:|"]
    for label, seconds in compared["seconds"].items():
        ratio = f"{slowest / seconds:.1f}" if slowest else "-"
        lines.append(f"| {label} | {seconds:.2f} | {compared['sentences'] / seconds:,.0f} | {ratio} |")
    grown = []
    for system in systems:
        if not system.is_quantulum:
            grown += speed.grow(script, system.label, options.spacy_model, options.times, options.limit)
    lines += ["", "Growing texts, one call each in a fresh process:", "", *growth_table(grown)]
    return lines, {"compared": compared, "growth": grown}


def growth_table(rows: list[dict[str, Any]]) -> list[str]:
    """One line for each extractor and text, sizes side by side, and how the cost of a character grew."""
    times = list(dict.fromkeys(row["times"] for row in rows))
    head = " | ".join(f"{t}x: s | MB" for t in times)
    lines = [
        f"| extractor | text | {head} | s per character, last to first |",
        "|---|---|" + "---:|" * (2 * len(times) + 1),
    ]
    for label, text in dict.fromkeys((row["extractor"], row["text"]) for row in rows):
        group = {row["times"]: row for row in rows if (row["extractor"], row["text"]) == (label, text)}
        cells = [_growth_cell(group[t]) if t in group else "- | -" for t in times]
        rates = [row["seconds"] / row["characters"] for row in group.values() if row["seconds"]]
        ratio = f"{rates[-1] / rates[0]:.1f}" if len(rates) > 1 else "-"
        lines.append(f"| {label} | {text} | " + " | ".join(cells) + f" | {ratio} |")
    return lines


def _growth_cell(row: dict[str, Any]) -> str:
    return f"{row['fault']} | -" if row["seconds"] is None else f"{row['seconds']:.2f} | {row['peak_mb']:,}"


def machine() -> list[str]:
    words = " ".join(Path(w).name if os.sep in w else w for w in sys.argv)
    return [f"`python {words}`, {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}.", ""]


def write(folder: Path, name: str, lines: list[str], record: dict[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.md").write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
    (folder / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if any(os.environ.get(name) != value for name, value in FIXED.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **FIXED})
    main()
