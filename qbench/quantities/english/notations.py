"""Numbers that take more than one token of digits: "12 500 boats", "5,99 EUR", "16+0 weeks", "1.6175/85".

Each function looks at a token of digits and gives a `Notation`, or None where it is not there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from qbench.quantities.english.lexicon import ABBREVIATED_SCALES, FUNCTION_WORDS, LABELS, SCALES
from qbench.quantities.english.tokens import HYPHENS, Token, glued

_TAKES_COMMA = frozenset(
    "% ‰ ° € £ ¥ eur euro euros usd gbp chf sek nok dkk pln czk huf dollars dollar pounds kroner kronor francs marks "
    "kg g mg km m cm mm l ml dl kw mw kwh mwh gwh ha t mb gb tb ghz mhz inch inches percent pct per".split()
) | frozenset(ABBREVIATED_SCALES | SCALES)
"""What a number with a decimal comma stands before: a list of two whole numbers seldom does."""
_COUNTED = frozenset("people men women children inhabitants square cubic euros".split())
_PRICED = frozenset("€ eur euro chf sek nok dkk pln czk huf kr zł".split())
"""Currencies that are written behind amounts whose thousands stand apart: "1 299 €"."""
_OFFERS = frozenset("cost costs price priced prices paid pay pays worth now only sold spent spend earned".split())
"""Words before a price, none of which names a thing with a number of its own ("phone 15 128 €")."""
_DASHES = HYPHENS | {"–"}
_JOINS = _DASHES | {"and", "to", "or"}
_LONGEST_GROUPS = 4
_TERM, _GESTATION = 45, frozenset("week weeks wk wks gestation gestational".split())
_REACH = 8


class Notation(NamedTuple):
    """A number that goes on: value, the token after it, its figures with a decimal point, the rule, the upper end."""

    value: float
    last: int
    figures: str
    rule: str
    high: float | None = None


def notation(tokens: Sequence[Token], i: int, *, money: bool) -> Notation | None:
    """The number that starts with the digits at token i and goes on in the tokens after it; None if it ends there.

    Args:
        tokens: of the text.
        i: a token of digits.
        money: a currency stands before.
    """
    if i + 1 >= len(tokens):
        return None
    return (
        _decimal_comma(tokens, i, money=money)
        or _parted(tokens, i, money=money)
        or _spaced(tokens, i, money=money)
        or _weeks_and_days(tokens, i)
        or _hours_and_minutes(tokens, i)
        or _bid_and_ask(tokens, i, money=money)
    )


def _decimal_comma(tokens: Sequence[Token], i: int, *, money: bool) -> Notation | None:
    """ "5,99 EUR", "€7,5 million", "1,5 kg": one or two digits after a comma, and no list of numbers."""
    if i + 2 >= len(tokens) or tokens[i + 1].text != "," or not tokens[i].text.isdecimal():
        return None
    part, last = tokens[i + 2].text, i + 3
    if not part.isdecimal() or len(part) > 2 or not _joined(tokens, i, last):
        return None
    if (i and tokens[i - 1].text in ",(" and glued(tokens[i - 1], tokens[i])) or _is_list(tokens, last):
        return None
    after = tokens[last] if last < len(tokens) else None
    if not money and (after is None or after.low not in _TAKES_COMMA):
        return None
    if not money and after is not None and after.low == "per" and tokens[min(last + 1, len(tokens) - 1)].low != "cent":
        return None
    figures = f"{tokens[i].text}.{part}"
    return Notation(float(figures), last, figures, "decimal comma")


def _parted(tokens: Sequence[Token], i: int, *, money: bool) -> Notation | None:
    """ "EUR10 ,000", "9,000-10 ,000": thousands that some texts part before their comma."""
    ranged = i > 1 and tokens[i - 1].text in "-–" and "," in tokens[i - 2].text and glued(tokens[i - 1], tokens[i])
    if not (money or ranged) or i + 2 >= len(tokens) or tokens[i + 1].text != "," or not tokens[i].text.isdecimal():
        return None
    parted = tokens[i + 1].start - tokens[i].end == 1 and glued(tokens[i + 1], tokens[i + 2])
    if not parted or len(tokens[i].text) > 3 or not (len(tokens[i + 2].text) == 3 and tokens[i + 2].text.isdecimal()):
        return None
    figures = tokens[i].text + tokens[i + 2].text
    return Notation(float(figures), i + 3, figures, "digits")


def _is_list(tokens: Sequence[Token], last: int) -> bool:
    """Whether another comma or figure is glued behind: "1,2,3", "1,2-4"."""
    if last >= len(tokens) or not glued(tokens[last - 1], tokens[last]):
        return False
    goes_on = last + 1 < len(tokens) and glued(tokens[last], tokens[last + 1]) and tokens[last + 1].kind == "number"
    return goes_on and tokens[last].text in ",-–."


def _spaced(tokens: Sequence[Token], i: int, *, money: bool) -> Notation | None:
    """ "12 500 inhabitants", "1 234 567 square metres", "EUR 12 500", "1 299 €": groups of three after plain spaces.

    Only after a word in small letters or a currency, and before what is counted: rows of tables and names of products
    ("phone 11 128 GB") are figures that stand beside each other.
    """
    text, last = tokens[i].text, i + 1
    if not text.isdecimal() or len(text) > 3 or text[0] == "0":
        return None
    while last < len(tokens) and last - i < _LONGEST_GROUPS and _is_group(tokens, last):
        text, last = text + tokens[last].text, last + 1
    if last == i + 1 or (last < len(tokens) and _is_group(tokens, last)):
        return None
    before = tokens[i - 1] if i else None
    if before is not None and not money:
        joined = before.text in _DASHES and i > 1 and _ends_low(tokens, i - 2)
        if not joined and not _may_precede(before):
            return None
    after = tokens[last] if last < len(tokens) else None
    counts = after is None or after.kind == "mark" or after.low in FUNCTION_WORDS
    if not money and not (counts and last - i > 2):
        counts = after is not None and (after.low in _COUNTED or _is_plural(after) or _is_price(before, after))
        if not counts and after is not None and after.low in _JOINS and last + 1 < len(tokens):
            counts = _spaced(tokens, last + 1, money=False) is not None  # "1 200 to 1 500 €", "1 200-1 500 €"
    return Notation(float(text), last, text, "digits") if counts else None


def _may_precede(before: Token) -> bool:
    """Whether thousands may stand apart after a token."""
    return before.kind != "number" and before.low not in LABELS and (before.text.islower() or before.text in "(,:~≈<>")


def _ends_low(tokens: Sequence[Token], k: int) -> bool:
    """Whether token k ends the lower end of a range in hundreds or thousands: "900-1 500", and not "3-1 500"."""
    if len(tokens[k].text) != 3 or not tokens[k].text.isdecimal():
        return False
    first = k - (k > 0 and _is_group(tokens, k) and tokens[k - 1].text.isdecimal() and len(tokens[k - 1].text) < 4)
    return not first or _may_precede(tokens[first - 1])


def _is_price(before: Token | None, after: Token) -> bool:
    """Whether a currency stands after, and nothing before that may end in a number."""
    if after.low not in _PRICED:
        return False
    return before is None or before.kind == "mark" or before.low in FUNCTION_WORDS | _OFFERS


def _is_group(tokens: Sequence[Token], k: int) -> bool:
    return len(tokens[k].text) == 3 and tokens[k].text.isdecimal() and tokens[k].start - tokens[k - 1].end == 1


def _is_plural(token: Token) -> bool:
    word = token.text
    return len(word) > 3 and word.islower() and word.endswith("s") and not word.endswith(("ss", "us", "is"))


def _weeks_and_days(tokens: Sequence[Token], i: int) -> Notation | None:
    """ "16+0 to 18+6 weeks": weeks and days of gestation, as weeks."""
    if i + 2 >= len(tokens) or tokens[i + 1].text != "+" or not _joined(tokens, i, i + 3):
        return None
    weeks, days = tokens[i].text, tokens[i + 2].text
    if not (weeks.isdecimal() and int(weeks) < _TERM and len(days) == 1 and days.isdecimal() and int(days) < 7):
        return None
    around = tokens[max(0, i - _REACH) : i + 3 + _REACH]
    if _GESTATION.isdisjoint(t.low for t in around):
        return None
    return Notation(float(f"{int(weeks) + int(days) / 7:.6g}"), i + 3, weeks + days, "weeks and days")


def _hours_and_minutes(tokens: Sequence[Token], i: int) -> Notation | None:
    """ "2:05 hours", "4:30 min", "2:04:31 hours": a length of time, and no time of day ("at 14:30 hours")."""
    last = i + 1
    while last + 1 < len(tokens) and tokens[last].text == ":" and last < i + 5 and _joined(tokens, i, last + 2):
        if len(tokens[last + 1].text) != 2 or not tokens[last + 1].text.isdecimal() or int(tokens[last + 1].text) > 59:
            return None
        last += 2
    if last == i + 1 or last >= len(tokens) or tokens[last].low not in _LENGTHS or not tokens[i].text.isdecimal():
        return None
    if i and (tokens[i - 1].low in _CLOCKS or tokens[i - 1].text == ":"):
        return None
    parts = [int(tokens[k].text) for k in range(i, last, 2)]
    value = sum(part / 60**n for n, part in enumerate(parts))
    figures = "".join(tokens[k].text for k in range(i, last, 2))
    return Notation(value, last, figures, "hours and minutes")


_LENGTHS = frozenset("h hr hrs hour hours min mins minute minutes".split())
_CLOCKS = frozenset("at by until till from since before after to between and".split())


def _bid_and_ask(tokens: Sequence[Token], i: int, *, money: bool) -> Notation | None:
    """ "1.6175/85", "145.80/90 yen": a price at which a currency is bought, and the last digits of the one for sale.

    A hyphen joins the two where it can join no others: "137.80-85 yen", "1.8215-25 marks".
    """
    if i + 2 >= len(tokens) or tokens[i + 1].text not in ("/", *HYPHENS) or not _joined(tokens, i, i + 3):
        return None
    low, tail, last = tokens[i].text, tokens[i + 2].text, i + 3
    whole, _, decimals = low.partition(".")
    if not (whole.isdecimal() and decimals.isdecimal() and tail.isdecimal() and 2 <= len(tail) <= len(decimals)):
        return None
    if last < len(tokens) and tokens[last].text == "/" and glued(tokens[last - 1], tokens[last]):
        return None
    after = tokens[last] if last < len(tokens) else None
    priced = money or (after is not None and after.low in _QUOTED)
    quoted = priced or len(decimals) >= 4
    if tokens[i + 1].text != "/":
        quoted = priced and (len(decimals) >= 4 or float(tail) < float(low))  # not "0.0001-10 μM"
    elif not quoted and float(low) >= _SMALLEST_QUOTE:
        quoted = after is None or after.text in ".,;)" or after.low in FUNCTION_WORDS
    high = float(low[: -len(tail)] + tail)
    if high < float(low):
        high = float(f"{high + 10 ** (len(tail) - len(decimals)):.12g}")  # "1.8295/05" ends at 1.8305
    return Notation(float(low), last, low, "bid and ask", high) if quoted and high > float(low) else None


_SMALLEST_QUOTE = 10.0
"""Smaller numbers with a stroke may be the doses of two drugs: "0.25/35"."""
_QUOTED = frozenset("yen francs marks dollars dlrs lire lira guilders crowns pesetas won baht pct percent %".split())


def _joined(tokens: Sequence[Token], first: int, last: int) -> bool:
    return all(glued(tokens[k], tokens[k + 1]) for k in range(first, last - 1))
