"""More of what is fuzzed: what qbench keeps of its own work, and what people and models give it back."""

from __future__ import annotations

import csv
import json
import shutil
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np

from qbench.benchmark.disk import open_benchmark, write_benchmark
from tests.factories import tiny_benchmark
from tests.fuzz.subject import TEXTS, Subject, each

# A corpus of synth, a grounded index


def _facts(folder: Path) -> None:
    rows = "".join(f"A{n},Aria {n},laptop,{n % 7 + 1}.2,{500 + 10 * n}\n" for n in range(40))
    (folder / "table.csv").write_text(f"id,name,kind,weight_kg,price_usd\n{rows}")


def _synth(folder: Path) -> None:
    from qbench.synth.make import synthesize

    _facts(folder)
    synthesize(folder / "table.csv", folder / "corpus")


def _read_synth(folder: Path) -> None:
    from qbench.corpora import ReadOptions, open_source
    from qbench.corpora.source import read_documents
    from qbench.corpora.types import Problems
    from qbench.generation.expansions import Expansions

    each(
        lambda: list(read_documents(open_source(folder / "corpus"), ReadOptions(), Problems("skip"))),
        lambda: Expansions.load(folder / "corpus" / "expansions.tsv"),
    )


def _grounded(folder: Path) -> None:
    from qbench.grounding.ground import ground

    _facts(folder)
    texts = [f"A laptop. Weighs {n % 7 + 1}.2 kg. It costs ${500 + 10 * n}." for n in range(12)]
    pages = "".join(json.dumps({"id": f"A{n}", "text": text}) + "\n" for n, text in enumerate(texts))
    (folder / "pages.jsonl").write_text(pages)
    ground(folder / "table.csv", folder / "pages.jsonl", folder / "index", workers=1)


def _read_grounded(folder: Path) -> None:
    from qbench.generation.generate import generate
    from qbench.grounding.report import read_report

    each(lambda: read_report(folder / "index"), lambda: generate(folder / "index", folder / "bench"))


def _generate(folder: Path) -> None:
    from qbench.generation.generate import generate

    generate(folder / "index", folder / "bench")


def _index(folder: Path) -> None:
    from qbench.index import build_index
    from qbench.quantities.extractors import ExtractorOptions

    _synth(folder)
    build_index(folder / "corpus", folder / "index", extractor=ExtractorOptions("given"), workers=1)
    shutil.rmtree(folder / "corpus")


# Mining


def _pairs(folder: Path) -> None:
    from qbench.mining.test_set import make_test_set
    from tests.encoder_factories import regular_pairs, write_pairs
    from tests.mining.pairs_factory import fact_world, pairs_folder

    write_pairs(folder / "regular", *regular_pairs(8))
    pairs_folder(folder / "pairs", *fact_world(6))
    make_test_set(folder / "pairs", folder / "test-set")
    (folder / "own.tsv").write_text("description\tquantity\nsales of tea\t$4.5 million\nweight\t3 kg\n")


def _read_pairs(folder: Path) -> None:
    from qbench.mining.describe import Descriptions
    from qbench.mining.description_table import import_descriptions
    from qbench.mining.paraphrases import Pairs
    from qbench.mining.retrieve import retrieve_quantity
    from qbench.mining.test_set import open_test_set
    from qbench.training.mined_pairs import read_pairs

    def described() -> None:
        found = Descriptions.open(folder / "pairs")
        found.read()
        retrieve_quantity(found, ["total revenue"], top=2)

    def opened() -> None:
        found = open_test_set(folder / "test-set")
        found.records()
        found.queries()

    each(
        described,
        lambda: read_pairs(Pairs.open(folder / "regular").path, dev_share=0.2, seed=1),
        opened,
        lambda: import_descriptions(folder / "own.tsv", folder / "own", on_error="skip"),
    )


# Leaderboards


def _board(folder: Path) -> None:
    write_benchmark(tiny_benchmark(), folder / "bench")
    _run(folder, None)
    shutil.copytree(folder / "board", folder / "other")


def _run(folder: Path, systems: list[str] | None) -> None:
    from qbench.leaderboard.run import run_leaderboard

    systems = systems or ["BM25", "QBM25"]
    run_leaderboard(folder / "bench", systems, output=folder / "board", add=True, resamples=100, workers=1)


def _read_board(folder: Path) -> None:
    from qbench.leaderboard.overview import read_overview

    each(lambda: read_overview([folder / "board", folder / "other"]), lambda: _run(folder, ["BM25"]))


# Sheets of people


def _sheets(folder: Path) -> None:
    from qbench.annotation.audit import draw_audit
    from qbench.annotation.audit_form import benchmark_subject
    from qbench.annotation.options import AuditOptions, SheetOptions
    from qbench.annotation.sheet import export_sheet

    write_benchmark(tiny_benchmark(), folder / "bench")
    bench = open_benchmark(folder / "bench")
    export_sheet(bench, folder / "sheet", SheetOptions())
    draw_audit(benchmark_subject(bench, AuditOptions()), folder / "audit", AuditOptions())
    for name, column, answer in (("sheet", "grade", "1"), ("audit", "verdict", "right")):
        with (folder / name / f"{name}.csv").open(encoding="utf-8-sig", newline="") as stream:
            rows = [{**row, column: answer} for row in csv.DictReader(stream)]
        with (folder / f"{name}.csv").open("w", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)


def _read_sheets(folder: Path) -> None:
    from qbench.annotation.audit import open_audit, read_audit
    from qbench.annotation.audit_form import benchmark_subject
    from qbench.annotation.judged import import_answers
    from qbench.annotation.options import AuditOptions, ImportOptions
    from qbench.annotation.sheet import open_sheet

    bench, skip = open_benchmark(folder / "bench"), ImportOptions(on_error="skip")
    each(
        lambda: import_answers(bench, open_sheet(folder / "sheet"), [folder / "sheet.csv"], folder / "judged", skip),
        lambda: read_audit(
            benchmark_subject(bench, AuditOptions()), open_audit(folder / "audit"), [folder / "audit.csv"], skip
        ),
    )


# Gold, recordings, the log


def _gold(folder: Path) -> None:
    from tests.extractor_factories import write_annotations
    from tests.gold_factories import english, write_rows

    write_rows(folder / "gold.jsonl", english(12))
    write_annotations(folder / "annotations.jsonl")


def _read_gold(folder: Path) -> None:
    from qbench.mining.gold import read_gold
    from qbench.training.annotations import read_annotations

    each(lambda: read_gold(folder / "gold.jsonl"), lambda: read_annotations([folder / "annotations.jsonl"]))


def _recording(folder: Path) -> None:
    from qbench.llm.calls import Call
    from qbench.llm.recording import Recording

    with Recording(folder / "answers.sqlite").opened() as table:
        answers = {b"k" * 32: {"text": "yes", "finish": "stop"}, b"v" * 32: np.ones(3, np.float32)}
        table.add(Call("openai chat", "m"), answers)
    entry = {"time": "2020-01-01T00:00:00Z", "seconds": 1.5, "exit": 0, "command": "qbench extract x", "version": "0"}
    (folder / "log.jsonl").write_text((json.dumps(entry) + "\n") * 3)


def _read_recording(folder: Path) -> None:
    from qbench.cli.log import _entries
    from qbench.llm.recording import Recording

    _entries(folder / "log.jsonl")
    with Recording(folder / "answers.sqlite").opened(read_only=True) as table:
        table.find([b"k" * 32, b"v" * 32])
        table.calls()
        table.columns()


# Models


def _codebook(folder: Path) -> None:
    from tests.compression.trained_codebook import drawn, some_network, write_codebook

    write_codebook(folder / "codebook", drawn((4, 8, 3)), network=some_network(4, 8, 12))


def _read_codebook(folder: Path) -> None:
    from qbench.compression.trained import Trained

    codec = Trained(codebook=folder / "codebook")
    sample = np.ones((4, 12), np.float32)
    codec.refuse_unfit("WolfPQ", {})
    codec.fit(sample).encode(sample)


def _model(folder: Path) -> None:
    from tests.encoder_factories import tiny_bert

    tiny_bert(folder / "model", " ".join(TEXTS).lower().split())


def _read_model(folder: Path) -> None:
    from qbench.models.encoders import open_encoder

    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        open_encoder(folder / "model")


WORK: dict[str, Subject] = {
    "synth": Subject(_synth, _read_synth),
    "synth of a stranger": Subject(_synth, _read_synth, sealed=True),
    "queries of a stranger's index": Subject(_index, _generate, sealed=True),
    "grounded index of a stranger": Subject(_grounded, _read_grounded, sealed=True),
    "pairs": Subject(_pairs, _read_pairs),
    "pairs of a stranger": Subject(_pairs, _read_pairs, sealed=True),
    "board": Subject(_board, _read_board),
    "sheets": Subject(_sheets, _read_sheets),
    "gold": Subject(_gold, _read_gold),
    "recording": Subject(_recording, _read_recording),
    "codebook of a stranger": Subject(_codebook, _read_codebook, sealed=True),
    "model": Subject(_model, _read_model),
}
