"""Descriptions by rules over the extractor's parse: the concept, its subject, the verb, places and times of the clause.

The task is definition 1 of *Quantity Retrieval*: words that fully and concisely say what the quantity is, by the
factors of its section 2 (performance indicator, subject, place, time). The paper trains a tagger for it; this parser
needs none.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from qbench.mining.circumstances import Clause
from qbench.mining.times import Time, dated, find_times, is_period
from qbench.mining.types import Description
from qbench.quantities.concepts import Concept, Place, find_concepts
from qbench.quantities.noun_phrases import NounPhrases
from qbench.quantities.parse import EMBEDDED, NO_PARSER, Parse, StandIn, load_parser, require_parser
from qbench.quantities.stand_ins import in_place_of, without_restatements
from qbench.quantities.tokens import Token, spans_of, tokenize
from qbench.quantities.types import Quantity

_LINKS = frozenset({"IN", "DT", "TO", "POS", "PRP$"})
"""Tags of small words that are kept where they stand between two words of a description."""
_BRIDGE = 2
"""How many of them."""
_NEAR = 3
"""Tokens from a word of the concept to a time that belongs to it, at most."""
_COUNTED = ("count", "")
"""Families of units that are nouns of the text, and so part of what describes the number: "10,000 employees"."""


class RulesParser:
    """See the module. Holds no state between calls.

    Args:
        spacy_model: what parses the sentences (see `qbench.quantities.parse.load_parser`); loaded when first needed.

    Raises:
        OptionError: there is no such parser.
    """

    name = "rules"

    def __init__(self, spacy_model: str = EMBEDDED) -> None:
        # Without a parse there are no clauses: the embedded parser serves indexes that were made by word lists too.
        self._spacy_model = EMBEDDED if spacy_model == NO_PARSER else spacy_model
        require_parser(self._spacy_model)

    def key(self) -> dict[str, object]:
        """Everything that can change the descriptions."""
        from qbench.quantities.extractors import ExtractorOptions
        from qbench.store import digest, file_digest

        folder = Path(__file__).parent
        own = [file_digest(folder / name) for name in ("rules_parser.py", "circumstances.py", "times.py")]
        return {
            "descriptions": self.name,
            **ExtractorOptions(spacy_model=self._spacy_model).key(),
            "rules of descriptions": digest(own),
        }

    def parse_many(self, sentences: Sequence[tuple[str, Sequence[Quantity]]]) -> list[list[Description]]:
        """The description of each mention of each sentence; see `DescriptionParser`."""
        drafts = [_Draft.of(text, mentions) for text, mentions in sentences]
        wanted = [(d.text, d.tokens, d.stand_ins()) for d in drafts if d.spans]
        parses = iter(load_parser(self._spacy_model).parse_many(wanted) if wanted else ())
        return [_describe(draft, next(parses)) if draft.spans else [] for draft in drafts]


@dataclass(frozen=True, slots=True)
class _Draft:
    """A sentence with its tokens, and the token range of each mention."""

    text: str
    tokens: Sequence[Token]
    mentions: Sequence[Quantity]
    spans: Sequence[tuple[int, int]]

    @classmethod
    def of(cls, text: str, mentions: Sequence[Quantity]) -> _Draft:
        tokens = tokenize(text) if mentions else []
        starts, ends = [t.start for t in tokens], [t.end for t in tokens]
        spans: list[tuple[int, int]] = []
        for mention in mentions:
            start, end = mention.value_span
            if mention.unit_span is not None and mention.family not in _COUNTED:
                start, end = min(start, mention.unit_span[0]), max(end, mention.unit_span[1])
            first = max(bisect_right(ends, start), spans[-1][1] if spans else 0)
            spans.append((first, max(first, bisect_left(starts, end))))
        return cls(text, tokens, mentions, spans)

    def stand_ins(self) -> list[StandIn]:
        found = []
        for mention, (first, last) in zip(self.mentions, self.spans, strict=True):
            if first == last:
                continue
            family = "" if mention.family in _COUNTED else mention.family
            number = bisect_left([t.start for t in self.tokens[first:last]], mention.value_span[1])
            found.append(StandIn(first, last, in_place_of(mention.value, family, self.tokens[first + number : last])))
        return without_restatements(self.tokens, found)


def _describe(draft: _Draft, parse: Parse) -> list[Description]:
    tokens, spans = draft.tokens, draft.spans
    places = [_place(mention, span) for mention, span in zip(draft.mentions, spans, strict=True)]
    concepts = find_concepts(tokens, places, parse)
    nouns = NounPhrases(tokens, spans, parse)
    periods = [span for mention, span in zip(draft.mentions, spans, strict=True) if _is_period(tokens, mention, span)]
    times = find_times(tokens, nouns.owner, periods)
    kept = [n for n, span in enumerate(spans) if span[0] < span[1] and span not in periods]
    when = dict(zip(kept, dated(tokens, [spans[n] for n in kept], times), strict=True))
    told = [False] * len(tokens)
    for time in times:
        told[time.first : time.last] = [True] * (time.last - time.first)
    for first, last in periods:
        nouns.owner[first:last] = [-1] * (last - first)
    return [
        _one(draft, parse, nouns, n, concepts[n], [*when[n], *_within(concepts[n], times, parse)], told)
        if n in when
        else Description(factual=spans[n] not in periods)
        for n in range(len(spans))
    ]


def _is_period(tokens: Sequence[Token], mention: Quantity, span: tuple[int, int]) -> bool:
    """Whether a mention is the length of a dated period, and no fact of its own: "the nine months ended June 30"."""
    return mention.family == "time" and span[0] < span[1] and is_period(tokens, span[1])


def _within(concept: Concept, times: Sequence[Time], parse: Parse) -> list[Time]:
    """The times that hang on a word of the concept: "notes due in 2027"."""
    dates = {k for time in times for k in range(time.first, time.last)}
    words = {*concept.words, *concept.subject} - dates
    return [
        time
        for time in times
        if any(
            parse.heads[k] in words and 0 < time.first - parse.heads[k] <= _NEAR for k in range(time.first, time.last)
        )
    ]


def _one(
    draft: _Draft,
    parse: Parse,
    nouns: NounPhrases,
    n: int,
    concept: Concept,
    times: Sequence[Time],
    told: Sequence[bool],
) -> Description:
    first, last = draft.spans[n]
    mention = draft.mentions[n]
    clause = Clause(draft.tokens, nouns, parse, _anchor(parse, first, last))
    if not clause.is_real():
        return Description(factual=False)
    words = {*concept.words, *concept.subject, *_counted(draft, mention)}
    if not words:
        return Description()
    words |= set(clause.phrases(told))
    verb = clause.verb()
    if verb is not None:
        words.add(verb)
    words |= {k for time in times for k in range(time.first, time.last)}
    kept = sorted(k for k in words if nouns.owner[k] == -1)
    return Description(spans_of(draft.tokens, _bridged(kept, parse, nouns, told)))


def _place(mention: Quantity, span: tuple[int, int]) -> Place:
    family = mention.family
    return Place(*span, family == "count", family == "time", family.startswith("currency"))


def _anchor(parse: Parse, first: int, last: int) -> int:
    """The token of a mention that hangs on one outside it."""
    return next((k for k in range(first, last) if not first <= parse.heads[k] < last), first)


def _counted(draft: _Draft, mention: Quantity) -> range:
    """The tokens of the noun that is counted: "employees"."""
    if mention.unit_span is None or mention.family not in _COUNTED:
        return range(0)
    start, end = mention.unit_span
    first = bisect_right([t.end for t in draft.tokens], start)
    return range(first, max(first, bisect_left([t.start for t in draft.tokens], end)))


def _bridged(words: list[int], parse: Parse, nouns: NounPhrases, told: Sequence[bool]) -> list[int]:
    """With the small words between two words of a phrase: "cost of sales", "the price of a share"."""
    found: list[int] = []
    for k in words:
        gap = range(found[-1] + 1, k) if found else range(0)
        if (
            0 < len(gap) <= _BRIDGE
            and told[k] == told[gap[0] - 1]
            and all(parse.tags[m] in _LINKS and nouns.owner[m] == -1 for m in gap)
        ):
            found += gap
        found.append(k)
    return found
