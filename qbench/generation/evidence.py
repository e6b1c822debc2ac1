"""Which mentions are sure: does the text tie the number to its concept, whatever a parser made of it?

A label is only as good as the reading behind it. A mention is sure where its concept and its number stand beside each
other, with nothing but linking words between them ("net income was", "5 mg of", "assets totaled about"). Elsewhere (a
clause, another number, a container, a list told apart by "respectively") the binding may be right, but a judgment built
on it would be a guess: such a mention makes its sentence undecided.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.generation.parts import PARTITIVE
from qbench.generation.scope import restriction
from qbench.quantities.concept_match import concept_stretches, concept_words
from qbench.quantities.english.lexicon import CHANGE_VERBS
from qbench.quantities.english.sentences import MEASURES, carries_on
from qbench.quantities.types import Span

LINKING = frozenset(
    "of was were is are be been being at to for the a an its their his her our on with in as has have had about around "
    "nearly approximately roughly almost some only just exactly than more less least most over under above below up "
    "minimum maximum no not average averaged averaging averages mean median totaled totalled totals total totaling "
    "totalling amounted amounts amount amounting came comes reached reaches stood stands reported reports recorded "
    "records equal equals equaled remained remains estimated worth by ended weigh weighs weighed "
    "weighing lasts lasted lasting".split()
)
"""Words that may stand between a concept and its number without parting them; verbs of change may, too, if it is the
size of one."""

FOLLOWED = frozenset(
    "of in a an the its their our his her total average mean median minimum maximum estimated reported recorded".split()
)
"""Words that may stand between a number and its concept: "5 million in revenue", but not "earned 5 million on revenue"
or "paid 5 million to shareholders"."""

MANY = 12
"""In a sentence with more numbers than this (a flattened table), only a label right before its number counts."""

REACH = 60
"""Characters between concept and number, at most."""

_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_PARTING = re.compile(r"[,;()\[\]?!]|\.[\d\s]")
"""What parts a concept from a number: also a full stop with the number of the next note, "$3 million.5 Interest is"."""
_SENTENCE_END = re.compile(r"[.!?]\s+")
_BESIDE = re.compile(r"[\s:=(]{0,2}")
_MOVED_BEFORE = re.compile(
    r"\b(?:up|down|by|los[et]|loses|losing|shed|added|adds|sav(?:e[ds]?|ing)|rose|risen|rises?|fell|fallen|falls?|grew|grown|grows?|gain(?:ed|s)?|jump(?:ed|s)?|drop(?:ped|s)?|"
    r"increas\w*|decreas\w*|declin\w*|reduc\w*|rais\w+|cut|improv\w*|growth|changes?|differences?)"
    r"(?:\s+(?:by|of|about|around|nearly|approximately|some|another|an?|the))*\s*[$€£¥]?\s*$",
    re.IGNORECASE,
)
_MOVED_AFTER = re.compile(
    r"\s*(?:increases?|decreases?|declines?|drops?|rises?|falls?|growth|reductions?|improvements?|higher|lower|more|less"
    r"|above|below|faster|slower|change|difference|from|(?:over|under)\s+(?:his|her|its|their|the|budget))\b",
    re.IGNORECASE,
)
_PER = re.compile(r"\s*(?:(?:per|each|apiece|an?)\s+\w|apiece\b|/\s*\w|shr?\b|share\b)", re.IGNORECASE)
_AFTER_TAX = re.compile(r"\s*,?\s*(?:(?:after|net\s+of|before)[\s-](?:\w+\s+)?tax(?:es)?|pre-?tax)\b", re.IGNORECASE)
"""After an amount: on another basis than the one before it, "a charge of $9 million ($7 million after tax)"."""
_MOVING = re.compile(
    r"(?<!pct )(?<!% )\b(?:rais|cut|increas|reduc|lower(?=e|i|s)|boost|lift|hik|slash|trim)\w*\s+"
    r"(?:(?:the|its|their|our|his|her)\s+)?$",
    re.IGNORECASE,
)
_TO = re.compile(r"\b(?:to|at|of|as|from|in|is|are|was|were)\b|[([:=]", re.IGNORECASE)
"""Before a concept, and what makes of the number after it the level reached: "raising taxes about 20 million"."""
_MOVE_OF = re.compile(
    r"\b(?:increase|decrease|decline|growth|reduction|rise|fall|drop|change|improvement|shortfall|excess)s?"
    r"\s+(?:in|of)(?:\s+(?:the|its|our))?\s*$",
    re.IGNORECASE,
)
"""Before a concept: "a decline in volume of 9%" says no volume."""

_WITHIN = re.compile(
    r"\b(?:(?:from|excluding|for|against|after|before|following|(?:related|relating|attributable)\s+to)"
    r"(?:\s+(?:the|its|our))?|(?:includ|record|report|present|classifi)ed\s+(?:with)?in(?:\s+(?:the|its|our))?\s*[\"“]?"
    r"|valu(?:ed|es|ing)\b[^.;]{0,30})\s*$",
    re.IGNORECASE,
)
"""Before a concept that narrows another one down ("amortization of intangibles from acquisitions of $9 million"), or of
which somebody says the price ("valuing its capital at $9 million")."""

_NEGATING = re.compile(
    r"\b(?:un(?:recogni[sz]ed|amorti[sz]ed|used|funded|drawn|earned|billed|reali[sz]ed|paid|vested|allocated)|undistributed"
    r"|hypothetical|potential|forgone|avoided|excess|lost|remaining|target(?:ed)?|proposed|former|cut-?off|threshold)\s+(?:\w+\s+){0,2}$",
    re.IGNORECASE,
)
"""Before a concept that it makes another thing: "unrecognized compensation expense" is none."""
_SIDE_BEFORE = re.compile(
    r"\b(?:below|under|above|over|beyond|within|beneath|exceeding|up\s+to|at\s+(?:least|most))\s+(?:an?|the|its)\s*$",
    re.IGNORECASE,
)
"""Before a concept: "below a depth of 1,000 feet" bounds the depth."""
_LISTED = re.compile(r"\w\s+(?:and|or|&)\s+$", re.IGNORECASE)
"""Before a concept with an "of" after it: "a management and underwriting fee of 1%" is one fee."""
_GOVERNED = re.compile(r"\b(?!amounts?\b|totals?\b|sums?\b|aggregate\b)[a-z]{4,}\s+of\s+[$€£¥]?\s*$")
"""Before a number whose concept follows with "in": "benefits of $30 million in net revenue" are benefits."""
_BEYOND = re.compile(r"\s+(?:exceed\w*|in\s+excess\s+of|over\s+and\s+above)\b", re.IGNORECASE)
"""After a concept: the number says by how much, "$420 million of expense exceeding payments"."""
_AGO = re.compile(r"\s*(?:ago|earlier|later|previously)\b", re.IGNORECASE)
"""After a time that says when, and not how long."""
_EFFECT = re.compile(
    r"\b(?:impact\w*|affect\w*|effects?|contribut\w*|offset\w*|attribut\w*|exchange|currenc(?:y|ies)|due\s+to|driven|without)\b",
    re.IGNORECASE,
)
"""In a sentence with a change: the number may be what one cause of it did, "rates reduced costs by $35 million"."""
_GAP = re.compile(
    r"\b(?:higher|lower|more|less|greater|larger|smaller|above|below|better|worse)\s+than\b"
    r"(?!(?<=more than|less than)\s*[$€£¥]?\s*\d)",
    re.IGNORECASE,
)
"""Beside a change: it may be the gap to another figure, "$8 million higher than net income"; not "by more than 5"."""
_MEMBER = re.compile(
    r"\b(?!(?:as|amounts?|numbers?|totals?|levels?|sum|aggregate|average|balance|rates?|mean|median)\s)\w+\s+"
    r"(?:of|in|on|to|with|by|into)(?:\s+(?:the|its|our|their))?\s*$",
    re.IGNORECASE,
)
"""Before a concept that its amount of money follows: "a shortage in the system of 5 million" is not about a system."""
_PAID = re.compile(r"\s*(?:in\s+)?", re.IGNORECASE)
_PRICE = re.compile(r"\bfor\s+(?:\w+\s+){0,2}[$€£¥]?\s*$", re.IGNORECASE)
_MEANS = frozenset("cash stock shares securities notes debentures capital interest".split())
"""What a price is paid or a debt repaid in: "for $1.2 billion in cash" says no cash, and "$5 million in capital and
interest" no capital."""
_LABEL = re.compile(
    r"\b(?:groups?|arms?|cohorts?|phases?|stud(?:y|ies)|stages?|types?|grades?|class|tables?|figures?|levels?|steps?|notes?"
    r"|pages?|sections?|chapters?|items?|parts?|no\.?)\s+$",
    re.IGNORECASE,
)
"""Before a number that is a label: "in group five patients were controls"."""
_AGAINST = re.compile(r"(?:%|\bpct|\bper\s?cent)\s+to\s+$", re.IGNORECASE)
"""Before the second share of a vote: "a 58 pct to 42 pct margin"."""
_SPLIT = re.compile(r"(?:\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten))[\s-]for[\s-]$", re.IGNORECASE)
"""Before the second number of a ratio: "a five for four stock split"."""
_RATE_OF = re.compile(
    r"\s+(?:an?|per|each|every)\s+(?:day|week|month|quarter|year|hour|minute|ton|tonne|share|barrel|acre|head)\b|\s+daily\b",
    re.IGNORECASE,
)
"""After concept and number: "0.7 ounces of gold a ton", "3,000 tons of ore a day"."""
_GRADE = re.compile(r"\b(?:per|an?)\s+(?:short\s+|long\s+|metric\s+)?ton(?:ne)?\b|/t\b", re.IGNORECASE)
"""Somewhere after a mass: "2.4 grams of gold, 64 grams of silver and 2 grams of copper per tonne"."""
_DAILY = re.compile(r"[^.;]{0,60}?\b(?:daily|(?:an?|per|each)\s+(?:day|hour|month|year)|annually)\b", re.IGNORECASE)
"""Somewhere after one of several amounts: "40 tons of ore and 9 of coal a day"."""
_OF_WHICH = re.compile(r"\b(?:of|on|for|with|in|by|to|at|from)\s+(?:the|its|their|his|her|our)\b", re.IGNORECASE)
"""Between a concept and the number of something else: "the coupon on the 5 million bond"."""
_PAID_ON = re.compile(r"\bon\b[^\w]*(?:(?:about|around|approximately|some|nearly|almost|over)\b[^\w]*)?$")
"""Before an amount: "interest payments on $5 billion" are not so much."""
_MOMENT = re.compile(r"^\w+ing\b|survival$")
"""A concept after a time that is none of it: "within 28 days of starting treatment", "a 3-year survival of 40%"."""
_VERSUS = re.compile(r"\b(?:vs|versus)\b", re.IGNORECASE)
_IN_SCALE = re.compile(r"\b(?:in|000s?)\s+(?:millions|thousands|billions|omitted)\b", re.IGNORECASE)
_WORD_BEFORE = re.compile(r"([^\W\d_][^\W_]*)[ \u00a0-]\Z")
KNOWN = 3
"""Mentions from which on a concept counts as one that the corpus speaks of."""
_COUNTRY = re.compile(r"\b(?:US|U\.\s?S\.|American)(?=\W|$)|\bUSD?\b|US\$", re.IGNORECASE)
"""In a unit: whose dollar it is."""
_OF_DOLLARS = re.compile(
    r"\b(?:Austral(?:ia|ian)|Canad(?:a|ian)|Hong\s?kong|H\.K\.|HKG|New Zealand|N\.Z\.|Singapore(?:an)?|Taiwan(?:ese)?"
    r"|Zimbabwe(?:an)?|Jamaican?|Namibian?|Liberian?|Fiji(?:an)?|Brunei|Barbados|Bahamas|Bermuda|Belize)(?!\w)",
    re.IGNORECASE,
)
"""Countries whose dollars are others than those of the United States."""
OTHERS_SHARE = 0.05
"""Share of a document's amounts in dollars of other countries from which on none is sure."""
_CENTS = re.compile(r"\.\d\d$")
PER_SHARE = 10_000.0
"""Nobody pays or earns so much for one share: it is the amount beside the one per share."""

_ELSEWHERE = {
    "currency": _PER,
    "count": re.compile(r"\s*(?:and|or|/)\s*[^\W\d_]", re.IGNORECASE),
    "ratio": re.compile(r"\s*of\b", re.IGNORECASE),
}
"""What may follow an amount and change what it is about: "5 dollars a share", "44 men and women", "5% of sales"."""

_PART = re.compile(
    r"\b(?:includ\w+|exclud\w+|net of|of which|consist\w*|compris\w*|between|except|versus|vs|respectively)\b",
    re.IGNORECASE,
)
_RESPECTIVELY = re.compile(r"\brespectively\b", re.IGNORECASE)


OTHER_MONEY = "an amount in a currency whose document states another one of that name"
UNSCALED = "an amount whose scale may stand elsewhere in its document"
CUT = "the rest of a longer concept"
PARTED = "nothing in the text ties the number to its concept"


def doubts(table: pl.DataFrame, texts: Sequence[str]) -> list[str]:
    """Why each mention is not sure; "" for those that are.

    Args:
        table: n mentions (`quantity_schema`), those of a sentence one after the other.
        texts: n texts, the sentence of each mention.

    Returns:
        n reasons. A mention without spans of its concept is sure: somebody else says what it is about.
    """
    columns = ["doc_id", "concept", "concept_spans", "change", "family", "unit", "value"]
    places = ["value_start", "value_end", "unit_start", "unit_end"]
    rows = list(table.select(*columns, *places).iter_rows(named=True))
    mates: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        mates.setdefault(row["doc_id"], []).append(row)
    return [_doubt(row, text, mates[row["doc_id"]]) for row, text in zip(rows, texts, strict=True)]


def unscaled(table: pl.DataFrame, texts: Sequence[str], documents: Sequence[int]) -> NDArray[np.bool_]:
    """Whether each mention may be an amount whose "in millions" stands elsewhere in its document.

    Args:
        table: n mentions (`quantity_schema`).
        texts: n texts, the sentence of each mention.
        documents: n documents, that of each mention.

    Returns:
        shape (n,). A document that says "in millions" somewhere leaves open every amount of money without a magnitude
        or cents.
    """
    scaled = {document for text, document in zip(texts, documents, strict=True) if _IN_SCALE.search(text)}
    rows = table.select("family", "value_start", "value_end").iter_rows()
    flags = [
        document in scaled and family == "currency" and _without_scale(text[start:end])
        for (family, start, end), text, document in zip(rows, texts, documents, strict=True)
    ]
    return np.array(flags, dtype=bool)


def of_other_money(table: pl.DataFrame, texts: Sequence[str], documents: Sequence[int]) -> NDArray[np.bool_]:
    """Whether each mention may be in another of the same name: dollars, where the document has Canadian ones.

    Args:
        table: n mentions (`quantity_schema`).
        texts: n texts, the sentence of each mention.
        documents: n documents, that of each mention.

    Returns:
        shape (n,). Where the other one has `OTHERS_SHARE` of a document's amounts, or the sentence names a country of
        dollars; an amount that is written with the country ("US$5", "5 U.S. dollars") is sure.
    """
    named: Counter[tuple[int, str]] = Counter()
    amounts: Counter[int] = Counter()
    units = [unit.split(" per ")[0] for unit in table["unit"].to_list()]
    money = table["family"].str.starts_with("currency").to_list()
    for unit, document, is_money in zip(units, documents, money, strict=True):
        if is_money:
            amounts[document] += 1
            named[document, unit.rpartition(" ")[2]] += " " in unit
    spans = table.select("unit_start", "unit_end").iter_rows()
    flags = [
        is_money
        and (
            0 < OTHERS_SHARE * amounts[document] <= named[document, unit]
            or (unit in ("dollar", "cent") and _OF_DOLLARS.search(text) is not None)
        )
        and not _COUNTRY.search(text[max(0, first) : max(0, last)])
        for unit, document, is_money, (first, last), text in zip(units, documents, money, spans, texts, strict=True)
    ]
    return np.array(flags, dtype=bool)


def cut_short(table: pl.DataFrame, texts: Sequence[str], language: str) -> NDArray[np.bool_]:
    """Whether each mention's concept is the rest of a longer one: "credit" where the text has "tax credit".

    Args:
        table: n mentions (`quantity_schema`).
        texts: n texts, the sentence of each mention.
        language: code of their language.

    Returns:
        shape (n,). Longer concepts are those of `KNOWN` mentions or more.
    """
    rows = list(table.select("concept", "concept_spans").iter_rows())
    words = {concept: concept_words(tuple(concept.split()), language) for concept in {concept for concept, _ in rows}}
    counts = Counter(words[concept] for concept, _ in rows)
    flags = []
    for (concept, spans), text in zip(rows, texts, strict=True):
        before = _WORD_BEFORE.search(text, 0, min(spans)[0]) if spans else None
        longer = concept_words((before[1].lower(), *words[concept]), language) if before else ()
        flags.append(longer not in ((), words[concept]) and counts[longer] >= KNOWN)
    return np.array(flags, dtype=bool)


def _without_scale(number: str) -> bool:
    return number[-1:].isdigit() and not _CENTS.search(number)


def _number(row: dict[str, Any]) -> Span:
    """From the first to the last character of a mention's number and unit."""
    value, unit = (row["value_start"], row["value_end"]), (row["unit_start"], row["unit_end"])
    return value if unit[0] < 0 else (min(value[0], unit[0]), max(value[1], unit[1]))


def _doubt(row: dict[str, Any], text: str, mates: Sequence[dict[str, Any]]) -> str:
    """Why one mention is not sure; `mates` are the mentions of its sentence."""
    if row["value_start"] < 0:
        return ""
    spans = [span for _, span in concept_stretches(tuple(row["concept"].split()), row["concept_spans"], text)]
    if not _is_sure(row, text, spans, [_number(mate) for mate in mates]):
        return PARTED
    return restriction(row, text, spans, mates) or ""


def _is_sure(row: dict[str, Any], text: str, spans: Sequence[Span], numbers: Sequence[Span]) -> bool:
    """Whether a number is tied to its concept; `numbers` are where the mentions of its sentence stand."""
    if _is_other(row, text):
        return False
    if not row["concept_spans"]:
        return True
    number = _number(row)
    if not spans and row["concept"]:
        return False
    first = min((first for first, _ in spans), default=0)
    lead = text[max(0, first - REACH) : first]
    if _narrows(lead, row, text, spans) or lead.endswith(("-", "‑", "–")):
        return False
    if row["family"] == "currency" and not row["change"] and 0 < first < number[0] and _MEMBER.search(lead):
        return False
    if _is_carried(text, number[0], spans):
        return True
    gap = _gap(text, number, spans, LINKING | CHANGE_VERBS if row["change"] else LINKING, len(numbers) > MANY)
    if gap is None or _is_of_another(row, text, spans, gap, numbers):
        return False
    return not (len(numbers) > 1 and _RESPECTIVELY.search(text))


def _is_carried(text: str, start: int, spans: Sequence[Span]) -> bool:
    """Whether a number is what the thing of an earlier sentence measures: "A light tent. It weighs 900 g"."""
    ends = list(_SENTENCE_END.finditer(text, max((last for _, last in spans), default=len(text)), start))
    if not ends or not carries_on(text, ends[-1].end()):
        return False
    words = [word.lower() for word in _WORD.findall(text[ends[-1].end() : start])]
    verb = max((place for place, word in enumerate(words) if word in MEASURES), default=len(words))
    return LINKING.issuperset(words[verb + 1 :]) and verb < len(words)


def _narrows(lead: str, row: dict[str, Any], text: str, spans: Sequence[Span]) -> bool:
    """Whether the words around a concept make it another thing, a part of one, or a bound."""
    if _WITHIN.search(lead) or _NEGATING.search(lead) or _SIDE_BEFORE.search(lead):
        return True
    if not row["change"] and _MOVE_OF.search(lead):
        return True
    last = max((last for _, last in spans), default=0)
    start = _number(row)[0]
    if not row["change"] and last <= start and _MOVING.search(lead) and not _TO.search(text, last, start):
        return True
    if last and _LISTED.search(lead) and text[last:].startswith(" of "):
        return True
    return bool(last and _BEYOND.match(text, last))


def _is_other(row: dict[str, Any], text: str) -> bool:
    """Whether the words beside a number say that it may be a move, an effect, a gap, a rate, a label or a ratio."""
    start, end = _number(row)
    before, family = text[max(0, start - REACH) : start], row["family"]
    if not row["change"] and _moves(text, start, end):
        return True
    if row["change"] and (_EFFECT.search(text) or _GAP.search(text, max(0, start - REACH), end + REACH)):
        return True
    if _AGAINST.search(before) or _LABEL.search(before) or _SPLIT.search(before):
        return True
    if family == "time" and _AGO.match(text, end):
        return True
    if family == "currency" and before.rstrip(" $€£¥").endswith("(") and _AFTER_TAX.match(text, end):
        return True
    if family in ("mass", "volume") and _DAILY.match(text, end):
        return True
    if family == "mass" and _GRADE.search(text, end, end + 2 * REACH):
        return True
    if row["unit"].endswith(" per share") and abs(row["value"]) > PER_SHARE:
        return True
    return family in _ELSEWHERE and _ELSEWHERE[family].match(text, end) is not None


def _is_of_another(row: dict[str, Any], text: str, spans: Sequence[Span], gap: Span, numbers: Sequence[Span]) -> bool:
    """Whether what stands between a number and its concept says that the concept is another number's, or a whole."""
    (start, end), (first, last) = _number(row), gap
    if any(first <= other < last for other, _ in numbers if other != start):
        return True
    if _MEANS.issuperset(row["concept"].lower().split()) and (
        _PAID.fullmatch(text, end, last) or _PRICE.search(text[:start])
    ):
        return True
    if first == end and last > end:  # the concept follows
        close = max(stop for _, stop in spans)
        between = text[end:last]
        if PARTITIVE.match(between) or _RATE_OF.match(text, close) or (row["change"] and " in " in f" {between} "):
            return True
        if row["family"] == "time" and _MOMENT.search(row["concept"]):
            return True
        if between.strip() == "in" and _GOVERNED.search(text[max(0, start - REACH) : start]):
            return True
        if row["family"] == "ratio" and " and " in text[last:close]:
            return True  # "an 8% coupon and par pricing"
        return (
            row["family"] == "ratio"
            and not between.strip()
            and bool(_VERSUS.search(text[max(0, start - 30) : close + 30]))
        )
    if first < start and last == start and _OF_WHICH.search(text, first, last):
        return True
    if row["family"] == "currency" and first < start and last == start and _PAID_ON.search(text[first:last]):
        return True
    begin = min(first for first, _ in spans)
    # "of the 13 billion frozen debt 4 billion was": a concept that follows a number, unless it is a label of a list.
    taken = any(
        0 <= begin - stop <= 4 and text[stop:begin].strip(" -") in ("", "of") for _, stop in numbers if stop != end
    )
    return taken and text[begin].islower() and not any(b < end and start < e for b, e in spans)


def _moves(text: str, start: int, end: int) -> bool:
    """Whether the words around a number say that something moved by it."""
    return bool(_MOVED_BEFORE.search(text[max(0, start - 40) : start]) or _MOVED_AFTER.match(text, end))


def _gap(text: str, number: Span, spans: Sequence[Span], linking: frozenset[str], beside: bool) -> Span | None:
    """What stands between a number and the nearest stretch of its concept; None where it parts them.

    Args:
        linking: words that may stand there where the concept is before the number.
        beside: nothing may.
    """
    start, end = number
    if any(first < end and start < last for first, last in spans):
        return start, start
    before = max((last for _, last in spans if last <= start), default=-1)
    after = min((first for first, _ in spans if first >= end), default=len(text) + REACH)
    # A concept before its number is the rule; one after it counts where it stands closer.
    first, last = (before, start) if before >= 0 and start - before <= after - end else (end, after)
    if last > len(text) or last - first > REACH:
        return None
    between = text[first:last]
    if beside and not _BESIDE.fullmatch(between):
        return None
    if _BESIDE.fullmatch(between):
        return first, last
    if _PARTING.search(between) or _PART.search(between):
        return None
    words = [word.lower() for word in _WORD.findall(between)]
    allowed = linking if before == first and last == start else FOLLOWED
    return (first, last) if all(word in allowed or word.isdigit() for word in words) else None
