"""Mentions that are of less, of more or of something else than a query for their concept asks for.

The text may tie a number to its concept and still not say what a searcher wants to know: "depreciation and amortization
of $5 million" states no depreciation, "40 women in the control group" are not the women of a study, "after 4 weeks of
treatment" does not say how long the treatment was, and "$5 billion of repurchases was authorized" may never be spent.
Such a mention answers no query, and breaks none: its sentence is undecided.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from qbench.generation.parts import REACH, Row, is_part_of_amount, is_part_of_count
from qbench.quantities.types import Span

CONJUNCTION = "one member of a conjunction whose number is of all"
PART = "a part: of those who are counted, of an amount, of what is owed"
SEGMENT = "an amount of a segment or a subsidiary"
MOMENT = "a point in time, and no length"
NOT_DONE = "authorised, planned or supposed, and not done"
EFFECT = "what one cause did to a result"
FRACTION = "a part of a fraction"
PIECE = "what there is one of something else for"

EXPECTED_REACH = 120
"""Characters before a number in which a word may make it an expectation."""

_AND = r"(?:and(?:/or)?|or|&|plus|as\s+well\s+as)"
_ITEM = r"[^\W\d][\w'’-]*(?:\s+[^\W\d][\w'’-]*){0,4}"
_JOINED_AFTER = re.compile(
    rf"(?P<items>(?:\s*,\s+(?!{_AND}\b){_ITEM}?)*)\s*,?\s+{_AND}\s+(?P<rest>[^.,;:()]+)", re.IGNORECASE
)
"""After a concept: " , amortization and impairment"."""
_JOINED_BEFORE = re.compile(rf"(?P<item>[^.,;:()]*?)(?P<comma>,?)\s+{_AND}\s+(?:(?:the|its|our|their|an?)\s+)?$", re.I)
"""Before a concept: "the debt discount and "."""
_ITEM_WORDS = 4
"""Words of an item before ", and": with more it is a clause."""

_LIGHT = frozenset(
    "a an the its our their his her of for in to and or no with from on by at as all both such other any some these "
    "those total net".split()
)
"""Words after which one in -ed is no verb: "the deferred taxes"."""
_CLAUSE = re.compile(
    r"(?:is|are|was|were|be|been|has|have|had|will|would|can|could|may|might|shall|should|did|does|do|rose|rise|rises|fell|fall"
    r"|falls|grew|grow|grows|made|paid|pays?|sold|sells?|took|led|saw|came|went|became|began|held|kept|lost|met|said|says|set"
    r"|spent|won|got|ran|drew|gave|found|cut|hit|shows?|includes?|remains?|means?|up|down|it|we|they|he|she|i|that|which|who"
    r"|when|where|while|because|if|there|this|not|then|also|so|but|therefore|thus|respectively)",
    re.IGNORECASE,
)
"""Words that make of what "and" joins a clause of its own."""
_PLACED = frozenset(
    "in by to for from at on of with after before during under over through until since as into per than between "
    "against within without above below up about around nearly approximately".split()
)
"""Words after "and" that begin a phrase of another kind than a concept."""
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_AMOUNT = re.compile(r"[$€£¥]|\d")

_VERSUS = re.compile(r"\s*(?:years?(?:\s+old)?)?\s*(?:versus|vs\.?|compared\s+(?:with|to))\s+\d", re.IGNORECASE)
"""After the age of one of two groups: "median age 50 versus 54 years"."""

_SEGMENT = re.compile(
    r"\b(?:segments?|divisions?|subsidiar(?:y|ies)|affiliates?|joint\s+ventures?|business\s+units?|reporting\s+units?)\b",
    re.IGNORECASE,
)
_MOMENT_BEFORE = re.compile(
    r"\b(?:at|after|by|until|till|every|each|any|within|before|since|first|last|initial|final|next|second|third|remaining"
    r"|additional|another|further|previous|preceding|prior|past|subsequent|following)\s+"
    r"(?:(?:about|around|approximately|nearly|only|just|at\s+(?:least|most)|(?:more|less)\s+than|up\s+to)\s+)?"
    r"(?:\d[\d.]*(?:\s*,\s*|\s+(?:and|or|to)\s+|,\s*and\s+))*$",
    re.IGNORECASE,
)
_MOMENT_BETWEEN = re.compile(r"\b(?:at|after|by|within|until|before|every)\b", re.IGNORECASE)

_POSSIBLE = r"(?:authori[sz]|approv|permi(?:t|ss))\w*"
_POSSIBLE_BEFORE = re.compile(rf"\b{_POSSIBLE}\b[^.;:]*$", re.IGNORECASE)
_SUPPOSED_BEFORE = re.compile(
    r"\b(?:estimat(?:es?|ing)|predict\w*|assum(?:es?|ed|ing|ptions?)|suppos(?:e|es|ing)|hypothetical\w*|illustrat\w+)\b"
    r"(?:[^.;:!?]|(?<=\d)\.(?=\d))*$",
    re.IGNORECASE,
)
_NOT_DONE_AFTER = re.compile(
    r"[^.;,]{0,60}\b(?:is|are|was|were|been|be|being)\s+(?:\w+ly\s+)?(?:also\s+)?(?:authori[sz]ed|approved|permitted|planned"
    r"|proposed|scheduled|budgeted|pledged|committed|projected|anticipated|expected(?!\s+to\s+be\s+recogni))\b"
    r"|[^.;,]{0,40}\b(?:remain(?:s|ed|ing)?|(?:is|are|was|were))\s+(?:\w+\s+)?available\b",
    re.IGNORECASE,
)
_MIGHT_AFTER = re.compile(r"[^.;,]{0,40}\b(?:could|might|would|may)\b")
_SUFFICE = re.compile(
    r"[^.;,]{0,30}\bwould\s+(?:\w+ly\s+)?(?:do|suffice|be\s+(?:\w+ly\s+)?(?:powered|enough|sufficient|adequate|needed|required))\b"
)
"""After a count: nobody has counted so many, "20 patients would be enough"."""
_NOT_YET = re.compile(r"[^.;,]{0,25}\bnot\s+(?:yet\s+)?(?:been\s+)?[a-z]+(?:ed|id|nt)\b", re.IGNORECASE)
_EXPECTED = re.compile(
    r"\b(?:would|could|may|might|[Ii]f|expect\w*|[Aa]nticipat\w*|forecasts?|forecasting|project(?:s|ed|ing)|aim(?:s|ed|ing)?"
    r"|target(?:s|ed|ing)?|hop(?:es?|ed|ing)|plan(?:s|ned|ning|\s+(?:to|of))|intend(?:s|ed|ing)?|propos(?:es?|ed|ing)|propos(?:al|als)|Planned|Expected|Proposed|Anticipated|Budgeted|probably|likely|chances?|possib\w+|potential\w*|interested\s+in|speculat\w+|rumou?r\w*)\b"
    r"(?:[^.;:!?]|(?<=\d)\.(?=\d))*$"
)
"""Before a number in its clause: what is hoped for, expected or supposed leaves open what it comes to."""
_MUST = re.compile(
    r"\b(?:must|ought\s+to|(?:should|needs?(?:\s+to)?|(?:is|are|was|were)\s+(?:required|obliged)\s+to)\s+[a-z]+|will\s+(?:\w+\s+){0,2}?(?:be|total|reach|exceed|have|amount"
    r"|come\s+to|rise|grow|increase|fall|boost|raise|lift|cut|bring|reduce|expand|result|generate|produce|lead|mean|inject|add|contribute|provide))\b(?:[^.;:!?]|(?<=\d)\.(?=\d))*$"
)
_LIMITED = re.compile(
    r"\b(?:limit(?:s|ed|ing)?\s+(?:the|its|his|her|their|to|at)|cap(?:s|ped|ping))\b[^.;,]{0,40}$|\b(?:in\s+lieu|instead)\s+of\s+[$€£¥]?\s*$"
)
_SOUGHT = re.compile(
    r"\b(?:seek(?:s|ing)?|sought|demand(?:s|ed|ing)|ask(?:s|ed|ing)?|request(?:s|ed|ing)|su(?:es?|ed|ing)|fac(?:es|ed|ing)|claim(?:ed|ing)"
    r"|threaten\w*|(?:call|press|push)(?:e?s|ed|ing)?\s+for|reject\w*\s+(?:an|the)\s+offer|(?:contingent|conditional)\s+(?:up)?on"
    r"|agree(?:s|d|ments?)?\s+to\s+(?:limit|keep|hold|maintain|restrain|restrict))\b(?:[^.;:!?]|(?<=\d)\.(?=\d))*$"
)
"""Before a number in its clause: what has to be or will be, the most that may be, money that somebody wants, what was
refused or only agreed upon."""
_GOODS = frozenset({"mass", "volume", "flow", "area", "energy"})
"""Families of what is bought, grown and produced."""
_WILL = re.compile(
    r"\b(?:(?:will|shall)(?!\s+(?:\w+\s+)?(?:receive|take|be\s+(?:given|administered|treated|injected|infused|randomi[sz]ed)))|(?:is|are|was|were)\s+(?:due|going|scheduled|set|ready|supposed)\s+to)\b(?:[^.;:!?]|(?<=\d)\.(?=\d))*$"
)
_OFFERED = re.compile(
    r"\b(?:offer(?:s|ed|ing)?(?:\s+(?:to|for))?|tender(?:s|ed|ing)?(?:\s+\w+)?\s+for|bid(?:s|ding)?\s+for|earmark\w*"
    r"|pledg(?:es?|ed|ing)|promis(?:es?|ed|ing)|ceilings?|quotas?|agree(?:s|d|ments?)?\s+(?:to|on|for)|in\s+the\s+market\s+for)\b"
    r"(?:[^.;:!?]|(?<=\d)\.(?=\d))*$",
    re.IGNORECASE,
)
"""Before goods in their clause: what will be bought or grown, and what is offered, allotted or agreed upon."""
_SHALL = re.compile(r"\bshall\b", re.IGNORECASE)
"""Somewhere beside a count: a rule for so many, not how many there are."""
_ANNUALISED = re.compile(r"\bannuali[sz]ed\s+(?:\w+\s+){0,2}$", re.IGNORECASE)

_ACTS = re.compile(
    r"\b(?:reduc|increas|decreas|lower|rais|boost|cut|lift|improv|hurt|depress|add|trimm|cost)\w*\s+(?:to\s+)?"
    r"(?:(?:the|our|its|their|his|her)\s+)?(?:\w+\s+){0,4}$",
    re.IGNORECASE,
)
"""Before a result: something "reduced our operating profit by $5 million"."""
_RESULTS = frozenset("profit profits income revenue revenues sales earnings margin margins loss losses results".split())
_PER = re.compile(r"\b(?:per(?:\s+each)?|for\s+(?:each|every))\s+[$€£¥]?\s*$", re.IGNORECASE)
"""Before an amount: "20 shares per each $1,000 bond", "12 for every $1,000 of principal"."""
_SEVERAL = re.compile(
    r"(?:\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|several)|(?<![\d.,/-])\d{1,2})\s+$", re.IGNORECASE
)
"""Before a time that each of several took: "four 4-minute sessions"."""
_FEE_FOR = re.compile(r"\s+for\s+(?:the\s+)?\w+(?:ing|ment)\b", re.IGNORECASE)
"""After a fee: one of several, "3/8 pct for underwriting"."""
_SLASH_BEFORE, _SLASH_AFTER = re.compile(r"\d\s*/\s*$"), re.compile(r"\s*/\s*\d")


def restriction(row: Row, text: str, spans: Sequence[Span], mates: Sequence[Row]) -> str | None:
    """Why a mention does not state its concept as a query asks for it; None where nothing says so.

    Args:
        row: the mention.
        text: its sentence.
        spans: where the stretches of its concept stand.
        mates: all mentions of the sentence, this one among them.
    """
    if _is_fraction(row, text):
        return FRACTION
    if _is_joined(row, text, spans, mates):
        return CONJUNCTION
    family = row["family"]
    if _PER.search(text, max(0, row["value_start"] - 16), row["value_start"]):
        return PIECE
    if family == "count" and is_part_of_count(row, text, spans, mates):
        return PART
    if is_part_of_amount(row, text, spans):
        return PART
    if family == "age" and _VERSUS.match(text, row["value_end"]):
        return PART
    if family == "currency" and _is_of_segment(row, text, spans):
        return SEGMENT
    if family == "ratio" and row["concept"].split()[-1:] in (["fee"], ["fees"]) and _FEE_FOR.match(text, _last(row)):
        return PART
    if family == "time" and _is_of_several(row, text):
        return PIECE
    if family == "time" and _is_moment(row, text, spans):
        return MOMENT
    if _is_not_done(row, text, spans):
        return NOT_DONE
    return EFFECT if _is_effect(row, text, spans) else None


def _last(row: Row) -> int:
    return int(max(row["value_end"], row["unit_end"]))


def _is_of_several(row: Row, text: str) -> bool:
    """Whether a time stands between a number and the noun that it counts: "four 4-minute sessions"."""
    start, end = row["value_start"], row["value_end"]
    return text[end : end + 1] in ("-", "‑") and _SEVERAL.search(text, max(0, start - 12), start) is not None


def _is_fraction(row: Row, text: str) -> bool:
    start, end = row["value_start"], row["value_end"]
    return bool(_SLASH_BEFORE.search(text, max(0, start - 4), start) or _SLASH_AFTER.match(text, end))


def _is_joined(row: Row, text: str, spans: Sequence[Span], mates: Sequence[Row]) -> bool:
    """Whether "and" joins a concept with another one that has no number of its own."""
    if not spans:
        return False
    first, last = min(a for a, _ in spans), max(b for _, b in spans)
    if row["value_start"] > first:  # the concept stands before its number
        return _joined_before(text[max(0, first - REACH) : first])
    after = _JOINED_AFTER.match(text, last, last + 2 * REACH)
    if after is not None and not _has_clause(after["items"]):
        rest = after["rest"].split()
        begin, end = after.span("rest")
        own = any(
            begin <= mate["value_start"] < end + 2
            and (mate["family"], mate["change"]) == (row["family"], row["change"])
            for mate in mates
        )
        word = next((word.lower() for word in rest if word.lower() not in ("a", "an")), "")  # "and a 20 m rope"
        if not own and word not in _PLACED and not _AMOUNT.match(word) and not _has_clause(" ".join(rest[:2])):
            return True
    return False


def _joined_before(lead: str) -> bool:
    before = _JOINED_BEFORE.search(lead)
    if before is None:
        return False
    item = before["item"].split()
    if not item or _AMOUNT.search(before["item"]) or _has_clause(before["item"]) or item[-1].endswith("ly"):
        return False
    return not before["comma"] or len(item) <= _ITEM_WORDS


def _has_clause(text: str) -> bool:
    """Whether words hold a verb, as far as their forms say."""
    words = _WORD.findall(text.lower())
    return any(
        _CLAUSE.fullmatch(word)
        or (word.endswith("ed") and len(word) > 4 and at > 0 and words[at - 1] not in _LIGHT and word[:2] != "un")
        for at, word in enumerate(words)
    )


def _is_of_segment(row: Row, text: str, spans: Sequence[Span]) -> bool:
    first = min([row["value_start"], *(a for a, _ in spans)])
    last = max([row["value_end"], row["unit_end"], *(b for _, b in spans)])
    begin = max(text.rfind(stop, 0, first) for stop in (". ", "; ")) + 1
    ends = [at for stop in (". ", ";", ",") if (at := text.find(stop, last)) >= 0]
    found = _SEGMENT.finditer(text, max(begin, first - REACH), min([len(text), last + REACH, *ends]))
    return any(not any(a <= each.start() < b for a, b in spans) for each in found)


def _is_moment(row: Row, text: str, spans: Sequence[Span]) -> bool:
    """Whether a time says when, and not how long: "after 4 weeks of treatment", "follow-up at week 12"."""
    start, end = row["value_start"], row["value_end"]
    if 0 <= row["unit_start"] < start:
        return True
    first, last = min((a for a, _ in spans), default=0), max((b for _, b in spans), default=0)
    if last <= start:
        return _MOMENT_BETWEEN.search(text, last, start) is not None
    return first >= end and _MOMENT_BEFORE.search(text, max(0, start - 30), start) is not None


def _is_not_done(row: Row, text: str, spans: Sequence[Span]) -> bool:
    start, family = row["value_start"], row["family"]
    after = max([row["value_end"], row["unit_end"], *(b for a, b in spans if a >= start)])
    before = text[max(0, start - REACH) : start]
    first = min([start, *(a for a, _ in spans)])
    if _SUPPOSED_BEFORE.search(before) or _NOT_YET.match(text, after):
        return True
    if family == "count" and _SHALL.search(text, max(0, start - EXPECTED_REACH), after + EXPECTED_REACH):
        return True
    clause = text[max(0, start - EXPECTED_REACH) : start]
    if _EXPECTED.search(clause) or _MUST.search(clause) or _LIMITED.search(clause):
        return True
    if _ANNUALISED.search(text, max(0, first - 30), first):
        return True
    if family == "count" and _SUFFICE.match(text, after):
        return True
    goods = family.partition(" per ")[0] in _GOODS
    asked = any(_OFFERED.match(text[a:b].split()[-1]) for a, b in spans)  # for the quota itself
    if goods and (_WILL.search(clause) or (_OFFERED.search(clause) and not asked)):
        return True
    if family not in ("currency", "ratio") and not goods:
        return False
    said = " ".join(text[a:b] for a, b in spans)
    possible = family != "ratio" and not re.search(_POSSIBLE, said, re.IGNORECASE)
    if _SOUGHT.search(clause):
        return True
    if possible and (_POSSIBLE_BEFORE.search(before) or _NOT_DONE_AFTER.match(text, after)):
        return True
    return family in ("currency", "ratio") and _MIGHT_AFTER.match(text, after) is not None


def _is_effect(row: Row, text: str, spans: Sequence[Span]) -> bool:
    if not row["change"] or not spans or _RESULTS.isdisjoint(row["concept"].lower().split()):
        return False
    first = min(a for a, _ in spans)
    return first < row["value_start"] and _ACTS.search(text[max(0, first - REACH) : first]) is not None
