"""Mentions of a part where a query asks for the whole: some of those who are counted, a line of a result, one debt.

"40 women in the control group" are not the women of a study, "$5 million of debt due in 1990" is not all that is owed,
and "a loss of $9 million on securities" is not the loss of whoever held them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from qbench.quantities.concept_match import WHOLE_WORDS, concept_words, is_whole
from qbench.quantities.types import Span

Row = Mapping[str, Any]
"""A mention: a row of `quantity_schema`."""

REACH = 80
"""Characters around a mention in which words restrict it."""

PARTITIVE = re.compile(r"\s*of\s+(?:the|its|our|their|his|her|these|those|this|that|all)\b", re.IGNORECASE)
"""Between a number and what it is a part of: "$2 billion of our assets", "12 of the patients"."""

_ARM = r"(?:group|arm|cohort)"
_ARM_BEFORE = re.compile(
    rf"\b(?<!parallel[ -])(?<!single[ -])(?<!two[ -])(?<!three[ -])(?<!four[ -])(?<!multi[ -]){_ARM}\b"
    r"(?!\s*(?:of|stud(?:y|ies)|trials?|design|comparison|analysis|sessions?|therapy|setting|exercise|education|which)\b|-)"
    r"[^.;]*$",
    re.IGNORECASE,
)
_ARM_AFTER = re.compile(rf"[^.;]*?\b{_ARM}\b(?!\s*(?:stud(?:y|ies)|trials?|design|therapy|sessions?)\b)", re.IGNORECASE)
_EITHER = re.compile(r"\b(?:or|either|versus|vs)\b", re.IGNORECASE)
_OUT_OF = re.compile(r"\s*(?:of|out\s+of|/)\s*(?:the\s+)?(?:total\s+)?\d", re.IGNORECASE)
_SHARED = re.compile(r"\s*[(\[]\s*\d[\d.,·]*\s*(?:%|per\s?cent)", re.IGNORECASE)
"""After a count or its noun: its share of a whole, "152 (84%) patients"."""
_POINTING = re.compile(
    r"\b(?:all|both|these|those|the|its|their|our|other|same|remaining|each|only|just)\s+$", re.IGNORECASE
)
_AGED_UNDER = re.compile(r"\w[-‑]$")
"""Before a number that is no count: "under-five children"."""
_OF_SAMPLE = re.compile(r"\bn\s*=\s*$", re.IGNORECASE)
"""Before the number of a part that stands before it: "the few who fell ill (n = 9)"."""
_FEW = 10.0
"""Smaller counts behind "all" or "the" point to things named before: "all three practices"."""
_ALL_BEFORE = re.compile(r"\b(?:total(?:\s+of)?|all|overall|altogether|in\s+all)\W+(?:the\s+)?$", re.IGNORECASE)
_ALL_AFTER = re.compile(r"[^.;]*?\b(?:of\s+(?:whom|these|them|which)|including)\b", re.IGNORECASE)
"""What makes one of several counts of a noun that of all."""
_ONE_OF = re.compile(
    r"(?:\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten))\s+of\s+(?:the\s+)?$", re.IGNORECASE
)
_WITH = re.compile(r"\s+(?:with|who|whose|having|that|in|on)\b", re.IGNORECASE)
"""Before and after a count of those of whom some others are counted: "one of 16 sailors with scurvy"."""
_OTHER_KIND = re.compile(r"\s*[^\W\d_][\w-]*\s+(?:and|or|&)\s+(?:the\s+)?", re.IGNORECASE)
"""Between two counts, the second with an attribute: "48 young and 132 old sailors"."""
_LEFT_OUT = re.compile(
    r"\b(?:exclud\w+|except(?:\s+for)?|without|other\s+than|withdrew|withdrawn)\s+(?:the\s+)?$", re.IGNORECASE
)
"""Before a count of those who are not meant."""
_IN_GROUP = re.compile(
    r"\s+(?:were\s+)?(?:(?:allocated|assigned|randomi[sz]ed|divided|included)\s+)?(?:in|to|into|received)\s+(?:"
    r"(?:(?:the|each|either|one|a)\s+)?(?:[\w-]+\s+){0,3}(?:group|arm|cohort)|(?:each|either|both)\s+(?:[\w-]+\s+){0,3}(?:group|arm|cohort)s)\b",
    re.IGNORECASE,
)
"""After a count: one of the parts of a study."""
_OF_THEM = re.compile(
    r"\b(?:of|among)\s+(?:whom|which|these|those|them)\W+(?:\w+\W+)?$|\b(?:groups|arms|cohorts|blocks)\s+of\s+$"
    r"|\beach\s+(?:group\s+|arm\s+)?(?:contain\w*|compris\w+|includ\w+|(?:consist|compos)\w*\s+of|of|with|having|had)\s+$",
    re.IGNORECASE,
)
_SOME_DID = re.compile(
    r"\s+(?:who\s+|that\s+)?(?:had|have|has|developed|experienced|died|reported|showed|achieved|withdrew|discontinued"
    r"|began|started|opted|dropped|declined|refused|required|responded|relapsed|failed|remained|improved|survived|suffered|presented|missed|met"
    r"|(?:was|were)\s+(?:lost|excluded|withdrawn|positive|negative|found|unable|ineligible|diagnosed|hospitali[sz]ed))\b",
    re.IGNORECASE,
)
"""After some of those who are counted, and not all of them: "6 infants had anomalies"."""
_OF_ARM = re.compile(r"\b(?:control|placebo|sham|comparison|intervention|untreated)\s", re.IGNORECASE)
"""Between a count and its noun: "42 hungry control sailors" are those of one arm."""
_SUBSET = re.compile(r"\bsub-?(?:sets?|samples?|groups?|populations?)\b[^.;]*$", re.IGNORECASE)
_SENT_BEFORE = re.compile(
    r"\b(?:la(?:y|ys|id|ying)\s+off|lay-?offs?\s+of|dismiss\w*|sack(?:s|ed|ing)?|fir(?:es?|ed|ing)|(?:re)?hir(?:es?|ed|ing)|furlough\w*"
    r"|recall\w*|transfer\w*|relocat\w*|eliminat\w*)\s+(?:(?:about|around|approximately|roughly|some|nearly|almost|over|another|up\s+to|at\s+least|(?:more|fewer)\s+than)\s+){0,2}$",
    re.IGNORECASE,
)
_SENT_AFTER = re.compile(
    r"\s+(?:(?:will|would|to|are|is|was|were|have|had|being|be|been)\s+){1,3}(?:laid\s+off|dismissed|sacked|fired|(?:re)?hired|furloughed"
    r"|recalled|transferred|relocated|eliminated|made\s+redundant|affected|idled|offered)\b",
    re.IGNORECASE,
)
"""Around some of a staff: "they dismissed 40 clerks", "40 clerks will be transferred"."""
_FOR_EACH = re.compile(r"[^.;]{0,60}\b(?:for|per)\s+(?:each|every)\b", re.IGNORECASE)
"""After a few that are exchanged or given: "four coupons and 10 dollars for each share"."""
_BRACKETED = re.compile(r"\d[^()]*\([^()]*$")
"""Before a count in brackets after another number, "60 sailors (40 old hands and 20 boys)"."""

DEBTS = frozenset("debt loan borrowing obligation liability indebtedness credit maturity".split())
PAID = DEBTS | frozenset("tax payment instrument".split())
"""Words, folded, of amounts of which a line may stand alone, with what it belongs to after it."""
_DUE = re.compile(
    r"[^.;,\d]{0,20}?\b(?:due|maturing|matures?|payable|repayable|to\s+be\s+(?:re)?paid|ow(?:ed|ing)\s+to)\b(?!\s+(?:to|from)\b)",
    re.IGNORECASE,
)
"""After a debt: only that of some years, "falling due between 1987 and 1990"."""
_INTEREST = frozenset({"interest", "service"})
_OWED = re.compile(
    r"[^.;,\d]{0,20}?\b(?:ow(?:ed|ing)|outstanding)\b|\s+(?:of|in)\s+(?:\w+\s+){0,3}(?:debts?|loans?|credits?)\b",
    re.IGNORECASE,
)
"""After an amount of interest: it is the debt that it is paid on, "suspended interest payments on 7 billion owed"."""
_DEALT_WITH = re.compile(
    r"\b(?:(?:re|pre)pa(?:y|ys|id|ying)|retir(?:es?|ed|ing)|redeem\w*|refinanc\w*|reschedul\w*|restructur\w*|renegotiat\w*|convert\w*|swap\w*"
    r"|forgiv\w*|forgave|issu(?:es?|ed|ing)|borrow(?:s|ed|ing)?|affect\w*|assum\w*|guarante\w*|put(?:s|ting)?|plac(?:es?|ed|ing)|cancel\w*|eliminat\w*|writ(?:es?|ten|ing)\s+off|wrote\s+off)\s+(?:(?!of\b)[\w$£€,.]+\s+){0,3}(?:of\s+)?[$€£¥]?\s*$",
    re.IGNORECASE,
)
_WERE_DEALT_WITH = re.compile(
    r"(?:\s+and\s+[$€£¥]?[\d.,]+(?:\s+[mbt]\w+)?)?\s+(?:(?:is|are|was|were|has|have|had|been|being|be|will)\s+){1,3}(?:(?:re|pre)paid|retired|redeemed|refinanced|rescheduled|restructured"
    r"|renegotiated|converted|swapped|forgiven|cancelled|canceled|written\s+off|put|placed|classified|(?:recorded|included|reported|presented)\s+(?:in|within|under))\b",
    re.IGNORECASE,
)
"""Before and after an amount of debt: what is done with some of it."""
_LINE_OF = re.compile(
    r"\s+(?:(?:primarily|mainly|largely|chiefly|partly)\s+)?(?:related\s+to|relating\s+to|attributable\s+to|associated\s+with|in\s+connection\s+with"
    r"|(?:driven\s+by|due\s+to|as\s+a\s+result\s+of)\s+(?:an?|the|one)\b"
    r"|on\s+(?!(?:\w+\s+){0,3}?(?:sales|revenues?|turnover|volume|premiums|income)\b|(?:january|february|march|april|may|june|july|august|september"
    r"|october|november|december|monday|tuesday|wednesday|thursday|friday)\b|[$€£¥\d])"
    r"|from\s+(?!(?:an?|the|its|last)\s+(?:\w+\s+){0,3}?(?:years?|periods?|quarters?|months?|half|loss|profit|level|deficit|surplus)\b|last\b|year\b"
    r"|january|february|march|april|may\b|june|july|august|september|october|november|december|[$€£¥\d]|(?:one|two|three|four|five|six|seven|eight|nine"
    r"|ten|about|around|some|nearly|less|more)\b|\w+\s+(?:\w+\s+)?(?:19|20)\d\d)"
    r")",
    re.IGNORECASE,
)
"""After the amount of a result: what it comes from, "a loss of $9 million on securities"; but "a profit of $9 million
on sales of $80 million", "up from 7 a year ago"."""
_PLACE = re.compile(
    r"\s+(?:in|to|by)\s+(?:the\s+)?(?!(?:January|February|March|April|May|June|July|August|September|October|November|December|Jan|Feb|Mar|Apr|Jun|Jul"
    r"|Aug|Sept?|Oct|Nov|Dec|Q\d|FY|First|Second|Third|Fourth|Fiscal)\b)[A-Z][\w.]"
)
"""After the amount of a whole: where, or whose, "sales of 5 million in Ruritania"."""
_AMONG = re.compile(
    r"\b(?:includ(?:es?|ed|ing)|of\s+which|compris\w+|consist\w*\s+of|made\s+up\s+of|part(?:ly)?\s+of|portion\s+of|exclud\w+)\b(?:[^.;]|(?<=\d)\.(?=\d))*$",
    re.IGNORECASE,
)
_MORE = re.compile(r"\b(?:additional|another|further|extra|incremental)\s+(?:[\w-]+\s+)?[$€£¥]?\s*$", re.IGNORECASE)
_BROUGHT = re.compile(
    r"\b(?:generat\w*|contribut\w*|represent\w*|account\w*|bring\w*|produc\w*|yield\w*|recogni[sz]\w*|set(?:s|ting)?\s+aside)\s+(?:in\s+|for\s+)?(?:\w+\s+){0,2}[$€£¥]?\s*$",
    re.IGNORECASE,
)
_NEW = re.compile(r"\b(?:new|newly\s+\w+|fresh|added|incremental)\s+$", re.IGNORECASE)
"""Before what comes to a whole that was there: "it generates 5 million of revenue", "an additional 5 million",
"5 million of new reserves"."""
_NEW_AFTER = re.compile(r"\s+(?:new|newly\s+\w+)\s", re.IGNORECASE)
"""After a count: "with 50 new stores opened"."""
_LEADING = re.compile(
    r"\W*(?:(?:about|approximately|around|some|nearly|almost|over|roughly|(?:more|less)\s+than)\s+)*", re.IGNORECASE
)
_OF_CONCEPT = re.compile(r"\s*(?:of|in)\b", re.IGNORECASE)
_LINE_AND = re.compile(
    _LEADING.pattern + r"[$€£¥]?\d[\d.,]*(?:\s+\w+){1,2}?\s+(?:of|in)\s+[^.;,:]{3,80}?\s+and\s+[$€£¥]?\s*",
    re.IGNORECASE,
)
"""Before and after an amount that begins its sentence: the line of a list, whose heading says what of it is meant."""
_BOOKED = re.compile(
    r"\b(?:recogni[sz]\w+|record(?:s|ed|ing)?|reali[sz]\w+|book(?:s|ed|ing)?|result(?:s|ed|ing)?\s+in)\s+(?:an?|the)\s+(?:[\w-]+\s+){0,2}[$€£¥]?\s*$",
    re.IGNORECASE,
)
"""Before a loss: that of one deal, "it recorded a loss of $9 million" beside "its loss was $9 million"."""
_RESULT = frozenset({"loss", "profit"})
_NAMED = re.compile(r"(?:^|[^\w.])(?P<before>\S+\s+)?(?P<name>[A-Z][\w&-]*)\s+$")
"""Before a concept: the name of what it is of, "Data Center revenue"."""


def is_part_of_amount(row: Row, text: str, spans: Sequence[Span]) -> bool:
    """Whether an amount may be one of a part of its concept: "debt due in 1990", "an additional 5 million tons"."""
    start, change = row["value_start"], row["change"]
    first, last = min([start, *(a for a, _ in spans)]), max([row["value_end"], row["unit_end"], *(b for _, b in spans)])
    before, lead = text[max(0, start - REACH) : start], text[max(0, first - REACH) : first]
    if row["family"] not in ("count", "time", "age") and not change and (_MORE.search(before) or _MORE.search(lead)):
        return True
    words = concept_words(tuple(row["concept"].split()))
    if not words or change or row["family"] in ("ratio", "time", "age"):
        return False
    if row["family"] == "currency" and first == start and _begins_line(row, text, spans):
        return True
    if not DEBTS.isdisjoint((words[0], words[-1])):  # "debt", "loans to Ruritania"
        if _DUE.match(text, last) or _WERE_DEALT_WITH.match(text, last):
            return True
        if first == start and _DEALT_WITH.search(before):
            return True
    if not _INTEREST.isdisjoint(words) and _OWED.match(text, last):
        return True
    line = _LINE_OF.match(text, last) is not None
    if line and not PAID.isdisjoint((words[0], words[-1])):  # "taxes paid related to shares"
        return True
    if not is_whole(words):
        return False
    named = min((a for a, _ in spans), default=start)
    if (
        _NEW.search(text, max(0, named - 20), named)
        or _AMONG.search(text, max(0, first - 2 * REACH), first)
        or _is_of_named(text, named)
    ):
        return True
    if first == start and _BROUGHT.search(before):
        return True
    if words[-1] in _RESULT and _BOOKED.search(lead):
        return True
    return line or _PLACE.match(text, last) is not None


def _begins_line(row: Row, text: str, spans: Sequence[Span]) -> bool:
    """Whether a sentence begins with an amount, and "of" ties what it is of to it: "$5 million of loans due to ..."."""
    before = text[: row["value_start"]]
    begins = _LEADING.fullmatch(before) or _LINE_AND.fullmatch(before)
    return bool(begins) and bool(spans) and _OF_CONCEPT.match(text, max(row["value_end"], row["unit_end"])) is not None


def _is_of_named(text: str, at: int) -> bool:
    """Whether a name stands right before a concept in small letters; the first word of a sentence is none."""
    found = _NAMED.search(text, max(0, at - 40), at) if text[at : at + 1].islower() else None
    if found is None or found["name"].lower() in WHOLE_WORDS:
        return False
    return found["before"] is not None and not {*concept_words((found["name"],))} <= WHOLE_WORDS


def is_part_of_count(row: Row, text: str, spans: Sequence[Span], mates: Sequence[Row]) -> bool:
    """Whether a count may be one of an arm, of some of those that another number counts, or a footnote's number."""
    start, end = row["value_start"], row["value_end"]
    noun = max([end, row["unit_end"], *(b for a, b in spans if end <= a <= end + 40)])
    before, clause = text[max(0, start - REACH) : start], noun + REACH
    if row["value"] == 1 or row["value"] % 1:
        return True  # "one eye of each patient", "one offer", half a one
    if row["value"] < _FEW and _FOR_EACH.match(text, end):
        return True
    if _OUT_OF.match(text, end) or _SHARED.match(text, end) or _SHARED.match(text, noun):
        return True
    if (row["value"] < _FEW and _POINTING.search(before)) or _ARM_BEFORE.search(before) or _SUBSET.search(before):
        return True
    after = _ARM_AFTER.match(text, noun, clause)
    if after is not None and not _EITHER.search(text, noun, after.end() + 4):
        return True
    if _NEW_AFTER.match(text, end) or _OF_ARM.search(text, end, noun):
        return True
    if _AGED_UNDER.search(before) or (row["unit_end"] <= start and _OF_SAMPLE.search(before)):
        return True
    if _is_of_others(before, text, end, noun) or _is_of_kind(row, text, spans, mates) or _is_mark(row, text):
        return True
    others = [mate for mate in mates if mate["unit"] == row["unit"] and mate["value_start"] != start]
    if _BRACKETED.search(text, max(0, start - 2 * REACH), start) and any(mate["value_start"] < start for mate in mates):
        return True
    return bool(others) and not (_ALL_BEFORE.search(before) or _ALL_AFTER.match(text, noun, clause))


def _is_of_others(before: str, text: str, end: int, noun: int) -> bool:
    """Whether the words around a count say that there are others, and something of these alone."""
    if (_ONE_OF.search(before) and _WITH.match(text, noun)) or _LEFT_OUT.search(before) or _OF_THEM.search(before):
        return True
    if _SENT_BEFORE.search(before) or _SENT_AFTER.match(text, noun):
        return True
    return any(pattern.match(text, at) for pattern in (_IN_GROUP, _SOME_DID) for at in (end, noun))


def _is_mark(row: Row, text: str) -> bool:
    """Whether a count before its noun is the number of a note, or of some of the things that a text has named."""
    end, unit = row["value_end"], row["unit_start"]
    if unit < end:
        return False
    mark = end - row["value_start"] < 3 and text[unit].isupper()  # "8 Interest payments are due"
    return mark or PARTITIVE.match(text, end) is not None


def _is_of_kind(row: Row, text: str, spans: Sequence[Span], mates: Sequence[Row]) -> bool:
    """Whether a count is of one kind, and another one right before it of another kind of the same."""
    start, end = row["value_start"], row["value_end"]
    last = max([row["unit_end"], *(b for a, b in spans if a >= end)])
    before = max((mate["value_end"] for mate in mates if mate["value_end"] <= start), default=start)
    return len(text[end:last].split()) > 1 and _OTHER_KIND.fullmatch(text, before, start) is not None
