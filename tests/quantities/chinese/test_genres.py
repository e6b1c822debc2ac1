"""Chinese sentences of products, medicine and sports: rates by time, sides, scores, seconds, cases, what is largest."""

import pytest

from qbench.quantities.extractors import ExtractorOptions, get_extractor

EXTRACTOR = get_extractor(ExtractorOptions(language="zh"))


def read(text):
    return [(q.comparator, pytest.approx(q.value), q.unit) for q in EXTRACTOR.extract(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("静息心率每分钟58次", [("=", 58, "time per minute")]),
        ("糖浆每日2次", [("=", 2, "time per day")]),
        ("房租每月4200元", [("=", 4200, "yuan per month")]),
        ("高铁每小时350公里", [("=", 350, "kilometre per hour")]),
        ("每天约8小时", [("~", 8, "hour per day")]),
        ("每年增长5%", [("=", 5, "percentage")]),
        ("每6个月保养一次", [("=", 6, "month")]),
        ("血压138/86mmHg", [("=", 138, "millimetre of mercury"), ("=", 86, "millimetre of mercury")]),
        ("纸箱40×30×25厘米", [("=", 40, "centimetre"), ("=", 30, "centimetre"), ("=", 25, "centimetre")]),
        ("屏幕2560×1440", [("=", 2560, ""), ("=", 1440, "")]),
        ("客队以2比1取胜", []),
        ("短跑成绩10秒34", [("=", 10.34, "second")]),
        ("落后1分12秒", [("=", 1.2, "minute")]),
        ("接种336例", [("=", 336, "case")]),
        ("招募52例患者", [("=", 52, "patient")]),
        ("例如3个城市", [("=", 3, "city")]),
        ("电视55寸", [("=", 55, "inch")]),
        ("两寸照片", []),
        ("附送33W充电头", [("=", 33, "watt")]),
        ("水壶2L大容量", [("=", 2, "litre")]),
        ("支持5G手机", []),
        ("待机最长可达30天", [("<=", 30, "day")]),
        ("罚款最高可达5万元", [("<=", 50_000, "yuan")]),
        ("列车晚点近三个小时", [("~", 3, "hour")]),
        ("近三年的业绩", [("=", 3, "year")]),
    ],
)
def test_values(text, expected):
    assert read(text) == expected


@pytest.mark.parametrize(
    ("text", "concept"),
    [
        ("索道全长2.4公里", "全长"),
        ("婴儿车自重仅6.5kg", "自重"),
        ("书架承重不低于40公斤", "承重"),
        ("静息心率每分钟58次", "静息心率"),
        ("票价由每天80元涨至95元", "票价"),
    ],
)
def test_concepts(text, concept):
    assert [" ".join(q.concept)[-len(concept) :] for q in EXTRACTOR.extract(text)][-1] == concept
