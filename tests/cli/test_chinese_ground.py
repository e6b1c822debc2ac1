"""A Chinese table and Chinese pages: units of its heads, facts that the pages state, queries in Chinese, a board."""

from __future__ import annotations

import csv
import json

from typer.testing import CliRunner

from qbench.benchmark.disk import open_benchmark
from qbench.cli import gen_queries, ground
from qbench.index.disk import Index
from qbench.retrieval.execute import execute
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.jobs import ExecuteOptions

HEADS = ["编号", "品牌", "重量", "价格(元)", "电池容量（毫安时）", "快充功率(瓦)", "待机功率(瓦)"]


def call(verb, *words):
    result = CliRunner().invoke(verb.app, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result


def test_a_chinese_table_is_grounded_and_asked_about_in_chinese(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with (
        (tmp_path / "手机.csv").open("w", encoding="utf-8", newline="") as table,
        (tmp_path / "pages.jsonl").open("w", encoding="utf-8") as pages,
    ):
        rows = csv.writer(table)
        rows.writerow(HEADS)
        for n in range(36):
            row = [f"p{n}", "白鹭" if n % 3 else "远山", f"{150 + 3 * n}克", 900 + 200 * (n * 7 % 36)]
            row += [3000 + 100 * (n % 25), 20 + 2 * n, 5 + n % 7]
            rows.writerow(row)
            text = (
                f"这款{row[1]}手机重量为{row[2]}，价格为{row[3]}元。电池容量达到{row[4]}毫安时。"
                f"快充功率为{row[5]}瓦。待机功率为{row[6]}瓦。"
            )
            pages.write(json.dumps({"id": str(row[0]), "text": text}, ensure_ascii=False) + "\n")
    call(ground, "手机.csv", "pages.jsonl", "-o", "index", "--id", "编号", "--workers", 1)
    mapping = (tmp_path / "index" / "mapping.toml").read_text("utf-8")
    weight, capacity = 'name = "重量", unit = "gram"', 'name = "电池容量", unit = "milliampere hour"'
    for said in (weight, capacity, 'noun = "手机"', 'qualifier = "品牌"'):
        assert said in mapping
    report = json.loads((tmp_path / "index" / "report.json").read_text("utf-8"))
    assert Index.open(tmp_path / "index").extractor_options().language == "zh"
    stated = {one["name"]: one["stated"] for one in report["coverage"]}
    # Two powers in one unit are told apart by the names beside them, which no space parts from their sentence.
    assert stated["快充功率"] == stated["待机功率"] == stated["重量"] == 36
    call(gen_queries, "index", "-o", "bench", "--max-train", 20, "--max-dev", 5, "--max-test", 40)
    bench = open_benchmark(tmp_path / "bench")
    queries = bench.queries_of("test")
    assert queries
    assert not [one.text for one in queries if " " in one.text or any("a" <= sign <= "z" for sign in one.text)]
    assert any("远山手机" in one.text for one in queries)
    assert all(" " not in condition.concept[0] for one in queries for condition in one.conditions)
    (run,) = execute(bench, [parse_system("BM25_filter")], tmp_path / "work", ExecuteOptions(settings=("parsed",)))
    assert run.meta["queries_without_condition"] == 0
