"""Chinese sentences: what is read of each."""

import pytest

from qbench.quantities.concept_match import concept_grade
from qbench.quantities.extractors import ExtractorOptions, get_extractor

EXTRACTOR = get_extractor(ExtractorOptions(language="zh"))


def read(text):
    return [(q.comparator, q.value, q.unit) for q in EXTRACTOR.extract(text)]


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("本厂年产值达3.5亿元", 350_000_000, "yuan"),
        ("共投入1亿2000万元", 120_000_000, "yuan"),
        ("募得人民币5000万", 50_000_000, "yuan"),
        ("成交价￥300", 300, "yuan"),
        ("票价为50元6角", 50.6, "yuan"),
        ("售价1.2万港元", 12_000, "hong kong dollar"),
        ("融资两亿美元", 200_000_000, "dollar"),
        ("每股作价1.5元", 1.5, "yuan per share"),
        ("均价为8000元/平方米", 8_000, "yuan per square metre"),
        ("占比为百分之五", 5, "percentage"),
        ("七成的学生", 70, "percentage"),
        ("全场八五折", 85, "percentage"),
        ("上调25个基点", 25, "basis point"),
        ("运来3吨煤", 3, "tonne"),
        ("买了三斤苹果", 1.5, "kilogram"),
        ("重１２０ｋｇ", 120, "kilogram"),
        ("耕地30亩", 2, "hectare"),
        ("发电500万千瓦时", 5_000_000, "kilowatt hour"),
        ("时速为80公里/小时", 80, "kilometre per hour"),
        ("开了两个半小时的会", 2.5, "hour"),
        ("儿子今年十二周岁", 12, "year of age"),
        ("雇了1,234人", 1_234, "person"),
        ("设有3家子公司", 3, "subsidiary"),
        ("买下一千零五十股", 1_050, "share"),
        ("水温降到负5摄氏度", -5, "celsius"),
        ("三分之二的代表", 2 / 3, ""),
    ],
)
def test_values_and_units(text, value, unit):
    [(comparator, found, name)] = read(text)
    assert (found, name, comparator) == (pytest.approx(value), unit, "=")


@pytest.mark.parametrize(
    ("text", "comparator"),
    [
        ("重量超过5公斤", ">"),
        ("重量不低于5公斤", ">="),
        ("重量不到5公斤", "<"),
        ("重量不超过5公斤", "<="),
        ("重量约5公斤", "~"),
        ("重量5公斤左右", "~"),
        ("重量5公斤以上", ">="),
        ("重量在5公斤以内", "<="),
        ("重量为5公斤", "="),
        ("重量高达5公斤", "="),
    ],
)
def test_comparators(text, comparator):
    assert read(text) == [(comparator, 5, "kilogram")]


@pytest.mark.parametrize(
    ("text", "low", "high", "unit"),
    [
        ("需要3至5天", 3, 5, "day"),
        ("价格为8-10美元", 8, 10, "dollar"),
        ("预计盈利3-5亿元", 3e8, 5e8, "yuan"),
        ("投资1亿元至2亿元", 1e8, 2e8, "yuan"),
        ("比例介于3%和5%之间", 3, 5, "percentage"),
        ("来了两三百人", 200, 300, "person"),
    ],
)
def test_ranges(text, low, high, unit):
    [quantity] = EXTRACTOR.extract(text)
    assert (quantity.value, quantity.high, quantity.unit, quantity.comparator) == (low, high, unit, "between")


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("销量同比增长25%", "up"),
        ("销量较上年下降了25%", "down"),
        ("销量跌幅达25%", "down"),
        ("占比升至25%", ""),
        ("占比提高到25%", ""),
        ("占比为25%", ""),
    ],
)
def test_changes(text, change):
    [quantity] = EXTRACTOR.extract(text)
    assert (quantity.change, quantity.value) == (change, 25)


@pytest.mark.parametrize(
    "text",
    [
        "会议于2019年3月5日召开",
        "二〇二〇年五月十五日",
        "今年第三季度",
        "2018-2020年度",
        "某某股份(600000.SH)",
        "证券代码：600000",
        "请拨打电话010-12345678",
        "订位：010-12345678或010-87654321",
        "《2019年第3号公告》",
        "下午15:30开始",
        "一家公司的一名员工",
        "产品十分畅销，一切正常",
        "第十二条规定",
        "搭载5G芯片",
        "（三）其他事项",
    ],
)
def test_what_is_no_quantity(text):
    assert EXTRACTOR.extract(text) == []


def test_years_are_reported_where_they_are_wanted():
    found = get_extractor(ExtractorOptions(language="zh", years=True)).extract("2019年3月销量为5万台")
    assert [(q.value, q.unit) for q in found] == [(2019, "calendar year"), (50_000, "machine")]


@pytest.mark.parametrize(
    ("text", "concepts"),
    [
        ("公司净利润为3.5亿元", ["净利润"]),
        ("研发人员数量1,234人", ["研发人员数量"]),
        ("营业收入和营业成本分别为10亿元和2亿元", ["营业收入", "营业成本"]),
        ("营业收入10亿元，同比增长5%", ["营业收入", "营业收入"]),
        ("电池容量不低于4000毫安时，重量在2公斤以内", ["电池容量", "重量"]),
        ("受让了66%股权", ["股权"]),
    ],
)
def test_concepts(text, concepts):
    assert [" ".join(q.concept) for q in EXTRACTOR.extract(text)] == concepts


def test_spans_point_into_the_text_as_given():
    text = "　合计约３．５億元（人民幣）"
    [quantity] = EXTRACTOR.extract(text)
    assert text[slice(*quantity.value_span)] == "３．５億"
    assert text[slice(*quantity.unit_span)] == "元"
    assert text[slice(*quantity.comparator_span)] == "约"


@pytest.mark.parametrize(
    ("text", "concept"),
    [
        ("平台的活跃用户数量达300万", "活跃用户数量"),
        ("总用地面积为5万平方米", "总用地面积"),
        ("经营活动产生的现金流量净额为800万元", "经营活动产生的现金流量净额"),
        ("全年管理费用为30万元", "管理费用"),
        ("物业服务收入达6亿元", "物业服务收入"),
        ("董事获得的报酬总额为40万元", "报酬总额"),
        ("存货余额本期为700万元", "存货余额"),
        ("渔场产量不是5吨", "渔场产量"),
    ],
)
def test_a_verb_inside_a_word_does_not_cut_a_name(text, concept):
    assert [q.concept for q in EXTRACTOR.extract(text)] == [(concept,)]


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("每股平均价超过2港元", "每股平均价"),
        ("减持不到500万股", "减持"),
        ("每股净资产低于3元且总资产不到3亿元", "每股净资产 总资产"),
        ("哪些书店的营业额同比增长超过5%", "书店 营业额"),
        ("2018年净利润", "2018年净利润"),
        ("有色金属产量", "有色金属产量"),
        ("和平电器营收增长率高于30%", "和平电器营收增长率"),
        ("汇达医疗有限公司净利润为2亿元", "汇达医疗有限公司净利润"),
        ("净利润在2亿元以上的有哪些", "净利润"),
    ],
)
def test_words_of_change_stay_in_names_alone(query, terms):
    assert EXTRACTOR.parse_query(query).terms == terms


@pytest.mark.parametrize(
    ("query", "stated", "grade"),
    [
        ("占总股本", "占公司总股本比例", 2),
        ("占其所持股份", "占其直接持有公司股份总数的比例", 2),
        ("占总股本", "占其所持股份比例", 0),
        ("质押股份", "未质押股份", -1),
        ("质押", "解除质押", -1),
        ("流动资产", "非流动资产", -1),
        ("净利润", "扣非净利润", 1),
        ("净利润", "归母净利润", 1),
    ],
)
def test_a_name_that_denies_another_is_not_more_specific(query, stated, grade):
    assert concept_grade((query,), (stated,), "zh") == grade
