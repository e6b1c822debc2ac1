"""Amounts: a number with its unit, in whatever order Chinese puts them.

"3.5亿元", "人民币5000万", "百分之五", "三成", "八五折", "两个半小时", "每股1.2港元", "50元6角", "5公里/小时", "120 kg".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from qbench.quantities.chinese.lexicon import Form, longest_form, unit_forms
from qbench.quantities.chinese.numbers import BELOW_ZERO, LIMIT_BEFORE, LONGEST, Number, read_number
from qbench.quantities.types import Span
from qbench.quantities.units import NO_UNIT, Unit, Units


@dataclass(frozen=True, slots=True)
class Amount:
    """A number and its unit.

    Attributes:
        number: as written, with its span.
        unit: canonical.
        factor: what the number is multiplied by for the unit: 0.5 for 斤 as kilogram.
        extra: what a second part adds ("6角" after "50元"), in the unit.
        unit_span: where the unit is written.
        start, end: the whole.
        how: names of the rules that made it.
    """

    number: Number
    unit: Unit
    factor: float = 1.0
    extra: float = 0.0
    unit_span: Span | None = None
    start: int = 0
    end: int = 0
    how: tuple[str, ...] = ()

    @property
    def value(self) -> float:
        """The number, or its lower end, in the unit."""
        return _product(self.number.value, self.factor) + self.extra

    @property
    def high(self) -> float:
        """The upper end in the unit."""
        return _product(self.number.high, self.factor) + self.extra


def _product(number: float, factor: float) -> float:
    """The product without the noise of its last digits: 0.3 for 0.1 * 3."""
    return number if factor == 1 else float(f"{number * factor:.15g}")


_HALF = re.compile(
    r"(?<![上下前后大多一])(?<!(?<!超)过)半(?=(?:个)?(?:年|月|小时|天|周|星期|公里|里|斤|吨|升|米|岁|个|倍|成))(?!年[报度])"
)
_PARTS = re.compile(r"(?P<base>[百千万]?万|百|千)分之[ ]?")
_BASES = {"百": 1.0, "千": 0.1, "万": 1e-2, "百万": 1e-4, "千万": 1e-5, "万万": 1e-6}
"""What one part of so many is in percent."""


def _whole(text: str, at: int) -> Number | None:
    """百分之百."""
    return Number(100.0, 100.0, 3, at, at + 1) if text[at : at + 1] == "百" else None


_MULTIPLE = re.compile(r"(?<=翻)了?近?[番倍]|(?:(?<=翻)|(?<=翻了)|(?<=翻了近))(?P<times>[一两二三四五六七八九])番")
"""翻番, 翻倍, 翻了两番."""
_ONE_HALF = re.compile(
    r"(?<![另前后上下这那几])(?<!一半)一半(?!一半)|(?<![大多少])半数|(?<=过)半(?![年天月日百小个场程生辈夜数])|(?<=减)半(?![年天月日小个径])"
)
"""Half of something, as English has it: 一半以上, 超过半数, 过半, 减半."""
_SLASH = re.compile(r"/(?P<under>\d{1,3})(?![\d/.])")
_OF = re.compile(r"分之[ ]?")
_TENTHS = re.compile(r"[ ]?成(?P<half>半)?(?![为立功本员交长果熟都绩份品像型分套因败人语了年])")
_DISCOUNT = re.compile(r"[ ]?折(?![合旧算现叠射腾磨返])")
_AND_A_HALF = re.compile(r"[ ]?个半(?P<unit>小时|月|钟头)")
_AFTER_HALF = re.compile(r"[ ]?半(?![年月天小数导])")
_REST = re.compile(
    r"(?P<rest>\d{1,2}|[一二三四五六七八九])"
    r"(?=$|[,。;!?)、的 ]|一[斤个瓶杯袋份盒只本碗张公]|[/每高长宽左]|以[上下内])"
)
"""Tenths, or hundredths, after 块, 米 and 秒: 3块5, 1米75, 9秒98."""
_PER = re.compile(r"[ ]?(?:/|每)[ ]?(?P<count>)(?P<unit>[一-鿿㎡]{1,3}|[A-Za-z]{1,5}[23²³]?)")
_LATIN = re.compile(r"[ ]?(?P<unit>°?[A-Za-zµμΩ℃℉㎡²³·]+(?:[23])?(?:/[A-Za-zµμ]+[23²³]?)?)(?![A-Za-z\d])")
_CURRENCY = re.compile(
    r"(?<![\d百千万亿])(?P<sign>RMB|CNY|HKD|HK\$|USD|US\$|EUR|GBP|JPY|NT\$|TWD|人民币|港币|港元|美元|欧元|日元|英镑|新台币|[¥$€£₩])"
    r"(?:为|约|约为|近|超|逾|超过|:)?[ ]?(?:\()?$"
)
_SIGNS = {
    "RMB": "yuan", "CNY": "yuan", "¥": "yuan", "人民币": "yuan", "HKD": "hong kong dollar", "HK$": "hong kong dollar",
    "港币": "hong kong dollar", "港元": "hong kong dollar", "USD": "dollar", "US$": "dollar", "$": "dollar",
    "美元": "dollar", "EUR": "euro", "€": "euro", "欧元": "euro", "GBP": "pound sterling", "£": "pound sterling",
    "英镑": "pound sterling", "JPY": "yen", "日元": "yen", "NT$": "taiwan dollar", "TWD": "taiwan dollar",
    "新台币": "taiwan dollar", "₩": "south korean won",
}  # fmt: skip
_EVERY = re.compile(
    r"(?:每|毎)(?:一)?(?P<unit>股|吨|平方米|平米|人|户|亩|辆|桶|瓶|盎司|公斤|千瓦时|度|份|份额|张|单|斤|立方米|公顷|件|台|套|次)"
    r"(?P<between>[^\d,。;:、()]{0,12}(?:\d[\d.]{0,8}[ ]?[-~至到][ ]?)?)$"
)
_MINUTES = re.compile(r"分(?=\d{1,2}(?:\.\d+)?秒)")
_EACH_TIME = re.compile(
    r"每(?:个)?(?P<unit>秒|分钟|小时|天|日|周|星期|月|季度|年)(?P<bound>约|近|可|达|为|仅|只)?[ ]?$"
)
_TIMES = {
    "秒": "second", "分钟": "minute", "小时": "hour", "天": "day", "日": "day", "周": "week", "星期": "week",
    "月": "month", "季度": "quarter", "年": "year",
}  # fmt: skip
"""每月3500元, 每分钟102次, 每小时120公里."""
_AS_DIGITS = str.maketrans("一二三四五六七八九", "123456789")
_TIME_UNDER = re.compile("|".join(map(re.escape, sorted(_TIMES, key=len, reverse=True))))
_ELECTRIC = re.compile(r"电(?!脑|池|机|器|影|视|缆|阻|压)[^,。;、]{0,8}$")
"""Before 度, what is used of electricity: 用电量5000度."""
_GENERAL = Form("个", "", 1.0, "classifier")
"""The classifier that goes with anything."""
_BARE_TIMES = frozenset(("year", "quarter", "month", "week", "day", "hour", "minute", "second"))
_TIMED = re.compile(
    r"(?:近|超过|约|不到|至少|长达|不超过|为期|满|不足|不少于|延长|最近|过去|未来|期限|期限为|每隔|仅)[ ]?$"
)
_TIMED_AFTER = re.compile(r"[ ]?(?:内|以内|之内|以上|以下|多|期|左右|半)")


class AmountFinder:
    """Finds amounts; holds the units. Reads texts that `plain` has been through."""

    def __init__(self, units: Units) -> None:
        self.units = units
        self._forms = unit_forms()
        self._longest = longest_form()

    def at(self, text: str, start: int) -> Amount | None:
        """The amount whose number, or whose 百分之, begins at a place; None where none does."""
        if parts := _PARTS.match(text, start):
            number = read_number(text, parts.end()) or _whole(text, parts.end())
            if number is not None and number.start == parts.end():
                unit = self.units.get("percentage")
                return Amount(
                    number, unit, _BASES[parts["base"]], 0.0, (start, parts.end()), start, number.end, ("parts",)
                )
        if multiple := _MULTIPLE.match(text, start):
            return self._multiple(text, multiple)
        if half_of := _ONE_HALF.match(text, start):
            of_something = Number(0.5, 0.5, 1, *half_of.span())
            return Amount(of_something, NO_UNIT, start=start, end=half_of.end(), how=("half",))
        if half := _HALF.match(text, start):
            number = Number(0.5, 0.5, 1, start, half.end())
        else:
            found = read_number(text, start)
            if found is None:
                return None
            number = found
        if of := _OF.match(text, number.end):
            over = read_number(text, of.end())
            if over is not None and number.value:
                ratio = over.value / number.value
                return Amount(replace(over, value=ratio, high=ratio, start=start), NO_UNIT, end=over.end, start=start,
                              how=("fraction",))  # fmt: skip
        if (slash := _SLASH.match(text, number.end)) and 0 < number.value < float(slash["under"]):
            ratio = number.value / float(slash["under"])
            part = replace(number, value=ratio, high=ratio, end=slash.end())
            return Amount(part, NO_UNIT, start=start, end=part.end, how=("fraction",))
        return self._shares(text, number) or self._measured(text, number)

    def _multiple(self, text: str, match: re.Match[str]) -> Amount:
        """翻番, 翻了三番: each 番 doubles, so that three add seven times as much; 翻倍 adds one."""
        number = read_number(text, match.start()) if match["times"] else None
        added = 1.0 if number is None else 2.0**number.value - 1
        read = Number(added, added, 1, *match.span())
        return Amount(read, self.units.get("count"), start=match.start(), end=match.end(), how=("doubled",))

    def _shares(self, text: str, number: Number) -> Amount | None:
        """三成, 七成五, 八五折."""
        unit = self.units.get("percentage")
        if tenths := _TENTHS.match(text, number.end):
            end, extra = tenths.end(), 5.0 if tenths["half"] else 0.0
            more = read_number(text, end) if not extra else None
            if more is not None and not more.arabic and 0 < more.value < 10 and more.end == end + 1:
                end, extra = more.end, more.value
            return Amount(number, unit, 10.0, extra, (number.end, tenths.end()), number.start, end, ("tenths",))
        if (discount := _DISCOUNT.match(text, number.end)) and 0 < number.value < 100:
            factor = 10.0 if number.value < 10 else 1.0
            span = (discount.start(), discount.end())
            return Amount(replace(number, high=number.value), unit, factor, 0.0, span, number.start, span[1],
                          ("discount",))  # fmt: skip
        return None

    def _measured(self, text: str, number: Number) -> Amount:
        amount = self._with_unit(text, number)
        if (before := _CURRENCY.search(text, max(0, number.start - 12), number.start)) and amount.unit.family in (
            "", "currency",
        ):  # fmt: skip
            unit = self.units.get(_SIGNS[before["sign"]])
            span = amount.unit_span or before.span("sign")
            amount = replace(amount, unit=unit, unit_span=span, start=before.start(), how=(*amount.how, "sign before"))
        amount = self._with_parts(text, amount)
        return self._per(text, amount)

    def _with_unit(self, text: str, number: Number) -> Amount:
        bare = Amount(number, NO_UNIT, start=number.start, end=number.end, how=("number",))
        if half := _AND_A_HALF.match(text, number.end):
            unit, span = self.units.get("month" if half["unit"] == "月" else "hour"), half.span("unit")
            return Amount(number, unit, 1.0, 0.5, span, number.start, half.end(), ("unit",))
        form, first, last = self._form(text, number.end)
        if form is None and _MINUTES.match(text, number.end):  # 1分12秒
            form, first, last = Form("分", "minute", 1.0, "unit"), number.end, number.end + 1
        if form is None:
            return self._latin(text, number) or bare
        if form.kind == "classifier":
            noun, noun_first, noun_last = self._form(text, last, "noun")
            if noun is not None and noun_first == last:
                return Amount(number, self.units.get(noun.unit), 1.0, 0.0, (first, noun_last), number.start, noun_last,
                              ("classifier", "noun"))  # fmt: skip
        if form is _GENERAL:
            return replace(bare, unit_span=(first, last), end=last, how=("classifier",))
        if form.text == "度" and _FAHRENHEIT.search(text, max(0, number.start - 8), number.start):
            form = self._forms["华氏度"]
        if form.text == "度" and _ELECTRIC.search(text, max(0, number.start - 10), number.start):
            form = self._forms["度电"]
        amount = Amount(number, self.units.get(form.unit), form.factor, 0.0, (first, last), number.start, last,
                        (form.kind,))  # fmt: skip
        if form.text in ("块", "米", "秒") and not number.scaled and (rest := _REST.match(text, last)):
            tenths = float(f"0.{rest['rest'].translate(_AS_DIGITS)}")
            return replace(amount, extra=tenths, end=rest.end())
        if (half := _AFTER_HALF.match(text, last)) and form.kind == "unit":
            return replace(amount, extra=0.5 * form.factor, end=half.end())
        return amount

    def _form(self, text: str, at: int, kind: str = "") -> tuple[Form | None, int, int]:
        """The longest form of a unit at a place, and its span."""
        first = at + 1 if text[at : at + 1] == " " else at
        for length in range(min(self._longest, len(text) - first), 0, -1):
            form = self._forms.get(text[first : first + length])
            end = first + length
            if form is not None and (not kind or form.kind == kind) and form.fits(text[end : end + 1]):
                return form, first, end
        if not kind and text[first : first + 1] == "个":
            return _GENERAL, first, first + 1
        return None, at, at

    def _latin(self, text: str, number: Number) -> Amount | None:
        match = _LATIN.match(text, number.end)
        if match is None:
            return None
        written = match["unit"]
        unit = self.units.symbol(written) or (self.units.symbol(written.lower()) if len(written) > 1 else None)
        if unit is None or (len(written) == 1 and written in "GDCBAPEKTMRSXNF"):
            return None
        return Amount(number, unit, 1.0, 0.0, match.span("unit"), number.start, match.end(), ("symbol",))

    def _with_parts(self, text: str, amount: Amount) -> Amount:
        """50元6角三分, 1小时30分钟: smaller parts of the same unit right after."""
        smallest = amount.factor
        while amount.unit.base_unit and amount.how[-1:] in (("unit",), ("parts",)):
            number = read_number(text, amount.end + 1 if text[amount.end : amount.end + 1] in "又零" else amount.end)
            if number is None or number.value < 0 or number.start > amount.end + 1:
                return amount
            form, _, last = self._form(text, number.end)
            if form is None and text[number.end : number.end + 1] == "分":
                money = amount.unit.family == "currency"
                form = Form("分", "yuan", 0.01, "unit") if money else Form("分", "minute", 1.0, "unit")
                last = number.end + 1
            if form is None or form.kind != "unit":
                return amount
            unit = self.units.get(form.unit)
            money = amount.unit.family == unit.family == "currency" and form.factor < smallest
            lesser = unit.base_unit == amount.unit.base_unit and unit.factor < amount.unit.factor
            if not (money or lesser):
                return amount
            part = number.value * (form.factor if money else form.factor * unit.factor / amount.unit.factor)
            smallest = form.factor
            amount = replace(amount, extra=float(f"{amount.extra + part:.15g}"), end=last,
                             number=replace(amount.number, end=amount.number.end), how=("unit", "parts"))  # fmt: skip
        return amount

    def _per(self, text: str, amount: Amount) -> Amount:
        """元/吨, and 每股1.2元."""
        if not amount.unit.name:
            return amount
        under, end = "", amount.end
        if after := _PER.match(text, amount.end):
            form, first, last = self._form(text, after.start("unit"))
            if form is not None and first == after.start("unit") and form.factor == 1:
                under, end = form.unit, last
            elif (unit := self.units.symbol(after["unit"])) is not None:
                under, end = unit.name, after.end()
            elif (time := _TIME_UNDER.match(text, after.start("unit"))) is not None:
                under, end = _TIMES[time[0]], time.end()
        elif amount.unit.family == "currency":
            every = _EVERY.search(text, max(0, amount.start - 24), amount.start)
            form = self._forms.get(every["unit"]) if every else None
            if form is not None and form.factor == 1:
                under = form.unit
        if not under and (each := _EACH_TIME.search(text, max(0, amount.start - 12), amount.start)):
            if amount.unit.family in ("currency", "count", "length", "volume", "mass", "time"):
                under = _TIMES[each["unit"]]
                # Words that bound the amount are looked for before its start.
                amount = amount if each["bound"] else replace(amount, start=each.start())
        if not under or under == amount.unit.name:
            return amount
        unit = self.units.get(f"{amount.unit.name} per {under}")
        span = amount.unit_span and (amount.unit_span[0], max(end, amount.unit_span[1]))
        return replace(amount, unit=unit, unit_span=span, end=max(end, amount.end), how=(*amount.how, "per"))


def is_quantity(text: str, amount: Amount) -> bool:
    """Whether a number in characters is one: 一家公司 is a company, 十分 is "very"; 三百 and 两家公司 are numbers."""
    number = amount.number
    if number.arabic:
        return bool(amount.unit_span) or not _YEAR.fullmatch(text, number.start, number.end)
    written = text[number.start : number.end]
    measured = amount.unit.family not in ("", "count") or "fraction" in amount.how
    if written == "一" and amount.unit.name in _BARE_TIMES and not amount.extra:  # 一个半小时 is one
        timed = _TIMED.search(text, max(0, number.start - 8), number.start) or _TIMED_AFTER.match(text, amount.end)
        return timed is not None
    if written in _ALONE and amount.unit.family == "time":
        return False  # 近百年 is the last hundred years
    if "half" in amount.how and _PASSED.search(text, max(0, number.start - 8), number.start):
        return False
    if measured or "half" in amount.how:
        return True
    if written == "一":
        return amount.unit.name == "count"  # 一倍
    if written in _ALONE and amount.unit_span is None:
        return _ENDED.match(text, number.end) is not None
    if amount.unit.name or amount.unit_span is not None:
        return True
    if len(text) < LONGEST and text.strip() == written:
        return True
    before = max(0, number.start - 8)
    bound = (
        _BOUND_AFTER.match(text, number.end)
        or _BOUND_BEFORE.search(text, before, number.start)
        or LIMIT_BEFORE.search(text, before, number.start)
    )
    return number.scaled and (len(written) > 2 or bound is not None)


def amounts(text: str, finder: AmountFinder, skipped: Iterator[tuple[int, int]]) -> list[Amount]:
    """The amounts of a text, in order, without those that overlap the skipped spans (in order)."""
    found: list[Amount] = []
    spans, at = list(skipped), 0
    for match in _BEGIN.finditer(text):
        start = match.start()
        if start < at or (match[0][0] == "-" and found and _BLANK.fullmatch(text, found[-1].end, start)):
            continue  # within the last amount, or the dash between the ends of a range
        while spans and spans[0][1] <= start:
            spans.pop(0)
        if spans and spans[0][0] <= start:
            at = spans[0][1]
            continue
        amount = finder.at(text, start)
        if amount is None:
            continue
        if spans and spans[0][0] < amount.number.end:
            at = spans[0][1]
            continue
        if is_quantity(text, amount):
            found.append(amount)
            at = max(amount.end, amount.number.end)
        else:
            at = amount.number.end
    return found


_BLANK = re.compile(r"\s*")
_FAHRENHEIT = re.compile(r"华氏(?:温度)?[ ]?$")
_BOUND_AFTER = re.compile(r"[ ]?(?:以[上下内]|或|左右|余|多|上下)")
_BOUND_BEFORE = re.compile(r"(?:[大小多少高低等]于|超过|至少|至多|最少|最多|不到|不足|不满|约|[为是达])了?[ ]?$")
"""What makes a numeral of two characters without a unit a number: 五百以上, 超过一千."""
_PASSED = re.compile(r"(?:时间|期限|期)(?:已经?)?过$")
"""时间过半 is how far something is, and no share of it."""
_ALONE = ("百", "千", "万", "亿")
_ENDED = re.compile(r"[ ]?(?:$|[,。;!?、)的]|大关)")
_YEAR = re.compile(r"(?:19|20)\d\d")
_NUMERAL = "零一二两三四五六七八九十"
_BEGIN = re.compile(
    rf"(?<![\d.])(?:负的?[ ]?(?=[\d{_NUMERAL}])|{BELOW_ZERO}|(?<![\dA-Za-z%)])-[ ]?(?=\d)|[\d{_NUMERAL}百千万亿半]"
    r"|(?<=翻)[了近番倍])"
)
