"""Units as they stand in text: after a number, before it, and compounds of several."""

from __future__ import annotations

from collections.abc import Sequence

from qbench.quantities.english.ambiguity import Sense, is_shared, resolve
from qbench.quantities.english.compounds import CompoundReader, UnitMatch, closed_period
from qbench.quantities.english.dates import announces_year
from qbench.quantities.english.inflection import singular
from qbench.quantities.english.lexicon import ABBREVIATED_SCALES, FUNCTION_WORDS, MONEY_SCALES, SCALES, VERBS
from qbench.quantities.english.numbers import MINUSES, Number
from qbench.quantities.english.tokens import HYPHENS, LINE_ENDS, Token, glued, tokenize
from qbench.quantities.english.unit_trie import Match, UnitTrie
from qbench.quantities.units import PER, Unit, Units

RISKY_SYMBOLS = frozenset(
    (
        "t A K J N b in bar cal ct ha mi mp min ms PS kt ly MP cf Cal l kb Kb Mb Gb L dl gr lt Da Ma Ga ka ac "
        "au AU fc rad mas mil kat Ci Sv PB EB MP NM mo FF TL Ft TD WAR x d"
    ).split()
)
"""Symbols that also are words or letters: taken only glued to the number, or where nothing speaks against them."""
NEVER_SPACED = frozenset("p d b B t T F f C c R P a J ly in × x bp pc us pm".split())
"""Those that are taken after a space only if the words around speak for them."""
RISKY_CODES = frozenset(
    (
        "ALL TOP TRY CUP MOP PEN GEL COP MAD SOS BOB ARS AMD PHP BAM LAK ANG GIP SDR DOP ETB RON SR QR JD KD FF Sh Bs "
        "Bs. TL SCR MGA BIF PAB ETH LTC CRC CVE SLE STN TOP LSL ERN PS EURO Euro euro"
    ).split()
)
"""Codes that are words, or mean something else: taken only with a number that looks like money."""
COMMON_NOUNS = frozenset(
    "league chain hand cord peck bar cup stone point mark time item share mole real quad slug hold grain "
    "quarter scruple".split()
)
"""Names that begin many compounds ("two chain stores"): in the singular they are no unit of another number than 1."""
PIECES = {
    "pcs": "piece", "pc": "piece", "pk": "pack", "prs": "pair", "br": "bedroom", "bd": "bedroom", "bdr": "bedroom",
    "bhk": "bedroom", "ba": "bathroom", "pax": "person", "ppl": "people", "wpm": "word per minute",
}  # fmt: skip
"""How shops and agents shorten what they count."""
CODE_SCALES = {"M": 1e6, "m": 1e6, "k": 1e3, "K": 1e3, "T": 1e3, "B": 1e9}
"""Letters before a currency's code: "MSEK 5", "30 TEUR"."""
DIMENSIONS = frozenset("long wide tall high deep thick square diameter".split())
"""What says of a number with "in" or a quotation mark that it is in inches."""
AFTER_HYPHEN = frozenset("long high tall wide deep old thick plus a an per and to or by square cubic".split())


class UnitReader:
    """Finds the unit of a number among the tokens around it.

    Args:
        units: the known units.
    """

    def __init__(self, units: Units) -> None:
        self.units = units
        self._trie = UnitTrie(units)
        self._compounds = CompoundReader(units, self._below)
        self._ends_of_signs = frozenset(tokenize(sign)[-1].text for unit in units for sign in unit.before)

    def before(self, tokens: Sequence[Token], text: str, i: int) -> tuple[Unit, int] | None:
        """A currency sign or code before token i, and the token at which it starts."""
        if not i or tokens[i - 1].text not in self._ends_of_signs:
            return None
        for k in (5, 4, 3, 2, 1):  # "U.S.$" is five tokens
            if i - k < 0 or tokens[i].start - tokens[i - 1].end > 1:
                continue
            surface = text[tokens[i - k].start : tokens[i - 1].end]
            unit = self.units.preceding(surface) or self._dollar_sign(surface)
            if unit is None or (i - k > 0 and _part_of_word(tokens, i - k)):
                continue
            if surface in RISKY_CODES and not _looks_like_money(tokens, i, surface):
                continue
            if (sense := self._sense(unit, surface, tokens, i - k, i)) is not None:
                if not sense.unit:
                    continue
                unit = self.units.get(sense.unit)
            return unit, i - k
        return None

    def scaled_code(self, token: Token) -> tuple[Unit, float] | None:
        """A currency code with its magnitude, "MUSD", "TEUR", "mSEK": the currency and the magnitude."""
        text = token.text
        if len(text) != 4 or text[0] not in CODE_SCALES or not text[1:].isupper():
            return None
        unit = self.units.preceding(text[1:])
        if unit is None or text in self._ends_of_signs or self.units.symbol(text) is not None:
            return None
        return (unit, CODE_SCALES[text[0]]) if text[1:] not in RISKY_CODES else None

    def _dollar_sign(self, surface: str) -> Unit | None:
        """A dollar or peso sign with its country in small letters, or with a code: "hk $", "c$", "MXN$".

        Another currency's name before it is the end of another amount: "5 mln euro $ 7 mln".
        """
        if not surface.endswith("$") or len(surface) > 6 or surface in ("a $", "c $", "s $"):
            return None
        plain = surface.upper()
        unit = self.units.preceding(plain) or self.units.preceding(plain[:-1].rstrip())
        return unit if unit is not None and unit.name.endswith(("dollar", "peso", "real")) else None

    def after(
        self, tokens: Sequence[Token], text: str, number: Number
    ) -> tuple[Unit | None, int, tuple[int, int] | None]:
        """The unit after a number, the token after it, and its characters."""
        j = _past_hyphen(tokens, number.last)
        if j > number.last:
            j += j + 1 < len(tokens) and tokens[j].low == "odd"  # "30-odd km"
        if (per := self._per(tokens, j)) is not None and _is_power(per):
            return None, number.last, None  # of "250 min−1" the unit is no minute
        match = self._match(tokens, text, j, number) or self._quote_mark(tokens, text, j)
        match = match or self._glued_letter(tokens, j, number) or self._bracketed(tokens, text, j, number)
        match = match or self._inch(tokens, j, number) or self._glued_pair(tokens, j) or self._pieces(tokens, j, number)
        return match if match is not None else (None, number.last, None)

    def _bracketed(self, tokens: Sequence[Token], text: str, j: int, number: Number) -> UnitMatch | None:
        """ "20 (kg)", "95 (%)": a unit in brackets; single letters may be anything there."""
        if j + 2 >= len(tokens) or tokens[j].text != "(" or number.written:
            return None
        match = self._match(tokens, text, j + 1, number)
        if match is None or match[1] >= len(tokens) or tokens[match[1]].text != ")" or match[0].family == "count":
            return None
        start, end = match[2]
        if text[start:end] in RISKY_SYMBOLS or (end - start == 1 and text[start:end].isalpha()):
            return None
        return match[0], match[1] + 1, match[2]

    def _inch(self, tokens: Sequence[Token], j: int, number: Number) -> UnitMatch | None:
        """ "2 in long", "2 1/2 in wide", "8 x 10 in photograph": an "in" that is no preposition."""
        if j >= len(tokens) or tokens[j].low != "in" or tokens[j].text == "In" or number.written:
            return None
        after = tokens[j + 1] if j + 1 < len(tokens) else None
        first = number.first
        measured = after is not None and (after.low in DIMENSIONS or after.low in _SAID or after.text in ")×")
        if after is not None and after.low in ("x", "by"):
            measured = j + 2 < len(tokens) and tokens[j + 2].kind == "number"
        if not measured and after is not None and after.text.islower() and after.low not in FUNCTION_WORDS | VERBS:
            # "a 2 1/2 in pipe": what an article stands before is no number of things in a pipe
            measured = "/" in (t.text for t in tokens[first:j]) and first > 0 and tokens[first - 1].low in ("a", "an")
        times = first > 1 and tokens[first - 1].low in ("x", "×") and tokens[first - 2].kind == "number"
        if not measured and (after is None or after.text in ".,;" or after.kind == "number"):
            measured = _is_size(tokens, number, after)
        if times and not measured:
            measured = (
                after is None
                or after.kind == "mark"
                or (after.text.islower() and after.low not in FUNCTION_WORDS | VERBS)
            )
        return (self.units.get("inch"), j + 1, (tokens[j].start, tokens[j].end)) if measured else None

    def _pieces(self, tokens: Sequence[Token], j: int, number: Number) -> UnitMatch | None:
        """ "3br", "50pcs": what shops and agents count, glued to its number."""
        if j >= len(tokens) or number.scaled or number.written or not glued(tokens[j - 1], tokens[j]):
            return None
        noun = PIECES.get(tokens[j].low)
        return (self.units.get(noun), j + 1, (tokens[j].start, tokens[j].end)) if noun else None

    def _glued_pair(self, tokens: Sequence[Token], j: int) -> UnitMatch | None:
        """ "1.5gMJ-1", "3gkg−1": two symbols without anything between, the second to a negative power."""
        if j + 2 >= len(tokens) or tokens[j].kind != "word" or not 2 < len(tokens[j].text) < 7:
            return None
        if tokens[j + 1].text not in MINUSES or tokens[j + 2].text != "1" or not glued(tokens[j], tokens[j + 2 - 1]):
            return None
        word = tokens[j].text
        for cut in range(1, len(word)):
            over, under = self.units.symbol(word[:cut]), self.units.symbol(word[cut:])
            if over is not None and under is not None and glued(tokens[j + 1], tokens[j + 2]):
                span = (tokens[j].start, tokens[j + 2].end)
                return self.units.get(f"{over.name} per {under.name}"), j + 3, span
        return None

    def _match(self, tokens: Sequence[Token], text: str, j: int, number: Number | None) -> UnitMatch | None:
        """The longest unit that starts at token j and fits there."""
        if j >= len(tokens) or not self._trie.starts(tokens[j]):
            return None
        for match in self._trie.matches(tokens, j):
            start, end = tokens[j].start, tokens[match.last - 1].end
            if end - start > 60 or "\n" in text[start:end]:
                continue
            if match.unit.name.startswith(PER):
                continue
            if (unit := self._fitting(tokens, j, match, number)) is not None:
                return unit, match.last, (start, end)
        return None

    def per(self, tokens: Sequence[Token], text: str, j: int) -> UnitMatch | None:
        """What a number that ends before token j is by, where nothing says what it counts: the "/min" of "12/min"."""
        j = _past_hyphen(tokens, j)
        match = self._per(tokens, j)
        if match is not None:
            unit, last, _ = self._compounds.read(tokens, text, match.unit, match.last, None)
        elif (below := self._compounds.so_many(tokens, text, j)) is not None:
            unit, last = below
        else:
            return None
        return unit, last, (tokens[j].start, tokens[last - 1].end)

    def _per(self, tokens: Sequence[Token], j: int) -> Match | None:
        if j >= len(tokens) or not self._trie.starts(tokens[j]):
            return None
        return next((match for match in self._trie.matches(tokens, j) if self._is_per(tokens, match)), None)

    def _is_per(self, tokens: Sequence[Token], match: Match) -> bool:
        """Whether a form is one of numbers by something; the "min−1" of "30 min−1 h" is none."""
        if not match.unit.name.startswith(PER):
            return False
        goes_on = match.last < len(tokens) and self._trie.matches(tokens, match.last)
        return not (_is_power(match) and goes_on)

    def _fitting(self, tokens: Sequence[Token], j: int, match: Match, number: Number | None) -> Unit | None:
        """The unit of a match by the words around it; None if it is no unit there."""
        surface = match.surface if match.symbol else match.surface.lower()
        unit, cued = match.unit, match.unit.name in self.units.own
        if (sense := self._sense(unit, surface, tokens, j, match.last)) is not None:
            unit, cued = self.units.get(sense.unit), sense.cued
        if not unit.name or number is None:
            return unit if unit.name else None
        if match.symbol:
            fits = self._symbol_fits(tokens, j, match.last, surface, cued, number, currency=unit.family == "currency")
        else:
            fits = _name_fits(tokens, j, match, number)
        return unit if fits else None

    def _sense(self, unit: Unit, surface: str, tokens: Sequence[Token], first: int, last: int) -> Sense | None:
        """What a form that several units share means at tokens first..last-1; None where it means `unit`."""
        if unit.name in self.units.own or not is_shared(surface):
            return None
        return resolve(surface, tokens, first, last)

    def _precedes(self, surface: str) -> bool:
        return (self.units.preceding(surface) or self.units.preceding(surface.upper())) is not None

    def _symbol_fits(
        self, tokens: Sequence[Token], j: int, last: int, surface: str, cued: bool, number: Number, *, currency: bool
    ) -> bool:
        following = tokens[last] if last < len(tokens) else None
        joined = glued(tokens[j - 1], tokens[j])
        if following is not None and currency and self._precedes(surface):
            # "$100 $200", "5 EUR 10": the sign belongs to the number that it touches, else to the first.
            next_to = following.kind == "number" and following.start - tokens[last - 1].end <= (0 if joined else 1)
            if next_to:
                return False
        if surface in ("x", "×") and following is not None and following.kind == "number":
            return False
        if surface == "A" and joined and not cued and (_section_name(tokens, j) or 1900 <= number.value <= 2100):
            return False  # "section 409A", "the 2006A options"
        if surface == "a" and following is not None and not _may_follow_a(following):
            return False
        if surface == "A" and not joined and following is not None and following.kind == "word" and not cued:
            if not _may_follow_a(following):
                return False  # "2 A median salary": the point of a list and its article
        if joined:
            return surface != "a" or cued
        if currency and surface in RISKY_CODES and not _is_money(tokens, number):
            return False
        if cued:
            return True
        if surface == "t" and number.value >= 1000:
            return following is None or following.kind != "number"  # "278,000 t": nothing else is so written
        if surface in NEVER_SPACED:
            return following is not None and following.text == "/" and glued(tokens[last - 1], following)
        if surface not in RISKY_SYMBOLS:
            return True
        return _ends_amount(tokens, last, surface)

    def _quote_mark(self, tokens: Sequence[Token], text: str, j: int) -> UnitMatch | None:
        """ "5'", '12"': feet and inches, minutes and seconds, if no quotation ends there."""
        if j >= len(tokens) or tokens[j].text not in ("'", "’", '"', "”"):
            return None
        last = j + 1
        if not glued(tokens[j - 1], tokens[j]):
            # `10 " long`
            if tokens[j].text not in '"”' or last >= len(tokens) or tokens[last].low not in DIMENSIONS:
                return None
            if glued(tokens[j], tokens[last]):
                return None  # the mark opens a quotation
            return self.units.get("inch"), last, (tokens[j].start, tokens[j].end)
        mark = '"' if tokens[j].text in '"”' else "'"
        if tokens[j].text == "'" and last < len(tokens) and tokens[last].text == "'" and glued(tokens[j], tokens[last]):
            mark, last = '"', last + 1
        if last < len(tokens) and glued(tokens[last - 1], tokens[last]) and tokens[last].kind == "word":
            return None
        if not _no_quotation(text, tokens[j].start, tokens[j].text):
            return None
        sense = resolve(mark, tokens, j, last)
        if tokens[j].text in "’”" and (sense is None or not sense.cued):
            return None  # a curly mark is a quotation's more often than a measure's
        unit = self.units.get(sense.unit if sense is not None else "inch")
        return unit, last, (tokens[j].start, tokens[last - 1].end)

    def _glued_letter(self, tokens: Sequence[Token], j: int, number: Number) -> UnitMatch | None:
        """ "5G" networks and "16G" memories; a gauss or a gravity is not written so."""
        if j >= len(tokens) or tokens[j].text != "G" or not glued(tokens[j - 1], tokens[j]) or number.written:
            return None
        if j + 1 < len(tokens) and glued(tokens[j], tokens[j + 1]) and tokens[j + 1].kind == "word":
            return None
        name = "generation wireless" if number.value in (2, 3, 4, 5, 6) else ""
        if number.value in (8, 16, 32, 64, 128, 256, 512):
            name = "gigabyte"
        return (self.units.get(name), j + 1, (tokens[j].start, tokens[j].end)) if name else None

    def compound(
        self, tokens: Sequence[Token], text: str, unit: Unit, last: int, span: tuple[int, int] | None
    ) -> tuple[Unit, int, tuple[int, int] | None]:
        """The unit with its denominators, "mg/kg/day": see `compounds`."""
        return self._compounds.read(tokens, text, unit, last, span)

    def is_rate(self, tokens: Sequence[Token], text: str, number: Number) -> bool:
        """Whether the 2000 of "sold 2000 per week", "sold 2000 a week" is no year; that of "in 2000 a week" is one."""
        if closed_period(tokens, number.last) is not None:
            return number.first > 0 and not announces_year(tokens[number.first - 1])
        rate = self.compound(tokens, text, self.units.get(""), number.last, None)[0]
        said = tokens[number.last].low if rate.name else ""
        return bool(said) and said not in ("a", "an", "each", "every") and not rate.name.endswith((" share", " capita"))

    def in_a_period(self, tokens: Sequence[Token], text: str, unit: Unit, last: int) -> Unit:
        """The unit as a rate if the substance and a period follow: see `compounds`."""
        return self._compounds.in_a_period(tokens, text, unit, last)

    def _below(self, tokens: Sequence[Token], text: str, k: int) -> UnitMatch | None:
        """The unit of a denominator that starts at token k."""
        return self._match(tokens, text, k, None)


def _past_hyphen(tokens: Sequence[Token], j: int) -> int:
    """The token at which the unit of a number that ends before token j may stand: that after the "-" of "5-mile"."""
    if j + 1 >= len(tokens) or tokens[j].text not in HYPHENS or not glued(tokens[j - 1], tokens[j]):
        return j
    return j + (glued(tokens[j], tokens[j + 1]) and tokens[j + 1].kind != "number")


def _is_power(match: Match) -> bool:
    """Whether a form is a unit to a negative power, "min−1", "cm-3"."""
    return match.surface[-2:-1] in MINUSES


def _ends_amount(tokens: Sequence[Token], last: int, surface: str) -> bool:
    """Whether a letter that may be anything is a unit before token `last`: at the end of a text, "holds 32 l."."""
    following = tokens[last] if last < len(tokens) else None
    if following is None or (following.text == "." and last + 1 == len(tokens) and surface.islower()):
        return True
    if following.kind == "word" and following.text[:1].isupper():
        return False
    return following.text != "." or len(surface) > 1


def _is_size(tokens: Sequence[Token], number: Number, after: Token | None) -> bool:
    """Whether the "in" after a number is inches though nothing after it says so: "a 15.6 in, full HD display"."""
    year = after is not None and after.kind == "number" and len(after.text) == 4 and after.text.isdecimal()
    before = [t.low for t in tokens[max(0, number.first - _NEAR_SIZE) : number.first]]
    ahead = [t.low for t in tokens[number.last + 1 : number.last + 1 + _NEAR_SIZE]]
    return not year and not _SIZED.isdisjoint([*before, *ahead])


_SAID = frozenset("is was were are has had".split())
"""Words before which an "in" is no preposition: "24 x 36 in was"."""
_NEAR_SIZE = 6
_SIZED = frozenset(
    "display displays screen screens monitor monitors tv tvs television laptop laptops notebook tablet tablets "
    "ultrabook chromebook panel diagonal measures measure measuring measured diameter wheel wheels blade waist inseam "
    "pan pizza pipe".split()
)
"""What is sized in inches."""
EPONYMS = frozenset("tesla henry gray newton siemens hertz dalton stokes bel darcy lambert weber joule pascal".split())
"""Units that are names of people and companies too: "two Tesla stockholders"."""


def _name_fits(tokens: Sequence[Token], j: int, match: Match, number: Number) -> bool:
    """Whether a written-out name is a unit here."""
    word, last = tokens[j], match.last
    text = word.text
    if word.low in EPONYMS and text.istitle() and last < len(tokens) and tokens[last].text.islower():
        if tokens[last].kind == "word" and tokens[last].low not in FUNCTION_WORDS | VERBS:
            return False
    shouted = all(t.text.isupper() for t in tokens[j:last])
    if match.unit.family == "time" and text[0].isupper() and not shouted and text not in LINE_ENDS:
        return False  # "19.5 mln Year Shr": the heading of the next column
    spaced = not glued(tokens[j - 1], word)
    following = tokens[last] if last < len(tokens) else None
    if following is None or not spaced or last - j > 1:
        return True
    plain = singular(word.low) == word.low
    if plain and following.text in HYPHENS and last + 1 < len(tokens) and glued(word, following):
        # "5 second-half goals": the word belongs to what follows
        if glued(following, tokens[last + 1]) and tokens[last + 1].low not in AFTER_HYPHEN:
            return tokens[last + 1].kind != "word" or match.unit.family in ("ratio", "mass", "length", "currency")
    sense = resolve(word.low, tokens, j, last) if plain and word.low in ("bar", "cup") else None
    if (
        plain
        and word.low in COMMON_NOUNS
        and number.value > 1
        and not (sense is not None and sense.cued and sense.unit)
    ):
        if word.low == "point" and following.low in _MOVED:
            return True  # "a 150 point rise"
        if match.unit.family == "currency" and number.scaled:
            return True  # "a 78 mln mark order"
        return following.kind != "word" or following.low in FUNCTION_WORDS or not following.text.islower()
    return True


_MOVED = frozenset(
    "rise rises fall falls drop drops gain gains loss losses increase increases decline declines decrease jump jumps "
    "plunge rally advance slide surge swing spread spreads move lead margin".split()
)
"""What is so many points high."""


def _may_follow_a(following: Token) -> bool:
    """Whether "10 a" may be a quantity before this token: an article is followed by its noun."""
    return following.kind != "word" or following.low in ("of", "and", "for", "in", "to", "per", "as", "at", "with")


def _is_money(tokens: Sequence[Token], number: Number) -> bool:
    """Whether a number looks like a sum: decimals, separators, a magnitude, or a thousand and more."""
    return number.scaled or number.value >= 1000 or not tokens[number.first].text.isdecimal()


def _looks_like_money(tokens: Sequence[Token], i: int, surface: str) -> bool:
    """The same before the number is read: "PS12.5m" and "TRY 1,200", not "PS5" or "TOP 10"."""
    text, following = tokens[i].text, tokens[i + 1].low if i + 1 < len(tokens) else ""
    scale = following in SCALES or following in ABBREVIATED_SCALES or following in MONEY_SCALES
    joined = glued(tokens[i - 1], tokens[i])
    if surface.lower() == "euro" and joined:
        return True  # "euro1 .6 billion"
    if surface == "PS":
        return joined and (scale or len(text) > 1)
    return scale or not text.isdecimal() or (joined and len(text) > 1)


def _section_name(tokens: Sequence[Token], j: int) -> bool:
    """Whether "409A" names a section: a capitalised word stands beside it."""
    beside = [tokens[k] for k in (j - 2, j + 1) if 0 <= k < len(tokens)]
    return any(t.kind == "word" and t.text[:1].isupper() and len(t.text) > 2 for t in beside)


def _no_quotation(text: str, at: int, mark: str) -> bool:
    """Whether a quotation mark at `at` closes no quotation (looked for nearby, so that cost stays linear)."""
    nearby = text[max(0, at - 300) : at]
    if mark in "’”":
        return nearby.rfind("‘" if mark == "’" else "“") <= nearby.rfind(mark)
    opened = 0
    for k, c in enumerate(nearby):
        if c == mark:
            before = nearby[k - 1] if k else " "
            opens = not before.isalnum() and before not in ".,!?%)" + mark
            opened = 1 if opens else 0
    return not opened


def _part_of_word(tokens: Sequence[Token], k: int) -> bool:
    """Whether token k continues a word: the "$" of "US$" is no dollar sign of its own, the "M" of "FARM 5" no code.

    Nor are the letters of a name with figures before them: "AB540UA-DM186".
    """
    if tokens[k].kind != "word" or not glued(tokens[k - 1], tokens[k]):
        return False
    first = k - 2 if k > 2 and tokens[k - 1].text in HYPHENS else k  # past the hyphen and the letters before it
    named = first > 1 and tokens[first - 1].kind == "number" and tokens[first - 2].kind == "word"
    code = named and all(glued(tokens[j], tokens[j + 1]) for j in range(first - 2, k))
    return tokens[k - 1].kind == "word" or code
