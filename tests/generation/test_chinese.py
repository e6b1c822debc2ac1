"""Queries in Chinese: how numbers and units are written and read back, and which names are asked about."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.benchmark.disk import open_benchmark
from qbench.generation.chinese import plain_forms, unit_forms, usual_forms, value_forms
from qbench.generation.generate import generate
from qbench.generation.options import GenerationOptions
from qbench.generation.surfaces import read_value, write_like
from qbench.index import build_index
from qbench.quantities.chinese.numbers import read_number
from qbench.quantities.extractors import ExtractorOptions, get_extractor
from qbench.quantities.units import load_units

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
