"""Descriptions that do not say what their number is, by reason.

A description names what is measured (*Quantity Retrieval*, section 2: the performance indicator). Times, names of
companies, labels and nouns such as "increase" or "total" alone do not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from qbench.mining.languages import CAPITALS, GLUED, LABEL, MOMENT, NAME, NOTHING, ONLY_TIME, POPULATION, ROW
from qbench.quantities.english.heads import EMPTY, LASTING, POPULATIONS
from qbench.quantities.english.language import fold
from qbench.quantities.english.lexicon import FUNCTION_WORDS, LY_NOUNS, ONES, TENS, VERBS, WEAK_WORDS
from qbench.quantities.english.noun_phrases import DATES, NO_CONTENT, SUMMARIES, TIMES
from qbench.quantities.types import Quantity

_EMPTY = (
    NO_CONTENT
    | SUMMARIES
    | (WEAK_WORDS - {"shr"})
    | EMPTY
    | frozenset(
        (
            "gross increase decrease rise fall drop decline growth reduction improvement jump surge base "
            "addition schedule line minority percentage ratio score scale way corp inc ltd plc example "
            "respect term thing above below refer information detail further versus vs prior year-earlier "
            "fold enrolment enrollment side place event high low peak row streak phenomenon respective "
            "similar outcome measure parameter significance significant"
        ).split()
    )
)
"""Words that, without others, leave open what a number measures."""

_VERBS_AND_NOUNS = frozenset(
    "cost costs charge charges yield yields issue issues supply supplies sales support supports plan plans offer "
    "offers estimate forecast holdings traded granted produce produces hold earnings rated outstanding features sports "
    "grant results use uses gains gained gain pay".split()
)
"""Words of `VERBS` that name what is measured as often."""

_VERBS_IN_ED = re.compile(r"[a-z]{2,}[^aeiou]ed|[a-z]{3,}(?:ied|ued|oed|eed)")
_NOUNS_IN_ED = frozenset("seed feed need weed breed speed bleed bed shed sled thread bread unsecured".split())

_DATED = frozenset("ended ending fiscal qtr mths wks".split()) | ONES.keys()
_TIMES = TIMES | _DATED | frozenset(day.lower() for day in DATES)
_NO_WORDS = _EMPTY | _TIMES | FUNCTION_WORDS | (VERBS - _VERBS_AND_NOUNS)

_LASTING = LASTING | frozenset(
    (
        "aged follow-up leave live journey deadline extension suspension half-life latency notice training "
        "lifecycle cycle exposure gestation pregnancy hospitalisation hospitalization strike war delivery "
        "loan bond note paper mortgage swap mission schooling education employment offer relief sleep walk "
        "run reaction ischemia ventilation intubation anesthesia anaesthesia block analgesia"
    ).split()
)
"""What a length of time is stated of."""

_MARKS = frozenset("p note notes item items page pages section exhibit table".split())
"""Concepts of p-values and references, whatever else the clause says."""

_UNSAID = frozenset({"share", "contract"})
"""Counted nouns that leave open what happened to them: "500 shares" may be sold, authorized or outstanding."""

_WORD = re.compile(r"[^\W_]+(?:['’.&/-][^\W_]+)*")
_GLUE = re.compile(
    r"[A-Za-z]{3,}\.(?:\d|[A-Z][a-z])|[a-z]{4,}(?:19|20)\d\d\b|\b(?:19|20)\d\d[A-Z][a-z]|[a-z]{3,}\)[A-Z]"
)
"""A sentence, heading, footnote or year that ran into a word."""
_BEHIND = re.compile(r"\s+\d[\d.,]*(?=\s|$)")
_NAME = re.compile(r"[A-Z][a-z]+(?:-[A-Z][a-z]+)*")
_NUMBER = re.compile(rf"[\s:=(]{{0,3}}(?:[$€£¥]|US\$|loss |profit )?\s?(?:\d|(?:{'|'.join(ONES | TENS)})\b)")
"""What follows a label: "Net Sales: 5"."""


def lack(words: str, sentence: str, mention: Quantity, segments: Iterable[tuple[int, int]] = ()) -> str:
    """The reason why words do not say what a quantity is; "" where they do.

    What lasts is sought in the mention's concept, or in all words if it has none.

    Args:
        words: of the description.
        sentence: which holds the mention.
        mention: the quantity.
        segments: of the description in the sentence.

    >>> eight = Quantity(8, 8, "=", "percentage", "ratio", "percentage", 8, 8)
    >>> lack("increase 2019", "An 8 % increase in 2019.", eight), lack("margin 2019", "A margin of 8 % in 2019.", eight)
    ('nothing measured', '')
    """
    if _GLUE.search(words):
        return GLUED
    tokens = _WORD.findall(words)
    if len(tokens) > 2 and words.isupper():
        return CAPITALS
    if _is_label(sentence, mention):
        return LABEL
    if not mention.unit and _is_in_row(sentence, mention):
        return ROW
    counted = {fold(word) for word in mention.unit.split() if mention.family == "count" and says(word)}
    if counted - _UNSAID or (counted and any(_acts(word) for word in tokens)):
        return ""
    measured = [word for word in tokens if says(word) and fold(word) not in counted]
    if not measured:
        timed = all(word.lower() in _TIMES | FUNCTION_WORDS or word[0].isdigit() for word in tokens)
        return ONLY_TIME if timed else NOTHING
    concept = [word for word in (*mention.concept, *mention.subject) if says(word)]
    if not concept and _MARKS.intersection(mention.concept):
        return NOTHING
    if mention.family == "time":
        return "" if _LASTING.intersection(map(fold, concept or measured)) else MOMENT
    if mention.family == "ratio" and POPULATIONS.issuperset(map(fold, measured)):
        return POPULATION if not any(_acts(word) for word in tokens) else ""
    return NAME if all(_NAME.fullmatch(word) for word in measured) and not _labels(sentence, segments) else ""


def says(word: str) -> bool:
    """Whether a word may name what is measured.

    >>> [word for word in "Net operating margin in May was reported up".split() if says(word)]
    ['operating', 'margin']
    """
    low = word.lower()
    if len(low) < 2 or low.isdigit() or not _NO_WORDS.isdisjoint((low, fold(low))):
        return False
    if low.endswith("ly") and low not in LY_NOUNS:
        return False
    return low in _NOUNS_IN_ED or "-" in low or not _VERBS_IN_ED.fullmatch(low)


def _acts(word: str) -> bool:
    low = word.lower()
    return (low not in _NOUNS_IN_ED and bool(_VERBS_IN_ED.fullmatch(low))) or low in VERBS - _VERBS_AND_NOUNS


def _is_label(sentence: str, mention: Quantity) -> bool:
    """Whether a bare number is the mark of a footnote, glued to the text before it."""
    if mention.unit or not float(mention.value).is_integer() or not 0 < mention.value < 1000:
        return False
    start, end = mention.value_span
    glued = start > 0 and bool(re.match(r"[A-Za-z.)]", sentence[start - 1]))
    return glued and bool(re.match(r"\s?[A-Z]", sentence[end : end + 2]))


def _is_in_row(sentence: str, mention: Quantity) -> bool:
    """Whether another number stands right before or behind a bare number."""
    start, end = mention.value_span
    before = re.search(r"\d\s+$", sentence[max(0, start - 4) : max(0, start)])
    return bool(before or _BEHIND.match(sentence, max(0, end)))


def _labels(sentence: str, segments: Iterable[tuple[int, int]]) -> bool:
    """Whether a segment begins the sentence, or labels a number: "Net Sales: 5"."""
    return any(start == 0 or _NUMBER.match(sentence, end) for start, end in segments)
