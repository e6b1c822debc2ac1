"""Names that hold a number: products, models, roads, indices, lists. They are no quantities."""

from __future__ import annotations

from collections.abc import Sequence

from qbench.quantities.english.lexicon import FUNCTION_WORDS, INDEX_NAMES, ONES, VERBS
from qbench.quantities.english.numbers import Number
from qbench.quantities.english.tokens import Token, glued

_MODELS = frozenset("Pro Max Plus Mini Ultra Lite XL SE Air XR XS Fold Flip".split())
"""What follows the number of a model: "11 Pro Max"."""
_BARE_MODELS = frozenset("Pro Max Ultra Lite XL SE XR XS".split())
"""Those that are said of nothing else: "the 11 Pro"."""
_UNCOUNTED = frozenset("people staff personnel men women children cattle sheep fish deer aircraft crew head".split())
"""Plurals that look like singulars."""


def named_until(tokens: Sequence[Token], number: Number) -> int | None:
    """Where to go on if the number is part of a name, by the words beside it; None if it may be a quantity."""
    for rule in _RULES:
        if (end := rule(tokens, number)) is not None:
            return end
    return None


def names_model(tokens: Sequence[Token], number: Number) -> bool:
    """Whether a number without a unit is a model's: "a Snapdragon 410 chipset", "the Boeing 737 jet".

    A singular noun ends there, which no number but one counts; or the name is counted itself ("85 Boeing 737 jets").
    """
    first, last = number.first, number.last
    text = tokens[first].text
    if not first or number.written or number.scaled or not text.isdecimal() or not 2 <= len(text) <= 4:
        return False
    before = tokens[first - 1]
    if before.kind != "word" or not before.text[:1].isupper() or before.low in FUNCTION_WORDS | VERBS:
        return False
    if before.text.endswith(("'s", "’s")) or last >= len(tokens) or glued(tokens[last - 1], tokens[last]):
        return False
    noun, after = tokens[last], tokens[last + 1] if last + 1 < len(tokens) else None
    if noun.kind != "word" or not noun.text.islower() or len(noun.text) < 3 or noun.low in FUNCTION_WORDS | VERBS:
        return False
    plural = noun.low.endswith("s") and not _counted(tokens, first - 1)
    if noun.low in _UNCOUNTED or plural or noun.low.endswith(("ed", "ly")):
        return False
    return after is None or after.text in ".,;:)!?" or after.low in FUNCTION_WORDS or after.low in VERBS


def _counted(tokens: Sequence[Token], k: int) -> bool:
    """Whether a number stands right before the capitalised words of which token k is the last."""
    while k and tokens[k].text[:1].isupper():
        k -= 1
    return tokens[k].kind == "number" or tokens[k].low in ONES


def _device(tokens: Sequence[Token], number: Number) -> int | None:
    """ "HD Graphics 620", "Quadro 3000M", "USB 3.2 ports", "LEVI'S 501": series whose products are told by numbers."""
    first, last = number.first, number.last
    if not first or number.written or tokens[first].start - tokens[first - 1].end > 1:
        return None
    before = tokens[first - 1]
    if before.kind == "number" and first > 1 and tokens[first - 2].low == "ddr":
        before = tokens[first - 2]  # "DDR4 2400"
    graphics = before.low == "graphics" and first > 1 and tokens[first - 2].low in ("hd", "uhd", "iris", "pro", "plus")
    if before.low not in _DEVICES and not graphics and not _owns(tokens, first):
        return None
    after = tokens[last] if last < len(tokens) else None
    if after is not None and ((after.text in _MEASURES or after.low in _SMALL_MEASURES) or after.text in "%$€£"):
        return None  # "a USB 2 m cable"
    if after is not None and after.kind == "word" and glued(tokens[last - 1], after) and before.low in _STANDARDS:
        return None  # "usb 4h runtime"
    while last < len(tokens) and glued(tokens[last - 1], tokens[last]) and tokens[last].kind != "mark":
        last += 1
    return last


def _contract(tokens: Sequence[Token], number: Number) -> int | None:
    """ "the Five-Year Credit Agreement", "10-Year Treasury Notes": papers that are named by their length."""
    last = number.last
    if last + 2 >= len(tokens) or tokens[last].text not in "-" or not glued(tokens[last], tokens[last + 1]):
        return None
    titled = tokens[last + 1].low in _LENGTHS and tokens[last + 1].text[:1].isupper()
    return last + 2 if titled and tokens[last + 2].text in _PAPERS else None


_LENGTHS = frozenset("year month day week".split())
_PAPERS = frozenset("Credit Revolving Revolver Term Facility Treasury Treasuries Senior Note Notes Bond Bonds".split())


def _series(tokens: Sequence[Token], number: Number) -> int | None:
    """ "the 7000 series", "5000-series chips": products that are told by a round number."""
    first, last = number.first, number.last
    if number.written or number.scaled or not tokens[first].text.isdecimal() or not tokens[first].text.endswith("00"):
        return None
    k = last + (last < len(tokens) and tokens[last].text in "-")
    return k + 1 if k < len(tokens) and tokens[k].low == "series" else None


def _section(tokens: Sequence[Token], number: Number) -> int | None:
    """ "§ 1.409A-1(b)(4)": a section of a law, with all that is glued to it."""
    end = number.last
    if not number.first or tokens[number.first - 1].text not in ("§", "§§"):
        return None
    while end < len(tokens) and glued(tokens[end - 1], tokens[end]):
        end += 1
    return end


def _letter(tokens: Sequence[Token], number: Number) -> int | None:
    """ "Zen 4c", "Pixel 4a": a figure and a small letter after a capitalised word that opens no sentence."""
    first, last = number.first, number.last
    if first < 2 or number.written or last >= len(tokens) or tokens[first].text not in _FIGURES:
        return None
    letter, before = tokens[last], tokens[first - 1]
    if letter.text not in ("a", "c", "e", "i") or not glued(tokens[last - 1], letter):
        return None
    if last + 1 < len(tokens) and glued(letter, tokens[last + 1]) and tokens[last + 1].kind != "mark":
        return None
    named = before.kind == "word" and before.text[:1].isupper() and tokens[first - 2].text not in ".!?:"
    return last + 1 if named and len(before.text) > 1 and before.low not in FUNCTION_WORDS else None


_FIGURES = frozenset("1 2 3 4 5 6 7 8 9 10".split())


def _title(tokens: Sequence[Token], number: Number) -> int | None:
    """The number that opens a title in quotation marks: the show "60 Minutes", the film “12 Years”."""
    first, last = number.first, number.last
    if not first or tokens[first - 1].text not in '"“' or number.scaled or not glued(tokens[first - 1], tokens[first]):
        return None
    for k in range(last, min(len(tokens), last + _LONGEST_TITLE)):
        if tokens[k].text in '"”':
            return last if k > last and glued(tokens[k - 1], tokens[k]) else None
        if tokens[k].kind != "word" or not tokens[k].text[:1].isupper():
            return None
    return None


_LONGEST_TITLE = 6


def _device_title(tokens: Sequence[Token], number: Number) -> int | None:
    """The 5s of "Acme One 5s Android smartphone.": what is but a name and the kind of the thing, without a size."""
    stop = len(tokens) - (tokens[-1].text == ".")
    if not number.first or stop > _LONGEST_NAME or tokens[stop - 1].low not in _THINGS or number.written:
        return None
    if any(t.text in ",;:-" or t.low in FUNCTION_WORDS | VERBS for t in tokens[:stop]):
        return None
    last = number.last
    glue = last < stop and glued(tokens[last - 1], tokens[last])
    if glue and (tokens[last].text == "+" or (tokens[last].kind == "word" and len(tokens[last].text) == 1)):
        return last + 1
    after = tokens[last]
    capital = after.text[:1].isupper() and after.text not in _MEASURES
    named = capital or after.text in "(+)" or after.kind == "number" or after.low in _THINGS
    return last if named and not glue else None


_THINGS = frozenset("smartphone phone tablet watch smartwatch laptop notebook".split())
_LONGEST_NAME = 14


def _owns(tokens: Sequence[Token], k: int) -> bool:
    """Whether a name in capitals with an 's stands before token k: "LEVI'S"."""
    return k > 2 and tokens[k - 1].text == "S" and tokens[k - 2].text in "'’" and glued(tokens[k - 2], tokens[k - 1])


_DEVICES = frozenset(
    "quadro geforce radeon gtx rtx rx adreno mali firepro ryzen athlon celeron pentium snapdragon exynos kirin helio "
    "dimensity usb hdmi bluetooth ddr wifi thunderbolt displayport pcie levi's levi’s levis".split()
)
"""Series of parts and clothes, in any case."""
_STANDARDS = frozenset("usb hdmi bluetooth wifi thunderbolt displayport".split())
"""Those whose numbers have no letters."""
_MEASURES = frozenset("m ft cm mm V W A mA GB MB TB GHz MHz inch inches in kg g meter metre feet foot".split())
_SMALL_MEASURES = frozenset("gb tb mb ghz mhz hz mah".split())
"""Those among them that queries write in small letters."""


def _model_code(tokens: Sequence[Token], number: Number) -> int | None:
    """ "Aspire 320-15ISK", "HP 250 G6": a falling pair of numbers before capitals, or the letter of a generation."""
    first, last = number.first, number.last
    if number.written or last + 1 >= len(tokens) or not tokens[first].text.isdecimal():
        return None
    if first and tokens[first - 1].text.isupper() and not glued(tokens[last - 1], tokens[last]):
        letter, figure = tokens[last], tokens[last + 1]
        if letter.text in ("G", "S", "X") and figure.text.isdecimal() and glued(letter, figure):
            return last + 2
    if last + 1 >= len(tokens) or tokens[last].text != "-" or not tokens[last + 1].text.isdecimal():
        return None
    if first and _is_compound_of_firm(tokens, first, tokens[last + 1].text):
        return last + 2
    if last + 2 >= len(tokens):
        return None
    letters = tokens[last + 2]
    joined = all(glued(tokens[k], tokens[k + 1]) for k in range(last - 1, last + 2))
    falls = int(tokens[first].text) > int(tokens[last + 1].text)
    code = joined and falls and letters.kind == "word" and letters.text.isupper() and len(letters.text) > 1
    return last + 3 if code else None


def _is_compound_of_firm(tokens: Sequence[Token], first: int, figures: str) -> bool:
    """Whether capitals stand before a short and a long number: "BAY 94-8862", the name of a substance."""
    code = tokens[first - 1].text
    short = len(tokens[first].text) <= 3 < len(figures) and not glued(tokens[first - 1], tokens[first])
    return short and code.isupper() and 2 <= len(code) <= 4 and code not in _STATED and tokens[first + 1].text == "-"


_STATED = frozenset("CI IQR SD HR OR RR BMI MD US USD EUR GBP".split())
"""Capitals before two numbers that make a range of them."""


def _numbered(tokens: Sequence[Token], number: Number) -> int | None:
    """ "the ABC 1 and ABC 2 groups", "Clinic 1 or Clinic 2": one name before two numbers that follow each other."""
    first, last = number.first, number.last
    if not first or number.written or number.scaled or tokens[first].text not in _FIGURES:
        return None
    name, value = tokens[first - 1], int(tokens[first].text)
    if name.kind != "word" or not name.text[:1].isupper() or len(name.text) < 3 or name.low in FUNCTION_WORDS | VERBS:
        return None
    if glued(name, tokens[first]) or (
        last < len(tokens) and (tokens[last].text in "%‰°$€£" or tokens[last].low in _VS)
    ):
        return None
    near = range(max(0, first - _FAR), min(len(tokens) - 1, first + _FAR))
    named = (k for k in near if tokens[k].text == name.text and tokens[k + 1].text in _FIGURES)
    return last if any(abs(int(tokens[k + 1].text) - value) == 1 for k in named) else None


def _of_one(tokens: Sequence[Token], number: Number) -> int | None:
    """ "the output of turbine 3 fell": which one, where a verb follows, and "of" leads to a noun without an article."""
    first, last = number.first, number.last
    if first < 2 or number.written or number.scaled or not tokens[first].text.isdecimal() or last >= len(tokens):
        return None
    noun, after = tokens[first - 1], tokens[last]
    if tokens[first - 2].low != "of" or not noun.text.islower() or noun.low.endswith("s") or len(noun.text) < 3:
        return None
    if len(tokens[first].text) > 2 or noun.low in FUNCTION_WORDS | VERBS | _BARE_MEASURES:
        return None
    return last if after.low in VERBS and not glued(tokens[last - 1], after) else None


_BARE_MEASURES = frozenset("score index ratio size age rate total average mean median rank rating".split())
"""What is told by a bare number: "a median of score 3 was"."""
_VS = frozenset("vs versus to mln bln million billion pct cts dlrs".split())
_FAR = 30
"""Tokens between two numbers of one name at most."""


def _index(tokens: Sequence[Token], number: Number) -> int | None:
    """ "the S&P 500", "Nasdaq 100": indices and lists with the number of their members in the name."""
    first = number.first
    if not first or number.scaled or number.written or not tokens[first].text.isdecimal():
        return None
    before = tokens[first - 1].text
    poors = before == "P" and first > 2 and (tokens[first - 3].text, tokens[first - 2].text) == ("S", "&")
    near = [t.low for t in tokens[max(0, first - 3) : first]]
    spelt = near[-1:] == ["poor's"] or near[-1:] == ["poors"] or near[-2:] == ["poor", "'s"]
    typed = tokens[first].text == "500" and (near[-1:] == ["sp"] or near == ["s", "&", "p"] or spelt)
    return number.last if poors or typed or before in INDEX_NAMES or before in _TYPED_INDICES else None


_TYPED_INDICES = frozenset(name.lower() for name in INDEX_NAMES) - {"nifty"}
"""Those whose name in small letters is no other word: "the ftse 100"."""


def _named_in_words(tokens: Sequence[Token], number: Number) -> int | None:
    """ "the Slow Five", "the Big Ten": a capitalised numeral after a capitalised word, where not all words are."""
    first = number.first
    if not (number.written and first and number.last == first + 1 and tokens[first].text.istitle()):
        return None
    before, after = tokens[first - 1], tokens[number.last] if number.last < len(tokens) else None
    if before.text == "The" and after is not None and after.text.istitle() and after.low not in _OF_FILINGS:
        if first > 1 and tokens[first - 2].text not in ".:;?!":
            return number.last  # "in The Seven Husbands", and not "of The Eleven Directors"
    if before.low == "of" and first > 1 and tokens[first - 2].text == "Group":
        return number.last
    if before.kind != "word" or not before.text.istitle() or before.low in FUNCTION_WORDS or len(before.text) < 3:
        return None
    return None if _all_capitalised(tokens, first) else number.last


_OF_FILINGS = frozenset(
    "directors officers subsidiaries months quarters funds trustees companies executives loans "
    "notes properties segments partners members shareholders".split()
)
"""What filings count with capitals: "The Eleven Directors", "The Six Months Ended June 30"."""


def _model(tokens: Sequence[Token], number: Number) -> int | None:
    """The second of "the iPhone 11 and 11 Pro Max"."""
    last = number.last
    if number.written or number.scaled or last >= len(tokens) or len(tokens[number.first].text) > 3:
        return None
    if tokens[last].text not in _MODELS or glued(tokens[last - 1], tokens[last]):
        return None
    linked = number.first > 0 and tokens[number.first - 1].low in ("and", "or", ",", "the", "/")
    sure = tokens[last].text in _BARE_MODELS or (last + 1 < len(tokens) and tokens[last + 1].text in _MODELS)
    return last if linked and sure else None


def _product_name(tokens: Sequence[Token], number: Number) -> int | None:
    """A short whole number after a capitalised word, with nothing after it to count: "iPhone 11 Pro", "Boeing 747"."""
    first, last = number.first, number.last
    text = tokens[first].text
    if not first or number.written or number.scaled or not text.isdecimal() or len(text) > 4:
        return None
    before = tokens[first - 1]
    if before.kind != "word" or before.low in ("age", "aged", "ages"):
        return None
    if before.text.endswith(("'s", "’s")) or (before.text.isupper() and len(before.text) <= 3):
        return None
    typed = before.low in _LINES or (first > 1 and before.low in _GRADES and tokens[first - 2].low in _LINES)
    if typed and last < len(tokens) and tokens[last].low in _GRADES and not glued(tokens[last - 1], tokens[last]):
        return last + 1  # "the boeing 737 max"
    inner_capital = typed or (any(c.isupper() for c in before.text[1:]) and not before.text.isupper())
    starts = first > 1 and tokens[first - 2].text not in ".!?" and before.low not in FUNCTION_WORDS | VERBS
    if not inner_capital and not (before.text[:1].isupper() and starts):
        return None
    if _is_year_bounded(tokens, number):
        return None
    if last < len(tokens) and not _ends_name(tokens, number, certain=inner_capital, typed=typed):
        return None
    return last


def _is_year_bounded(tokens: Sequence[Token], number: Number) -> bool:
    """Whether a year is bounded and no part of a name: "macbook 2019 or newer"."""
    text, last = tokens[number.first].text, number.last
    ahead = [t.low for t in tokens[last : last + 2]]
    return len(text) == 4 and text[:2] in ("19", "20") and ahead[:1] == ["or"] and ahead[-1] in _DATED


_DATED = frozenset("newer later older earlier".split())
_LINES = frozenset(
    "iphone ipad macbook imac galaxy pixel nexus lumia xperia redmi oneplus poco rtx gtx rx geforce radeon quadro "
    "graphics ryzen core xeon celeron snapdragon exynos dimensity playstation xbox thinkpad ideapad latitude inspiron "
    "pavilion vivobook zenbook boeing airbus cessna windows ios android".split()
)
"""Lines of products, typed in small letters: "an iphone 11", "the boeing 737"."""
_PAID = frozenset("quid euro eur usd gbp chf".split())
"""Money in forms that do not look like plurals: "ipad max 200 quid"."""
_GRADES = frozenset("pro max plus mini ultra lite ti super se air".split())


def _ends_name(tokens: Sequence[Token], number: Number, *, certain: bool, typed: bool) -> bool:
    """Whether what follows a capitalised word and a number leaves them a name: nothing there can be counted."""
    first, last = number.first, number.last
    after = tokens[last]
    if after.kind != "word":
        return after.text not in "%‰°″′$€£-–/" or (after.text == "-" and certain)
    if glued(tokens[last - 1], after):
        return False
    if after.text[:1].isupper():
        return certain or not _all_capitalised(tokens, first)
    return (
        after.low in _AFTER_NAMES
        or after.low in VERBS
        or (typed and not after.low.endswith("s") and after.low not in _PAID)
    )


def _all_capitalised(tokens: Sequence[Token], i: int) -> bool:
    """Whether the words around token i are capitalised anyway, as in a headline."""
    near = [*tokens[max(0, i - 7) : max(0, i - 1)], *tokens[i + 2 : i + 8]]
    words = [t.text for t in near if t.kind == "word" and len(t.text) > 3]
    return len(words) >= 2 and not any(w[0].islower() for w in words)


_AFTER_NAMES = frozenset(
    (
        "is was are were has have had will would can could may with and or of in on at for from to by the a "
        "an as which that who when while but"
    ).split()
)

_RULES = (
    _device, _device_title, _model_code, _index, _named_in_words, _model, _product_name, _contract, _series, _section,
    _letter, _title, _numbered, _of_one,
)  # fmt: skip
