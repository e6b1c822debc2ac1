"""Names and queries that a chat model writes in Chinese: which are taken, and why the others are not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qbench.benchmark.types import Query
from qbench.generation import candidates as c
from qbench.generation import rewrite as r
from qbench.llm.prompts import load_prompt
from qbench.quantities.extractors import ExtractorOptions, get_extractor

EXTRACTOR = get_extractor(ExtractorOptions(language="zh"))
JUDGE = c.Judge(
    load_prompt("expand", "finance", "zh"),
    lambda word: word in {"roe", "led"},
    lambda text: bool(EXTRACTOR.parse_query(text).conditions),
    "zh",
)


@pytest.mark.parametrize(
    ("concept", "name", "reason"),
    [
        ("门票价格", "入场费用", None),
        ("门票价格", "进场要付多少钱", None),
        ("概念车续航", "未来车型行驶里程", None),
        ("LED灯寿命", "发光二极管耐用时长", None),
        ("ROE", "股东回报水平", None),
        ("门票价格", "门票的费用", c.REUSES),
        ("LED灯寿命", "LED耐用时长", c.REUSES),
        ("门票价格", "费", c.ONE_WORD),
        ("门票价格", "price of entry", c.LANGUAGE),
        ("门票价格", "入场 ticket fee", c.LANGUAGE),
        ("门票价格", "更宽泛的概念", c.INSTRUCTION),
        ("门票价格", "同义词", c.INSTRUCTION),
        ("门票价格", "抱歉，我无法回答", c.INSTRUCTION),
        ("门票价格", "好的以下是名称", c.INSTRUCTION),
        ("门票价格", "暂无合适的说法", c.INSTRUCTION),
        ("门票价格", "进入游乐园或者博物馆所要支付的费用", c.TOO_LONG),
        ("门票价格", "入場の料金", c.SCRIPT),
        ("门票价格", "入场|费用", c.SIGNS),
        ("门票价格", "30元入场", c.NUMBER),
        ("门票价格", "三十元入场", c.NUMBER),
    ],
)
def test_names(concept, name, reason):
    kept, rejected = JUDGE.judge(concept, [name], 1)
    assert [why for _, why in rejected] == ([] if reason is None else [reason])
    assert kept == ([] if reason else [c.plain(name)])


def test_names_of_the_same_characters_are_one():
    assert JUDGE.judge("门票价格", ["入场费用", "入场的费用"], 2) == (["入场费用"], [("入场的费用", c.TWICE)])


def query(text, *concepts, kind="unseen"):
    """A query whose conditions are what is read from its text, about the given concepts."""
    read = EXTRACTOR.parse_query(text)
    assert len(read.conditions) == len(concepts)
    conditions = tuple(replace(one, concept=(name,)) for one, name in zip(read.conditions, concepts, strict=True))
    return Query("q", text, " ".join(concepts), conditions, "test", kind, "paper")


PRICE = query("门票价格超过45元", "门票价格")
EXACT = query("门票价格为45元", "门票价格")
RANGE = query("片长介于90分钟和120分钟之间", "片长")
AROUND = replace(query("入场费用超过45元", "门票价格", kind="wo_surface"), terms="入场费用")
TWO = query("营业收入超过5亿元且净利润低于3亿元", "营业收入", "净利润")


@pytest.mark.parametrize(
    ("asked", "text", "reason"),
    [
        (PRICE, "哪里的门票价格超过45元", None),
        (PRICE, "想找门票价格高于45元的景点", None),
        (PRICE, "哪里的门票价格不低于45元", r.COMPARATOR),
        (PRICE, "哪里的门票价格为45元", r.COMPARATOR),
        (PRICE, "哪里的门票价格超过45美元", r.UNIT),
        (PRICE, "哪里的门票价格超过54元", r.ADDED),
        (PRICE, "2019年哪里的门票价格超过45元", r.ADDED),
        (PRICE, "哪里的入场费用超过45元", r.CONCEPT),
        (PRICE, "哪里的门票价格高", r.CONDITIONS),
        (PRICE, "门票价格超过45元", r.SAME),
        (PRICE, "除了门票价格超过45元的景点", r.TURNED),
        (PRICE, "门票价格超过45元左右的景点", r.TURNED),
        (PRICE, "门票价格恰好超过45元的景点", r.TURNED),
        (PRICE, "门票价格上涨超过45元的景点", r.TURNED),
        (PRICE, "门票价格超过45元或更少的景点", r.TURNED),
        (EXACT, "门票价格恰好为45元的景点", None),
        (EXACT, "门票价格约45元的景点", r.TURNED),
        (PRICE, "抱歉，作为语言模型我不知道门票价格超过45元的景点", c.INSTRUCTION),
        (PRICE, "places with 门票价格超过45元", c.LANGUAGE),
        (PRICE, "places with tickets over 45 yuan", c.LANGUAGE),
        (PRICE, "哪里的门票价格超过45元" * 6, c.TOO_LONG),
        (PRICE, "どこの门票价格超过45元", c.SCRIPT),
        (RANGE, "片长在90分钟到120分钟之间的电影", None),
        (RANGE, "片长超过90分钟的电影", r.COMPARATOR),
        (AROUND, "哪里的入场费用超过45元", None),
        (AROUND, "哪里的入场费用也就是门票超过45元", r.NAMED),
        (TWO, "哪家公司营业收入超过5亿元，净利润低于3亿元", None),
        (TWO, "哪家公司净利润超过5亿元，营业收入低于3亿元", r.SWAPPED),
    ],
)
def test_rewritten_queries(asked, text, reason):
    rewriter = r.Rewriter(None, EXTRACTOR, lambda word: False, "zh")
    assert rewriter.problem(asked, text) == reason


def test_a_model_is_told_numbers_with_their_units_as_the_query_has_them():
    rewriter = r.Rewriter(None, EXTRACTOR, lambda word: False, "zh")
    assert rewriter.slots(PRICE) == {"query": "门票价格超过45元", "keep": "门票价格; 45元"}
