"""Which kind of quantity a Chinese description asks for: a price is an amount of money, a weight a mass."""

from __future__ import annotations

import re

from qbench.quantities.chinese.characters import plain

_WORDS: dict[str, str] = {
    "currency": "价格 股价 售价 金额 费用 成本 收入 营收 利润 净利润 亏损 净亏损 市值 "
    "工资 薪酬 租金 预算 债务 营业额 销售额 多少钱",
    "ratio": "比例 占比 毛利率 增长率 比率 利率 涨幅 跌幅",
    "mass": "重量 体重",
    "length": "长度 高度 宽度 深度 距离 厚度 身高",
    "time": "时长 期限 续航时间",
    "age": "年龄",
    "speed": "速度 时速",
    "temperature": "温度 气温",
    "data": "内存 容量",
    "area": "面积",
    "voltage": "电压",
}
"""Family of units -> words that ask for a quantity in it."""

GRAMMAR = "的 了 是 在 有 为 和 与 及 于 多少 什么 几 吗 呢 请问 多 少 什 么 请 问".split()
"""Words of a question that name nothing."""

_FAMILY = {word: family for family, words in _WORDS.items() for word in words.split()}
_ASKED = re.compile("|".join(sorted(_FAMILY, key=len, reverse=True)))
ANYONE = frozenset("公司 本公司 该公司 集团 本集团 其 该 我们".split())
"""Owners that are not named: of a description they say nothing, and in a question they find every company."""

_NOBODY = re.compile(
    rf"(?:^|(?<=[的 ]))(?:{'|'.join(sorted(ANYONE, key=len, reverse=True))})"
    r"(?=$|[的 ]|(?<!其)[\u4e00-\u9fff]{2}|(?<=其)[^他它中余实次])(?!债|法|章程|治理)"
)
"""公司 of 公司净利润; the 其 of 其他 and the 公司 of 公司债券 are parts of words."""
_QUESTION = re.compile("[是有为]?(?:多少|什么)|请问|[的吗呢？?，,。]|(?<=[ \u4e00-\u9fff])[是有为](?=[ ？?，,。]|$)")


def asked_words(text: str) -> str:
    """A question without the words that ask, and without owners that it does not name.

    >>> asked_words("公司净利润是多少"), asked_words("蓝月公司的员工人数"), asked_words("公司")
    ('净利润', '蓝月公司 员工人数', '公司')
    """
    asked = _QUESTION.sub(" ", plain(text))
    return " ".join(_NOBODY.sub(" ", asked).split()) or " ".join(asked.split())


def asked_family(text: str) -> tuple[str, str] | None:
    """The family of units that a description asks for, and the words that are left.

    None where no word says so, two say different things, or nothing is left.

    >>> asked_family("蓝月公司的净利润是多少"), asked_family("员工人数"), asked_family("房屋的面积和价格")
    (('currency', '蓝月公司'), None, None)
    """
    text = plain(text)
    found = {_FAMILY[word] for word in _ASKED.findall(text)}
    rest = " ".join(_QUESTION.sub(" ", _ASKED.sub(" ", text)).split())
    return (found.pop(), rest) if len(found) == 1 and rest else None
