"""Numbers as Chinese writes them: 3.5亿, 1亿2000万, 三千五百, 二〇一九, 三点五万, 百分之五, 三分之二, 七成五, 八五折.

All functions read texts that `plain` has been through.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

DIGITS = {"零": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
SMALL = {"十": 10, "百": 100, "千": 1000}
SCALES = {
    "百": 1e2, "千": 1e3, "万": 1e4, "十万": 1e5, "百万": 1e6, "千万": 1e7, "亿": 1e8, "十亿": 1e9, "百亿": 1e10,
    "千亿": 1e11, "万亿": 1e12,
}  # fmt: skip
"""What stands after a number in digits, as one word."""
_UNITS = frozenset("百千万亿")
"""What follows a 两 within a numeral; at the end of one it is a weight: 三十两."""
BIG = {"万": 10**4, "亿": 10**8, "兆": 10**12}
LIMIT_BEFORE = re.compile(
    r"(?:超过?|逾|突破|高于|大于|低于|不到|不足|(?<![附最])近|接近|(?<![超经通不])过|(?<!打)破)[了达]?$"
)
"""What makes a unit of numbers that stands alone a number: 超亿元, 近千人, 过百万."""
_THOUSANDS = re.compile(r"[kK](?![A-Za-z\d])")
_POWER = re.compile(r"[ ]?[×xX*][ ]?10(?:\^[ ]?(?P<caret>-?\d{1,2})(?!\d)|(?P<raised>⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,2}))")
_RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_SCALE_WORD = re.compile(
    r"[ ]?(?:(?P<word>thousand|million|billion|trillion)|(?P<short>mn|bn|[mkb]))(?![A-Za-z\d])", re.I
)
_SCALE_WORDS = {
    "thousand": 1e3, "k": 1e3, "million": 1e6, "mn": 1e6, "m": 1e6, "billion": 1e9, "bn": 1e9, "b": 1e9,
    "trillion": 1e12,
}  # fmt: skip
_CODES = "RMB|CNY|HKD|USD|EUR|GBP|JPY|TWD"
_MONEY_BEFORE = re.compile(rf"(?:[$¥€£₩]|{_CODES}|人民币|[美港欧日]元|港币|英镑)(?:约|近|超|超过)?[ ]?$")
MONEY_AFTER = rf"[ ]?(?:人民币|[美港欧日澳加]?元|港币|英镑|美金|{_CODES})"
_MONEY_AFTER = re.compile(MONEY_AFTER)
_GAP = r"[ ]?"
LONGEST = 64
"""Characters of a number; a longer run of numerals is none, and reading it from each of its places would take long."""
_ARABIC = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_CHINESE = r"[零一二三四五六七八九]"
_PIECE = re.compile(
    rf"{_GAP}(?:(?P<arabic>{_ARABIC})|(?P<decimal>(?:{_CHINESE}{{0,40}}|两)点{_CHINESE}{{1,40}}(?![十百千时分]))|(?P<run>两?{_CHINESE}{{1,40}}|两)"
    rf"|(?P<small>十|百(?!帕|分[点之])|千(?![克米瓦卡焦赫帕伏]|分之))|(?P<big>[万亿]|兆(?![瓦赫字比帕焦])))"
)
BELOW_ZERO = (
    r"(?<![归清零一二三四五六七八九十百千万亿])零下[ ]?"
    r"(?=[\d零一二两三四五六七八九十][^,。;!?]{0,16}(?:度|℃|°C))"
)
"""A sign of temperatures: 零下5℃ is -5; 归零下 and 零下午 are other words."""
_START = re.compile(
    r"(?P<sign>负的?{gap}|{below}|(?<![\dA-Za-z%)\]])-{gap})?(?=[\d零一二两三四五六七八九十百千万亿])".replace(
        "{gap}", _GAP
    ).replace("{below}", BELOW_ZERO)
)
_ABOUT = re.compile(
    r"[ ]?(?:多(?![数少次方]|元[化的])|余(?![额下])|来(?![自到源])|(?<=[十百千])几)(?=[ ]?[万亿]|[ ]?\D|$)"
)


@dataclass(frozen=True, slots=True)
class Number:
    """A number as written.

    Attributes:
        value, high: the number; the ends of "两三百", two digits of which one or the other is meant.
        digits: significant digits.
        start, end: its span.
        about: whether a word within it (余, 多) says that it is no exact one.
        arabic: whether it has an Arabic digit.
        scale: what its last unit multiplies a number before a hyphen by ("3-5亿"); 1 for none.
        scaled: whether it has a 十, 百, 千, 万, 亿 or 兆: a numeral, and no word in which a digit stands.
    """

    value: float
    high: float
    digits: int
    start: int
    end: int
    about: bool = False
    arabic: bool = False
    scaled: bool = False
    scale: float = 1.0


@dataclass(slots=True)
class _Sum:
    """What has been read: groups below 万 are summed in `group`, and multiplied when a greater unit follows."""

    total: list[tuple[float, float]]
    group: float = 0.0
    pending: float | None = None
    spread: float = 0.0
    last: float = 1.0
    zero: bool = False
    seen: bool = False
    scale: float = 1.0

    def put(self, value: float) -> None:
        self.pending, self.seen = value, True

    def small(self, factor: int) -> None:
        self.group += (1.0 if self.pending is None else self.pending) * factor
        self.spread, self.scale = self.spread * factor, self.scale * factor
        self.pending, self.last, self.zero, self.seen = None, factor, False, True

    def big(self, factor: int) -> None:
        base = self.group + (self.pending or 0.0)
        smaller = [value for value, scale in self.total if scale < factor or (scale == factor and not self.seen)]
        if not self.seen:
            base = 0.0
        self.total = [(v, s) for v, s in self.total if s > factor or (s == factor and self.seen)]
        self.total.append((float(f"{(sum(smaller) + base) * factor:.15g}"), float(factor)))
        self.spread, self.scale = self.spread * factor, self.scale * factor
        self.group, self.pending, self.last, self.zero, self.seen = 0.0, None, factor, False, False

    def value(self) -> float:
        return sum(value for value, _ in self.total) + self.group + (self.pending or 0.0)


def read_number(text: str, start: int) -> Number | None:
    """The number that begins at a place of a text; None where none does.

    >>> read_number("1亿2000万元", 0).value, read_number("两千四百五", 0).value, read_number("万一", 0)
    (120000000.0, 2450.0, None)
    """
    begun = _START.match(text, start)
    if begun is None:
        return None
    sign = -1.0 if begun["sign"] else 1.0
    at, found, digits, shape = begun.end(), _Sum([]), 0, ""
    about = arabic = False
    while (piece := _PIECE.match(text, at + _counted(text, at, shape))) and at - start < LONGEST:
        if piece.start() != piece.start(piece.lastgroup or 0) and not _continues(piece, shape):
            break
        kind, written = str(piece.lastgroup), piece[piece.lastgroup or 0]
        weight = shape and written == "两" and text[piece.end() : piece.end() + 1] not in _UNITS
        if weight or not _fits(kind, written, shape, found):
            break
        _take(found, kind, written)
        digits, arabic = digits + _digits(kind, written), arabic or kind == "arabic"
        shape += {"arabic": "a", "decimal": "d", "run": "r", "small": "s", "big": "b"}[kind]
        at = piece.end()
        if shape[-1] in "sba" and (more := _ABOUT.match(text, at)):
            about, at = True, more.end()
    above = shape in ("s", "b", "sb", "bb") and LIMIT_BEFORE.search(text, max(0, start - 6), start)
    if not shape or (shape[0] in "sb" and text[begun.end()] != "十" and not above):
        return None  # 千 and 万 alone are words; 超百亿 is more than one 百亿
    if shape == "a" and (scale_word := _scale_word(text, begun.end(), at)):
        factor, at = scale_word
        found.pending, shape = float(f"{(found.pending or 0.0) * factor:.15g}"), "ab"
        found.scale *= factor
    elif shape == "a" and (power := _POWER.match(text, at)):
        written = (power["caret"] or power["raised"]).translate(_RAISED)
        found.pending, at = float(f"{found.pending or 0.0:.15g}e{int(written)}"), power.end()
    elif shape == "a" and _THOUSANDS.match(text, at):
        found.pending, at, shape = (found.pending or 0.0) * 1000, at + 1, "ab"
    if shape[-1] == "r" and len(shape) > 1 and not found.zero and text[at - 1] in DIGITS and _is_short(found, text, at):
        found.pending = (found.pending or 0.0) * found.last / 10
    value = sign * found.value()
    if not math.isfinite(value):
        return None
    high = value + found.spread if found.spread and sign > 0 else value
    scaled = any(kind in shape for kind in "sbd")
    scale = found.scale if len(shape.rstrip("sb")) == 1 else 1.0
    return Number(value, high, max(1, digits), start, at, about, arabic, scaled, scale)


def _counted(text: str, at: int, shape: str) -> int:
    """The length of the classifier in 10个亿."""
    return 1 if shape and text.startswith("个亿", at) else 0


def _scale_word(text: str, start: int, end: int) -> tuple[float, int] | None:
    """The factor and the end of an English scale word after digits; short ones (1.5M) only beside a currency."""
    match = _SCALE_WORD.match(text, end)
    if match is None:
        return None
    money = _MONEY_BEFORE.search(text, max(0, start - 8), start) or _MONEY_AFTER.match(text, match.end())
    return (_SCALE_WORDS[match[match.lastgroup or 0].lower()], match.end()) if match["word"] or money else None


def _continues(piece: re.Match[str], shape: str) -> bool:
    """Whether a piece after a space goes on with the number: "7 万5 千" does, "5 6" does not."""
    return bool(shape) and (piece.lastgroup in ("small", "big") or (shape[-1] in "sb"))


def _fits(kind: str, written: str, shape: str, found: _Sum) -> bool:
    if kind in ("arabic", "decimal", "run"):
        return shape[-1:] in ("", "s", "b")
    if kind == "small" and written == "十" and shape[-1:] == "a":
        return False  # 2019十大
    if kind == "small":
        return shape[-1:] in ("", "a", "r") or (shape[-1:] == "s" and SMALL[written] < found.last)
    return True


def _take(found: _Sum, kind: str, written: str) -> None:
    if kind == "arabic":
        found.put(float(written.replace(",", "")))
    elif kind == "decimal":
        whole, _, rest = written.partition("点")
        found.put(float(f"{_positional(whole)}.{''.join(str(DIGITS[c]) for c in rest)}"))
    elif kind == "run":
        within = bool(found.total or found.group)
        found.zero = found.zero or (within and written[0] == "零")
        bare = written.lstrip("零") if within else written
        if len(bare) == 2 and bare[0] != "零" and DIGITS[bare[1]] == DIGITS[bare[0]] + 1:
            found.spread = 1.0  # 两三百
            found.put(float(DIGITS[bare[0]]))
        elif bare:
            found.put(float(_positional(bare)))
    elif kind == "small":
        found.small(SMALL[written])
    else:
        if not found.seen and not found.total:
            found.put(1.0)  # 超亿元
        found.big(BIG[written])


def _positional(run: str) -> int:
    return int("".join(str(DIGITS[c]) for c in run) or "0")


def _digits(kind: str, written: str) -> int:
    if kind == "arabic":
        return len(written.replace(",", "").replace(".", "").lstrip("0"))
    return len(written.replace("点", "").strip("零")) if kind in ("decimal", "run") else 0


def _is_short(found: _Sum, text: str, at: int) -> bool:
    """Whether a last digit stands for the next lower unit: 四百五 is 450, 二十五 is 25, 四百零五 is 405."""
    return found.last >= 100 and text[at - 2] in "百千万亿" and found.spread == 0
