"""Chinese descriptions: the parser by rules, what words say, times, mining; sentences of our own."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from qbench.errors import InputError
from qbench.index.build import build_index
from qbench.mining.chinese.asked_kinds import asked_words
from qbench.mining.chinese.content import lack, says
from qbench.mining.chinese.language import context_words, words
from qbench.mining.chinese.rules_parser import ChineseRulesParser
from qbench.mining.chinese.times import TIME, periods
from qbench.mining.describe import describe
from qbench.mining.gold import read_gold, split
from qbench.mining.languages import NOTHING, ONLY_TIME, mining_package
from qbench.mining.options import MiningOptions, TestSetOptions
from qbench.mining.paraphrases import mine_paraphrases
from qbench.mining.retrieve import retrieve_quantity
from qbench.mining.test_set import make_test_set
from qbench.quantities.extractors import ExtractorOptions, get_extractor
from qbench.quantities.types import Quantity

DUEE_FIN = Path(__file__).parents[3] / "shared" / "data" / "chinese" / "duee_fin_dev.json"
PARSER = ChineseRulesParser()
EXTRACTOR = get_extractor(ExtractorOptions(language="zh"))


def described(text):
    """The words of the description of each mention."""
    mentions = EXTRACTOR.extract(text)
    (descriptions,) = PARSER.parse_many([(text, mentions)])
    return [description.words(text) for description in descriptions]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2019年公司营业收入为3.5亿元。", ["2019年 营业收入"]),
        (
            "蓝月科技(600123.SH)公布，截至2020年6月30日，公司累计回购股份120万股。",
            ["蓝月科技 截至2020年6月30日 累计回购股份"],
        ),
        ("蓝月-B(01234)公告称，公司以5亿元收购青河矿业。", ["蓝月-B 收购"]),
        ("营业收入为3亿元，较上年同期增长20%。", ["营业收入", "营业收入"]),
        ("比去年多。", []),
    ],
)
def test_a_description_says_who_what_and_when(text, expected):
    found = described(text)
    assert len(found) == len(expected)
    for words_found, wanted in zip(found, expected, strict=True):
        assert {*wanted.split()} <= {*words_found.split()}


def test_what_a_value_is_compared_with_is_not_its_time():
    assert all("上年同期" not in one for one in described("2020年营业收入为3亿元，较上年同期增长20%。"))


def test_segments_hold_no_number_and_lie_apart():
    text = "青河矿业公告，2021年3月5日以每股12.5元的价格回购股份30万股，耗资375万元。"
    mentions = EXTRACTOR.extract(text)
    for description in PARSER.parse_many([(text, mentions)])[0]:
        ends = [end for _, end in description.segments]
        assert all(start > end for end, (start, _) in zip(ends, description.segments[1:], strict=False))
        for start, end in description.segments:
            assert not any(start < m.value_span[1] and m.value_span[0] < end for m in mentions)


def test_a_parser_that_knows_only_the_number_asks_the_extractor():
    text = "公司营业收入为2.4亿元。"
    bare = Quantity(0, 0, "=", "", "", "", 0, 0, value_span=(text.index("2"), text.index("2") + 3))
    assert PARSER.parse_many([(text, [bare])])[0][0].words(text) == "营业收入"


@pytest.mark.parametrize(
    "text", ["2019年9月3日", "截至2020年6月30日", "2018年上半年", "9月9日至12日", "二〇二〇年五月", "上年同期"]
)
def test_times_are_found_whole(text):
    assert TIME.search(f"公司{text}的收入")[0] == text


@pytest.mark.parametrize("text", ["公司有五家门店", "这款车很快", "十五年期的贷款"])
def test_other_words_are_no_times(text):
    assert TIME.search(text) is None


def test_periods_are_bits_of_years_months_and_lengths():
    found = periods(pl.Series(["2019年收入", "2020年第一季度收入", "3月收入", "2019年上半年", "２０１９年度", "收入"]))
    assert found.years[0] == found.years[3] == found.years[4] != found.years[1]
    assert found.months.tolist() == [0, 0b111, 0b100, 0b111111, 0, 0]
    assert found.lengths.tolist() == [0, 1 << 12, 0, 1 << 24, 1 << 48, 0]
    assert not found.years[5]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("2019年 净利润", ""),
        ("2019年", ONLY_TIME),
        ("公司 同比增长", NOTHING),
        ("截至6月30日 ROE", ""),
        ("3.5", ONLY_TIME),
    ],
)
def test_what_words_lack(text, reason):
    assert lack(text, text, Quantity(5, 5, "=", "yuan", "currency", "yuan", 5, 5)) == reason


def test_what_is_counted_says_what_a_number_is():
    staff = Quantity(500, 500, "=", "employee", "count", "employee", 500, 500)
    assert lack("2019年", "2019年有500名员工", staff) == ""


def test_words_name_something_by_two_characters():
    assert [word for word in ("润", "利润", "同比", "roe", "35") if says(word)] == ["利润", "roe"]
    assert context_words("公司2019年A股，") == list("公司年a股")
    assert "的" not in words(pl.Series(["收入的"]))[0]


def test_a_question_names_a_kind_of_quantity():
    package = mining_package("zh")
    assert package.asked_family("青河矿业的营收是多少？") == ("currency", "青河矿业")
    assert package.asked_family("青河矿业员工") is None
    assert package.asked_family("价格") is None


EVENTS = {
    "id": "d1",
    "title": "t",
    "text": "无关的话。青河矿业公告，2021年3月5日回购股份30万股，占公司总股本的0.52%，成交价1.5元。",
    "event_list": [
        {
            "trigger": "回购",
            "event_type": "股份回购",
            "arguments": [
                {"role": "回购方", "argument": "青河矿业"},
                {"role": "回购完成时间", "argument": "2021年3月5日"},
                {"role": "披露时间", "argument": "公告"},
                {"role": "回购股份数量", "argument": "30万"},
                {"role": "占公司总股本比例", "argument": "0.52%"},
                {"role": "每股交易价格", "argument": "不在文中的9元"},
            ],
        }
    ],
}


def gold_of(tmp_path, *rows):
    path = tmp_path / "events.json"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def test_the_arguments_of_an_event_describe_its_quantities(tmp_path):
    gold = read_gold(gold_of(tmp_path, EVENTS, {"id": "d2", "title": "t", "text": "没有事件。"}))
    first, second = gold.samples
    assert first.group == "d1"
    assert first.text.startswith("青河矿业公告")
    assert first.text[slice(*first.pivot)] == "30万股"
    assert [first.text[a:b] for a, b in first.segments] == ["青河矿业", "2021年3月5日回购股份"]
    assert [second.text[a:b] for a, b in second.segments] == ["青河矿业", "2021年3月5日回购", "占公司总股本"]
    assert gold.counts["quantities that no sentence says"] == 1


def test_a_number_is_no_part_of_another(tmp_path):
    text = "公司中标15.5亿元项目，其中一期5.5亿元。"
    arguments = [{"role": "中标金额", "argument": "5.5亿元"}]
    row = {"id": "d", "title": "", "text": text, "event_list": [{"trigger": "中标", "arguments": arguments}]}
    (sample,) = read_gold(gold_of(tmp_path, row)).samples
    assert sample.pivot[0] == text.index("期") + 1


@pytest.mark.parametrize(
    "events",
    [
        "none",
        [{"trigger": 3, "arguments": []}],
        [{"trigger": "中标"}],
        [{"trigger": "中标", "arguments": [{"role": "a"}]}],
    ],
)
def test_events_of_another_shape_are_told(tmp_path, events):
    with pytest.raises(InputError, match="DuEE-fin") as told:
        read_gold(gold_of(tmp_path, {"text": "中标。", "event_list": events}))
    assert told.value.line == 1


@pytest.mark.shared
@pytest.mark.skipif(not DUEE_FIN.exists(), reason="the data are not here")
def test_real_events_give_a_gold_set():
    gold = read_gold(DUEE_FIN)
    assert gold.counts["quantities"] > 2_000
    assert gold.counts["factual"] / gold.counts["quantities"] > 0.95
    parts = split(gold.samples, 13)
    assert not {s.group for s in parts["train"]} & {s.group for s in parts["test"]}


@pytest.fixture(scope="module")
def chinese_index(tmp_path_factory):
    """An index of reports that tell facts twice, in headings and in sentences."""
    folder = tmp_path_factory.mktemp("chinese")
    names = ["青河矿业", "蓝月科技", "远山银行", "白塔药业", "长风汽车", "清泉食品"]
    with (folder / "news.jsonl").open("w", encoding="utf-8") as file:
        for at, name in enumerate(names):
            profit, staff = 1.234 + 1.731 * at, 3_417 + 1_113 * at
            heads = f"{name}披露2020年营业收入{profit:.3f}亿元。"
            tells = f"{name}公告，2020年，公司实现营业收入{profit:.3f}亿元，拥有研发人员{staff}名。"
            again = f"据{name}披露，公司研发人员数量为{staff}名。"
            for part, text in enumerate((heads, tells, again)):
                file.write(json.dumps({"doc_id": f"{at}-{part}", "text": text}, ensure_ascii=False) + "\n")
    build_index(folder / "news.jsonl", folder / "index", workers=1)
    return folder


def test_facts_that_are_told_twice_are_paraphrases(chinese_index):
    made = describe(chinese_index / "index", chinese_index / "descriptions", workers=1)
    assert made.language == "zh"
    options = MiningOptions(test_share=0.5, min_probability=0.5)
    pairs = mine_paraphrases(made.path, chinese_index / "pairs", options, threads=1)
    table = pairs.table().collect().filter(pl.col("label") == "paraphrase")
    told = made.read().select("description_id", "value", "sentence")
    rows = table.join(told, left_on="query_id", right_on="description_id").join(
        told, left_on="doc_id", right_on="description_id", suffix="_doc"
    )
    assert rows.height >= 6
    assert (rows["value"] == rows["value_doc"]).all()
    assert (rows["sentence"].str.extract("([^：据公披]{4})") != "").all()
    found = make_test_set(chinese_index / "pairs", chinese_index / "test", TestSetOptions())
    assert {view.language for view in found.views.values()} == {"zh"}


def test_a_chinese_question_finds_its_quantity(chinese_index):
    made = describe(chinese_index / "index", chinese_index / "descriptions", workers=1)
    (answers,) = retrieve_quantity(made, ["远山银行的研发人员数量"])
    assert answers[0].value == 3_417 + 2 * 1_113


@pytest.mark.parametrize(
    ("asked", "values"),
    [
        ("研发人员数量超过5000名", {5_643, 6_756, 7_869, 8_982}),
        ("研发人员数量 不低于5000名 的公司", {5_643, 6_756, 7_869, 8_982}),
        ("公司研发人员少于5000", {3_417, 4_530}),
        ("公司营业收入 超过8亿元", {815_800_000.0, 988_900_000.0}),
        ("营业收入在3亿元到5亿元之间", {296_500_000.0 + 173_100_000.0}),
        ("远山银行的研发人员数量是多少", {5_643}),
    ],
)
def test_a_condition_of_a_question_holds_of_its_answers(chinese_index, asked, values):
    made = describe(chinese_index / "index", chinese_index / "descriptions", workers=1)
    (answers,) = retrieve_quantity(made, [asked], top=2 * len(values))
    assert {answer.value for answer in answers} == values


@pytest.mark.parametrize(
    ("text", "words_left"),
    [
        ("公司净利润是多少", "净利润"),
        ("我们的员工有多少", "员工"),
        ("本公司研发投入", "研发投入"),
        ("净利润 公司", "净利润"),
        ("有色金属产量为多少", "有色金属产量"),
        ("蓝月公司的员工人数", "蓝月公司 员工人数"),
        ("其他应收款", "其他应收款"),
        ("公司债券余额", "公司债券余额"),
        ("其净利润", "净利润"),
        ("集团", "集团"),
    ],
)
def test_words_that_ask_and_nobody_are_not_searched(text, words_left):
    assert asked_words(text) == words_left
