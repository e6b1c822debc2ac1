"""Rewrite templated test queries in natural language by a chat model (*Numbers Matter* C.1, C.2), and check them.

A rewritten text replaces the templated one only if qbench's query parser extracts the same comparators, values, units
and words of the concept from it. Otherwise the query keeps its templated text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from qbench.benchmark.types import Query
from qbench.errors import OptionError
from qbench.generation.candidates import (
    INSTRUCTION,
    LANGUAGE,
    SCRIPT,
    SIGNS,
    TOO_LONG,
    in_script_of,
    strange,
)
from qbench.generation.languages import AnswerRules, answer_rules
from qbench.generation.options import TEST_KINDS, TestKind
from qbench.llm.asking import AnswerCounts, Asking, ask_until, forecast
from qbench.llm.chat_answers import texts_of
from qbench.llm.client import Estimate
from qbench.llm.prompts import Slots
from qbench.progress import Progress, silent
from qbench.quantities.concept_match import concept_alternatives
from qbench.quantities.conditions import equal
from qbench.quantities.extractors import Extractor
from qbench.quantities.languages import ENGLISH
from qbench.quantities.types import Condition, ParsedQuery

MAX_LETTERS = 300
REWRITTEN = "rewritten"
"""Suffix of the template's name in a rewritten query."""

UNREAD = "not asked: the templated text itself reads differently"
SAME = "says the same words"
REPEATED = "repeats another query"
ADDED = "brings in a number"
CONDITIONS = "another number of conditions"
UNIT = "another unit"
COMPARATOR = "another comparator"
VALUE = "another value"
CONCEPT = "the concept's words are gone"
NAMED = "names the concept that the query goes around"
TURNED = "denies, blurs or multiplies what is asked"
SWAPPED = "the concepts changed places"

_NUMBER = re.compile(r"\d+")
_GROUPED = re.compile(r"(?<=\d),(?=\d{3})")


@dataclass(frozen=True)
class Rewriting:
    """Options of rewriting.

    Attributes:
        asking: the model, the recording, the budget.
        kinds: kinds of test queries to rewrite.
    """

    asking: Asking
    kinds: tuple[TestKind, ...] = ("wo_surface",)

    def __post_init__(self) -> None:
        for kind in self.kinds:
            if kind not in TEST_KINDS:
                raise OptionError("unknown kind of query", value=kind, remedy=f"Known: {', '.join(TEST_KINDS)}")

    @property
    def key(self) -> dict[str, Any]:
        """The options for digests and cards."""
        return {**self.asking.key, "kinds": list(self.kinds), "allow_missing": self.asking.allow_missing}


@dataclass(frozen=True)
class Rewriter:
    """Rewrites the queries of one benchmark.

    Attributes:
        rewriting: options of rewriting.
        extractor: the parser of queries.
        is_word: returns whether a word belongs to the corpus' language.
        language: its code.
    """

    rewriting: Rewriting
    extractor: Extractor
    is_word: Callable[[str], bool]
    language: str = ENGLISH

    def rewrite(self, queries: Sequence[Query], progress: Progress = silent) -> tuple[list[Query], dict[str, Any]]:
        """The queries in the same order, some of them rewritten, and counts of answers and rejections.

        Raises:
            ServerError, InputError, BudgetError: as in `qbench.llm.asking.ask_until`; all answers are recorded.
        """
        indices, unread = self.to_rewrite(queries)
        rejected = Counter({UNREAD: unread})
        texts_used = {query.text.lower() for query in queries}
        # Index of a query -> its first valid rewriting.
        rewritten: dict[int, Query] = {}

        def accept(i: int, answer: Any, attempt: int) -> bool:
            query = queries[indices[i]]
            texts, problems = texts_of(answer, self.rewriting.asking.server.prompt.answer)
            text = " ".join(texts[0].split()).strip('"“”') if texts else ""
            reason = problems[0][1] if problems else self.problem(query, text)
            if reason is None and text.lower() in texts_used:
                reason = REPEATED
            if reason is not None:
                rejected[reason] += 1
                return False
            texts_used.add(text.lower())
            rewritten[indices[i]] = self.phrased(query, text)
            return True

        answers = ask_until(self.rewriting.asking, [self.slots(queries[i]) for i in indices], accept, progress)
        texts = [rewritten.get(i, query) for i, query in enumerate(queries)]
        return texts, _report(len(indices), rewritten, answers, rejected)

    def forecast(self, queries: Sequence[Query]) -> Estimate:
        """Forecast the calls of `rewrite` that are not recorded yet."""
        indices, _ = self.to_rewrite(queries)
        return forecast(self.rewriting.asking, [self.slots(queries[i]) for i in indices])

    def to_rewrite(self, queries: Sequence[Query]) -> tuple[list[int], int]:
        """Indices of the queries to rewrite, and the number of queries whose templated text parses differently."""
        chosen = [i for i, q in enumerate(queries) if q.split == "test" and q.kind in self.rewriting.kinds]
        read = [i for i in chosen if self.lost(queries[i], queries[i].text) is None]
        return read, len(chosen) - len(read)

    def slots(self, query: Query) -> Slots:
        """Slots of the prompt: the query, and the words that must be kept."""
        glued = [f"{c.value_text}{c.unit_text}" for c in query.conditions]
        spaced = [f"{c.value_text} {c.unit_text}".strip() for c in query.conditions]
        amounts = [whole if whole in query.text else apart for whole, apart in zip(glued, spaced, strict=True)]
        return {"query": query.text, "keep": "; ".join([query.terms, *amounts])}

    def parsed(self, text: str) -> ParsedQuery:
        """Parse a query's text."""
        return self.extractor.parse_query(text)

    def problem(self, query: Query, text: str) -> str | None:
        """Reason to reject a text as a rewriting of a query; None if it is valid."""
        return next(self._problems(query, text), None)

    def phrased(self, query: Query, text: str) -> Query:
        """The query with a text that `problem` accepts."""
        parsed = self.parsed(text)
        matched = matching(query.conditions, parsed.conditions)
        return replace(
            query,
            text=text,
            terms=parsed.terms,
            conditions=tuple(
                replace(old, value_text=new.value_text, unit_text=new.unit_text)
                for old, new in zip(query.conditions, matched, strict=True)
                if new is not None
            ),
            template=f"{query.template}, {REWRITTEN}",
        )

    def _problems(self, query: Query, text: str) -> Iterator[str]:
        rules = self._rules
        if len(text) > MAX_LETTERS or len(rules.words(text)) > rules.MOST_OF_QUERY:
            yield TOO_LONG
        if text.lower() == query.text.lower():
            yield SAME
        if strange(text):
            yield SIGNS
        if rules.of_task(text):
            yield INSTRUCTION
        if not in_script_of(text, query.text, rules.SCRIPTS):
            yield SCRIPT
        if not rules.of_language(text, self.is_word):
            yield LANGUAGE
        if _numbers(text) - _numbers(query.text):
            yield ADDED
        if rules.turned(text, query.text, {condition.comparator for condition in query.conditions}):
            yield TURNED
        reason = self.lost(query, text)
        if reason is not None:
            yield reason

    def lost(self, query: Query, text: str) -> str | None:
        """First element of a query that a text lacks, as it is parsed; None if all are there."""
        return lost(query, text, self.parsed(text), self.language)

    @property
    def _rules(self) -> AnswerRules:
        return answer_rules(self.language)


def lost(query: Query, text: str, parsed: ParsedQuery, language: str = ENGLISH) -> str | None:
    """First element of a query that is missing from a parsed text; None if all are present."""
    content_words = answer_rules(language).content_words
    if len(parsed.conditions) != len(query.conditions):
        return CONDITIONS
    for old, new in zip(query.conditions, matching(query.conditions, parsed.conditions), strict=True):
        if new is None:
            return UNIT
        if new.comparator != old.comparator:
            return COMPARATOR
        if not (equal(new.base_value, old.base_value) and equal(new.base_high, old.base_high)):
            return VALUE
    own, words = content_words(query.terms), content_words(parsed.terms)
    if not own <= words or not _repeats_shared_words(query, parsed.terms, content_words):
        return CONCEPT
    around = {word for c in query.conditions for name in concept_alternatives(c.concept) for word in name}
    if query.kind in ("expansion", "wo_surface") and (words - own) & content_words(" ".join(around)):
        return NAMED
    return SWAPPED if _swapped(query, text) else None


def matching(wanted: Sequence[Condition], read: Sequence[Condition]) -> list[Condition | None]:
    """For each condition the first unmatched parsed condition in its unit; None without one."""
    remaining, matches = list(read), []
    for condition in wanted:
        match = next((candidate for candidate in remaining if candidate.unit == condition.unit), None)
        if match is not None:
            remaining.remove(match)
        matches.append(match)
    return matches


def _repeats_shared_words(query: Query, terms: str, content_words: Callable[[str], frozenset[str]]) -> bool:
    """Whether a word shared by several constraints occurs as often: "net loss and loss per share"."""
    if len(query.conditions) < 2:
        return True
    wanted = Counter(word for c in query.conditions for word in content_words(" ".join(c.concept)))
    return Counter(word for term in terms.split() for word in content_words(term)) >= wanted


def _swapped(query: Query, text: str) -> bool:
    """Whether two concepts of one unit changed places while their values, which are matched in order, did not."""
    for a, b in combinations(query.conditions, 2):
        if a.unit == b.unit:
            # Both texts name their concepts by words that the other concept does not have.
            first, second = (
                [word for word in own.concept if word not in other.concept] for own, other in ((a, b), (b, a))
            )
            orders = [_position(each, first) < _position(each, second) for each in (query.text.lower(), text.lower())]
            if first and second and orders[0] != orders[1]:
                return True
    return False


def _position(text: str, words: Sequence[str]) -> int:
    return min((at for word in words if (at := text.find(word)) >= 0), default=len(text))


def _numbers(text: str) -> set[str]:
    """Runs of digits; 4,000 and 4000 are the same."""
    return set(_NUMBER.findall(_GROUPED.sub("", text)))


def _report(number: int, rewritten: dict[int, Query], answers: AnswerCounts, rejected: Counter[str]) -> dict[str, Any]:
    return {
        "asked about": number,
        "rewritten": len(rewritten),
        **answers.counts,
        "rejected": dict(sorted((+rejected).items())),
    }
