"""Queries in Chinese: how numbers and units are written and read back, and which names are asked about."""

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.benchmark.disk import open_benchmark
from qbench.generation.chinese import (
    TEMPLATES,
    form_beside,
    is_act,
    plain_forms,
    stands_alone,
    unit_forms,
    usual_forms,
    value_forms,
)
from qbench.generation.chinese_evidence import SLIP, STEP, doubts
from qbench.generation.generate import generate
from qbench.generation.options import GenerationOptions
from qbench.generation.scope import NOT_DONE, PART
from qbench.generation.surfaces import read_value, write_like
from qbench.generation.templates import Wording, load_templates
from qbench.index import build_index
from qbench.quantities.chinese.numbers import read_number
from qbench.quantities.extractors import ExtractorOptions, get_extractor
from qbench.quantities.types import quantity_schema, to_row
from qbench.quantities.units import load_units
from qbench.resources import resource

UNITS = load_units()
EXTRACTOR = get_extractor(ExtractorOptions(language="zh"))


@given(st.integers(1, 10**14), st.integers(0, 4))
def test_every_form_of_a_number_reads_back(whole, decimals):
    value = whole / 10**decimals
    for text in value_forms(value).values():
        number = read_number(text, 0)
        assert number.end == len(text)
        assert number.value == pytest.approx(value, rel=1e-9)
        assert read_value(text).value == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize(
    "unit", ["yuan", "hong kong dollar", "percentage", "kilogram", "share", "yuan per share", "day"]
)
def test_every_form_of_a_unit_reads_back(unit):
    for form in (*unit_forms(UNITS.get(unit), UNITS, 5.0), *plain_forms(UNITS.get(unit), UNITS, 5.0)):
        assert [q.unit for q in EXTRACTOR.extract(f"总计5{form.after}")] == [unit]


def test_a_unit_is_written_as_the_corpus_does():
    said = {("公斤", False): 9, ("斤", False): 50, ("kg", False): 3}
    assert [form.after for form, _ in usual_forms(said, UNITS.get("kilogram"), UNITS, 5.0)] == ["公斤"]


def test_a_number_is_written_like_another_one():
    assert (write_like(4.2e8, "3.5亿"), write_like(7.5e4, "3万"), write_like(12.0, "5")) == ("4.2亿", "7.5万", "12")


@pytest.mark.parametrize(("name", "after"), [("每股收益", "元"), ("发行价格", None)])
def test_a_price_per_share_is_said_once(name, after):
    form = form_beside(name, UNITS.get("yuan per share"), 2.0)
    assert (form and form.after) == after


@pytest.mark.parametrize(
    ("name", "about", "family", "texts"),
    [
        ("减持", "act", "count", {"减持超过5", "减持多于5"}),
        ("股价", "up", "ratio", {"股价上涨超过5", "股价上涨多于5"}),
        ("净利润", "up", "ratio", {"净利润增长超过5", "净利润增长多于5"}),
        ("毛利率", "up", "ratio", {"毛利率上升超过5", "毛利率上升多于5"}),
        ("员工", "level", "count", {"员工超过5", "员工多于5"}),
        ("毛利率", "level", "ratio", {"毛利率超过5", "毛利率高于5", "毛利率大于5"}),
    ],
)
def test_verbs_and_phrases_suit_what_is_asked_about(name, about, family, texts):
    templates = load_templates(resource(TEMPLATES))
    rendered = {
        templates.render(name, ">", Wording("5", "5"), np.random.default_rng(seed), about, family)[0]
        for seed in range(60)
    }
    assert rendered == texts


def test_a_share_is_asked_about_beside_what_it_is_a_share_of():
    named = ("占公司总股本", "占其所持股份比例", "占地面积", "占用资金", "毛利率")
    assert [stands_alone(name) for name in named] == [False, False, True, True, True]


def test_an_amount_of_an_act_is_not_said_as_what_it_reaches():
    templates = load_templates(resource(TEMPLATES))
    rng = np.random.default_rng(3)
    texts = {templates.render("回购", "=", Wording("5", "5"), rng, "act", "count")[0] for _ in range(30)}
    assert texts == {"回购了5"}


def test_acts_are_verbs():
    assert [is_act(name) for name in ("回购", "估值", "涉资", "净利润")] == [True, False, False, False]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("本店营业收入为5亿元。", ""),
        ("本店预计营业收入为5亿元。", NOT_DONE),
        ("本店拟明年开业，营业收入将达5亿元。", NOT_DONE),
        ("本店拟扩建，目前营业收入已达5亿元。", ""),
        ("本店尚未注销5万股。", NOT_DONE),
        ("本店营业收入低，房东的租金高，达5亿元。", ""),
        ("平均回购价格为-3元。", SLIP),
        ("近期到期的部分对应贷款余额3亿元。", PART),
        ("到期日为6月30日，贷款余额3亿元。", ""),
        ("到期已还清。贷款余额3亿元。", ""),
        ("本店增持20亿元至900亿元。", STEP),
        ("本店增持20亿元至30亿元。", ""),
    ],
)
def test_what_is_planned_undone_a_part_or_a_step_decides_nothing(text, reason):
    table = pl.DataFrame([to_row("d::0", q) for q in EXTRACTOR.extract(text)], schema=quantity_schema(), orient="row")
    assert doubts(table, [text] * table.height) == [reason]


def test_a_range_from_zero_is_written_alike():
    assert value_forms(0.0)["word"] == "0"


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    folder = tmp_path_factory.mktemp("zh")
    texts = [
        f"第{n}家门店全年营业收入为{10 + n}.5亿元。毛利率为{20 + n % 9}%。占地面积{300 + 7 * n}平方米。"
        for n in range(40)
    ]
    rows = [json.dumps({"id": str(n), "text": text}, ensure_ascii=False) for n, text in enumerate(texts)]
    (folder / "corpus.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    index = build_index(folder / "corpus.jsonl", folder / "index", workers=1)
    return open_benchmark(generate(index, folder / "bench", GenerationOptions(max_train=30, max_dev=10, max_test=30)))


def test_queries_are_chinese_and_read_back(bench):
    assert bench.language == "zh"
    plain = [query for query in bench.queries if len(query.conditions) == 1]
    assert {query.conditions[0].concept for query in plain} >= {("毛利率",), ("占地面积",)}
    read = [EXTRACTOR.parse_query(query.text).conditions for query in plain]
    same = [
        len(found) == 1
        and (found[0].comparator, found[0].base_unit) == (q.conditions[0].comparator, q.conditions[0].base_unit)
        and found[0].base_value == pytest.approx(q.conditions[0].base_value)
        for q, found in zip(plain, read, strict=True)
    ]
    assert sum(same) == len(same)
