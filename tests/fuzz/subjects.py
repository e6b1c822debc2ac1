"""What is fuzzed: every reader of files and every artefact, each with a small whole input and what reads it."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from qbench.benchmark.disk import write_benchmark
from qbench.benchmark.export import export_beir
from tests.benchmark.conftest import BeirFolder, QuantFolder
from tests.factories import tiny_audit, tiny_benchmark
from tests.fuzz.subject import TEXTS, Subject, each
from tests.fuzz.work_subjects import WORK
from tests.resealed import reseal

ROOT = Path(__file__).parents[2]


def drain(rows: Iterator[object]) -> None:
    for _ in rows:
        pass


# Corpora and tables


def _records() -> list[dict[str, object]]:
    return [{"id": f"d{n}", "title": "Title", "text": text, "n": {"a": n}} for n, text in enumerate(TEXTS)]


def _corpus(name: str) -> Subject:
    def make(folder: Path) -> None:
        path = folder / name
        if name.endswith(".parquet"):
            pl.DataFrame(_records()).write_parquet(path)
            return
        if ".json" in name:
            text = "".join(json.dumps(row) + "\n" for row in _records())
        elif name.endswith(".txt"):
            text = "\n\n".join(TEXTS)
        else:
            sign = "\t" if name.endswith(".tsv") else ","
            rows = [["id", "title", "text"], *([str(row["id"]), "T", str(row["text"])] for row in _records())]
            text = "".join(sign.join(f'"{cell}"' for cell in row) + "\n" for row in rows)
        data = text.encode()
        path.write_bytes(gzip.compress(data, mtime=0) if name.endswith(".gz") else data)

    def read(folder: Path) -> None:
        from qbench.corpora import ReadOptions, open_source
        from qbench.corpora.source import read_documents
        from qbench.corpora.types import Problems

        drain(read_documents(open_source(folder / name), ReadOptions(), Problems("skip")))

    return Subject(make, read)


def _table(name: str) -> Subject:
    def make(folder: Path) -> None:
        frame = pl.DataFrame({"name": ["Aria", "Bolt"], "weight_kg": [1.2, 2.5], "price": ["$5", "6,50 €"]})
        path = folder / name
        if name.endswith(".csv"):
            frame.write_csv(path)
        elif name.endswith(".parquet"):
            frame.write_parquet(path)
        else:
            frame.write_ndjson(path)
        mapping = 'name = "name"\nnoun = "laptop"\n[attributes.weight_kg]\nunit = "kilogram"\n'
        (folder / "mapping.toml").write_text(mapping)

    def read(folder: Path) -> None:
        from qbench.corpora.tables import Table
        from qbench.corpora.types import Problems
        from qbench.quantities.units import load_units
        from qbench.synth.mapping import load_mapping

        rows = list(Table(folder / name, Problems("skip")).rows())
        load_mapping(folder / "mapping.toml", rows[0][1], load_units())

    return Subject(make, read)


# Benchmarks of others


def _read_beir(folder: Path) -> None:
    from qbench.benchmark.importers.beir import read_beir

    read_beir(folder, on_error="skip")


def _read_quant(folder: Path) -> None:
    from qbench.benchmark.importers.quant import read_quant

    read_quant(folder, on_error="skip")


def _runs(folder: Path) -> None:
    (folder / "run.txt").write_text("q1 Q0 d1 1 2.5 x\nq1 Q0 d2 2 1e-3 x\n")
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\n")
    pl.DataFrame({"query_id": ["q1"], "doc_id": ["d1"], "score": [0.5]}).write_parquet(folder / "run.parquet")


def _read_runs(folder: Path) -> None:
    from qbench.benchmark.trec import read_qrels, read_run

    each(
        lambda: read_run(folder / "run.txt"),
        lambda: read_run(folder / "run.parquet"),
        lambda: read_qrels(folder / "qrels.tsv"),
    )


# Artefacts


def _benchmark(folder: Path) -> None:
    write_benchmark(tiny_benchmark(), folder / "bench")
    (folder / "bench" / "audit.json").write_text(json.dumps(tiny_audit(folder / "bench").to_json()))


def _read_benchmark(folder: Path) -> None:
    from qbench.benchmark.audits import audit_note
    from qbench.benchmark.card import card
    from qbench.benchmark.check import check, check_files
    from qbench.benchmark.disk import open_benchmark

    opened = open_benchmark(folder / "bench")
    for name in ("samples", "triples", "quantities"):
        opened.table(name)
    card(opened, "name", opened.digest)
    audit_note(opened.audit, opened.digest)
    check_files(folder / "bench")
    check(opened)


def _index(folder: Path) -> None:
    from qbench.index import build_index

    path = folder / "corpus.jsonl"
    path.write_text("".join(json.dumps({"id": str(n), "text": text}) + "\n" for n, text in enumerate(TEXTS)))
    build_index(path, folder / "index", workers=1)


def _read_index(folder: Path) -> None:
    from qbench.index import Index
    from qbench.index.show import counts_lines, examples, select, top_pairs, top_units

    index = Index.open(folder / "index")
    for table in (index.sentences(), index.quantities(), index.pairs()):
        index.collected(table)
    counts_lines(index)
    top_pairs(index, 5)
    top_units(index, 5)
    select(index, None, "kilogram")
    examples(index, None, "kilogram", 3)


def _publication(folder: Path) -> None:
    from dataclasses import replace

    from qbench.publishing.options import PublishOptions
    from qbench.publishing.publish import publish

    made = tiny_benchmark()
    write_benchmark(replace(made, params={**made.params, "licence": "cc-by-4.0"}), folder / "bench")
    publish(folder / "bench", folder / "out", PublishOptions("me/tiny", picture=False), dry_run=True)
    shutil.rmtree(folder / "bench")


def _pull(folder: Path) -> None:
    from qbench.publishing.pull import pull

    pull(folder / "out", folder / "back")


# Files that users write


def _settings(folder: Path) -> None:
    for place in ("templates/queries.toml", "templates/sentences.toml", "prompts/expand-general.toml"):
        shutil.copyfile(ROOT / place, folder / Path(place).name)
    shutil.copyfile(ROOT / "benchmarks" / "experiments" / "main.toml", folder / "experiment.toml")
    (folder / "prices.toml").write_text("[small]\ninput = 0.5\noutput = 1\n")
    (folder / "tolerances.toml").write_text("default = 0.01\n[family]\nmass = 0.1\n[query]\nq1 = 0.2\n")
    (folder / "units.txt").write_text("# own\n[mass = kilogram]\nstone = 6.35 kilogram; stone; st\n")
    (folder / "names.tsv").write_text("laptop\tnotebook\nlaptop weight\tweight of a laptop\n")
    (folder / "names.json").write_text('{"laptop": ["notebook", "portable computer"]}')
    rows = "query_id,doc_id,grade,comment\nq1,d1,1,\nq2,d2,?,why\n"
    (folder / "sheet.csv").write_text(rows)


def _read_settings(folder: Path) -> None:
    from qbench.benchmark.relax import Tolerances
    from qbench.generation.expansions import Expansions
    from qbench.generation.templates import load_templates
    from qbench.leaderboard.experiments import read_experiment
    from qbench.llm.budget import read_prices
    from qbench.llm.prompts import load_prompt
    from qbench.quantities.units import load_units
    from qbench.sheets import read_sheet
    from qbench.synth.sentences import Grammar

    each(
        lambda: load_templates(folder / "queries.toml"),
        lambda: Grammar.load(folder / "sentences.toml"),
        lambda: load_prompt("expand", folder / "expand-general.toml"),
        lambda: read_experiment(folder / "experiment.toml"),
        lambda: read_prices(folder / "prices.toml"),
        lambda: Tolerances.load(folder / "tolerances.toml"),
        lambda: load_units(folder / "units.txt"),
        lambda: Expansions.load(folder / "names.tsv"),
        lambda: Expansions.load(folder / "names.json"),
        lambda: drain(read_sheet(folder / "sheet.csv", ("query_id", "doc_id", "grade"))),
    )


# Texts, queries, answers of servers


def _texts(folder: Path) -> None:
    (folder / "texts.txt").write_text("\n".join((*TEXTS, "65w charger under usd 40", "hba1c above 7%, 2 to 3 lb")))


def _read_texts(folder: Path) -> None:
    from qbench.quantities.extractors import ExtractorOptions, get_extractor

    engine = get_extractor(ExtractorOptions())
    for raw in (folder / "texts.txt").read_bytes().split(b"\n"):
        text = raw.decode("utf-8", "replace")[:5000]
        for mention in engine.extract(text):
            start, end = mention.value_span
            if not 0 <= start <= end <= len(text) or mention.value != mention.value:
                raise AssertionError(f"{mention}")
        engine.parse_query(text)


def _answers(folder: Path) -> None:
    good = {"choices": [{"message": {"content": '{"names": ["money taken in"]}'}, "finish_reason": "stop"}]}
    (folder / "answer.json").write_text(json.dumps({**good, "usage": {"prompt_tokens": 3, "completion_tokens": 2}}))
    (folder / "error.json").write_text(json.dumps({"error": {"message": "no luck", "code": "x"}}))


def _read_answers(folder: Path) -> None:
    from qbench.llm.api_keys import Key
    from qbench.llm.calls import RequestError
    from qbench.llm.chat_answers import texts_of
    from qbench.llm.prompts import TASKS
    from qbench.llm.transport import _without_key, parsed, refusal

    key = Key("OPENAI_API_KEY", "sk-secret")
    body = (folder / "answer.json").read_bytes()
    texts_of({"text": body.decode(errors="replace"), "finish": "stop"}, TASKS["expand"])
    for status in (400, 401, 429, 500):
        str(refusal(status, {"retry-after": "x"}, (folder / "error.json").read_bytes().decode(errors="replace"), key))
    try:
        texts_of(_without_key(parsed(body), body, key), TASKS["expand"])
    except RequestError:
        return


def _export(folder: Path) -> None:
    export_beir(tiny_benchmark(), folder / "beir")


SUBJECTS: dict[str, Subject] = {
    **{name: _corpus(name) for name in ("c.jsonl", "c.csv", "c.tsv", "c.txt", "c.parquet", "c.jsonl.gz")},
    **{f"table {name}": _table(name) for name in ("t.csv", "t.jsonl", "t.parquet")},
    "runs": Subject(_runs, _read_runs),
    "beir": Subject(lambda folder: BeirFolder(folder).write(), _read_beir),
    "beir of ours": Subject(_export, lambda folder: _read_beir(folder / "beir")),
    "quant": Subject(lambda folder: QuantFolder(folder).write(), _read_quant),
    "benchmark": Subject(_benchmark, _read_benchmark),
    "benchmark of a stranger": Subject(_benchmark, _read_benchmark, sealed=True),
    "index": Subject(_index, _read_index),
    "index of a stranger": Subject(_index, _read_index, sealed=True),
    "publication": Subject(_publication, _pull),
    "publication of a stranger": Subject(_publication, _pull, sealed=True),
    "settings": Subject(_settings, _read_settings),
    "texts": Subject(_texts, _read_texts),
    "answers": Subject(_answers, _read_answers),
    **WORK,
}


def sealed(folder: Path) -> None:
    """Let every manifest below a folder agree with its files, inner ones first, as far as it is still one."""
    for manifest in sorted(folder.rglob("manifest.json"), key=lambda path: -len(path.parts)):
        try:
            reseal(manifest.parent)
        except (ValueError, TypeError, AttributeError, LookupError, OSError, RecursionError):
            continue
