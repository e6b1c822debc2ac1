"""Chinese sentences: signs, scale words, names with numbers, bounds, tenths after a unit, and very long lines."""

import time

import pytest

from qbench.quantities.extractors import ExtractorOptions, get_extractor

EXTRACTOR = get_extractor(ExtractorOptions(language="zh"))


def read(text):
    return [(q.comparator, q.value, q.unit) for q in EXTRACTOR.extract(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("夜间气温降到零下12摄氏度", [("=", -12, "celsius")]),
        ("冷库保持零下18℃", [("=", -18, "celsius")]),
        ("山顶零下二十度", [("=", -20, "celsius")]),
        ("室温低于零下5度", [("<", -5, "celsius")]),
        ("气温为零上5度", [("=", 5, "celsius")]),
        ("库存归零下周补货5吨", [("=", 5, "tonne")]),
    ],
)
def test_below_zero_is_negative(text, expected):
    assert read(text) == expected


def test_a_range_below_zero():
    [quantity] = EXTRACTOR.extract("夜间在零下9至零下4度")
    assert (quantity.value, quantity.high, quantity.unit) == (-9, -4, "celsius")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("书店融资$2.5 million", [("=", 2_500_000, "dollar")]),
        ("获得US$40 million贷款", [("=", 40_000_000, "dollar")]),
        ("全年收入 200 million 美元", [("=", 200_000_000, "dollar")]),
        ("渔场投入 2.5M 美元", [("=", 2_500_000, "dollar")]),
        ("渔场投入 25M 美元", [("=", 25_000_000, "dollar")]),
        ("估值为$3bn", [("=", 3e9, "dollar")]),
        ("估值为$3B", [("=", 3e9, "dollar")]),
        ("账单$12K", [("=", 12_000, "dollar")]),
        ("带宽为5M", []),
        ("绳长5m", [("=", 5, "metre")]),
        ("售价$5 monthly", [("=", 5, "dollar")]),
    ],
)
def test_english_scale_words(text, expected):
    assert read(text) == expected


def test_english_scale_words_of_queries():
    [condition] = EXTRACTOR.parse_query("收入大于$2.5 million的书店").conditions
    assert (condition.comparator, condition.value, condition.unit) == (">", 2_500_000, "dollar")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("iPhone 13 Mini标价¥5199元", [("=", 5199, "yuan")]),
        ("Kindle 11标价低于900元", [("<", 900, "yuan")]),
        ("标价Rmb 900元", [("=", 900, "yuan")]),
        ("Kindle 3万台", [("=", 30_000, "machine")]),
    ],
)
def test_numbers_of_names_are_no_quantities(text, expected):
    assert read(text) == expected


@pytest.mark.parametrize(
    "line",
    [
        "营业额" * 30_000 + "5亿元",
        "一二三四五六七八九" * 5_000,
        "三千五百" * 10_000,
        "5亿" * 20_000,
        "7" * 40_000 + "元",
        "A" + "a" * 40_000,
        "a-" * 20_000,
    ],
    ids=["words", "digits in characters", "numerals", "scales", "digits", "letters", "hyphens"],
)
def test_a_long_line_without_punctuation_takes_time_in_proportion(line):
    begun = time.process_time()
    EXTRACTOR.extract(line)
    assert time.process_time() - begun < 8  # about half a second; minutes where a rule looks back over the line


@pytest.mark.parametrize(
    ("text", "expected", "concept"),
    [
        ("茶价跌破20元", ("<", 20, "yuan"), "茶价"),
        ("茶价跌穿20元", ("<", 20, "yuan"), "茶价"),
        ("茶价站上20元", (">", 20, "yuan"), "茶价"),
        ("茶价突破了20元", (">", 20, "yuan"), "茶价"),
        ("茶价下跌20元", ("=", 20, "yuan"), "茶价"),
        ("书店市值超百亿元", (">", 1e10, "yuan"), "市值"),
        ("书店市值近千万元", ("~", 1e7, "yuan"), "市值"),
        ("電池容量5000毫安時以上的相機", (">=", 5000, "milliampere hour"), "電池容量"),
    ],
)
def test_more_comparators(text, expected, concept):
    [quantity] = EXTRACTOR.extract(text)
    assert (quantity.comparator, quantity.value, quantity.unit) == expected
    assert " ".join(quantity.concept).endswith(concept)


@pytest.mark.parametrize("text", ["损失数千万元", "捐出上百万元", "附近百万亩良田", "千万元户", "花了几百万元"])
def test_an_open_numeral_is_no_number(text):
    assert read(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("苹果3块5一斤", [("=", 3.5, "yuan")]),
        ("门票三块五", [("=", 3.5, "yuan")]),
        ("门票3块25", [("=", 3.25, "yuan")]),
        ("哥哥身高1米83，弟弟身高一米六", [("=", 1.83, "metre"), ("=", 1.6, "metre")]),
        ("门票3块5毛", [("=", 3.5, "yuan")]),
        ("等了一个半小时", [("=", 1.5, "hour")]),
        ("住了5个半月", [("=", 5.5, "month")]),
        ("距离3米5人", [("=", 3, "metre"), ("=", 5, "person")]),
        ("距离3米50公斤", [("=", 3, "metre"), ("=", 50, "kilogram")]),
    ],
)
def test_tenths_after_a_unit(text, expected):
    assert read(text) == [(comparator, pytest.approx(value), unit) for comparator, value, unit in expected]


def test_a_range_per_share():
    [quantity] = EXTRACTOR.extract("招股价为每股6-9港元")
    assert (quantity.value, quantity.high, quantity.unit) == (6, 9, "hong kong dollar per share")


@pytest.mark.parametrize(
    ("text", "comparator", "value"),
    [
        ("每次用量不得超过2片。", "<=", 2),
        ("水温不应低于60℃。", ">=", 60),
        ("误差不会大于0.5毫米", "<=", 0.5),
        ("委员人数不得少于7人", ">=", 7),
        ("库存从未超过300吨", "<=", 300),
        ("库存不超过300吨", "<=", 300),
        ("库存超过300吨", ">", 300),
        ("产量没有达到80吨", "<", 80),
        ("会场最多可容纳260人", "<=", 260),
        ("工期至少需要45天", ">=", 45),
        ("注册资本500万元(含)以上", ">=", 5e6),
        ("年收入12万元(不含)以下", "<", 12e4),
    ],
)
def test_what_is_denied_or_allowed_bounds_the_other_way(text, comparator, value):
    (found,) = EXTRACTOR.extract(text)
    assert (found.comparator, found.value) == (comparator, value)


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("项目总投资12个亿", 12e8, ""),
        ("全家每月用电量260度", 260, "kilowatt hour"),
        ("今天气温26度", 26, "celsius"),
        ("额定电压220V的水泵", 220, "volt"),
        ("充电功率65W的手机", 65, "watt"),
        ("营业额=4亿元", 4e8, "yuan"),
        ("血小板为210×10^9/L", 2.1e11, ""),
        ("项目投入2.5×10⁶元", 2.5e6, "yuan"),
        ("月租2600元/月", 2600, "yuan per month"),
    ],
)
def test_amounts_as_people_say_them(text, value, unit):
    (found,) = EXTRACTOR.extract(text)
    assert (found.value, found.unit) == (value, unit)
