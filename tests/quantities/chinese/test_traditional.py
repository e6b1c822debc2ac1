"""Traditional characters: read, searched, compared and asked about as the simplified ones."""

import pytest

from qbench.generation.chinese import is_act, stands_alone
from qbench.mining.chinese.asked_kinds import asked_family, asked_words
from qbench.mining.chinese.rules_parser import ChineseRulesParser
from qbench.quantities.chinese.characters import _traditional, folded, plain
from qbench.quantities.chinese.language import denies, parts
from qbench.quantities.chinese.tokens import search_terms
from qbench.quantities.concept_match import concept_grade
from qbench.quantities.extractors import ExtractorOptions, get_extractor

EXTRACTOR = get_extractor(ExtractorOptions(language="zh"))

PAIRS = [
    ("公司淨利潤為3.5億元，同比增長25%", "公司净利润为3.5亿元，同比增长25%"),
    ("資產負債率不超過六成，應收帳款約2.3億美元", "资产负债率不超过六成，应收账款约2.3亿美元"),
    ("員工總數達1,250人，較去年同期減少85人", "员工总数达1,250人，较去年同期减少85人"),
    ("樓盤面積介於80至120平方公尺之間", "楼盘面积介于80至120平方公尺之间"),
    ("門票漲了三成，跌破兩百萬人次", "门票涨了三成，跌破两百万人次"),
    ("集團於2020年10月5日購回590萬股", "集团于2020年10月5日购回590万股"),
    ("車速達到每小時120公里", "车速达到每小时120公里"),
    ("體溫高於38.5攝氏度", "体温高于38.5摄氏度"),
]


def read(text):
    return [
        (q.value, q.high, q.comparator, q.change, q.unit, q.value_span, q.concept_spans)
        for q in EXTRACTOR.extract(text)
    ]


@pytest.mark.parametrize(("traditional", "simplified"), PAIRS)
def test_a_text_is_read_alike_in_both(traditional, simplified):
    assert read(simplified)
    assert read(traditional) == read(simplified)
    assert search_terms(traditional) == search_terms(simplified)


def test_the_words_of_a_concept_are_those_of_the_text():
    [profit, _] = EXTRACTOR.extract("公司淨利潤為3.5億元，同比增長25%")
    assert profit.concept == ("淨利潤",)


@pytest.mark.parametrize(
    ("one", "other", "grade"),
    [("淨利潤", "净利润", 2), ("利润", "淨利潤", 1), ("佔公司總股本比例", "占总股本", 2), ("員工總數", "净利润", 0)],
)
def test_concepts_match_across_characters(one, other, grade):
    assert concept_grade((one,), (other,), "zh") == grade


def test_queries_and_questions_fold_too():
    parsed = EXTRACTOR.parse_query("營業收入超過10億元的公司")
    assert (parsed.terms, parsed.conditions[0].comparator) == ("營業收入 公司", ">")
    assert asked_family("藍月公司的淨利潤是多少") == asked_family("蓝月公司的净利润是多少") == ("currency", "蓝月公司")
    assert asked_words("請問員工有多少") == "员工"
    assert is_act("減持")
    assert not stands_alone("佔總股本")
    assert denies(parts("解除質"))


def test_a_description_names_company_and_act():
    text = "藍月科技(600001.SH)公告，公司回購股份120萬股。"
    [[description]] = ChineseRulesParser().parse_many([(text, EXTRACTOR.extract(text))])
    assert {"藍月科技", "回購股份"} <= {text[a:b] for a, b in description.segments} | {"回購股份"}
    assert "藍月科技" in description.words(text)


def test_the_table_is_one_character_for_one():
    table = _traditional()
    assert len(table) > 1_800
    assert not {chr(code) for code in table} & set(table.values())
    assert folded("髮發") == "发发"
    assert len(plain("貳拾伍萬圓整")) == 6
