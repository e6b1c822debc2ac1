"""How queries are typed: in small letters, with a comma for a decimal point, in short for what a document writes out.

`as_in_prose` rewrites what documents would write otherwise, character for character, so that offsets stay.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache, partial

from qbench.quantities.units import Units

_AFTER_NUMBERS = re.compile(
    r"(?:(?<![\w.,])|(?<=\dx))(?P<number>\d+(?:[.,]\d+)?(?P<space>\s?))(?P<symbol>[a-zµμ]{1,3})(?![\w'’.²³]|/\d|\^)"
)
"""What may be a symbol with capital letters: "65w charger", "12 v battery"."""
_VERSUS = re.compile(r"(?<![\w.])\d\s(?=v\s\d(?:\s[a-z]{3}|$))")
"""The first of "team a 3 v 2 team b"."""
_BELOW = re.compile(r"(?:(?<=[a-z]/)|(?<=per ))(?P<symbol>[a-zµμ]{2,3})(?![\w'’.²³]|\^)")
"""One below a line: "nv/khz", "euros per mwh"."""
_MILLI = frozenset("mv ma mh mf mc mt".split())
"""Symbols that mean thousandths rather than millions."""
_OTHERWISE = frozenset("a j k n pa mn mr mw td ci ev ga nt ut un hz kw kv ms nl fl".split())
"""Those that more often are something else, or are told by other words of the query: see `_LETTERS`."""
_GLUED_ONLY = frozenset("ah ma mv va na nh mh mc mk wb eb nc pl ej gl".split())
"""Those that are words or states after a space."""


@lru_cache(maxsize=4)
def _small_symbols(units: Units) -> dict[str, str]:
    """The symbols of two or three letters and the volt and watt, by their small letters, where those mean no other."""
    found: dict[str, str] = {}
    for unit in units:
        for symbol in unit.symbols if unit.family != "currency" else ():
            low = symbol.lower()
            for small in (low, re.sub("[µμ]", "u", low)):
                if len(small) != len(symbol) or small == symbol or not small.isalpha() or small in _OTHERWISE:
                    continue
                if (
                    len(small) > 3
                    or units.preceding(small.upper()) is not None
                    or any(known(small) is not None for known in (units.symbol, units.named))
                ):
                    continue
                if small not in found or (found[small][0] == "m") != (small in _MILLI):
                    found[small] = symbol
    return found


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
_PAIR = re.compile(
    rf"(?<!\d\d )(?<![\d])\b(?:{_MONEY})[ /](?:{_MONEY})\b|(?<=\.\d\d )(?:{_MONEY})[ /](?:{_MONEY})\b", re.IGNORECASE
)
"""A rate of exchange, whose codes are of no amount: "eur usd above 1.10"; not the "usd eur" of "100 usd eur"."""
_SLANG = (
    (re.compile(r"\b(?:a |one )?fiver\b", re.IGNORECASE), "£5"),
    (re.compile(r"\b(?:a |one )?tenner\b", re.IGNORECASE), "£10"),
)
"""Notes of money by their names: "under a tenner"."""
_CODES = re.compile(
    rf"(?<![\w.])(?!inr\s?\d\d?(?:\.\d+)?(?!\s?[\dklc.,]))(?:{_MONEY})(?=\.?\s?\d)|(?:(?<=\d)|(?<=\d[km]))\s?(?:{_MONEY})\b"
)
"""Codes of currencies beside a number: "usd 100". Not those that are words ("all", "top", "try"), nor the
first of a pair, nor the "inr" of so few that it is a time of clotting: "inr 2 to 3"."""
_PAID = re.compile(
    r"(?<![\w.,/$€£¥₹-])(?P<amount>\d+(?:[.,]\d+)*k?)"
    r"(?P<each>\s?(?:pcm|pw|ppn|pppn|pppw|p/[mwnha]|"
    r"/\s?(?:m2|m²|sqm|sqft|kg|lb|litre|liter|gal|mo|month|wk|week|nt|night|hr|hour|yr|year))"
    r"|(?<!\.\d)(?<!k)ph|(?<=\d\d\d)p[ma]|(?<=k)\spa)(?![\w/’'-])",
    re.IGNORECASE,
)
"""An amount of money without its currency, by what it is paid for each: "room 110pw", "salary 45k pa"."""
_CURRENCY_BEFORE = re.compile(rf"\b(?:{_MONEY})\s?$", re.IGNORECASE)
_CELLS = re.compile(r"\b(?:lipo|li-?ion|li-?po|cells?)\b", re.IGNORECASE)
_CORSETRY = re.compile(r"\b(?:bras?|bralettes?|bikinis?|lingerie|corsets?|swimsuits?)\b", re.IGNORECASE)
_CUPS = re.compile(r"(?<![\w.,/])[2-5]\d(?:[a-k]|dd|ee|ff|gg|hh)(?![\w/-])", re.IGNORECASE)
"""Sizes of what is worn: "bra 34c"."""
_BATTERIES = re.compile(r"(?<![\w.,/])(?:[2-8]s|\d{2,3}c)(?![\w/-])", re.IGNORECASE)
"""The cells and the strength of a battery of models: "lipo 4s 1500mah 100c"."""
_DUAL = re.compile(
    r"(?<=\d)(?P<left>[a-z]{1,3})/(?!100(?:g|ml)\b)(?=\d+(?:\.\d+)?(?P<right>[a-z]{1,3})(?!\w))", re.IGNORECASE
)
"""What stands between the two of "12v/230v", "washer dryer 8kg/5kg"; "sugar below 5g/100g" has one amount."""
_GLUED = re.compile(r"(?<!\w)(?P<bound>under|below|over|above|max|min|upto)(?=[$€£]?\d)", re.IGNORECASE)
_BOUNDS = {
    **dict.fromkeys(("under", "below", "sub"), "<"), **dict.fromkeys(("over", "above", "exceeding"), ">"),
    **dict.fromkeys(("max", "maximum", "upto", "up to", "at most", "within"), "≤"),
    **dict.fromkeys(("min", "minimum", "at least"), "≥"),
}  # fmt: skip
"""Bounds without a space before their number: "under5kg"."""
_RANGES = (
    (re.compile(r"(?<=\d)([$€£])-(?=\d+(?:[.,]\d+)?k?\1)"), "- "),
    (re.compile(r"(?<=\d)to(?=\d+(?:\.\d+)?(?:[a-z]|\s|$))", re.IGNORECASE), "- "),
)
"""Ranges without spaces: "50$-100$", "5to10kg"."""
_FEET = re.compile(r"(?<![\w.,])([3-8])ft(\d{1,2})(?![\w.,/])", re.IGNORECASE)
"""Feet and inches of persons: "6ft2"."""
_POINTS = re.compile(
    r"(?<![\w.,])[1-9]\d{0,2}(?:\.\d{3})+(?=\s?(?:€|euros?\b|eur\b|km\b|views\b|inhabitants\b|people\b))", re.IGNORECASE
)
"""Thousands parted by points: "10.000 euros"."""
_SIGNS = re.compile(r"(?<=\d)\s(eur|usd|gbp)(?=\s\d)", re.IGNORECASE)
"""Codes between two numbers, which belong to the first: "under 25 eur 200 pack"."""
_SIGN_APART = re.compile(r"(?<=\d)\s([$€£])(?=\s\d)")
"""A sign behind its number and before another: "under 500 $ 8gb ram"."""
_SHORT_RATES = (
    (re.compile(r"([$€£]\s?\d[\d,.]*k?) pm(?!\w)", re.IGNORECASE), r"\1/mo"),
    (re.compile(r"([$€£]\s?\d[\d,.]*k?) p/h(?!\w)", re.IGNORECASE), r"\1/hr "),
)
"""For what money with its sign is paid, in short: "$500 pm", "£20 p/h"."""
_SIGN = {"eur": "€", "usd": "$", "gbp": "£"}
_MULTIPLES = re.compile(r"(?<=\d\s)p/(?=[besf]\b)", re.IGNORECASE)
"""The start of the next condition: "p/e below 10 p/b below 1"."""
_HYPHENED = re.compile(r"\b(?:at-(?:least|most)|up-to)(?=\s?[$€£]?\d)", re.IGNORECASE)
_NO_YEAR = re.compile(
    r"(?:\b(?P<bound>under|below|sub|over|above|exceeding|up to|at most|at least|"
    r"(?:maximum|minimum|max|min)(?: of)?|within)"
    r"|(?P<sign>[<>≤≥]=?))\s(?P<thousands>1[5-9]|20)00(?![\w./-]|,\S|\s?(?:%|ad\b|bce?\b))",
    re.IGNORECASE,
)
"""A round number with a bound that dates don't have: "laptop under 2000 16gb ram" asks for no year."""
_PRICE = r"(?:[$€£]\s?\d[\d,.]*k?|(?<![\w.,])\d[\d,.]*k?\s?(?:euros?|dollars?|bucks|quid|pounds?|usd|eur|gbp|[$€£]))"
_CAPPED = re.compile(
    rf"(?P<price>(?:{_PRICE}|(?<![\w.,])(?:\d{{3,}}|\d+k))\s(?:max|maximum|min|minimum))\s"
    r"(?=\d[\d,.]*\s?(?!euro|dollar|buck|quid|pound|usd|eur|gbp)[a-z])",
    re.IGNORECASE,
)
"""A price with its limit before another amount: "laptop $500 max 8gb ram"."""
_TOPS = re.compile(rf"(?P<price>{_PRICE}\s)tops\b", re.IGNORECASE)
_NEARLY = re.compile(r"\ba (?:bit|little|tad) (?=(?:under|over|above|below|less|more)\b)", re.IGNORECASE)
"""What says nothing of a bound: "a bit under 2 kg"."""
_AMOUNT = r"(?P<amount>(?<![\w.,])[$€£]?\d[\d.,]*\s?[a-z%\"']{0,8})"
_EITHER = re.compile(rf"{_AMOUNT}(?P<either> or (?P<side>under|below|above|over))(?=\s[$€£]?\d)", re.IGNORECASE)
_BOUNDED = re.compile(r"\b(?:under|below|above|over|than|least|most|between|from)\b|[<>≤≥]", re.IGNORECASE)
_AND_UP = re.compile(rf"{_AMOUNT} and up(?:wards?)?\b(?!\s(?:to|from|and)\b)", re.IGNORECASE)
"""The other limits behind an amount, before whatever follows: "15 inches or under 8gb", "$500 and up steel"."""
_INCHES = re.compile(
    r"(?<![\w.,$€£])([1-9]\d{1,2}) in"
    r"(?=$|,|\s(?:wide|tall|high|long|max|(?:under|over|below|less than|up to) [$€£]?\d{2,}(?!\s?[hms])))",
    re.IGNORECASE,
)
"""Inches in short before what no place begins with: "monitor 27 in under 300"."""
_NO_YEAR_OR = re.compile(
    r"(?<![\w.,/-])(?P<thousands>1[5-9]|20)00 or (?P<side>more|above|over|higher|less|under|below|lower|cheaper)\b",
    re.IGNORECASE,
)
_NO_YEAR_OF = re.compile(r"(?<=\bbudget\s)of(?=\s\d{4}(?![\w.,/-]))", re.IGNORECASE)
_GRAND = re.compile(r"(?<=\d)\s(?:grand\b(?!\s(?:pianos?|prix|tour|hotel|slams?|final))|mill\b)", re.IGNORECASE)
"""Thousands and millions in short: "45 grand", "1.5 mill"."""
_NAMED_MAX = re.compile(
    r"(?<=\bpro )max\b(?=\s+\d)|(?<=\bvo2 )max\b|(?<=\bm[1-5] )max\b(?=\s+\d+\s?[gt]b)|(?<=\bairpods )max\b",
    re.IGNORECASE,
)
"""The "max" of a name before a number: "iphone 15 pro max 256gb", "m3 max 36gb"."""
_ALL_IN_ONE = re.compile(
    r"(?<![\w.,$€£])(?:[2-9]|[1-3]\d)\sin\s(?:1|one)(?!\s(?:day|hour|week|month|year|go|of|night|game)\b)(?![\w.,-])"
)
"""What is several things: "7 in 1 hub"."""
_NAMES = re.compile(
    r"(?<![\w.,])(?:\d{3}/\d\d(?=\s?z?r\s?\d\d)|\d{2,3}x\d{2}c|"
    r"80(?:\s?\+|\splus)(?=\s(?:gold|bronze|platinum|titanium|silver|white))|24/7|4x4|zero(?=[\s-](?!percent|per\b|%|to\b|degrees?\b|or\b))|9(?:\s?-\s?|\sto\s)5(?=\s(?!\w*\d)[a-z]{3})|"
    r"(?:[12]?\d|3[01])(?:st|nd|rd|th)?(?=\s(?:of\s)?(?-i:may)\b(?!\s(?:19|20)\d\d))|"
    r"\d\.\d(?=\s(?:automatic|manual|petrol|diesel|hybrid|turbo|tdi|tsi|tfsi|hdi|cdti|cdi|dci|vtec|gdi|mpi|ecoboost|v[68]|v1[02])\b))"
    r"(?!\w(?<!r))",
    re.IGNORECASE,
)
"""Numbers of names: the sides of a tyre, a grade of power supplies, "24/7", "4x4", days of May, sizes of engines."""
STAND_IN = "$"
"""What `as_in_prose` writes for the currency that is not told, at the first letter of the "pcm" of "800 pcm"."""
_UNPAID = re.compile(r"\b(?:ahi|events?|index|rates?|episodes?|seizures?|times|suction|pressure)\b")
"""What is counted in an hour or a week, or measured in pascals, and not paid."""
_CLOCK = re.compile(r"(?:1[0-2]|0?[1-9])(?:[.:]?[0-5]\d)?pm", re.IGNORECASE)
_DEGREES = re.compile(
    r"(?<![\w.,])(?P<number>-?\d{2,4}(?:\.\d)?|4) (?P<scale>[cf])"
    r"(?=$|[,;)<>]|\s(?:in|for|how|until|or|and|at|to|with|under|over|below|above|less|more|max|min|[<>≤≥])\s)"
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
    r"pull|tensile|strength|carabiners?|slings?|anchors?|beams?|loads?|piles?|columns?)\b",
    re.IGNORECASE,
)
"""Words beside which the "n" of "150n" is newtons, and "kn" no knots."""
_LIGHT = re.compile(
    r"\b(?:leds?|bulbs?|lamps?|lights?|lighting|downlights?|spotlights?|floodlights?|lm|lumens?|"
    r"colou?r temp(?:erature)?|white)\b",
    re.IGNORECASE,
)
"""Words beside which the "k" of "4000k" is kelvin."""
_ENERGY = re.compile(
    r"\b(?:band ?gaps?|energy|energies|electrons?|photons?|protons?|work function|ioni[sz]ation|plasma|barrier)\b",
    re.IGNORECASE,
)
"""Words beside which the "ev" of "3 ev" is electronvolts."""
_IMPACT = re.compile(
    r"\b(?:hammers?|energy|energi[sz]ers?|impact|lasers?|pulses?|air ?guns?|air rifles?|charpy|breakers?)\b",
    re.IGNORECASE,
)
"""Words beside which the "j" of "5 j" is joules."""
_SUCTION = re.compile(r"\b(?:suction|vacuums?|hoovers?|pressure|robot)\b", re.IGNORECASE)
"""Words beside which the "pa" of "4000pa" is pascals."""
_TORQUE = re.compile(
    r"\b(?:torque|wrench(?:es)?|steppers?|servos?|gearbox(?:es)?|engines?|impact|screwdrivers?)\b", re.IGNORECASE
)
"""Words beside which the "nm" of "60 nm" is newton metres."""
_HEAT = re.compile(r"\b(?:thermal|heat|sink|heatsinks?|junction)\b", re.IGNORECASE)
"""Words beside which the "k/w" of "1 k/w" is kelvins per watt."""
_LETTERS = (
    (re.compile(r"(?<![\w.,])(?<!\bflat )(?<!\bphone )(?<!\bpixel )(\d+(?:\.\d+)?)a(?![\w'’/.-])"), _CURRENT, "A"),
    (re.compile(r"(?<![\w.,])(\d+(?:\.\d+)?)n(?![\w'’/.-])"), _FORCE, "N"),
    (re.compile(r"(?<![\w.,])(\d+(?:\.\d+)?\s?)kn(?![\w'’.-])"), _FORCE, "kN"),
    (re.compile(r"(?<![\w.,$€£])([1-9]\d{3}|1\d{4})k(?![\w'’/.])"), _LIGHT, "K"),
    (re.compile(r"(?<![\w.,])(\d+(?:\.\d+)?\s?)j(?![\w'’/.-])"), _IMPACT, "J"),
    (re.compile(r"(?<![\w.,])(\d+(?:\.\d+)?\s?)ev(?![\w'’/.-])"), _ENERGY, "eV"),
    (re.compile(r"(?<![\w.,])(\d+\s?)pa(?![\w'’/.-])"), _SUCTION, "Pa"),
    (re.compile(r"(?<![\w.,])(\d+(?:\.\d+)?\s?)ms(?=/c?m\b)"), re.compile("/c?m"), "mS"),
    (re.compile(r"(?<![\w.,])(\d+(?:\.\d+)?\s?)k/w(?![\w'’/.-])"), _HEAT, "K/W"),
    (re.compile(r"(?<![\w.,])(\d+(?:\.\d+)?\s?)nm(?![\w'’/.-])"), _TORQUE, "Nm"),
    (re.compile(r"(?<![\w.,])(\d+\.\d+)a(?![\w'’/.-])"), re.compile(r"\d\.\d+a"), "A"),
)
"""Letters after a number that are a symbol with a capital where the other words say so."""
_WATTS = re.compile(r"(?<=\d)(?P<space>\s?)mw\b")
_PLANTS = re.compile(r"\b(?:wind|turbines?|solar|pv|plants?|reactors?|grid|farms?|stations?|data cent(?:re|er)s?)\b")
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


def as_in_prose(text: str, units: Units) -> str:
    """The text as a document would write it, of the same length: "65w" is "65W", "usd 100" "USD 100", "1,5" "1.5"."""
    text = _DECIMAL_COMMA.sub(lambda match: match.group().replace(",", "."), text)
    text = _POINTS.sub(lambda match: match.group().replace(".", ","), text)
    text = _PAIR.sub(lambda match: "x" * len(match.group()), text)
    for note, amount in _SLANG:
        text = note.sub(partial(_padded, amount), text)
    text = _HYPHENED.sub(lambda match: match.group().replace("-", " "), text)
    text = _GLUED.sub(lambda match: _BOUNDS[match["bound"].lower()].ljust(len(match["bound"])), text)
    text = _INCHES.sub(r'\1"  ', _with_limits(text))
    text = _NO_YEAR_OR.sub(_with_side, _NO_YEAR.sub(_as_thousands, text))
    text = _NO_YEAR_OF.sub("  ", text)
    text = _FEET.sub(r"\1'\2" + '"', text)
    for pattern, dash in _RANGES:
        text = pattern.sub(dash, text)
    text = _SIGN_APART.sub(r"\1 ", text)
    for rate, per in _SHORT_RATES:
        text = rate.sub(per, text)
    text = _SIGNS.sub(lambda match: _SIGN[match[1].lower()].ljust(4), text)
    text = _MULTIPLES.sub("px", text)
    text = _WITHOUT.sub("not", _WITH.sub("in", text))
    text = _ONE.sub(lambda match: match["bound"] + "1".ljust(len(match["one"])), text)
    text = _ALL_IN_ONE.sub(lambda match: re.sub(r"\s", "-", match.group()), text)
    text = _NAMED_MAX.sub("pro", text)
    text = _DUAL.sub(_parted, text)
    text = _GRAND.sub(lambda match: ("k" if match.group()[1] in "gG" else "M").ljust(len(match.group())), text)
    if _CORSETRY.search(text):
        text = _CUPS.sub(lambda match: "x" * len(match.group()), text)
    if _CELLS.search(text):
        text = _BATTERIES.sub(lambda match: "x" * len(match.group()), text)
    text = _NAMES.sub(lambda match: re.sub(r"\s", "-", re.sub(r"\S", "x", match.group())), text)
    symbols = _small_symbols(units)
    electric = _CURRENT.search(text) is not None
    if not _VERSUS.search(text):
        text = _AFTER_NUMBERS.sub(lambda match: _with_capitals(match, symbols, spaced=electric), text)
    text = _BELOW.sub(lambda match: symbols.get(match["symbol"], match["symbol"]), text)
    if _DEVICES.search(text):
        text = _WIRELESS.sub(lambda match: match.group().upper(), text)
    text = _DEGREES.sub(lambda match: match["number"] + "°" + match["scale"].upper(), text)
    for letter, words, symbol in _LETTERS:
        if words.search(text):
            text = letter.sub(rf"\g<1>{symbol}", text)
    watts = "MW" if _PLANTS.search(text) else "mW"
    text = _WATTS.sub(lambda match: match["space"] + watts, text)
    if not _UNPAID.search(text):
        text = _PAID.sub(_with_stand_in, text)
    return _CODES.sub(lambda match: match.group().upper().replace("RS", "Rs"), text)


def _padded(words: str, match: re.Match[str]) -> str:
    """Words in the place of a match, filled up with spaces to its length."""
    return words.ljust(len(match.group()))


def _with_limits(text: str) -> str:
    """The text with the limits that stand behind amounts as a reader of documents knows them."""
    text = _NEARLY.sub(lambda match: " " * len(match.group()), text)
    text = _TOPS.sub(lambda match: match["price"] + "max ", text)
    text = _CAPPED.sub(lambda match: match["price"] + ",", text)
    text = _AND_UP.sub(lambda match: (match["amount"] + "+").ljust(len(match.group())), text)
    either = _EITHER.search(text)
    if either is None or _BOUNDED.search(text, 0, either.start("either")):
        return text
    side = " or less" if either["side"].lower() in ("under", "below") else " or more"
    start, end = either.span("either")
    return text[:start] + side.ljust(end - start) + text[end:]


def _as_thousands(match: re.Match[str]) -> str:
    """A bounded number of four digits with a comma, which takes the place of the space before it."""
    bound = match["sign"] or _BOUNDS[match["bound"].lower().removesuffix(" of")]
    number = f"{match['thousands'][0]},{match['thousands'][1]}00"
    return bound + number.rjust(len(match.group()) - len(bound))


def _with_side(match: re.Match[str]) -> str:
    """A number of four digits with the bound behind it, in short and with a comma."""
    side = "+" if match["side"].lower() in ("more", "above", "over", "higher") else " max,"
    return f"{match['thousands'][0]},{match['thousands'][1]}00{side}".ljust(len(match.group()))


def _with_stand_in(match: re.Match[str]) -> str:
    """The amount with a sign of money for what it is paid for each, unless that is told or it is a time of day."""
    pascals = match["each"].endswith("Pa")
    if pascals or _CURRENCY_BEFORE.search(match.string[: match.start()]) or _CLOCK.fullmatch(match.group()):
        return match.group()
    return match["amount"] + STAND_IN.ljust(len(match["each"]))


def _with_capitals(match: re.Match[str], symbols: Mapping[str, str], *, spaced: bool) -> str:
    """The number with its symbol as `symbols` writes it; `spaced` where those that may be words are none."""
    low = match["symbol"]
    return (
        match.group()
        if match["space"] and low in _GLUED_ONLY and not spaced
        else match["number"] + symbols.get(low, low)
    )


def _parted(match: re.Match[str]) -> str:
    """The unit of the first of two amounts in one kind of unit, without the line between them."""
    left, right = match["left"].lower(), match["right"].lower()
    return match["left"] + (" " if left[-1] == right[-1] or {left, right} == {"c", "f"} else "/")
