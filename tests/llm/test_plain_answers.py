"""Numbers and orders of texts in what a model writes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.llm.plain_answers import choice_in, has_chances, is_refusal, permutation_in

SCALE = ("1", "2", "3", "4", "5")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("4", 4),
        (" 4\n", 4),
        ("Score: 4", 4),
        ("Score: 4/5", 4),
        ("4 out of 5.", 4),
        ("**2**", 2),
        ("3.5", 3.5),
        ("<think>1 or 2?</think>\n5", 5),
        ("its price, 3, is fine </think> 5", 5),  # the prompt ended with the start of the thought
        ("<think>a</think> <think>2?</think> 5", 5),
        ("<think>perhaps 4, as", None),
        ("4, that is: 4", 4),
        ("0", None),
        ("6", None),
        ("10", None),
        ("-3", None),
        ("1,234", None),
        ("3 or 4", None),
        ("4, since 900 g is below 1 kg", None),
        ("four", None),
        ("评分：4分", 4),
        ("评分4", 4),
        ("４", 4),
        ("4分（满分5分）", 4),
        ("4分，满分为5分。", 4),
        ("文本2更有用", 2),
        ("1到5分", None),
        ("12分", None),
        ("四", None),
        ("score4", None),
        ("", None),
        (None, None),
    ],
)
def test_a_score_is_the_only_number_of_an_answer(text, number):
    assert choice_in({"text": text}, SCALE) == number


def test_an_expectation_is_over_the_numbers_that_are_offered():
    chances = {"2": 0.2, "4": 0.4, "5": 0.2}
    assert choice_in({"text": "4", "said": "4", "chances": chances}, SCALE) == pytest.approx((0.4 + 1.6 + 1) / 0.8)


def test_probabilities_of_another_number_than_the_one_that_is_said_do_not_count():
    """The 5 of "4/5", or a number in what a model thought first."""
    answer = {"text": "4/5", "said": "5", "chances": {"5": 1.0}}
    assert choice_in(answer, SCALE) == 4
    assert not has_chances(answer, SCALE)
    assert has_chances({**answer, "text": "5"}, SCALE)
    assert not has_chances({**answer, "text": "5 or 4"}, SCALE)


@pytest.mark.parametrize(
    ("text", "order", "counts"),
    [
        ("[2] > [3] > [1]", (1, 2, 0), (0, 0, 0)),
        ("2 > 3 > 1", (1, 2, 0), (0, 0, 0)),
        ("2, 3, 1", (1, 2, 0), (0, 0, 0)),
        ("The order of the 3 texts: [3] > [1] > [2].", (2, 0, 1), (0, 0, 0)),
        ("[3]", (2, 0, 1), (2, 0, 0)),
        ("[3] > [3] > [3] > [1] > [2]", (2, 0, 1), (0, 2, 0)),
        ("[0] > [4] > [2]", (1, 0, 2), (2, 0, 2)),
        ("[999999999999999999]", (0, 1, 2), (3, 0, 0)),
        ("<think>[1] > [2]</think> [2] > [1] > [3]", (1, 0, 2), (0, 0, 0)),
        ("[1] is short. </think> [2] > [1] > [3]", (1, 0, 2), (0, 0, 0)),
        ("<think>[2] > [1] > [3], or", (0, 1, 2), (3, 0, 0)),
        ("I cannot decide.", (0, 1, 2), (3, 0, 0)),
        ("【2】＞【3】＞【1】", (1, 2, 0), (0, 0, 0)),
        ("［2］ > ［3］ > ［1］", (1, 2, 0), (0, 0, 0)),
        ("2、3、1", (1, 2, 0), (0, 0, 0)),
        ("文本2 > 文本3 > 文本1", (1, 2, 0), (0, 0, 0)),
        ("[2,3,1]", (1, 2, 0), (0, 0, 0)),
    ],
)
def test_an_order_is_made_whole_and_what_was_wrong_is_counted(text, order, counts):
    found = permutation_in({"text": text}, 3)
    assert found.order == order
    assert (found.missing, found.repeated, found.unknown) == counts
    assert found.is_whole == (counts == (0, 0, 0))


@given(st.text(alphabet="[]0123456789 >,.-a", max_size=60), st.integers(0, 12))
def test_whatever_is_written_gives_every_text_once(text, count):
    found = permutation_in({"text": text}, count)
    assert sorted(found.order) == list(range(count))
    assert 0 <= found.missing <= count


@given(st.permutations(range(1, 9)))
def test_a_whole_order_is_read_as_it_is_written(order):
    written = " > ".join(f"[{number}]" for number in order)
    assert list(permutation_in({"text": written}, 8).order) == [number - 1 for number in order]


def test_refusals_of_servers_filters_and_models_are_known():
    assert is_refusal({"refused": "HTTP 400, no"})
    assert is_refusal({"text": "", "finish": "content_filter"})
    assert is_refusal({"text": "I can't", "finish": "stop", "refused": True})
    assert not is_refusal({"text": "4", "finish": "stop"})


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I cannot help with that.",
        "I’m sorry, I can't assist.",
        "Sorry, I won't do that.",
        "I cannot rate this text on a scale of 5.",
        "I'm unable to rank the 20 texts.",
        "As an AI language model, I cannot judge texts.",
        "Unfortunately, I am not able to provide a score.",
        "I apologize, but I must decline.",
        "<think>Is this allowed?</think>\nI'm not comfortable with ranking these.",
        "对不起，我无法回答这个问题。",
        "很抱歉，我不能评分。",
        "抱歉，作为一个人工智能语言模型，我无法提供评分",
        "作为人工智能助手，我无法评判。",
        "我无法判断。",
        "根据有关规定，我不能提供评分。",
        "這個問題我無法回答，很抱歉。",
        "这个问题我暂时无法回答。",
        "对不起，我还没有学会这个。",
        "您好，我无法给出相关内容。",
        "拒绝回答",
        "I do not feel comfortable rating this.",
        "It is not possible to give a score.",
        "As an AI language model, I don't provide scores.",
    ],
)
def test_a_model_that_declines_in_words_refuses(text):
    assert is_refusal({"text": text, "finish": "stop"})


@pytest.mark.parametrize(
    "text",
    [
        "I cannot find a number of lamps. Score: 3",
        "I can't see the price.\n2",
        "I'm sorry, I can't be sure: [2] > [1] > [3]",
        "As a parcel enthusiast, I love them all.",
        "The maker cannot deliver: 3",
        "Sorry, another subject. Score: 1/5",
        "我认为是4分",
        "我无法确定，但给3分",
        "We cannot compare, so 3/5",
        "文中不会提到价格，评分：2",
        "我评4分，因为无法确定单位",
        "抱歉，单位不明。评分：4分",
        "这段文本无法判断",
        "",
        None,
    ],
)
def test_an_answer_with_a_caveat_or_without_sense_is_no_refusal(text):
    assert not is_refusal({"text": text, "finish": "stop"})


@given(st.text(max_size=80), st.integers(1, 5))
def test_a_score_on_a_line_of_its_own_is_never_a_refusal(text, score):
    assert not is_refusal({"text": f"{text}\n{score}", "finish": "stop"})
