"""Chinese multiples, halves and units of numbers that stand alone: 翻番, 不到一半, 超亿元; ranges after a sign."""

import pytest

from qbench.quantities.extractors import ExtractorOptions, get_extractor

EXTRACTOR = get_extractor(ExtractorOptions(language="zh"))


def read(text):
    return [(q.change, q.comparator, pytest.approx(q.value), q.unit) for q in EXTRACTOR.extract(text)]


@pytest.mark.parametrize(
    ("text", "change", "value"),
    [
        ("果园产值翻番", "up", 1),
        ("快递员收入翻了一番", "up", 1),
        ("客流量翻两番", "up", 3),
        ("算力翻了三番", "up", 7),
        ("茶叶价格翻倍", "up", 1),
        ("门诊量增长一倍", "up", 1),
        ("球队得分增加了1.5倍", "up", 1.5),
        ("学费涨了一倍半", "up", 1.5),
        ("新校区是老校区的一倍半", "", 1.5),
        ("速度是上一代的三倍", "", 3),
    ],
)
def test_multiples(text, change, value):
    assert read(text) == [(change, "=", value, "count")]


@pytest.mark.parametrize(
    "text", ["翻开新的一页", "一番努力", "翻译两本书的人", "一番风味", "加倍努力", "翻山越岭", "番茄", "倍感荣幸"]
)
def test_what_only_looks_like_a_multiple(text):
    assert [q for q in EXTRACTOR.extract(text) if q.unit == "count"] == []


@pytest.mark.parametrize(
    ("text", "comparator", "value"),
    [
        ("不到一半的选手完赛", "<", 0.5),
        ("超过半数居民投票", ">", 0.5),
        ("过半业主同意", ">", 0.5),
        ("近一半的床位空着", "~", 0.5),
        ("一半以上的样本呈阴性", ">=", 0.5),
        ("药量不足成人的一半", "<", 0.5),
        ("耕地约为全省的三分之一", "~", 1 / 3),
        ("票价是成人票的一半", "=", 0.5),
        ("最高价的一半", "=", 0.5),
    ],
)
def test_halves(text, comparator, value):
    assert read(text) == [("", comparator, value, "")]


@pytest.mark.parametrize(
    "text", ["另一半资金来自贷款", "前一半路程", "工期过半", "减持时间已过半", "过半年再来", "比赛一半一半", "半路"]
)
def test_what_is_no_half(text):
    assert [q for q in EXTRACTOR.extract(text) if q.value == 0.5 and not q.unit] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("桥梁投资超亿元", (">", 1e8, "yuan")),
        ("医院捐款近百万元", ("~", 1e6, "yuan")),
        ("馆长年薪近百万", ("~", 1e6, "")),
        ("近千人参加长跑", ("~", 1_000, "person")),
        ("影片票房过亿", (">", 1e8, "")),
        ("影片票房破十亿元", (">", 1e9, "yuan")),
        ("票房破5亿元", (">", 5e8, "yuan")),
        ("单车骑行破万亿次", (">", 1e12, "time")),
        ("股价跌破百元", ("<", 100, "yuan")),
        ("不足千吨", ("<", 1_000, "tonne")),
        ("超千家企业参展", (">", 1_000, "company")),
        ("超过半年", (">", 0.5, "year")),
    ],
)
def test_a_unit_of_numbers_may_stand_alone_behind_a_bound(text, expected):
    assert [each[1:] for each in read(text)] == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "亿元项目开工",
        "万元户",
        "千元机",
        "万一失败",
        "最近百万人参加",
        "近百年来",
        "超过百度的市值",
        "经过百货公司",
        "亿万富翁",
        "万亿级市场",
        "千万不要",
        "通过千山",
    ],
)
def test_a_unit_of_numbers_elsewhere_is_a_word(text):
    assert read(text) == []


def test_what_has_lasted_is_no_bound():
    assert read("经过八年的发展") == [("", "=", 8, "year")]


@pytest.mark.parametrize(
    ("text", "low", "high", "unit"),
    [
        ("获得$3-5 million融资", 3e6, 5e6, "dollar"),
        ("估值US$1.2-1.5 billion", 1.2e9, 1.5e9, "dollar"),
        ("预算€800-900万", 8e6, 9e6, "euro"),
        ("票价￥50-80", 50, 80, "yuan"),
    ],
)
def test_the_sign_and_the_scale_of_a_range_are_said_once(text, low, high, unit):
    [quantity] = EXTRACTOR.extract(text)
    assert (quantity.value, quantity.high, quantity.unit) == (low, high, unit)
