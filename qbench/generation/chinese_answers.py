"""What a chat model may write in Chinese: see `qbench.generation.languages.AnswerRules`."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

from qbench.generation.chinese_gate import HAN, sane
from qbench.quantities.chinese.characters import folded
from qbench.quantities.chinese.lexicon import usual_name
from qbench.quantities.chinese.tokens import tokens

__all__ = [
    "MOST_OF_NAME",
    "MOST_OF_QUERY",
    "SCRIPTS",
    "WORD",
    "content_words",
    "of_language",
    "of_task",
    "only_of_naming",
    "sane",
    "turned",
    "unit_name",
    "vocabulary",
    "words",
]

MOST_OF_NAME, MOST_OF_QUERY = 12, 60

SCRIPTS = frozenset(("LATIN", "CJK"))

WORD = r"[a-z]{3,}"

_TASK = re.compile(
    r"同义词|近义词|上位词|下位词|语言模型|人工智能助手|ai助手|占位|json|提示词|抱歉|对不起|(?:所需|其他|其它|别的)(?:名称|名字|说法|叫法)"
    r"|(?:该|此|这个|给定|上述|未知)的?概念|我?无法(?:回答|提供|帮助|完成|给出|协助|确定)|不能(?:回答|提供|给出)|我?不知道"
    r"|请提供|(?:需要|缺少)更多(?:信息|上下文)|忽略.{0,6}(?:指令|要求|以上|之前)|^(?:好的|当然|以下|这里是|作为一)"
    r"|^(?:暂?无|没有|不适用|未找到|无合适)"
)
_NAMING = re.compile(
    r"(?:的|更|较|一|几|个|些|种|类|其他|相关|类似|通用|一般|具体|概括|宽泛|概念|名称|名字|名词|词语|短语|词|说法|叫法|称呼|事物|东西|术语"
    r"|例子|示例|答案|回答|问题|查询|规则|任务|文本)+"
)
_NEVER = re.compile(
    r"不要|不想|不包括|不含|除了|除外|排除|避免|没有|从不|从未|未曾|几乎|差不多|大约|大概|左右|上下|将近|接近|(?:约|近)(?=\d)"
    r"|(?:两|一|二|三|[2-9])倍|翻番|翻倍|一半|半数|增长|上升|上涨|增加|下降|下跌|减少|下滑|反而"
)
_EXACTLY = re.compile(r"恰好|正好|刚好|恰恰")
_OR_MORE = re.compile(r"[或及](?:更[多少高低大小]|以[上下])")


def vocabulary() -> Collection[str]:
    """None: every Han character may stand, and of Latin words those that the corpus has."""
    return ()


def words(text: str) -> Sequence[str]:
    """What the length of a text is counted in: Han characters, and words of other scripts.

    >>> words("ROE高于5%")
    ['ROE', '高', '于', '5', '%']
    """
    return re.findall(r"[A-Za-z]+|\d+|\S", text)


def content_words(text: str) -> frozenset[str]:
    """The pairs of neighbouring Han characters, and the words of other scripts.

    >>> sorted(content_words("归母净利润"))
    ['净利', '利润', '归母', '母净']
    """
    return frozenset(tokens(text.replace("的", " ")))


def of_task(text: str) -> bool:
    """Whether a text speaks of the task, as a model does that explains itself or refuses."""
    return _TASK.search(folded(text)) is not None


def only_of_naming(name: str) -> bool:
    """Whether a name has words of naming alone: 更宽泛的概念."""
    return _NAMING.fullmatch(name) is not None


def of_language(text: str, is_word: Callable[[str], bool]) -> bool:
    """Whether a text has Han characters, and of its Latin words at least half are known."""
    found = re.findall(WORD, folded(text))
    return HAN.search(text) is not None and 2 * sum(map(is_word, found)) >= len(found)


def turned(text: str, own: str, comparators: Collection[str]) -> bool:
    """Whether new words negate, blur or multiply a condition: 除了, 左右, 两倍.

    Comparators (不超过, 以上) are left to the parser.
    """
    text, own = folded(text), folded(own)
    if any(word not in own for word in _NEVER.findall(text)):
        return True
    if _EXACTLY.search(text) and not set(comparators) <= {"=", "between"}:
        return True
    return not set(comparators) & {"<=", ">="} and _OR_MORE.search(text) is not None and _OR_MORE.search(own) is None


def unit_name(unit: str) -> str:
    """A unit as the model is told it: by its usual form; by its canonical name where none is known.

    >>> unit_name("yuan per share"), unit_name("percentage"), unit_name("")
    ('元/股', '%', '无单位')
    """
    return usual_name(unit) or "无单位"
