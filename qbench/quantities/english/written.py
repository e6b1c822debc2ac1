"""Numbers in words: "twenty-five thousand", "two and a half", "half a dozen", "a third of", "tens of thousands"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from qbench.quantities.english.lexicon import FRACTIONS, FUNCTION_WORDS, ONES, SCALES, TENS
from qbench.quantities.english.tokens import HYPHENS, Token, glued

NUMERALS = frozenset(ONES) | frozenset(TENS) | frozenset(SCALES)
PLURAL_SCALES = {
    "dozens": 12.0, "hundreds": 1e2, "thousands": 1e3, "lakhs": 1e5, "millions": 1e6, "crores": 1e7, "billions": 1e9,
    "trillions": 1e12,
}  # fmt: skip
"""Plurals that count by the order of magnitude: "thousands of people" are 1,000 to 10,000."""
FOLDS = {f"{w}fold": v for table in (ONES, TENS, SCALES) for w, v in table.items()}
FOLDS = {word: value for word, value in FOLDS.items() if value > 1}
"""Multiples in one word: "a sixfold rise"."""
NIL = "nil"
"""The rule of a "nil" that stands for a figure: it counts nothing."""
STARTERS = (
    frozenset(ONES) | frozenset(TENS) | frozenset(PLURAL_SCALES) | frozenset(FOLDS)
    | frozenset("a an half tens nil".split())
)  # fmt: skip
"""Words at which a number may start."""
ORDINALS = frozenset(
    (
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
        "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth thirtieth fortieth fiftieth sixtieth "
        "seventieth eightieth ninetieth hundredth thousandth millionth"
    ).split()
)
_PARTS = {
    **FRACTIONS, "quarter": 1 / 4, "sevenths": 1 / 7, "ninths": 1 / 9, "hundredth": 1 / 100, "hundredths": 1 / 100,
    "thousandth": 1 / 1000, "thousandths": 1 / 1000,
}  # fmt: skip
_LARGEST = 1e15
"""Words multiply no further than this."""
_DETERMINERS = frozenset(
    "the a an its his her their our my your this that these those all which whom them it us every each".split()
)


class Written(NamedTuple):
    """A number in words: its value, the token after it, the upper end of an indefinite plural, the rule's name."""

    value: float
    last: int
    high: float | None = None
    rule: str = "words"


def read_words(tokens: Sequence[Token], i: int) -> Written | None:
    """The number in words that starts at token i; None if there is none."""
    word = tokens[i].low
    if word in FOLDS:
        return Written(FOLDS[word], i + 1, rule="fold")
    if word in PLURAL_SCALES or word == "tens":
        return _indefinite(tokens, i)
    if word == "half":
        return _half(tokens, i)
    if word in ("a", "an"):
        return _article(tokens, i)
    if word == "nil":
        return Written(0.0, i + 1, rule=NIL) if _is_sum(tokens, i) or _is_compared(tokens, i) else None
    return _cardinal(tokens, i, i, 0.0, 0)


def _is_sum(tokens: Sequence[Token], i: int) -> bool:
    """Whether the sign of a currency stands before token i: "£nil"."""
    return i > 0 and tokens[i - 1].text in "$€£"


def _is_compared(tokens: Sequence[Token], i: int) -> bool:
    """Whether a figure is compared with the "nil" at token i: "12 million vs nil", "nil against 3 million"."""
    k = i - (i > 0 and tokens[i - 1].low in _FIGURES)  # "vs loss nil"
    around = (*tokens[max(0, k - 1) : k], *tokens[i + 1 : i + 2])
    return any(token.low in ("vs", "versus", "against") for token in around)


_FIGURES = frozenset("loss profit net shr div dividend".split())


def and_fraction(tokens: Sequence[Token], j: int) -> tuple[float, int] | None:
    """ "and a half", "and three quarters" at token j: its value and the token after it."""
    hyphen = 1 if j + 1 < len(tokens) and tokens[j].text in HYPHENS else 0
    at = j + hyphen
    if at + 2 >= len(tokens) or tokens[at].low != "and":
        return None
    at += 1 + (hyphen and tokens[at + 1].text in HYPHENS)
    if at + 1 >= len(tokens) or (tokens[at].low != "a" and tokens[at].low not in ONES):
        return None
    top = ONES.get(tokens[at].low, 1.0)
    at += 1
    if tokens[at].text in HYPHENS and at + 1 < len(tokens):
        at += 1
    part = _PARTS.get(tokens[at].low)
    if part is None or not 0 < top * part < 1 or (top > 1) != tokens[at].low.endswith("s"):
        return None
    return top * part, at + 1


def _cardinal(tokens: Sequence[Token], i: int, j: int, group: float, seen: int) -> Written | None:
    """A whole number from token j on, `group` read so far; then what makes a fraction of it."""
    total, smallest = 0.0, _LARGEST
    while j < len(tokens):
        word = _SINGULAR_SCALES.get(tokens[j].low, tokens[j].low) if seen else tokens[j].low
        follows = j + 1 < len(tokens) and tokens[j + 1].low in NUMERALS
        if tokens[j].text in HYPHENS and seen and follows:
            j += 1
            continue
        if word == "and" and seen and follows and _joins(tokens, j, total, group):
            j += 1
            continue
        if word in TENS and group % 100 == 0:
            group += TENS[word]
        elif word in ONES and (group % 10 == 0 and (group % 100 != 10 or group == 0)) and not _full(group, word):
            group += ONES[word]
        elif word == "hundred" and seen and 0 < group < 100:
            group *= 100
        elif word in SCALES and word != "hundred" and seen and group and total + group * SCALES[word] < _LARGEST:
            total += group * SCALES[word]
            group, smallest = 0.0, SCALES[word]
        else:
            break
        j += 1
        seen += 1
    if not seen:
        return None
    return _with_part(tokens, i, j, total + group, smallest if total and not group else 1.0)


_SINGULAR_SCALES = {"thousands": "thousand", "millions": "million", "billions": "billion"}
"""Scales in the plural, behind a number: "six thousands people"."""


def _joins(tokens: Sequence[Token], j: int, total: float, group: float) -> bool:
    """Whether "and" at token j goes on with the number: "one hundred and five", not "six and seven" or "ten and"."""
    if not (total or group >= 100) or (group and group % 100) or and_fraction(tokens, j) is not None:
        return False
    return tokens[j + 1].low in ONES or tokens[j + 1].low in TENS


def _full(group: float, word: str) -> bool:
    """Whether a group has its ones place taken, so that the next word starts another number."""
    return group % 10 != 0 or (ONES[word] >= 10 and group % 100 != 0)


def _with_part(tokens: Sequence[Token], i: int, j: int, value: float, scale: float) -> Written:
    """ "two" and "thirds", "two" and "point five", "two" and "and a half"."""
    if j >= len(tokens):
        return Written(value, j)
    whose = tokens[i - 1].low if i else ""
    if value < 20 and whose not in _WHICH and (part := _denominator(tokens, j, value)) is not None:
        times, end = _of_a_scale(tokens, part[1])
        return Written(value * part[0] * times, end, rule="fraction in words")
    if (half := and_fraction(tokens, j)) is not None:
        return Written(value + half[0] * scale, half[1])
    if tokens[j].low == "point" and value < 1000 and scale == 1.0 and not (i and tokens[i - 1].low == "at"):
        digits, k = "", j + 1
        while k < len(tokens) and ONES.get(tokens[k].low, 10) < 10 and len(digits) < 9:
            digits, k = digits + str(int(ONES[tokens[k].low])), k + 1
        if digits:
            return Written(float(f"{value:.0f}.{digits}"), k)
    return Written(value, j)


_WHICH = frozenset("first last past next previous latest all these those other".split())
"""Words before "three quarters" that make them quarters of a year."""


def _of_a_scale(tokens: Sequence[Token], k: int) -> tuple[float, int]:
    """ "of a million" at token k: the magnitude and the token after it; 1 and k where there is none."""
    if k + 2 < len(tokens) and tokens[k].low == "of" and tokens[k + 1].low == "a" and tokens[k + 2].low in SCALES:
        return SCALES[tokens[k + 2].low], k + 3
    return 1.0, k


def _denominator(tokens: Sequence[Token], j: int, value: float) -> tuple[float, int] | None:
    """ "thirds" after "two" or "two-", "fourth" after "one": its value and the token after it."""
    hyphen = tokens[j].text in HYPHENS and j + 1 < len(tokens)
    k = j + hyphen
    word = tokens[k].low
    of = k + 1 < len(tokens) and tokens[k + 1].low == "of"
    if word not in _PARTS or value < 1 or (value == 1) == word.endswith("s") or word == "halves":
        return None
    # "two quarters" of a year, "one fifth grade", "one third-party": what stands around says that it is a part.
    if word.startswith("quarter") and not (hyphen or of):
        return None
    if value == 1 and word not in ("half", "third") and not (hyphen or of or _ends_phrase(tokens, k + 1)):
        return None
    if value == 1 and k + 1 < len(tokens) and tokens[k + 1].text in HYPHENS:
        return None
    return _PARTS[word], k + 1


def _ends_phrase(tokens: Sequence[Token], k: int) -> bool:
    """Whether a phrase ends before token k: "by one fifth in a year", not "one fifth grade" or "one tenth, ..."."""
    return k < len(tokens) and tokens[k].low in ("in", "to", "by", "from", "than", "as", "on", "over", ".")


def _indefinite(tokens: Sequence[Token], i: int) -> Written | None:
    """ "millions", "tens of thousands", "hundreds of millions": an order of magnitude, from its start to the next.

    Nothing where the word says in what figures are counted ("in thousands, except per share", "by the dozens").
    """
    before = tokens[i - 1].low if i else ""
    if before in ("in", "by", "$", "€", "£") or (before == "the" and i > 1 and tokens[i - 2].low == "by"):
        return None
    word, j = tokens[i].low, i + 1
    value = 10.0 if word == "tens" else PLURAL_SCALES[word]
    while j + 1 < len(tokens) and tokens[j].low == "of" and tokens[j + 1].low in PLURAL_SCALES:
        if value * PLURAL_SCALES[tokens[j + 1].low] > _LARGEST:
            break
        value, j = value * PLURAL_SCALES[tokens[j + 1].low], j + 2
    if word == "tens" and j == i + 1:
        return None
    if j == i + 1 and j < len(tokens) and (tokens[j].kind == "mark" or tokens[j].low in _NOTHING_COUNTED):
        return None  # "prices and dozens sold rose", "there are thousands in museums"
    return Written(value, j, value * 10, "indefinite plural")


_NOTHING_COUNTED = frozenset("sold in per and or".split())
"""What follows a plural that counts nothing."""


def _article(tokens: Sequence[Token], i: int) -> Written | None:
    """ "a million", "a hundred and five", "a third of", "a quarter of a million", "a couple of thousand"."""
    if i + 1 >= len(tokens):
        return None
    word = tokens[i + 1].low
    if word in SCALES:
        return _cardinal(tokens, i, i + 1, 1.0, 1)
    if word == "half" and i + 2 < len(tokens) and tokens[i + 2].text not in HYPHENS:
        half = _half(tokens, i + 1)
        return half if half is not None and half.value > 1 else None
    if word == "quarter" and i + 2 < len(tokens) and tokens[i + 2].low in SCALES:
        return Written(SCALES[tokens[i + 2].low] / 4, i + 3, rule="fraction in words")
    if word == "quarter" and _is_of_percentages(tokens, i + 2):
        return Written(_PARTS[word], i + 2, rule="fraction in words")
    if i + 3 < len(tokens) and tokens[i + 2].low == "of":
        if word == "couple":
            times = SCALES.get(tokens[i + 3].low)
            return Written(2.0 * times, i + 4, rule="couple") if times else Written(2.0, i + 2, rule="couple")
        if word in _PARTS and not word.endswith("s"):
            return _part_of(tokens, i, word)
    if word in _PARTS and not word.endswith("s") and (by_how_much(tokens, i, i + 2) or _compares(tokens, i + 2)):
        return Written(_PARTS[word], i + 2, rule="fraction in words")
    return Written(1.0, i + 1, rule="article") if word in LENGTHS_OF_TIME and _is_bounded(tokens, i) else None


def _is_of_percentages(tokens: Sequence[Token], k: int) -> bool:
    """Whether token k says that a quarter is none of a year: "a quarter point", "a quarter-percent"."""
    k += k < len(tokens) - 1 and tokens[k].text in HYPHENS and glued(tokens[k - 1], tokens[k])
    return k < len(tokens) and tokens[k].low in ("point", "percent", "percentage", "pct")


def of_a(tokens: Sequence[Token], last: int) -> int:
    """How many tokens stand between a part that ends before token `last` and its unit: 2 in "1/4 of a mile", else 0."""
    words = [t.low for t in tokens[last : last + 2]]
    if words in (["of", "a"], ["of", "an"]):
        return 2
    return int(words[:1] in (["a"], ["an"]) and tokens[last - 1].text in ("2", "½"))  # "1/2 a litre"


LENGTHS_OF_TIME = frozenset("second minute hour day week month year decade century".split())
"""Lengths of time of which there may be one: "at least an hour"."""


def _is_bounded(tokens: Sequence[Token], i: int) -> bool:
    """Whether the article at token i is a one since words bound it: "at least an hour", "more than a week"."""
    before = [t.low for t in tokens[max(0, i - 2) : i]]
    after = tokens[i + 2] if i + 2 < len(tokens) else None
    alone = after is None or after.kind == "mark" or (after.low in FUNCTION_WORDS and after.low not in _TELLING_WHEN)
    hyphened = after is not None and after.text in HYPHENS
    return alone and not hyphened and (before in _BOUNDING or before[-1:] in _NEARLY)


_BOUNDING = [p.split() for p in ("at least", "at most", "more than", "less than", "up to", "just over", "well over")]
_NEARLY = [[word] for word in "about nearly almost around roughly approximately".split()]
_TELLING_WHEN = frozenset("ago before earlier later of".split())
"""What follows a length of time that says when, and not how long: "more than a year before"."""


def _compares(tokens: Sequence[Token], k: int) -> bool:
    """Whether token k says that one thing is more than another: "a third more than", "a fifth more expensive than"."""
    if k >= len(tokens) or tokens[k].low not in _COMPARATIVES:
        return False
    after = [token.low for token in tokens[k + 1 : k + 3]]
    graded = tokens[k].low in ("more", "less") and after[1:] == ["than"]
    return graded or after[:1] in ([], ["than"], ["."])


_COMPARATIVES = frozenset(
    "more less fewer higher lower larger smaller bigger greater cheaper dearer heavier lighter faster slower longer "
    "shorter".split()
)


def by_how_much(tokens: Sequence[Token], i: int, end: int) -> bool:
    """Whether tokens i..end-1 say by how much something changed: "fell by almost a third", "cut costs by half"."""
    k = i - 1
    while k > max(0, i - _BOUND_WORDS) and tokens[k].low in _BEFORE_PARTS:
        k -= 1
    if k < 0 or tokens[k].low != "by":
        return False
    return end == len(tokens) or tokens[end].low in FUNCTION_WORDS or tokens[end].text in ".,;:)"


_BOUND_WORDS = 5
_BEFORE_PARTS = frozenset(
    "about almost nearly around roughly over just under well more less than at least most".split()
)
"""Words between "by" and a part."""


def _part_of(tokens: Sequence[Token], i: int, word: str) -> Written | None:
    """ "a third of", "a quarter of a million"; a quarter that is a part, not three months."""
    times, end = _of_a_scale(tokens, i + 2)
    if times != 1.0:
        return Written(_PARTS[word] * times, end, rule="fraction in words")
    after = tokens[i + 3].low
    people = tokens[i + 3].text[:1].isupper()  # "a quarter of Americans", but "a quarter of growth"
    if word == "quarter" and after not in _DETERMINERS and not people:
        return None
    return Written(_PARTS[word], i + 2, rule="fraction in words")


def _half(tokens: Sequence[Token], i: int) -> Written | None:
    """ "half a million", "half-dozen", "half of the", "half an hour", "half-inch": what follows must say of what."""
    if i and (tokens[i - 1].low in _HALVES_OF_TIME or tokens[i - 1].text in HYPHENS):
        return None
    k = i + 1
    if k >= len(tokens):
        return Written(0.5, i + 1)
    if tokens[k].low in ("a", "an") or (tokens[k].text in HYPHENS and glued(tokens[i], tokens[k])):
        k += 1
    if k < len(tokens) and tokens[k].low in _HALF_NAMES:
        return None
    if k < len(tokens) and tokens[k].low in SCALES:
        return Written(0.5 * SCALES[tokens[k].low], k + 1)
    if k > i + 1 and tokens[i + 1].low in ("a", "an"):
        return Written(0.5, i + 2)
    return Written(0.5, i + 1)


_HALF_NAMES = frozenset("time times way life year years back day term".split())
"""What "half" makes a word with that is no half of it: "half-time", "half-year results"."""
_HALVES_OF_TIME = frozenset(
    "first second st nd latter last other better opening closing final next early later".split()
)


_IDIOMS = frozenset("time way battle story fun".split())
"""What "half the" does not say the half of."""


def is_part(tokens: Sequence[Token], i: int) -> bool:
    """Whether the bare "half" at token i is half of something: "half of them", "half the votes", "fell by half"."""
    if tokens[i].low != "half":
        return False
    if by_how_much(tokens, i, i + 1):
        return True
    if i + 1 == len(tokens):
        return False
    after = tokens[i + 1].low
    if i + 2 < len(tokens) and tokens[i + 2].low in _IDIOMS:
        return False
    if after in _OF_WHICH:
        before = tokens[i - 1].low if i else ","
        return before in _BEFORE_HALVES or (before == "and" and i > 1 and tokens[i - 2].text == ",")
    if after == "(" and i + 3 < len(tokens):
        return tokens[i + 2].kind == "number" and tokens[i + 3].text in "%/"  # "just over half (56 %)"
    return after == "of" or after in ("the", "its", "his", "her", "their", "our", "my", "your", "all", "those", "that")


_OF_WHICH = frozenset("with from through were are was have had came come by".split())
_BEFORE_HALVES = frozenset(", ; ( over about nearly almost than around roughly".split())
"""What stands between a "half" of what was said before: "100 boats, half from abroad"."""
