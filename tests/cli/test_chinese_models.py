"""Chat models asked about Chinese texts: prompts of their language, answers checked by its rules."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from qbench.benchmark.disk import open_benchmark
from qbench.cli import benchmark, expand_concepts, gen_queries, leaderboard
from qbench.generation.expansions import Expansions
from qbench.index import build_index
from tests.api_server import KEY, ApiServer

NAMES = {
    "营业收入": ["同义词", "门店营业收入", "turnover of shops", "一年流水3亿", "卖货所得款项"],
    "毛利率": ["利润率", "毛利水平", "盈利水平"],
    "占地面积": ["店铺大小"],
}


def chat(asked):
    """What the scripted model says; the audit's verdict is about the query that the prompt ends with."""
    if asked.endswith("评分："):
        return "评分：4分"
    if asked.endswith("更有用的文本："):
        return "文本2"
    if asked.endswith("段文本的顺序："):
        return "【2】>【1】"
    slots = dict(line.split("：", 1) for line in asked.splitlines() if "：" in line)
    if "断言" in slots:
        return json.dumps({"verdict": "right"})
    if "概念" in slots:
        return json.dumps({"names": NAMES.get(slots["概念"], ["店里的事"])}, ensure_ascii=False)
    return json.dumps({"query": f"哪些门店的{slots['查询']}"}, ensure_ascii=False)


@pytest.fixture
def web(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = [
        f"报告期内，营业收入为{10 + n}.5亿元。毛利率为{20 + n % 9}%。占地面积{300 + 7 * n}平方米。" for n in range(24)
    ]
    rows = [json.dumps({"id": str(n), "text": text}, ensure_ascii=False) for n, text in enumerate(texts)]
    (tmp_path / "corpus.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    build_index(tmp_path / "corpus.jsonl", tmp_path / "index", workers=1)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with ApiServer(chat=chat) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        yield server


def call(verb, *words):
    result = CliRunner().invoke(verb.app, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result


def asked(web):
    """The messages of every question."""
    return [sent["messages"] for _, sent, _ in web.seen]


def test_from_an_index_to_names_queries_and_an_audit(web, tmp_path):
    model = ("--model", "m", "--tries", 1)
    call(expand_concepts, "index", "-o", "names.tsv", *model, "--names", 2, "--rejected", "rejected.tsv")
    names = Expansions.load(tmp_path / "names.tsv")
    kept = {"营业收入": ("卖货所得款项",), "毛利率": ("利润率", "盈利水平"), "占地面积": ("店铺大小",)}
    assert {concept: tuple(names.lookup(concept)) for concept in kept} == kept
    assert names.provenance["prompt"] == "expand-general.zh"
    reasons = [line.split("\t")[1:] for line in (tmp_path / "rejected.tsv").read_text("utf-8").splitlines()[1:]]
    assert ["同义词", "speaks of the task"] in reasons
    assert ["门店营业收入", "reuses a word of the concept"] in reasons
    assert ["毛利水平", "reuses a word of the concept"] in reasons  # 利润率 has no two neighbouring characters of it
    assert ["turnover of shops", "in another language"] in reasons
    assert ["一年流水3亿", "states a quantity"] in reasons
    opening, question = asked(web)[0][0]["content"], asked(web)[0][-1]["content"]
    assert opening.endswith('只用 JSON 回答，格式如下：{"names": ["...", "..."]}')
    assert "单位：" in question

    web.seen.clear()
    sizes = ("--min-sentences", 4, "--max-train", 10, "--max-dev", 4, "--max-test", 12)
    rewriting = ("--rewrite", "--rewrite-kinds", "seen,unseen,expansion,wo_surface", "--model", "m")
    call(gen_queries, "index", "-o", "bench", "--expansions", "names.tsv", *sizes, *rewriting)
    bench = open_benchmark(tmp_path / "bench")
    rewritten = [query for query in bench.queries if query.template.endswith("rewritten")]
    assert rewritten
    assert all(query.text.startswith("哪些门店的") for query in rewritten)
    assert {query.kind for query in bench.queries_of("test")} & {"expansion", "wo_surface"}
    assert asked(web)[0][-1]["content"].startswith("查询：")

    web.seen.clear()
    call(benchmark, "audit", "bench", "--model", "m")
    assert asked(web)[0][-1]["content"].startswith("断言：")
    assert "查询里的" in asked(web)[0][0]["content"]


RERANKERS = {
    "LLM-itemwise": ("评分：", "程序在文本中找到的数量："),
    "LLM-listwise": ("段文本的顺序：", "程序在其中找到的数量："),
    "LLM-pairwise": ("更有用的文本：", "程序在其中找到的数量："),
}


def test_rerankers_ask_in_the_language_of_the_benchmark(web, tmp_path):
    sizes = ("--min-sentences", 4, "--max-train", 4, "--max-dev", 2, "--max-test", 6)
    call(gen_queries, "index", "-o", "bench", *sizes)
    quick = ("--resamples", 100, "--workers", 1, "--conditions", "given")
    names = [f"BM25 + {name}(model=m, k=2, condition=stated, quantities=listed)" for name in RERANKERS]
    call(leaderboard, "bench", *(word for name in names for word in ("--systems", name)), *quick)
    said = [messages[-1]["content"] for messages in asked(web)]
    assert said
    for text in said:
        assert "程序读出的查询界限：" in text
        assert next(listed for ending, listed in RERANKERS.values() if text.endswith(ending)) in text
        assert not [word for word in ("program", "yuan", "percentage", "square metre") if word in text], text
    assert {ending for text in said for ending, _ in RERANKERS.values() if text.endswith(ending)} == {
        ending for ending, _ in RERANKERS.values()
    }
    rows = json.loads((tmp_path / "qbench-leaderboard" / "bench" / "leaderboard.json").read_text())["rows"]
    costs = [row["cost"] for row in rows]
    assert all(cost["calls"] and not cost["malformed"] for cost in costs)

    # A prompt of one's own is in the language that its file says, whatever the texts are.
    web.seen.clear()
    mine = tmp_path / "mine.toml"
    mine.write_text('task = "score"\nversion = 1\nsystem = "Judge."\nuser = "{text} {query}\\n{quantities}\\nScore:"\n')
    web.chat = lambda asked: "4"
    system = f"BM25 + LLM-itemwise(model=m, k=2, quantities=listed, prompt={mine.name})"
    call(leaderboard, "bench", "--systems", system, *quick)
    assert any("yuan" in messages[-1]["content"] for messages in asked(web))
