"""What a query's conditions are about, in the query's search words, whole as they stand.

A query has few words and hardly a sentence, so that a condition's place says what it is about: the words right before
it, else those that follow it, else what the query asks for, its opening words.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from qbench.quantities.english.ages import PEOPLE
from qbench.quantities.english.lexicon import CHANGE_NOUNS, CHANGE_VERBS, VERBS
from qbench.quantities.english.query_attributes import (
    CAPACITIES,
    DIMENSIONS,
    LEADING,
    MEASURED,
    PARTS,
    families,
    has_family,
)
from qbench.quantities.english.query_conditions import ReadCondition
from qbench.quantities.english.query_text import SearchWord
from qbench.quantities.types import Span
from qbench.quantities.units import Units

RANKED = frozenset("top best worst first last biggest largest highest lowest".split())
"""Words before a number of results wanted, which asks nothing of a quantity: "top 10 films"."""
LIMITS = frozenset("max min maximum minimum wider narrower".split())
"""Words of a limit, which are no part of what is limited."""
IDLE = frozenset("equivalent away bigger smaller larger higher lower newer older around return returns".split())
"""Words that name nothing: "60w equivalent 800 lumens"."""
MOVES = CHANGE_VERBS - CHANGE_NOUNS - frozenset(("gain", "raise", "raises"))
"""Verbs that say which way something went, and not what: "profit fell by more than 10%"."""
AGES = frozenset(("ages", "aged"))
MOST_WORDS = 5
LONGEST_LEAD = 20
"""Characters in which the word before a condition is looked for."""
NOUNS_IN_ING = frozenset(
    "rating ranking spending earning building housing saving reading opening closing holding listing landing heading "
    "morning evening king ring spring string wing thing ceiling shipping lighting processing clothing training funding "
    "boxing swimming cycling running wedding lodging parking hearing banking painting recording pricing sling bring "
    "standing stocking sibling topping helping filing offering borrowing lending".split()
)
"""Words in -ing that name a thing as often as what it does."""
NO_PARTICIPLES = frozenset("speed seed feed need breed weed bed red led shed sled med fed bleed steed reed".split())
JOINERS = re.compile(r"(?:(?:of|in|for|on|per|to|from|by)(?: the| a| an)?)?", re.IGNORECASE)
"""What may stand between the words of one concept: "cost of sales", "flights to rome"."""
RELATIVE = frozenset(("that", "which", "who"))
_RELATIVE = re.compile(r"\b(?:that|which|who)\b", re.IGNORECASE)
HAVING = frozenset("with w/ having has have had".split())
_ALIKE = 50
"""Two bare numbers of one thing are at most so many times as large as one another."""
_PARTS = re.compile(r"[,;:!?|]")
_IN_A = re.compile(r"\bin an?\s$", re.IGNORECASE)

LENDINGS = frozenset(("loan", "mortgage"))
"""Measured words that are what a query asks for: "loan of 20000 over 5 years"."""

Chunk = list[int]
"""Positions of search words that stand together."""


class Concepts:
    """Finds the concepts of a query's conditions.

    Args:
        text: of the query.
        words: its search words, in order.
        conditions: its conditions, in order; the `concept_spans` of each are the words right after it that name what
            there is so much of.
        units: the known units.
    """

    def __init__(
        self, text: str, words: Sequence[SearchWord], conditions: Sequence[ReadCondition], units: Units
    ) -> None:
        self._text = text
        self._words = words
        self._conditions = conditions
        self._units = units
        self._spans = [_extent(each) for each in conditions]
        related = _RELATIVE.search(text)
        self._related = len(text) if related is None else related.start()
        units_of = [each.unit_span for each in conditions if each.unit_span is not None]
        # Words stand in order: those that a span meets are found by bisection, as a text may have thousands.
        self._starts, self._ends = [word.start for word in words], [word.end for word in words]
        self._taken = set(self._within(units_of))
        self._free = [k for k in range(len(words)) if k not in self._taken]
        self._free_starts = [self._starts[k] for k in self._free]
        self._own = [
            self._grown(k, self._within(each.concept_spans)) or self._inside(k) for k, each in enumerate(conditions)
        ]
        for k in range(len(conditions)):
            if not self._own[k] and self._is_with(k):
                self._own[k] = self._named(k)

    def all(self) -> list[tuple[str, ...]]:
        """The words of each condition's concept, in small letters; () where nothing says what it is about."""
        found: list[Chunk] = []
        for k in range(len(self._conditions)):
            found.append(self._without_change(self._of(k, found)) if self._conditions[k].change else self._of(k, found))
        for k in range(len(found) - 1, 0, -1):
            if not found[k - 1] and self._same_unit(k - 1, k):
                found[k - 1] = found[k]  # "not less than 5 but not more than 9 kg turkey"
        return [tuple(_folded(self._words[n].text) for n in chunk) for chunk in found]

    def _without_change(self, chunk: Chunk) -> Chunk:
        """Without the words for a rise or fall, which the condition says by itself: "decrease in profit of 10%"."""
        rest = [n for n in chunk if self._words[n].text.lower() not in CHANGE_VERBS | CHANGE_NOUNS - {"growth"}]
        return rest or chunk

    def _of(self, k: int, before: Sequence[Chunk]) -> Chunk:
        """The concept of condition k, those before it being known."""
        if (person := self._person(k)) is not None:
            return [person]
        own, left = self._own[k], self._left(k)
        if own and self._is_with(k):
            return own
        if left or own:
            return [*left, *(n for n in own if n not in left)]
        if k == 0:
            return self._right(k)
        if self._same_unit(k - 1, k):
            return self._opening() or list(before[k - 1]) if self._own[k - 1] else list(before[k - 1])
        named = [] if self._is_cap(k) else self._named(k)
        if not named and self._conditions[k].unit.endswith(" of age"):
            if _IN_A.search(self._text, max(0, self._spans[k][0] - 6), self._spans[k][0]):
                return []  # "fever over 39 in a 2 year old"
        claimed = k + 1 < len(self._spans) and named == self._left(k + 1)  # it leads to the next condition
        return self._opening() or list(before[0]) if claimed or not named else named

    def _person(self, k: int) -> int | None:
        """The word right after an age for who is that old: "height of 3 year old boy 95 cm"."""
        n = bisect_left(self._starts, self._spans[k][1])
        if not self._conditions[k].unit.endswith(" of age") or n >= len(self._words):
            return None
        near = self._gap(self._spans[k][1], self._starts[n]) == ""
        return n if near and self._words[n].text.lower() in PEOPLE else None

    def _same_unit(self, a: int, b: int) -> bool:
        if not self._conditions[a].unit and self._word_before(a) in CAPACITIES:
            return False  # "sleeps 6 under 150 a night"
        low, high = sorted(abs(self._conditions[k].low) for k in (a, b))
        if not self._conditions[a].unit and low and high / low > _ALIKE:
            return False  # "ira limit 7000 over 50"
        return len({self._units.get(self._conditions[k].unit).base_unit for k in (a, b)}) == 1

    def _is_with(self, k: int) -> bool:
        """Whether condition k says what something has: "blender with at least 1000w motor"."""
        return self._word_before(k) in HAVING

    def _word_before(self, k: int) -> str:
        """The word before condition k, if it is one of the short ones that rules name; of a long word, its end."""
        start = self._spans[k][0]
        return "".join(self._text[max(0, start - LONGEST_LEAD) : start].lower().split()[-1:])

    def _counts(self, k: int) -> bool:
        """Whether condition k counts what its unit names."""
        return bool(self._conditions[k].unit) and self._units.get(self._conditions[k].unit).family == "count"

    def _named(self, k: int) -> Chunk:
        """The words right after condition k: "15 inch screen"."""
        right = self._right(k)
        if not right or self._gap(self._spans[k][1], self._words[right[0]].start).lower() not in ("", "in", "of"):
            return []
        if self._words[right[0]].text.lower() in DIMENSIONS or self._counts(k):
            return []
        if any(self._has(k, n) is False for n in right):
            return []  # "1400 rpm energy class a"
        return right

    def _opening(self) -> Chunk:
        """What the query asks for: its first words, or those after its first condition."""
        chunks = self._chunks(self._between(0, self._spans[0][0]))
        things = [chunk for chunk in chunks if not all(self._is_verb(n) for n in chunk)]
        opening = self._trimmed((things or chunks)[0]) if chunks else self._right(0)
        while len(opening) > 1 and (self._is_measure(opening[-1]) or self._is_named_by(0, opening[-1])):
            opening = opening[:-1]  # of "van range over 200 miles below $30k" the van has the price
        return opening

    def _is_named_by(self, k: int, n: int) -> bool:
        """Whether word n right before condition k is what has its amount, and no thing of that length."""
        word = self._words[n].text.lower()
        return self._gap(self._ends[n], self._spans[k][0]) == "" and self._has(k, n) is True and word not in PARTS

    def _is_measure(self, n: int) -> bool:
        word = self._words[n].text.lower()
        return (word in MEASURED and word not in LENDINGS) or word in LEADING or len(word) == 1

    def _left(self, k: int) -> Chunk:
        """The words that lead to condition k, after the one before it."""
        start, stop = (self._spans[k - 1][1] if k else 0), self._spans[k][0]
        taken = set(self._own[k - 1]) if k else set[int]()
        chunks = self._chunks([n for n in self._between(start, stop) if n not in taken])
        if k and chunks and self._gap(start, self._words[chunks[0][0]].start) == "":
            # "60 cm wide, no more than 500 euros"
            chunks[0] = [n for n in chunks[0] if self._words[n].text.lower() not in DIMENSIONS]
            if self._conditions[k - 1].unit.endswith(" of age"):  # "10 year old boy under 20 pounds"
                chunks[0] = [n for n in chunks[0] if self._words[n].text.lower() not in PEOPLE]
        chunks = [c for c in (c if c and self._has(k, c[-1]) else self._trimmed(c) for c in chunks) if c]
        if chunks and self._units.get(self._conditions[k].unit).family == "age":  # "between the ages of 18 and 65"
            telling = [c for c in chunks if any(self._words[n].text.lower() not in AGES for n in c)]
            chunks = telling if k else telling or chunks
        if not chunks or (k and _PARTS.search(self._text[self._words[chunks[-1][-1]].end : stop])):
            return []
        nearest = chunks[-1]
        if k and self._is_price(k, nearest):
            return []
        if "/" in self._words[nearest[-1]].text:
            return nearest[-1:]  # "stocks p/e under 15"
        if all(self._is_verb(n) for n in nearest):  # "bonds that mature in", "500 workers lasting over 2 weeks"
            subject = chunks[-2] if len(chunks) > 1 else self._opening() if k else []
            while len(subject) > 1 and self._is_verb(subject[-1]):
                subject = subject[:-1]
            nearest = [*(n for n in subject if n not in nearest), *nearest]
        return nearest[-MOST_WORDS:]

    def _is_price(self, k: int, chunk: Chunk) -> bool:
        """Whether an amount of money after another kind of amount is the price of what the query asks for.

        The words before it are a property, "3 bedrooms pool up to 350000 euros", unless they name money.
        """
        kinds = [self._units.get(self._conditions[j].unit).family.startswith("currency") for j in (k - 1, k)]
        return kinds == [False, True] and bool(self._opening()) and not any(self._has(k, n) for n in chunk)

    def _is_cap(self, k: int) -> bool:
        """Whether condition k is a price at most, behind which stand places: "acres of land under 100k wales"."""
        condition, right = self._conditions[k], self._named(k)
        kind = self._units.get(condition.unit).family
        priced = condition.comparator in ("<", "<=") and (not kind or kind.startswith("currency"))
        return priced and bool(right) and not any(self._has(k, n) for n in right)

    def _right(self, k: int) -> Chunk:
        """The words that follow condition k, before the next one."""
        stop = self._spans[k + 1][0] if k + 1 < len(self._spans) else len(self._text)
        chunks = self._chunks(self._between(self._spans[k][1], stop))
        chunks = [chunk for chunk in map(self._trimmed, chunks) if chunk]
        if chunks and len(chunks[0]) > 1 and k + 1 < len(self._spans) and self._has(k + 1, chunks[0][-1]):
            parted = self._gap(self._ends[chunks[0][-2]], self._starts[chunks[0][-1]]) != ""
            if (parted or self._conditions[k + 1].plain) and not self._gap(self._ends[chunks[0][-1]], stop):
                return chunks[0][:-1]  # "24 weeks pregnant bp 150/95", "3 beds for rent up to 900"
        return chunks[0][:MOST_WORDS] if chunks else []

    def _trimmed(self, chunk: Chunk) -> Chunk:
        """Without ranks before it and words of a limit or a change after it; [] if what is left names nothing."""
        while chunk and self._words[chunk[0]].text.lower() in RANKED:
            chunk = chunk[1:]
        while chunk and self._words[chunk[-1]].text.lower() in (LIMITS | MOVES if len(chunk) > 1 else LIMITS):
            if [self._words[n].text.lower() for n in chunk[-2:]] == ["follow", "up"]:
                break
            chunk = chunk[:-1]
        return [] if all(self._words[n].text.lower() in IDLE for n in chunk) else chunk

    def _is_verb(self, n: int) -> bool:
        word = self._words[n].text.lower()
        if word in VERBS or word in CHANGE_VERBS or self._is_said(n):
            return True
        participle = word.endswith("ing") and word not in NOUNS_IN_ING
        return len(word) > 4 and (participle or (word.endswith("ed") and word not in NO_PARTICIPLES))

    def _is_said(self, n: int) -> bool:
        """Whether a word is what is said of the thing before it: "animals that live more than 100 years"."""
        start = self._starts[n]
        gap = self._gap(self._ends[n - 1], start).lower() if n else ""
        if gap in RELATIVE:
            return True
        near = self._text[max(0, start - LONGEST_LEAD) : start].lower().split()[-1:]
        return near == ["and"] and self._related < start  # "dogs that weigh under 10 kg and live over 15 years"

    def _chunks(self, positions: Sequence[int]) -> list[Chunk]:
        """The runs of words that stand side by side, or with a preposition that joins them."""
        chunks: list[Chunk] = []
        for n in positions:
            if chunks and chunks[-1][-1] == n - 1 and self._joined(n - 1, n):
                chunks[-1].append(n)
            else:
                chunks.append([n])
        return chunks

    def _joined(self, a: int, b: int) -> bool:
        gap = self._text[self._words[a].end : self._words[b].start]
        return len(gap) < 10 and JOINERS.fullmatch(gap.strip(" '’")) is not None

    def _between(self, start: int, stop: int) -> list[int]:
        return self._free[bisect_left(self._free_starts, start) : bisect_left(self._free_starts, stop)]

    def _within(self, spans: Sequence[Span]) -> Chunk:
        found: set[int] = set()
        for start, end in spans:
            found.update(range(bisect_right(self._ends, start), bisect_left(self._starts, end)))
        return sorted(found)

    def _grown(self, k: int, chunk: Chunk) -> Chunk:
        """With the words that go on with it: "4tb external hard drive", but not "25 days holiday salary 35k"."""
        while chunk and len(chunk) < MOST_WORDS and chunk[-1] + 1 < len(self._words):
            if self._gap(self._words[chunk[-1]].end, self._words[chunk[-1] + 1].start) or self._is_whole(k, chunk):
                break
            chunk = [*chunk, chunk[-1] + 1]
        return chunk

    def _is_whole(self, k: int, chunk: Chunk) -> bool:
        """Whether a chunk ends before a word that has another amount than condition k, a limit or a code."""
        after = self._words[chunk[-1] + 1].text.lower()
        leads = k + 1 < len(self._spans) and self._gap(self._ends[chunk[-1] + 1], self._spans[k + 1][0]) == ""
        if leads and self._has(k, chunk[-1]):
            return True  # "20 cm blade hrc 60+"
        if after in LEADING and k + 1 < len(self._spans) and self._has(k + 1, chunk[-1] + 1):
            return self._gap(self._ends[chunk[-1] + 1], self._spans[k + 1][0]) == ""  # "25% share deposit 5%"
        return self._has(k, chunk[-1] + 1) is False or after in LIMITS or after[0].isdecimal()

    def _has(self, k: int, n: int) -> bool | None:
        """Whether word n has amounts of the kind of condition k; None for a word of which nothing is known."""
        has = families(self._words[n].text.lower())
        return None if has is None else has_family(has, self._units.get(self._conditions[k].unit).family)

    def _inside(self, k: int) -> Chunk:
        """The words between the parts of condition k: "above magnitude 6", "a bigger battery than 5 Ah"."""
        inside = self._within([(self._spans[k][0], self._conditions[k].value_span[0])])
        return [n for n in inside if n not in self._taken]

    def _gap(self, start: int, end: int) -> str:
        return self._text[start:end].strip()


def _extent(condition: ReadCondition) -> Span:
    """The characters from the first to the last of a condition."""
    spans = [*condition.used, condition.value_span, *([condition.unit_span] if condition.unit_span else [])]
    return min(start for start, _ in spans), max(end for _, end in spans)


def _folded(word: str) -> str:
    return word.lower().removesuffix("'s").removesuffix("’s")
