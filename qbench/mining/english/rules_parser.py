"""Descriptions by rules over a parse: the concept, its subject, the verb, places and times of the clause.

The task is definition 1 of *Quantity Retrieval*: words that fully and concisely say what the quantity is, by the
factors of its section 2 (performance indicator, subject, place, time). The paper trains a tagger for it; this parser
needs none.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from qbench.keys import revision
from qbench.mining.english.clauses import MARK, PLACES, Clause, sections, separate_headings
from qbench.mining.english.parallels import COUNTED, Parallels
from qbench.mining.english.times import Time, dated, find_times, is_period
from qbench.mining.types import Description
from qbench.quantities.english.binder.concepts import bind
from qbench.quantities.english.binder.features import Sentence
from qbench.quantities.english.concepts import Concept, MentionTokens, concepts_of
from qbench.quantities.english.noun_phrases import NounPhrases
from qbench.quantities.english.parse import Parse, StandIn
from qbench.quantities.english.parsers.load import load_parser, require_parser
from qbench.quantities.english.stand_ins import in_place_of, without_restatements
from qbench.quantities.english.tokens import Token, spans_of, tokenize
from qbench.quantities.extractors import ExtractorOptions
from qbench.quantities.languages import EMBEDDED, ENGLISH, NO_PARSER
from qbench.quantities.types import Quantity, Span

_LINKS = frozenset({"IN", "DT", "TO", "POS", "PRP$"})
"""Tags of small words that descriptions include between two of their words."""
_BRIDGE = 2
"""Maximum number of such words in a row."""
_NEAR = 3
"""Maximum distance in tokens from a word of the concept to a time that belongs to it."""
_GUESS = "nearest noun"
"""The rule of a concept that was not taken from the parse."""
_PER = frozenset({"per", "a", "an", "each", "every"})
"""Words of a unit that precede the denominator: "$1.23 per diluted share"."""
_COMPARING = frozenset("from vs versus against than compared".split())
_PLACING = frozenset("to at for by after before until".split())
_LABEL = 3
"""Maximum number of digits of a word's number ("week 14"): longer ones are codes or years."""


class RulesParser:
    """Parser of descriptions by rules; without state between calls.

    Args:
        spacy_model: pipeline that parses the sentences (see `qbench.quantities.english.parse.load_parser`); loaded on
            first use.

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
        return {
            "descriptions": self.name,
            **ExtractorOptions(spacy_model=self._spacy_model, language=ENGLISH).key(),
            "rules of descriptions": revision("description rules"),
        }

    def parse_many(self, sentences: Sequence[tuple[str, Sequence[Quantity]]]) -> list[list[Description]]:
        """The description of each mention of each sentence; see `DescriptionParser`."""
        texts = [
            _TokenizedText.of(separate_headings(text) if mentions else text, mentions) for text, mentions in sentences
        ]
        described = [text for text in texts if text.spans]
        wanted = [(text.text, text.tokens, text.stand_ins()) for text in described]
        parses = load_parser(self._spacy_model).parse_many(wanted) if wanted else ()
        parsed = [
            Sentence(text.tokens, text.mention_tokens(), parse) for text, parse in zip(described, parses, strict=True)
        ]
        descriptions = (
            _Sentence(text, sentence.parse, [binding.concept for binding in bindings]).descriptions()
            for text, sentence, bindings in zip(described, parsed, bind(parsed), strict=True)
        )
        return [next(descriptions) if text.spans else [] for text in texts]


@dataclass(frozen=True, slots=True)
class _TokenizedText:
    """A sentence with its tokens.

    Attributes:
        spans: the token range of each mention, its unit included.
        ends: end of each mention for the parser, which has to see the counted noun.
    """

    text: str
    tokens: Sequence[Token]
    mentions: Sequence[Quantity]
    spans: Sequence[Span]
    ends: Sequence[int]

    @classmethod
    def of(cls, text: str, mentions: Sequence[Quantity]) -> _TokenizedText:
        tokens = tokenize(text) if mentions else []
        starts, ends = [t.start for t in tokens], [t.end for t in tokens]
        spans: list[Span] = []
        parsed: list[int] = []
        for n, mention in enumerate(mentions):
            limit = mentions[n + 1].value_span[0] if n + 1 < len(mentions) else len(text)
            start, end = mention.value_span
            unit = mention.unit_span
            if unit is not None and unit[1] <= max(limit, end):  # "3 and 6 months": the unit is the last one's
                start, end = min(start, unit[0]), max(end, unit[1])
            first = max(bisect_right(ends, start), spans[-1][1] if spans else 0)
            last = max(first, bisect_left(starts, end))
            spans.append((first, last))
            counts = mention.family in COUNTED
            parsed.append(min(last, max(first, bisect_left(starts, mention.value_span[1]))) if counts else last)
        return cls(text, tokens, mentions, spans, parsed)

    def stand_ins(self) -> list[StandIn]:
        """The words that the parser reads in place of each mention."""
        replaced = []
        for mention, (first, _), last in zip(self.mentions, self.spans, self.ends, strict=True):
            if first < last:
                family = "" if mention.family in COUNTED else mention.family
                number = bisect_left([t.start for t in self.tokens[first:last]], mention.value_span[1])
                words = in_place_of(mention.value, family, self.tokens[first + number : last])
                replaced.append(StandIn(first, last, words))
        return without_restatements(self.tokens, replaced)

    def mention_tokens(self) -> list[MentionTokens]:
        """The mentions as the rules of concepts take them."""
        ends = [t.end for t in self.tokens]
        return [
            MentionTokens(
                first,
                last,
                min(bisect_right(ends, mention.value_span[0]), len(ends) - 1),
                # What a bare number counts by another's noun is named beside it.
                "" if mention.unit_span is None else mention.family,
                mention.change,
            )
            for mention, (first, last) in zip(self.mentions, self.spans, strict=True)
        ]


class _Sentence:
    """A parsed sentence with its concepts, times and lists."""

    def __init__(self, text: _TokenizedText, parse: Parse, concepts: list[Concept]) -> None:
        self._text, self._parse, self._tokens, self._concepts = text, parse, text.tokens, concepts
        self._nouns = NounPhrases(text.tokens, text.spans, parse)
        lengths = [span for mention, span in zip(text.mentions, text.spans, strict=True) if _lasts(mention, span)]
        periods = [span for span in lengths if is_period(text.tokens, self._nouns.owner, *span)]
        self._times = find_times(text.tokens, self._nouns.owner, periods)
        self._in_time = [False] * len(text.tokens)
        for time in self._times:
            self._in_time[time.first : time.last] = [True] * (time.last - time.first)
        self._stated = [n for n, span in enumerate(text.spans) if span[0] < span[1] and span not in periods]
        dates = dated(text.tokens, [text.spans[n] for n in self._stated], self._times)
        self._when = dict(zip(self._stated, dates, strict=True))
        self._parallels = Parallels(text.tokens, text.mentions, text.spans, parse)
        self._others: dict[int, set[int]] = {}
        self._lent: dict[int, tuple[int, ...]] = {}
        self._deal(text.mention_tokens())
        self._sections = sections(text.tokens) if MARK in text.text else [range(len(text.tokens))]
        self._unit_words = {k for n in range(len(text.spans)) for k in self._of_unit(n)}
        for first, last in periods:
            self._nouns.owner[first:last] = [-1] * (last - first)  # part of a time, and free to be in a description

    def _deal(self, places: Sequence[MentionTokens]) -> None:
        """Assign to each mention of a list the concept of its own item, and no other item."""
        whens = [tuple(self._when.get(n, ())) for n in range(len(places))]
        apart = [n for n in range(1, len(places)) if whens[n] != whens[n - 1]]
        for deal in self._parallels.dealt(self._stated, apart):
            listed = deal.words()
            if deal.before:
                for n, concept in zip(deal.group, concepts_of(deal, self._tokens, places, self._parse), strict=True):
                    self._concepts[n] = concept
            for n, item, lent in zip(deal.group, deal.items, deal.lent, strict=True):
                self._lent[n] = lent
                self._others[n] = listed.difference(item, lent)

    def descriptions(self) -> list[Description]:
        """The description of each mention."""
        words: dict[int, set[int]] = {}
        for n in range(len(self._text.spans)):
            restates = n - 1 in words and self._parallels.restates(n)
            clause = self._clause(n)
            if n not in self._when or not (restates or clause.is_real()):
                continue
            words[n] = words[n - 1] | set(self._of_unit(n)) if restates else self._words(n, clause)
            if n - 1 in words and self._parallels.listed(n):
                words[n] |= self._shared(n, words)
        selected = {n: self._selected(n, self._dated(n, own) - self._others.get(n, set())) for n, own in words.items()}
        self._distinguish(selected)
        return [
            Description(spans_of(self._tokens, self._bridged(selected[n])))
            if n in selected
            else Description(factual=self._has_no_token(n))
            for n in range(len(self._text.spans))
        ]

    def _distinguish(self, selected: dict[int, list[int]]) -> None:
        """Distinguish mentions with the same description by small words: "vs", "from", "for".

        Words of comparison come first, then the name before each mention, then prepositions.
        """
        for kind in (_COMPARING, None, _PLACING):
            groups: dict[tuple[str, ...], list[int]] = {}
            for n, words in selected.items():
                if words and not self._parallels.restates(n):
                    groups.setdefault(tuple(self._tokens[k].low for k in words), []).append(n)
            alike = [group for group in groups.values() if len(group) > 1]
            if not alike:
                return
            for group in alike:
                if kind is None:
                    self._label(group, selected)
                else:
                    for n in group:
                        selected[n] = sorted({*selected[n], *self._parallels.link(n, kind, selected[n])})

    def _label(self, group: Sequence[int], selected: dict[int, list[int]]) -> None:
        """Add to each description the name right before its mention: "cure rates were AL 85 %, CPD 64 %"."""
        names = {n: self._name_before(n) for n in group}
        if all(names.values()):
            for n in group:
                others = {k for m in group if m != n for k in names[m]}
                selected[n] = sorted({*selected[n], *names[n]} - others)

    def _name_before(self, n: int) -> list[int]:
        k = self._text.spans[n][0] - 1
        if k < 0 or not self._nouns.names(k):
            return []
        return [m for m in range(max(0, k - _NEAR), k + 1) if self._nouns.head_of(m) == k]

    def _has_no_token(self, n: int) -> bool:
        """Whether a mention has no token of its own."""
        return self._text.spans[n][0] == self._text.spans[n][1]

    def _clause(self, n: int) -> Clause:
        return Clause(self._tokens, self._nouns, self._parse, *self._text.spans[n])

    def _words(self, n: int, clause: Clause) -> set[int]:
        """The words of a description without the times; none if nothing names the mention."""
        concept = self._concepts[n]
        behind, ahead = self._parallels.foreign(n)

        def own(words: Iterable[int]) -> set[int]:
            candidates = set(words)
            foreign = {k for k in candidates if k in behind or k in ahead}
            return candidates - (foreign - self._above(n)) if foreign else candidates

        named = own((*concept.words, *concept.subject))
        if concept.how == _GUESS:
            named = {k for k in named if self._may_describe(n, k)}
        words = named | set(self._of_unit(n)) | set(self._lent.get(n, ()))
        if self._parallels.elided(n) and self._parallels.listed(n):
            words |= set(self._of_unit(n - 1))
        if not words and self._parallels.first_of_list(n) == n and not clause.acts():
            return set()
        if clause.is_whole():
            return words - self._others.get(n, set())
        verb = clause.verb()
        if verb is not None and self._parallels.reaches(n, verb):
            verb = None
        words |= own(k for k in (*clause.phrases(self._in_time), *self._behind(n)) if self._may_describe(n, k))
        if verb is not None and own([verb]):
            words |= own((verb, *clause.subject()))
        return words - self._others.get(n, set())

    def _behind(self, n: int) -> list[int]:
        """The place right behind a member of a list, whatever the parse: "3 minutes with ale, 2 with tea"."""
        k = self._text.spans[n][1]
        if not self._parallels.has_parallel(n) or k >= len(self._tokens) or self._tokens[k].low not in PLACES:
            return []
        while k + 1 < len(self._tokens) and self._parse.tags[k + 1] in ("DT", "PRP$"):
            k += 1
        head = self._nouns.run(k + 1)
        return [] if head is None else [m for m in self._nouns.phrase(head) if m > k and not self._in_time[m]]

    def _above(self, n: int) -> set[int]:
        """The nouns that govern mention n, with their words."""
        words: set[int] = set()
        k = self._text.spans[n][0]
        while self._parse.heads[k] != k:
            k = self._parse.heads[k]
            if self._parse.tags[k].startswith("VB"):
                break
            if self._nouns.names(k):
                words.update(self._nouns.phrase(k))
        return words

    def _may_describe(self, n: int, k: int) -> bool:
        """Whether a phrase at token k can be about mention n: in a list, text behind a member is about that member."""
        first, spans = self._parallels.first_of_list(n), self._text.spans
        if k < spans[first][0]:
            return True
        end = spans[n + 1][0] if n + 1 < len(spans) and self._parallels.listed(n + 1) else len(self._tokens)
        return (first == n or k >= spans[n][1]) and k < end

    def _dated(self, n: int, words: set[int]) -> set[int]:
        times = [*self._when[n], *self._within(n)] if words else []
        return words | {k for time in times for k in range(time.first, time.last)}

    def _within(self, n: int) -> list[Time]:
        """Times that modify a word of the concept ("notes due in 2027") and date no other mention."""
        words = {k for k in (*self._concepts[n].words, *self._concepts[n].subject) if not self._in_time[k]}
        others = {time for m, times in self._when.items() if m != n for time in times}.difference(self._when[n])
        heads = self._parse.heads
        return [
            time
            for time in self._times
            if not time.short
            and time not in others
            and any(heads[k] in words and 0 < time.first - heads[k] <= _NEAR for k in range(time.first, time.last))
        ]

    def _shared(self, n: int, words: dict[int, set[int]]) -> set[int]:
        """The words before a list of mentions, for a member without words of its own before the list."""
        first = self._parallels.first_of_list(n)
        start = self._text.spans[first][0]
        whole = self._parallels.elided(n)  # "employed 10,000 people here, 2,000 there" is one clause
        if first not in words or (not whole and any(k < start and not self._in_time[k] for k in words[n])):
            return set()
        return {k for k in words[first] if k < start} - self._others.get(n, set())

    def _of_unit(self, n: int) -> range:
        """The tokens of a unit that say what is measured: counted "employees", "per diluted share"."""
        mention = self._text.mentions[n]
        if mention.unit_span is None:
            return range(0)
        start, end = mention.unit_span
        if start <= mention.value_span[0] < end:  # "$1.23 per share": the number stands within
            start = mention.value_span[1]
        first = bisect_right([t.end for t in self._tokens], start)
        last = max(first, bisect_left([t.start for t in self._tokens], end))
        if mention.family in COUNTED or mention.family.startswith("count per"):
            return range(first, last)
        if " per " not in mention.unit:
            return range(0)
        return range(next((k for k in range(first, last) if self._tokens[k].low in _PER), last), last)

    def _selected(self, n: int, words: set[int]) -> list[int]:
        """The words that a description of mention n may have, in order."""
        start = self._text.spans[n][0]
        section = self._sections[bisect_right(self._sections, start, key=lambda part: part.start) - 1]
        words = words | {k + 1 for k in words if self._numbers(k + 1)}
        selected = sorted(k for k in words if (self._nouns.owner[k] == -1 or k in self._unit_words) and k in section)
        return self._once(selected)

    def _numbers(self, k: int) -> bool:
        """Whether token k is the number of the word before it: "week 14", "type 2"."""
        if k >= len(self._tokens) or self._in_time[k] or self._nouns.owner[k] != -1:
            return False
        return self._tokens[k].text.isdecimal() and len(self._tokens[k].text) <= _LABEL

    def _once(self, words: list[int]) -> list[int]:
        """Drop words that repeat the one before: the second "capacity" of "annual capacity of 5 t of capacity"."""
        lows = ["", *(self._tokens[k].low for k in words)]
        return [k for k, before, low in zip(words, lows, lows[1:], strict=False) if low != before]

    def _bridged(self, words: list[int]) -> list[int]:
        """Add the small words between two words of a phrase: "cost of sales", "the price of a share"."""
        bridged: list[int] = []
        for k in words:
            gap = range(bridged[-1] + 1, k) if bridged else range(0)
            small = all(self._parse.tags[m] in _LINKS and self._nouns.owner[m] == -1 for m in gap)
            if 0 < len(gap) <= _BRIDGE and small and self._in_time[k] == self._in_time[gap[0] - 1]:
                bridged += gap
            bridged.append(k)
        return bridged


def _lasts(mention: Quantity, span: Span) -> bool:
    """Whether a mention is a length of time."""
    return mention.family == "time" and span[0] < span[1]
