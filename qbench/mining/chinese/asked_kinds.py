"""Which kind of quantity a Chinese description asks for: a price is an amount of money, a weight a mass."""

from __future__ import annotations

import re

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
_QUESTION = re.compile("多少|什么|请问|[的是有为吗呢？?，,。]")


def asked_family(text: str) -> tuple[str, str] | None:
    """The family of units that a description asks for, and the words that are left.

    None where no word says so, two say different things, or nothing is left.

    >>> asked_family("蓝月公司的净利润是多少"), asked_family("员工人数"), asked_family("房屋的面积和价格")
    (('currency', '蓝月公司'), None, None)
    """
    found = {_FAMILY[word] for word in _ASKED.findall(text)}
    rest = " ".join(_QUESTION.sub(" ", _ASKED.sub(" ", text)).split())
    return (found.pop(), rest) if len(found) == 1 and rest else None
