"""How queries are typed: in small letters, with a comma for a decimal point, with phrases in quotation marks.

`as_in_prose` rewrites what documents would write otherwise, character for character, so that offsets stay;
`search_words` gives what is left to search for.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from qbench.quantities.english.lexicon import SEARCH_NOISE
from qbench.quantities.english.tokens import Token, abbreviates, glued
from qbench.quantities.types import Span

_CAPITALS = {symbol.lower(): symbol for symbol in "W V IU Wh kJ MWh MHz Ah mA mV VA GW".split()}
_SYMBOLS = re.compile(
    r"(?<![\w.,])(?P<number>\d+(?:\.\d+)?)(?:(?P<space>\s?)(?P<symbol>w|v|iu|wh|kj|mwh|mhz)|(?P<glued>ah|ma|mv|va|gw))"
    r"(?![\w'’/.])(?!(?<=\sv)\s+\d)"
)
"""Symbols with capital letters: "65w charger", "12 v battery"; not the versus of "team a 3 v 2 team b"."""
_WIRELESS = re.compile(
    r"(?<![\w.])[2-6]g(?=\s(?:phones?|smartphones?|iphones?|mobiles?|routers?|networks?|modems?|tablets?|laptops?|sim|"
    r"plans?|towers?|coverage|data|internet|broadband|hotspots?|$)|$)"
)
_DEVICES = re.compile(r"\b(?:phone|smartphone|mobile|router|modem|tablet|laptop|watch|network|internet)(?:s|es)?\b")
"""Generations of mobile networks, not grams: "5g phone", "tablet with 4g"."""
_MONEY = (
    "usd|eur|gbp|inr|chf|cad|aud|nzd|hkd|sgd|jpy|cny|rmb|krw|sek|nok|dkk|pln|czk|huf|ron|brl|mxn|ars|zar|aed|sar|thb|"
    "idr|myr|php|btc|eth|rs"
)
_CODES = re.compile(rf"(?<![\w.])(?:{_MONEY})(?=\.?\s?\d)|(?<=\d)\s?(?:{_MONEY})\b")
"""Codes of currencies beside a number: "usd 100". Not those that are words: "all", "top", "try"."""
_PAID = re.compile(
    r"(?<![\w.,/$€£¥₹-])(?P<amount>\d+(?:[.,]\d+)*k?)(?P<each>\s?(?:pcm|pw|ppn|pppn|pppw|p/[mwnha]|"
    r"/\s?(?:mo|month|wk|week|nt|night|hr|hour|yr|year))|(?<!\.\d)ph|(?<=\d\d\d)pm|(?<=\d\d\d)pa|(?<=k)\s?pa)(?![\w/’'-])",
    re.IGNORECASE,
)
"""An amount of money without its currency, by what it is paid for each: "room 110pw", "salary 45k pa"."""
_CURRENCY_BEFORE = re.compile(rf"\b(?:{_MONEY})\s?$", re.IGNORECASE)
STAND_IN = "$"
"""What `as_in_prose` writes for the currency that is not told, at the first letter of the "pcm" of "800 pcm"."""
_UNPAID = re.compile(r"\b(?:ahi|events?|index|rates?|episodes?|seizures?|times|suction|pressure)\b")
"""What is counted in an hour or a week, or measured in pascals, and not paid."""
_CLOCK = re.compile(r"(?:1[0-2]|0?[1-9])(?:[.:]?[0-5]\d)?pm", re.IGNORECASE)
_DEGREES = re.compile(
    r"(?<![\w.,])(?P<number>-?\d{2,4}(?:\.\d)?) (?P<scale>[cf])(?=$|[,;)]|\s(?:in|for|or|and|at|to)\s)"
)
"""Degrees in small letters, after a space: "polymers 100-150 c"; not the kind of "type 2 c"."""
_CURRENT = re.compile(
    r"\b(?:amps?|amperes?|breakers?|fuses?|charg(?:er|ers|ing)|jump|batter(?:y|ies)|weld\w*|sockets?|rcd|rcbo|mcb|cables?|"
    r"volts?|psu|adapt[eo]rs?|inverters?|alternators?|plugs?|relays?|contactors?|current|circuit|extension|outlets?|"
    r"power supply|power supplies|solenoids?|wire|wires|wiring|thermal overload|motor|motors|esc)\b|\d\s?v(?!\w)",
    re.IGNORECASE,
)
"""Words beside which the "a" of "13a" is amperes: elsewhere it is part of a name or of a house's number."""
_FORCE = re.compile(
    r"\b(?:life ?jackets?|lifejackets?|buoyancy|forces?|springs?|struts?|load cells?|thrust|magnets?|actuators?|"
    r"pull|tensile|strength)\b",
    re.IGNORECASE,
)
"""Words beside which the "n" of "150n" is newtons."""
_LIGHT = re.compile(
    r"\b(?:leds?|bulbs?|lamps?|lights?|lighting|downlights?|spotlights?|floodlights?|lm|lumens?|colou?r temp(?:erature)?|"
    r"white)\b",
    re.IGNORECASE,
)
"""Words beside which the "k" of "4000k" is kelvin."""
_SUCTION = re.compile(r"\b(?:suction|vacuums?|hoovers?|pressure|robot)\b", re.IGNORECASE)
"""Words beside which the "pa" of "4000pa" is pascals."""
_LETTERS = (
    (re.compile(r"(?<![\w.,])(?<!\bflat )(?<!\bphone )(?<!\bpixel )(\d+(?:\.\d+)?)a(?![\w'’/.-])"), _CURRENT, "A"),
    (re.compile(r"(?<![\w.,])(\d+(?:\.\d+)?)n(?![\w'’/.-])"), _FORCE, "N"),
    (re.compile(r"(?<![\w.,$€£])([1-9]\d{3}|1\d{4})k(?![\w'’/.])"), _LIGHT, "K"),
    (re.compile(r"(?<![\w.,])(\d+\s?)pa(?![\w'’/.-])"), _SUCTION, "Pa"),
)
"""Letters after a number that are a symbol with a capital where the other words say so."""
_WATTS = re.compile(r"(?<=\d)(?P<space>\s?)mw\b")
_PLANTS = re.compile(r"\b(?:wind|turbines?|solar|pv|plants?|reactors?|grid|farms?|stations?)\b")
"""What has megawatts, where others have milliwatts: "wind turbines of 5 mw"."""
_WITH = re.compile(r"(?<![\w/])w/(?=\s|\d)", re.IGNORECASE)
"""Short for "with"; "w/o" is for "without"."""
_WITHOUT = re.compile(r"(?<![\w/])w/o(?!\w)", re.IGNORECASE)
_ONE = re.compile(
    r"(?P<bound>\b(?:than|over|under|within|least|most|up to|above|below|around|about|exceeding)\s)(?P<one>an?)"
    r"(?=\s(?:second|minute|hour|day|week|fortnight|month|year|decade|mile|kilometre|kilometer|km|metre|meter|foot|inch|"
    r"yard|acre|hectare|gallon|pint|litre|liter|gram|kilo|kilogram|kg|pound|ounce|stone|ton|tonne|dollar|euro|cent)\b)",
    re.IGNORECASE,
)
"""One of something, bounded: "more than an hour", "within a mile"."""
_DECIMAL_COMMA = re.compile(r"(?<![\d.,])\d+,\d{1,2}(?![\d,]|\.\d|\s?(?:or|and)\s\d)")
_QUOTED = re.compile(r"""(?<![\w"“])(?:"(?=[^\s"])[^"]*[^\s"]"|“[^“”]+”)(?!\w)""")
_SEPARATORS = frozenset(',;:?!()[]{}<>=|"“”«»…–—*~^\\')
"""Marks that part words even where they are glued to them; others are part of a word: "usb-c", "p/e", "R&D"."""
_TRAILING = frozenset("+#")
"""Marks that may end a word: "c++", "f#"."""
KEPT = frozenset("not no without never excluding except".split())
"""Function words that change what is searched for, where they belong to no condition: "flights not on Monday"."""
_NOISE = (SEARCH_NOISE - KEPT) | frozenset(
    "must pcm am want wanted need needed looking look something anything someone costing priced pricing weighing "
    "weighs ranging equals w/ olds".split()
)


_AFTER_ALL = frozenset("inclusive season weather wheel terrain day".split())
"""Words with which "all" is a kind of thing: "all inclusive holidays"."""
_TO_US = frozenset("ask show give tell let get find help of for about to with than teach send".split())
"""Words with which "us" is no country: "show us flats", but "us states"."""
_RELATIVE = frozenset("that which who".split())
_LINKING = frozenset("cost costs weigh weighs take takes sell sells run runs last lasts".split())
"""Verbs that only lead from a thing to its number: "phones that cost less than $200"."""


def as_in_prose(text: str) -> str:
    """The text as a document would write it, of the same length: "65w" is "65W", "usd 100" "USD 100", "1,5" "1.5"."""
    text = _DECIMAL_COMMA.sub(lambda match: match.group().replace(",", "."), text)
    text = _WITHOUT.sub("not", _WITH.sub("in", text))
    text = _ONE.sub(lambda match: match["bound"] + "1".ljust(len(match["one"])), text)
    text = _SYMBOLS.sub(_with_capitals, text)
    if _DEVICES.search(text):
        text = _WIRELESS.sub(lambda match: match.group().upper(), text)
    text = _DEGREES.sub(lambda match: match["number"] + "°" + match["scale"].upper(), text)
    for letter, words, symbol in _LETTERS:
        if words.search(text):
            text = letter.sub(lambda match, symbol=symbol: match[1] + symbol, text)
    watts = "MW" if _PLANTS.search(text) else "mW"
    text = _WATTS.sub(lambda match: match["space"] + watts, text)
    if not _UNPAID.search(text):
        text = _PAID.sub(_with_stand_in, text)
    return _CODES.sub(lambda match: match.group().upper().replace("RS", "Rs"), text)


def _with_stand_in(match: re.Match[str]) -> str:
    """The amount with a sign of money for what it is paid for each, unless that is told or it is a time of day."""
    if _CURRENCY_BEFORE.search(match.string[: match.start()]) or _CLOCK.fullmatch(match.group()):
        return match.group()
    return match["amount"] + STAND_IN.ljust(len(match["each"]))


def _with_capitals(match: re.Match[str]) -> str:
    return match["number"] + (match["space"] or "") + _CAPITALS[match["symbol"] or match["glued"]]


def quoted(text: str) -> list[Span]:
    """The phrases in quotation marks, with the marks, unless all of the text is one: searched as they stand."""
    spans = [match.span() for match in _QUOTED.finditer(text)]
    return [] if spans == [(len(text) - len(text.lstrip()), len(text.rstrip()))] else spans


def in_phrase(position: int, phrases: Sequence[Span]) -> bool:
    """Whether a character is in one of the phrases, which are sorted."""
    k = bisect_right(phrases, position, key=lambda span: span[0]) - 1
    return k >= 0 and position < phrases[k][1]


class SearchWord(NamedTuple):
    """A word of a query, as it is typed, and its characters."""

    text: str
    start: int
    end: int


def search_words(text: str, tokens: Sequence[Token], used: Sequence[Span], phrases: Sequence[Span]) -> list[SearchWord]:
    """The search words of a query, in order, whole words as they are typed.

    Args:
        text: of the query.
        tokens: of the query, at the same offsets.
        used: characters that conditions take, sorted by their starts.
        phrases: of `quoted`; their words are kept whatever they are.
    """
    shouts = text.upper() == text
    found = []
    for run in _runs(tokens, list(_outside(tokens, used))):
        first, last = tokens[run[0]], tokens[run[-1]]
        word = text[first.start : last.end]
        phrased = in_phrase(first.start, phrases)
        # "US" and "WHO" are names where other words are in small letters.
        name = len(word) > 1 and word.isupper() and not shouts
        following = tokens[run[-1] + 1].low if run[-1] + 1 < len(tokens) else ""
        name = name or (word.lower() == "all" and following in _AFTER_ALL)
        before = tokens[run[0] - 1].low if run[0] else ""
        name = name or (word == "us" and before not in _TO_US)
        name = name or (word.lower() == "due" and following != "to")
        linking = word.lower() in _LINKING and run[0] > 0 and tokens[run[0] - 1].low in _RELATIVE
        if phrased or name or not (linking or word.lower() in _NOISE):
            found.append(SearchWord(word, first.start, last.end))
    return found


def _runs(tokens: Sequence[Token], free: Sequence[int]) -> Iterator[list[int]]:
    """The tokens of each word: glued to each other, without marks that part words or stand at its ends."""
    run: list[int] = []
    for k in (*free, -1):
        joins = k >= 0 and (tokens[k].text not in _SEPARATORS or _is_ratio(tokens, k))
        if run and not (joins and k == run[-1] + 1 and glued(tokens[run[-1]], tokens[k])):
            if (word := _trimmed(tokens, run)) is not None:
                yield word
            run = []
        if joins:
            run.append(k)


def _is_ratio(tokens: Sequence[Token], k: int) -> bool:
    """Whether token k is the colon of "16:9"."""
    if tokens[k].text != ":" or not 0 < k < len(tokens) - 1:
        return False
    sides = tokens[k - 1], tokens[k + 1]
    return all(t.kind == "number" for t in sides) and glued(sides[0], tokens[k]) and glued(tokens[k], sides[1])


def _trimmed(tokens: Sequence[Token], run: list[int]) -> list[int] | None:
    """The run without the marks at its ends; None if nothing is left."""
    while run and tokens[run[0]].kind == "mark":
        run = run[1:]
    while run and tokens[run[-1]].kind == "mark" and not _ends_word(tokens, run):
        run = run[:-1]
    return run or None


def _ends_word(tokens: Sequence[Token], run: list[int]) -> bool:
    return tokens[run[-1]].text in _TRAILING or abbreviates(tokens, run[-1])


def _outside(tokens: Sequence[Token], spans: Sequence[Span]) -> Iterator[int]:
    """The tokens that lie in none of the spans."""
    position, reached = 0, 0
    for k, token in enumerate(tokens):
        while position < len(spans) and spans[position][0] <= token.start:
            reached = max(reached, spans[position][1])
            position += 1
        if token.end > reached:
            yield k
