"""Numbers that are no quantities: versions, labels, ordinals, codes, names, list marks; dates are in `dates`."""

from __future__ import annotations

from collections.abc import Sequence

from qbench.quantities.english.addresses import reached_until
from qbench.quantities.english.clocks import clock_until
from qbench.quantities.english.dates import chain_of_numbers, date_until
from qbench.quantities.english.formats import generation_until, race_until, resolution_until
from qbench.quantities.english.intervals import freedom_until, level_until
from qbench.quantities.english.lexicon import CAPITAL_LABELS, FUNCTION_WORDS, LABELS, ONES, VERBS
from qbench.quantities.english.names import named_until
from qbench.quantities.english.numbers import Number
from qbench.quantities.english.page_marks import counts_arm, mark_until
from qbench.quantities.english.pronouns import unsaid_until
from qbench.quantities.english.tokens import HYPHENS, LINE_ENDS, Token, glued
from qbench.quantities.english.written import ORDINALS

ORDINAL_ENDINGS = frozenset({"st", "nd", "rd", "th"})
GLUED_PREFIXES = frozenset(
    "every sub minus plus to and or non under over about nearly almost than least most some approximately".split()
)
"""Words that may be joined to a number by a hyphen without making a name of it."""


def excluded_until(tokens: Sequence[Token], number: Number) -> int | None:
    """Where to go on if the number is part of something that is no quantity; None if it may be one."""
    if number.first and tokens[number.first - 1].low == "per":
        return number.last  # "fat per 100 g": the denominator of something else
    if _has_spread(tokens, number):
        return None
    for rule in _RULES:
        if (end := rule(tokens, number)) is not None:
            return end
    return None


def _has_spread(tokens: Sequence[Token], number: Number) -> bool:
    """Whether a spread follows a number that initials stand before: "in the PACU 108 ± 37 min" is no name."""
    first, last = number.first, number.last
    if not first or last >= len(tokens) or tokens[last].text != "±" or glued(tokens[first - 1], tokens[first]):
        return False
    return len(tokens[first - 1].text) > 1 and tokens[first - 1].text.isupper()


def _version(tokens: Sequence[Token], number: Number) -> int | None:
    """1.2.3, and whatever a dot joins to digits or letters on the left."""
    first, last = number.first, number.last
    if first >= 2 and tokens[first - 1].text == "." and glued(tokens[first - 1], tokens[first]):
        if tokens[first - 2].kind == "number" and glued(tokens[first - 2], tokens[first - 1]):
            return last
    n = 0
    while (
        last + n + 1 < len(tokens)
        and tokens[last + n].text == "."
        and tokens[last + n + 1].kind == "number"
        and glued(tokens[last + n - 1], tokens[last + n])
        and glued(tokens[last + n], tokens[last + n + 1])
    ):
        n += 2
    return last + n if n else None


def _ordinal(tokens: Sequence[Token], number: Number) -> int | None:
    """ "twenty-first", "the two hundredth": words that end as ordinals."""
    last = number.last
    if not number.written or last >= len(tokens):
        return None
    hyphen = tokens[last].text == "-" and last + 1 < len(tokens) and glued(tokens[last - 1], tokens[last])
    if tokens[last + hyphen].low not in ORDINALS:
        return None
    ordinal = hyphen or number.value >= 20 or tokens[last].low in ("hundredth", "thousandth", "millionth")
    return last + hyphen + 1 if ordinal else None


def _joined_to_word(tokens: Sequence[Token], number: Number) -> int | None:
    """ "G20", "COVID-19", "F-16", "1st", "1990s", "10-K", "401(k)": letters and digits that are one name."""
    first, last = number.first, number.last
    if number.written:
        return None
    if first and glued(tokens[first - 1], tokens[first]):
        before = tokens[first - 1]
        if before.low in _RUN_ON or (last < len(tokens) and tokens[last].text in LINE_ENDS):
            return None  # "Europe12 WeeksNet revenue" has lost the ends of two lines
        if before.low == "auc":
            return _end_of_period(tokens, last)
        if before.kind == "word" or before.text in ")]}":
            timed = before.text == "T" and _end_of_code(tokens, last) == last
            return _end_of_labels(tokens, last) if timed else _end_of_code(tokens, last)  # "at T10, 20 and 30"
        if before.text in "-/#@_" and first > 1 and tokens[first - 2].kind == "word":
            joined = glued(tokens[first - 2], before)
            if joined and tokens[first - 2].low not in GLUED_PREFIXES and not _dates(tokens, first, last):
                return _end_of_code(tokens, last)
            if not joined and before.text != "/" and tokens[first - 2].text in _SPLIT_NAMES:
                return last
        if before.text in "#@_" or _is_charge(tokens, first):
            return _end_of_code(tokens, last)
    return _followed_by_letters(tokens, number)


def _dates(tokens: Sequence[Token], first: int, last: int) -> bool:
    """Whether "pre-" or "post-" stands before a length of time: "post-14 d", "pre-12 months"."""
    if tokens[first - 2].low not in ("pre", "post") or last >= len(tokens):
        return False
    return tokens[last].low in ("d", "days", "weeks", "months", "h", "hours", "min", "minutes")


_RUN_ON = frozenset("from than between approximately nearly almost".split())
"""Words that make no name with the number glued to them: "from2 to 5 years" has lost a space."""


def _end_of_period(tokens: Sequence[Token], j: int) -> int:
    """Past the period of "AUC0-24 h", "AUC0–9 h"."""
    if j + 1 < len(tokens) and tokens[j].text in "-–−" and tokens[j + 1].kind == "number":
        j += 2
        return j + 1 if j < len(tokens) and tokens[j].low in ("h", "hr", "hrs", "min") else j
    return j


def _is_charge(tokens: Sequence[Token], first: int) -> bool:
    """Whether a number is the charge of an ion, "Mg+2", or the place of a bond, "omega (n)-3"."""
    if first < 2 or not glued(tokens[first - 2], tokens[first - 1]):
        return False
    mark, before = tokens[first - 1].text, tokens[first - 2]
    if mark == "+":
        return before.text in _IONS
    bond = first > 3 and tokens[first - 4].text == "(" and tokens[first - 3].text in ("n", "ω")
    return mark in "-−" and before.text == ")" and bond


_IONS = frozenset("Na K Ca Mg Fe Zn Cu Al Mn Co Ni Pb Cd Hg Cr".split())
_SPLIT_NAMES = frozenset("COVID Covid SARS CoV covid".split())
"""Names that some texts part from their number: "COVID -19"."""


def _followed_by_letters(tokens: Sequence[Token], number: Number) -> int | None:
    last = number.last
    if last >= len(tokens) or not glued(tokens[last - 1], tokens[last]):
        return None
    after, beyond = tokens[last], tokens[last + 1] if last + 1 < len(tokens) else None
    if tokens[last - 1].text == "000":
        return last + 1  # "in $000's", "£000"
    if after.text in ("a", "b", "c", "d", "e") and len(tokens[last - 1].text) == 4 and 1900 <= number.value <= 2100:
        return last + 1  # "Li, 2006a"
    whole = "." not in tokens[last - 1].text  # "13.5s" are seconds
    inverse = [t.text for t in tokens[last + 1 : last + 3]] == ["−", "1"]  # "12s−1" is per second
    several = after.text in ("s", "’s", "'s") and number.value >= 10 and whole and not inverse
    if after.low in ORDINAL_ENDINGS or several:
        return last + 1
    if after.text in ("'", "’") and beyond is not None and beyond.text == "s":
        return last + 2
    if beyond is None or not glued(after, beyond):
        return None
    if after.text in HYPHENS and beyond.kind == "word" and _names_substance(beyond):
        return last + 2
    if after.text in "([" and beyond.text == "OH":
        return last + 3  # "25(OH)D"
    if after.text == "/" and len(beyond.text) == 1 and beyond.text.isupper() and _slashed(tokens, last + 2):
        return _end_of_code(tokens, last)
    if after.text in HYPHENS and beyond.text == "Eleven":
        return last + 2
    closes = last + 2 < len(tokens) and tokens[last + 2].text == ")"
    return last + 3 if after.text == "(" and len(beyond.text) == 1 and beyond.kind == "word" and closes else None


def _names_substance(word: Token) -> bool:
    """Whether a number and a hyphen before a word make a name: "5-FU", "5-ALA", "25-hydroxyvitamin"."""
    if word.text.isupper():
        return len(word.text) <= 2 or word.text in _SUBSTANCES
    return len(word.text) > _SHORT_NAME and any(stem in word.low for stem in _STEMS)


_SUBSTANCES = frozenset("ALA HETE PBA DNP MUO ASA HIAA MCP NBD OHDG OHD".split())
_SHORT_NAME = 7
_STEMS = (
    "hydroxy", "methyl", "fluoro", "amino", "chloro", "bromo", "ketode", "deoxy", "phenyl", "butyl", "acetyl", "nitro",
    "nonenal", "lipoxygenase", "alpha-", "iodo", "phospho", "carboxy", "reductase", "oxoglut", "guanosine", "estradiol",
)  # fmt: skip
"""What stands in the names of substances: "4-methylumbelliferone"."""


def _slashed(tokens: Sequence[Token], k: int) -> bool:
    """Whether a stroke is glued to the token before k: "100574/Z/12/Z"."""
    return k < len(tokens) and tokens[k].text == "/" and glued(tokens[k - 1], tokens[k])


def _end_of_code(tokens: Sequence[Token], j: int) -> int:
    """Past what is glued to a code by marks of its own: the rest of a path, a serial number, "G20-led"."""
    while j + 1 < len(tokens) and tokens[j].text in "-‑/_#.:" and glued(tokens[j - 1], tokens[j]):
        if not glued(tokens[j], tokens[j + 1]) or tokens[j + 1].kind == "mark":
            break
        j += 2
        while j < len(tokens) and tokens[j].kind != "mark" and glued(tokens[j - 1], tokens[j]):
            j += 1
    return j


def _label(tokens: Sequence[Token], number: Number) -> int | None:
    first = number.first
    if not first or counts_arm(tokens, number) or (number.scaled and len(tokens[number.last - 1].text) > 1):
        return None
    if number.written:
        return number.last if _is_said(tokens, first - 1) and _is_label(tokens, number) else None
    k = _before_label(tokens, number)
    word = tokens[k]
    if word.low == "min" and k and tokens[k - 1].low == "at" and not _measures(tokens, number.last):
        return _end_of_labels(tokens, number.last)  # "at min 2, 5 and 15"
    # "no more than 5" has words between; "no 5" and "No. 5" are labels, "no 5 inch screens" is none.
    if word.kind != "word" or (word.text == "no" and first == k + 1 and _is_word(tokens, number.last)):
        return None
    if word.low in ("number", "numbered") and _numbers(tokens, number, k):
        return None
    if (word.low not in LABELS and word.text not in CAPITAL_LABELS) or _is_unit(tokens, k):
        return None
    if _measures(tokens, number.last, spans=word.low not in _COUNTED_LABELS):
        return None  # "a follow-up visit 4-7 days later", "a table 120 cm wide"
    if (word.low == "years" and not _at_visits(tokens, k)) or (word.low == "phone" and not _dialled(tokens, number)):
        return None  # "in recent years 5 firms failed", "phone 500 euros"
    if word.low in ("phone", "tel", "fax"):
        return _end_of_groups(tokens, number.last)
    if word.low in _COUNTED_LABELS and len(tokens[first].text) > 2:
        return None  # "in the year 1990"
    several = word.low.endswith("s") or word.low in _SEVERAL
    if (word.low in _GRADED or word.low == "genotypes") and (end := _end_of_grades(tokens, number)) is not None:
        return end
    return _end_of_labels(tokens, number.last) if several else _end_of_section(tokens, number.last)


def _before_label(tokens: Sequence[Token], number: Number) -> int:
    """The token that may label a number, past a full stop, a bracket round the number, or the bound of a grade."""
    k = number.first - 1
    if tokens[k].text == "." and k and glued(tokens[k - 1], tokens[k]):
        k -= 1
    if tokens[k].text == "(" and k and number.last < len(tokens) and tokens[number.last].text == ")":
        k -= 1
    return k - 1 if k and tokens[k].text in "≥≤" and tokens[k - 1].low in _GRADED else k  # "grade ≥3 toxicity"


def _at_visits(tokens: Sequence[Token], k: int) -> bool:
    """Whether the "years" at token k stands before those of visits: "at years 1, 3 and 6"."""
    return k > 0 and tokens[k - 1].low in ("at", "in", "during")


def _end_of_grades(tokens: Sequence[Token], number: Number) -> int | None:
    """Past the second of "grade 3 to 4", "level 1 and 2", "type 1 or 2 diabetes"; None if there is none."""
    last = number.last
    if last + 1 >= len(tokens) or tokens[last].low not in ("to", "or", "and", "-", "–", "/"):
        return None
    other = tokens[last + 1].text
    if not other.isdecimal() or len(other) > 1 or not number.value < int(other) <= number.value + _STEP:
        return None
    after = tokens[last + 2] if last + 2 < len(tokens) else None
    plural = after is not None and after.kind == "word" and after.low.endswith("s") and tokens[last].low == "and"
    plural = plural and tokens[number.first - 1].low != "genotypes"
    percent = after is not None and after.text in "%°$€£"
    return None if percent or plural or _measures(tokens, last + 2) else last + 2


_GRADED = frozenset("grade stage level type class phase tier".split())
_STEP = 3
"""How far the second of two grades is above the first at most."""


_SEVERAL = frozenset("pp fig scope day week month visit".split())
"""Labels that several numbers follow: "on day 1, 3 and 5"."""


def _is_word(tokens: Sequence[Token], k: int) -> bool:
    return k < len(tokens) and tokens[k].text.islower() and tokens[k].low not in FUNCTION_WORDS | VERBS


def _numbers(tokens: Sequence[Token], number: Number, k: int) -> bool:
    """Whether token k is the verb of "the readers number 190,000", "the staff numbered 517"."""
    before = tokens[k - 1] if k else None
    if before is None or before.kind != "word" or number.value < _FEW or before.low in _NUMBERED:
        return False
    if tokens[k].low == "number":
        return before.text.islower() and before.low.endswith("s") and not before.low.endswith(("ss", "us", "'s"))
    return tokens[k - 1].low not in FUNCTION_WORDS


_FEW = 10
_NUMBERED = frozenset(
    "serial phone telephone flight room page pages note notes section sections item items paragraphs articles house "
    "houses bus route seat seats was were is are be being and or".split()
)
"""What has a number, and does not count."""


def _is_unit(tokens: Sequence[Token], k: int) -> bool:
    """Whether a label belongs to the amount before it: "1,500 a month 2 rooms", "formula 0-6 months 800 g"."""
    lead = tokens[max(0, k - 1)]
    if lead.kind == "number":
        return tokens[k].low in ("months", "weeks", "days")
    return tokens[k].low in ("day", "week", "month", "year") and lead.low in ("a", "per", "each", "/")


def _measures(tokens: Sequence[Token], j: int, *, spans: bool = True) -> bool:
    """Whether the number before token j, or the range that it begins, has a unit that no label is followed by.

    Args:
        spans: whether the number may begin a range ("from period 1 to 5 %" is none).
    """
    if spans and j + 1 < len(tokens) and tokens[j].low in ("-", "–", "to") and tokens[j + 1].kind == "number":
        j += 2
    if j + 1 < len(tokens) and tokens[j].text in HYPHENS and glued(tokens[j], tokens[j + 1]):
        j += 1  # "a case 15-inch wide"
    following = [t.low for t in tokens[j : j + 2]]
    sign = following[:1] in (["$"], ["£"]) and glued(tokens[j - 1], tokens[j])
    return sign or following == ["g", "/"] or not _MEASURED.isdisjoint(following[:1])  # "grade 5 g/t"


_MEASURED = frozenset(
    "minutes hours days weeks months years percent pct cts dlrs dlr stg yen mln bln million billion tonnes "
    "barrels % kg kgs kilos grams mg lb lbs pounds oz cm mm km inch inches feet ft meters metres miles sqm sqft m2 m² "
    "euro euros eur € dollar dollars usd gb tb mb mah mhz ghz watts litre litres liter liters ml kcal calories kmh "
    "cm2 km/h kph mph times m w kw kwh hz psi bar x people persons adults guests kids children beds bedrooms".split()
)
"""Units after which a number is no label's."""


def _dialled(tokens: Sequence[Token], number: Number) -> bool:
    """Whether a number after "phone" is to be dialled: long, or of several groups."""
    groups = chain_of_numbers(tokens, number.first, "-–.")
    spaced = number.last < len(tokens) and tokens[number.last].kind == "number"
    return groups > 1 or spaced or len(tokens[number.first].text) > 5 or tokens[number.first].text[0] == "0"


_COUNTED_LABELS = frozenset("year years period category".split())
"""Labels that take small numbers."""


def _end_of_groups(tokens: Sequence[Token], j: int) -> int:
    """Past the rest of a telephone number: groups of two to four digits."""
    while j < len(tokens):
        mark = tokens[j].text in "-–./()"
        if not (mark or (tokens[j].text.isdecimal() and 2 <= len(tokens[j].text) <= 4)):
            break
        j += 1
    return j


def _end_of_section(tokens: Sequence[Token], j: int) -> int:
    """Past the rest of "Topic 740-10": digits glued by a hyphen."""
    if (
        j + 1 < len(tokens)
        and tokens[j].text in HYPHENS
        and tokens[j + 1].text.isdecimal()
        and glued(tokens[j - 1], tokens[j])
    ):
        return j + 2 if glued(tokens[j], tokens[j + 1]) else j
    return j


def _is_said(tokens: Sequence[Token], k: int) -> bool:
    """Whether token k is a label that takes a number in words: "phase two", "in year two"."""
    return tokens[k].low in _SAID_LABELS or (tokens[k].low == "year" and k > 0 and tokens[k - 1].low in _DURING)


_DURING = frozenset("in of by after until".split())
_SAID_LABELS = frozenset("number phase chapter type stage step day week game round act part episode season".split())
"""Labels that take a number in words: "the number three carmaker", "phase two", "on day one"."""


def _is_label(tokens: Sequence[Token], number: Number) -> bool:
    """Whether a word before a small number in words labels it: nothing plural follows that it may count."""
    if number.value > 20 or not number.value.is_integer() or number.rule != "words":
        return False
    after = tokens[number.last] if number.last < len(tokens) else None
    plural = after is not None and after.kind == "word" and after.low.endswith("s") and after.low not in VERBS
    return not plural or (after is not None and after.low in FUNCTION_WORDS)


def _end_of_labels(tokens: Sequence[Token], j: int) -> int:
    """Past the further numbers of "Figs. 2, 3 and 5": whole ones, up to one that something may be counted by."""
    while True:
        k = j
        while k < len(tokens) and k < j + 2 and tokens[k].low in (",", "and", "or", "to", "-", "–", "&"):
            k += 1
        if k == j or k >= len(tokens) or not _is_like(tokens[k], tokens[j - 1]):
            return j
        after = tokens[k + 1] if k + 1 < len(tokens) else None
        counts = after is not None and after.kind == "word" and after.low not in FUNCTION_WORDS | VERBS
        if (counts and tokens[k - 1].text != "&") or (after is not None and after.text in "%°$€£"):
            return j
        j = k + 1


def _is_like(token: Token, before: Token) -> bool:
    """Whether a number may follow that of a label in its list: a short whole one, or "4.07" after "4.06"."""
    whole, _, part = token.text.partition(".")
    dotted = part.isdecimal() and before.text.partition(".")[0] == whole and "." in before.text
    return whole.isdecimal() and len(whole) <= _LONGEST_LABEL and (dotted or whole == token.text)


_LONGEST_LABEL = 3


def _odds(tokens: Sequence[Token], number: Number) -> int | None:
    """ "at 5/1 odds", "the 5-1 favourite", "odds of 5/2"."""
    first = number.first
    chain = chain_of_numbers(tokens, first, "/-–") if not number.written else 0
    if number.rule == "fraction" and number.last - first == 3:
        chain = 3
    if chain != 3:
        return None
    after = tokens[first + 3].low if first + 3 < len(tokens) else ""
    before = {t.low for t in tokens[max(0, first - 2) : first]}
    return first + 3 if after in _BETS or before & {"odds"} else None


_BETS = frozenset(
    "odds favourite favorite favourites favorites outsider outsiders shot shots underdog underdogs".split()
)


def _idiom(tokens: Sequence[Token], number: Number) -> int | None:
    """ "one-on-one talks", "a two-for-one offer", "a zero-sum game": words that are joined to a numeral."""
    last = number.last
    if number.written and number.value == 0 and last < len(tokens) and tokens[last].low in _WITHOUT:
        return last + 1
    article = number.first > 0 and tokens[number.first - 1].low in _ARTICLES
    if article and [t.low for t in tokens[last : last + 2]] in (["in", "1"], ["in", "one"]):
        return last + 2  # "a 2 in 1 laptop"
    if last + 1 >= len(tokens) or tokens[last].text not in HYPHENS or number.scaled:
        return None
    if not (glued(tokens[last - 1], tokens[last]) and glued(tokens[last], tokens[last + 1])):
        return None
    word = tokens[last + 1].low
    if word == "in" and last + 3 < len(tokens) and tokens[last + 2].text in HYPHENS:
        return last + 4 if tokens[last + 3].low in ("1", "one") else None  # "a 2-in-1 laptop"
    if word in _TESTED:
        return last + 2
    if not number.written:
        return None
    if word in _NAMING or (number.value == 1 and word in _NAMING_ONE):
        return last + 2
    if number.value == 0 and word not in _AFTER_ZERO and tokens[last + 1].kind == "word":
        return last + 2
    if word not in ("on", "for", "by", "to") or last + 3 >= len(tokens) or tokens[last + 2].text not in HYPHENS:
        return None
    other = tokens[last + 3].low
    if word == "to" and other != tokens[number.first].low:
        return None  # "five-to-six-week"
    return last + 4 if other in ONES else None


_ARTICLES = frozenset("a an this that your my".split())
_WITHOUT = frozenset("coupon tolerance gravity".split())
"""What there is none of, by its name: "zero coupon bonds"."""
_TESTED = frozenset("tailed sided".split())
"""What a test is after a number, in words or digits: "a 2-tailed t-test"."""
_NAMING = frozenset("way factor handed sided dimensional tone class party tier".split())
_NAMING_ONE = frozenset("time off stop size shot step".split())
"""What makes one word of a numeral and a hyphen before it: "a one-time charge", "two-factor", "a one-way ticket"."""


def _design(tokens: Sequence[Token], number: Number) -> int | None:
    """ "a 2×3 factorial design", "a 2 x 2 table": how a study or a table is laid out."""
    first = k = number.first
    while k + 2 < len(tokens) and tokens[k + 1].low in ("x", "×", "by") and tokens[k + 2].text.isdecimal():
        k += 2
    small = all(len(tokens[n].text) == 1 for n in range(first, k + 1, 2))
    laid = k > first and small and k + 1 < len(tokens) and tokens[k + 1].low in _LAYOUTS
    return k + 1 if laid else None


_LAYOUTS = frozenset("factorial crossover contingency table tables matrix design latin".split())


def _standard_time(tokens: Sequence[Token], number: Number) -> int | None:
    """The 1 of "forced expiratory volume in 1 s", which is a part of the measure's name."""
    near = [t.low for t in tokens[max(0, number.first - 3) : number.first]]
    return number.last + 1 if near == ["expiratory", "volume", "in"] else None


_AFTER_ZERO = frozenset("percent per cent pct degree degrees to day days year years mile miles point points".split())

_RULES = (
    date_until, clock_until, level_until, freedom_until, _version, _ordinal, _joined_to_word, _label, mark_until,
    reached_until, _odds, _idiom, unsaid_until, generation_until, resolution_until, race_until, _design, _standard_time,
    named_until,
)  # fmt: skip
