"""The default extractor: numbers, units, comparators and concepts by rules over tokens and, where wanted, a parse.

Amounts first (a number with its unit), then counted nouns, ranges, the words that bound each, and its concept
(*Numbers Matter* section 3.1: value, unit, condition and concept). Linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from qbench.quantities.decoding import decoded
from qbench.quantities.english.amounts import OFTEN, Amount, AmountFinder
from qbench.quantities.english.binder.allocations import with_allocations
from qbench.quantities.english.binder.concepts import Binding, bind
from qbench.quantities.english.binder.features import Sentence
from qbench.quantities.english.binder.labelled import with_labels
from qbench.quantities.english.binder.parallels import with_parallels
from qbench.quantities.english.binder.sourced import with_sources
from qbench.quantities.english.binder.statistic_names import with_statistics
from qbench.quantities.english.binder.whole_names import with_whole_names
from qbench.quantities.english.carried import carried
from qbench.quantities.english.comparator_sharing import restates
from qbench.quantities.english.comparators import Modifiers, read_comparators
from qbench.quantities.english.composites import compose
from qbench.quantities.english.concept_words import find_concept
from qbench.quantities.english.concepts import Concept, MentionTokens
from qbench.quantities.english.denominators import with_denominators
from qbench.quantities.english.intervals import in_interval
from qbench.quantities.english.lent import SHARED, Read, may_share, of_same_thing
from qbench.quantities.english.lexicon import FRACTION_MARKS, FRACTIONS, SCALES
from qbench.quantities.english.nouns import count_nouns
from qbench.quantities.english.p_values import P_VALUE, p_value_name
from qbench.quantities.english.page_marks import is_encoded
from qbench.quantities.english.parse import Parse, Parser
from qbench.quantities.english.parsers.load import load_parser, require_parser
from qbench.quantities.english.points import percentage_points
from qbench.quantities.english.queries import parse_query
from qbench.quantities.english.ranges import join
from qbench.quantities.english.ratios import RATIO
from qbench.quantities.english.settled import settle, with_thousands
from qbench.quantities.english.shared_rates import share_rates
from qbench.quantities.english.stand_ins import stand_ins
from qbench.quantities.english.tokens import Token, spans_of, tokenize, words_of
from qbench.quantities.english.written import LENGTHS_OF_TIME, STARTERS
from qbench.quantities.languages import NO_PARSER
from qbench.quantities.types import ParsedQuery, Quantity
from qbench.quantities.units import Units

_SIGNS = re.compile(r"[\d" + "".join(FRACTION_MARKS) + "]")
_WORD = re.compile("[a-z]+")
_SINGLE = frozenset({"quarter", "couple", "once", "twice", "thrice"})
_HINTS = (STARTERS - {"a", "an"}) | frozenset(SCALES) | frozenset(FRACTIONS) | _SINGLE
"""Words without which a text has no written number; an article alone makes none."""
_LENGTHS = re.compile(rf"\ban? (?:{'|'.join(sorted(LENGTHS_OF_TIME))})\b")
"""But one before a length of time may: "at least an hour"."""

Explained = tuple[Quantity, tuple[str, ...]]
"""A mention, and the names of the rules that made it."""


@dataclass(frozen=True, slots=True)
class TokenizedText:
    """A text, its tokens, and the amounts among them."""

    text: str
    tokens: Sequence[Token]
    amounts: Sequence[Amount]


@dataclass(frozen=True, slots=True)
class ReadText:
    """A text with its mentions: amounts, the words that bound each, and the parse of the text if there is one."""

    tokens: Sequence[Token]
    amounts: Sequence[Amount]
    readings: Sequence[Modifiers]
    parse: Parse | None

    def sentence(self) -> Sentence | None:
        """The text as the binder takes it; None without a parse."""
        if self.parse is None:
            return None
        mentions = [
            MentionTokens(reading.first, reading.last, amount.number.first, amount.unit.family, reading.change)
            for amount, reading in zip(self.amounts, self.readings, strict=True)
        ]
        return Sentence(self.tokens, mentions, self.parse)


class RulesExtractor:
    """Rules over tokens; see the module. Holds no state between calls.

    Args:
        units: the known units.
        years: report calendar years too.
        p_values: report p-values too.
        spacy_model: what parses the sentences with amounts, for counted nouns and concepts (see `load_parser`);
            "none" goes by word lists. Loaded when first needed.

    Raises:
        OptionError: there is no such parser.
    """

    name = "rules"

    def __init__(
        self, units: Units, *, years: bool = False, p_values: bool = True, spacy_model: str = NO_PARSER
    ) -> None:
        self.units = units
        self.years = years
        self.p_values = p_values
        require_parser(spacy_model)
        self._spacy_model = spacy_model
        self._finder = AmountFinder(units)

    def extract(self, text: str) -> list[Quantity]:
        """The mentions in `text`, in order; spans index into `text`."""
        return self.extract_many([text])[0]

    def extract_many(self, texts: Iterable[str]) -> list[list[Quantity]]:
        """The mentions of each text: the same as `extract` of one after the other, faster where a parser runs."""
        return [[q for q, _ in mentions] for mentions in self.explain_many(texts)]

    def extract_query(self, text: str) -> list[Quantity]:
        """The mentions of a typed query. By words alone: queries are seldom sentences, and are to be read at once."""
        draft = self._tokenized(text)
        # "500 mg twice daily" asks for the dose.
        draft = replace(draft, amounts=[a for a in draft.amounts if OFTEN not in a.how])
        if not draft.amounts:
            return []
        return [q for mentions in self._explained([self._read_mentions(draft, None)]) for q, _ in mentions]

    def parse_query(self, text: str) -> ParsedQuery:
        """The search words of a typed query, and what it asks of quantities; see `queries`."""
        return parse_query(text, self)

    def explain_many(self, texts: Iterable[str]) -> list[list[Explained]]:
        """The mentions of each text, each with the names of the rules that made it."""
        meant = [decoded(text) for text in texts]
        read = self.read_many(text for text, _ in meant)
        explained = iter(self._explained([text for text in read if text is not None]))
        found = ([] if text is None else next(explained) for text in read)
        return [[(text.placed(q), rules) for q, rules in each] for text, each in zip(meant, found, strict=True)]

    def read_many(self, texts: Iterable[str], parser: Parser | None = None) -> list[ReadText | None]:
        """The mentions of each text before their concepts are known; None where there are none.

        Args:
            texts: to read.
            parser: reads them instead of the extractor's own.
        """
        drafts = [self._tokenized(text) for text in texts]
        parses = self._parses([draft for draft in drafts if draft.amounts], parser)
        return [self._read_mentions(draft, next(parses)) if draft.amounts else None for draft in drafts]

    def _parses(self, drafts: Sequence[TokenizedText], parser: Parser | None = None) -> Iterator[Parse | None]:
        if not drafts or (parser is None and self._spacy_model == NO_PARSER):
            return iter([None] * len(drafts))
        texts = [(d.text, d.tokens, stand_ins(d.tokens, d.amounts)) for d in drafts]
        return iter((parser or load_parser(self._spacy_model)).parse_many(texts))

    def _tokenized(self, text: str) -> TokenizedText:
        if not (_SIGNS.search(text) or not _HINTS.isdisjoint(_WORD.findall(text.lower())) or _LENGTHS.search(text)):
            return TokenizedText(text, (), ())
        if is_encoded(text):
            return TokenizedText(text, (), ())
        tokens = tokenize(text)
        return TokenizedText(text, tokens, compose(tokens, self._finder.find(tokens, text), self.units))

    def _read_mentions(self, draft: TokenizedText, parse: Parse | None) -> ReadText:
        """The mentions of a text as they are reported, each with the words that bound it."""
        amounts = [
            a for a in self._joined(draft, parse) if (self.years or not a.year) and (self.p_values or not a.p_value)
        ]
        return ReadText(draft.tokens, amounts, read_comparators(draft.tokens, amounts, parse), parse)

    def _joined(self, draft: TokenizedText, parse: Parse | None) -> Sequence[Amount]:
        """The amounts of a text with their counted nouns and as ranges."""
        counted = count_nouns(draft.tokens, draft.text, draft.amounts, self._finder.forms, parse)
        joined = join(draft.tokens, settle(draft.tokens, counted, self.units, parse))
        return with_thousands(draft.tokens, with_denominators(draft.tokens, draft.text, joined, self._finder.forms))

    def _explained(self, read: Sequence[ReadText]) -> list[list[Explained]]:
        """The quantities of each text, what belongs to them found for all at once."""
        explained = []
        for text, bindings in zip(read, self._bindings(read), strict=True):
            reads = share_rates(text.tokens, list(_with_bindings(text, bindings)), self.units)
            reads = percentage_points(text.tokens, reads, self.units, text.parse)
            explained.append([self._quantity(text.tokens, *each) for each in reads])
        return explained

    def _bindings(self, read: Sequence[ReadText]) -> list[list[Binding]]:
        """What belongs to each mention: from the parse, or from the words around it."""
        sentences = [sentence for text in read if (sentence := text.sentence()) is not None]
        bound = iter([_by_form(*each) for each in zip(sentences, self.bind(sentences), strict=True)])
        return [_bindings_by_words(text) if text.parse is None else _restated(text, next(bound)) for text in read]

    def bind(self, sentences: Sequence[Sentence]) -> list[list[Binding]]:
        """What belongs to each mention of texts with a parse."""
        return bind(sentences)

    def _quantity(self, tokens: Sequence[Token], amount: Amount, reading: Modifiers, concept: Concept) -> Explained:
        unit = amount.unit
        moved = [f"change {reading.change}"] if reading.change else []
        around = [*range(reading.first, amount.first), *range(amount.last, reading.last)]
        quantity = Quantity(
            value=amount.low,
            high=amount.high,
            comparator=reading.comparator,
            unit=unit.name,
            family=unit.family,
            base_unit=unit.base_unit,
            base_value=self.units.to_base(amount.low, unit.name),
            base_high=self.units.to_base(amount.high, unit.name),
            concept=words_of(tokens, concept.words),
            subject=words_of(tokens, concept.subject),
            digits=amount.number.digits,
            value_span=_value_span(tokens, amount),
            unit_span=amount.unit_span,
            comparator_span=(tokens[around[0]].start, tokens[around[-1]].end) if around else None,
            concept_spans=spans_of(tokens, [*concept.words, *concept.subject]),
            change=reading.change,
        )
        return quantity, (*amount.how, f"comparator {reading.comparator}", *moved, f"concept {concept.how}")


def _with_bindings(text: ReadText, bindings: Sequence[Binding]) -> Iterator[Read]:
    """Each amount with its unit, its comparator and change, and its concept; p-values keep what they are."""
    before: Amount | None = None
    found: list[Read] = []
    for amount, reading, binding in zip(text.amounts, text.readings, bindings, strict=True):
        if amount.p_value:
            yield amount, reading, Concept(p_value_name(text.tokens, amount.number), P_VALUE)
            continue
        sure = amount.year or _is_sure(text.tokens, amount, reading) or _is_other_side(text.tokens, before, reading)
        if not (binding.quantity or sure):
            before = None
            continue
        before = amount
        own, told = amount, reading._replace(change=binding.change)
        lent = None if binding.unit_of is None else text.amounts[binding.unit_of]
        if lent is not None and not may_share(text.tokens, amount, lent, reading):
            lent = None
        if lent is None and text.parse is not None:  # in queries a bare number is often a price
            lent = of_same_thing(text.tokens, (amount, told, binding.concept), found, text.parse)
        if lent is not None:
            own = replace(own, unit=lent.unit, how=(*own.how, SHARED))
        found.append((own, told, binding.concept))
        yield found[-1]


def _is_sure(tokens: Sequence[Token], amount: Amount, reading: Modifiers) -> bool:
    """Whether an amount is one by its form: "1:1", "256,000", "15-3/4", "≥ 1", "2 x HDMI", "CI 2 to 3"; no code is so.

    A "<" alone is no such form: it opens tags as well.
    """
    number = amount.number
    large = number.scaled and tokens[number.last - 1].kind == "word" and len(tokens[number.last - 1].text) > 1
    times = number.last < len(tokens) and tokens[number.last].text in ("x", "×")
    return (
        large
        or RATIO in amount.how
        or "," in tokens[number.first].text
        or (number.rule == "fraction" and number.value > 1)
        or reading.comparator in (">=", "<=", ">")
        or times
        or in_interval(tokens, number.first)
    )


def _is_other_side(tokens: Sequence[Token], before: Amount | None, reading: Modifiers) -> bool:
    """Whether an amount is what the quantity before it is compared with: "(12.5 [SD 3] vs. 9.3)"."""
    if before is None or reading.first - before.last > _COMPARED:
        return False
    link = [token.low for token in tokens[max(0, reading.first - 2) : reading.first]]
    return link[-1:] in (["vs"], ["versus"]) or link == ["vs", "."]


_COMPARED = 9
"""Tokens between an amount and the one that it is compared with, at most."""


def _by_form(sentence: Sentence, bindings: Sequence[Binding]) -> list[Binding]:
    """The bindings with what the form of the text says of their concepts."""
    concepts = with_labels(sentence, [binding.concept for binding in bindings])
    concepts = with_statistics(sentence, with_parallels(sentence, concepts))
    concepts = with_sources(sentence, with_allocations(sentence, carried(*sentence, concepts)))
    concepts = with_whole_names(sentence, concepts)
    return [replace(binding, concept=concept) for binding, concept in zip(bindings, concepts, strict=True)]


def _restated(text: ReadText, bindings: list[Binding]) -> list[Binding]:
    """The bindings, those of a conversion with the concept of what it converts: "a EUR 160m (USD 213m) credit line"."""
    for k in range(1, len(bindings)):
        a, b = text.amounts[k - 1 : k + 1]
        money = a.unit.family.startswith("currency") and "or" in (t.low for t in text.tokens[a.last : b.first])
        if restates(text.tokens, a, b) and not money:  # "a charge of $2 million, or five cents a share, for closings"
            before = bindings[k - 1]
            bindings[k] = replace(bindings[k], concept=before.concept, change=before.change)
    return bindings


def _bindings_by_words(text: ReadText) -> list[Binding]:
    taken = [False] * len(text.tokens)
    for reading in text.readings:
        taken[reading.first : reading.last] = [True] * (reading.last - reading.first)
    return [
        Binding(_concept_by_words(text.tokens, amount, reading, taken), reading.change)
        for amount, reading in zip(text.amounts, text.readings, strict=True)
    ]


def _concept_by_words(tokens: Sequence[Token], amount: Amount, reading: Modifiers, taken: Sequence[bool]) -> Concept:
    family = amount.unit.family
    counts = family in ("currency", "ratio", "count", "", "ratio difference") or family.startswith("currency")
    words = tuple(find_concept(tokens, reading.first, reading.last, taken, counts=counts))
    return Concept(words, "words around" if words else "none")


def _value_span(tokens: Sequence[Token], amount: Amount) -> tuple[int, int]:
    """The characters of the number, its sign included where it is next to it."""
    first = amount.number.first
    signed = not amount.is_range and amount.low < 0 and first > amount.first and tokens[first - 1].text in "-−–"
    return tokens[first - signed].start, tokens[amount.number.last - 1].end
