"""Lists and parallel clauses: the words of a sentence that belong to one of its mentions, and to no other.

"Revenue and profit were 5 and 8" distributes its subject; in "5 % at sea and 3 % in the mountains" the words after
"and" are about the next mention.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from qbench.quantities.english.change_words import MOVES, TURNS
from qbench.quantities.english.parse import Parse
from qbench.quantities.english.respectively import Dealt, dealt, dealt_unsaid
from qbench.quantities.english.tokens import Token
from qbench.quantities.types import Quantity, Span

LISTED = 12
"""Maximum number of tokens between two mentions of a list."""
REACH = 60
"""Maximum number of tokens between two mentions of one kind that each have words of their own."""
LISTING = frozenset({",", "and", "or", "vs", "versus", "compared", "against"})
_STOPS = frozenset({";", ":", ".", "(", ")"})
_NEXT = frozenset({",", ";", ":", "and", "or", "but", "while", "whereas", "versus", "vs", "compared", "against"})
"""Words after which the text may be about the next mention."""
_SMALL = frozenset({"and", "or", ",", "(", ")", "[", "]", "to", "from", "about", "approximately", "the", "a", "&"})
"""Words in a list whose mentions share the text behind it: "5 % (2) and 7 % (3) of sales"."""
_LINK = 5
"""Maximum number of tokens from a mention back to the small word that links it."""
_APPROXIMATE = frozenset(
    "about around nearly almost roughly some approximately a an the with to between record its".split()
)
"""Words allowed between both."""
_ENDS = frozenset({"to", "from", "at"})
COUNTED = ("count", "")
"""Families of units that are nouns of the text, and so part of the description: "10,000 employees"."""


class Parallels:
    """The lists of mentions of one sentence.

    Args:
        tokens: of the sentence.
        mentions: the quantities.
        spans: token range of each, unit included.
        parse: of the tokens.
    """

    def __init__(
        self, tokens: Sequence[Token], mentions: Sequence[Quantity], spans: Sequence[Span], parse: Parse
    ) -> None:
        self._tokens, self._mentions, self._spans, self._parse = tokens, mentions, spans, parse
        self._owned = {k for first, last in spans for k in range(first, last)}
        self._before: dict[int, int] = {}
        latest: dict[str, int] = {}
        for n, mention in enumerate(mentions):
            kind = self._kind(mention)
            if kind in latest and spans[n][0] - spans[latest[kind]][1] <= REACH:
                self._before[n] = latest[kind]
            latest[kind] = n
        self._after = {m: n for n, m in self._before.items()}

    @staticmethod
    def _kind(mention: Quantity) -> str:
        """Mentions of one kind may be parallel.

        "2,000 in France" counts what "10,000 people" counts, and years may be of age: "aged 5 years, then 6 years".
        """
        if mention.family in COUNTED:
            return ""
        return "time" if mention.family in ("time", "age") else mention.base_unit

    def listed(self, n: int) -> bool:
        """Whether mention n continues a list with the one before: "70 % in one group and 30 % in the other"."""
        if not n:
            return False
        before, mention = self._mentions[n - 1 : n + 1]
        gap = range(self._spans[n - 1][1], self._spans[n][0])
        same = before.base_unit == mention.base_unit or {before.family, mention.family} == {"time", "age"}
        alike = same or self.elided(n)
        if not alike or len(gap) > LISTED:
            return False
        lows = [self._tokens[k].low for k in gap]
        verbs = any(self._parse.tags[k] in ("VBD", "VBZ", "VBP") for k in gap)
        return not verbs and not _STOPS.intersection(lows) and bool(LISTING.intersection(lows))

    def elided(self, n: int) -> bool:
        """Whether mention n omits the counted noun of the one before: "10,000 people here, 2,000 there"."""
        before, mention = self._mentions[n - 1 : n + 1] if n else (None, None)
        if before is None or mention is None or before.family != "count":
            return False
        return not mention.family or (mention.unit == before.unit and mention.unit_span is None)

    def first_of_list(self, n: int) -> int:
        """The first mention of the list that mention n stands in."""
        while n and self.listed(n):
            n -= 1
        return n

    def restates(self, n: int) -> bool:
        """Whether mention n repeats the one before in brackets: "45 (37.5 %)"."""
        (first, last), end = self._spans[n], self._spans[n - 1][1] if n else -1
        if not n or first != end + 1 or last >= len(self._tokens) or first == last:
            return False
        return self._tokens[end].text in "([" and self._tokens[last].text in ")]"

    def link(self, n: int, words: frozenset[str], described: Sequence[int]) -> list[int]:
        """The small word before mention n, as a list of one token or none.

        Args:
            n: the mention.
            words: the small words.
            described: tokens of the mention's description, which may be between: "vs loss 13 cts".
        """
        start, own_words = self._spans[n][0], {self._tokens[k].low for k in described}
        for k in range(start - 1, max(-1, start - 1 - _LINK), -1):
            token = self._tokens[k]
            if token.low in words and k not in self._owned:
                return [k]
            if token.low not in own_words and token.low not in _APPROXIMATE:
                break
        return []

    def reaches(self, n: int, verb: int) -> bool:
        """Whether mention n is the start or end of a movement, and not its size: "rose 5 % to 10 from 9.5"."""
        low = self._tokens[verb].low
        return (low in MOVES or low in TURNS) and bool(self.link(n, _ENDS, ()))

    def has_parallel(self, n: int) -> bool:
        """Whether the sentence has another mention of the kind of mention n."""
        return n in self._before or n in self._after

    def foreign(self, n: int) -> tuple[range, range]:
        """The ranges of tokens that belong to the mentions of its kind before and after mention n."""
        behind = ahead = range(0)
        if (m := self._before.get(n)) is not None and not self._shares_tail(m, n):
            behind = range(self._spans[m][1], self._edge(m, n, first=True))
        if (m := self._after.get(n)) is not None and not self._shares_tail(n, m):
            ahead = range(self._edge(n, m, first=False), len(self._tokens))
        return behind, ahead

    def _edge(self, m: int, n: int, *, first: bool) -> int:
        """The first or last position behind mention m at which the text of mention n may begin.

        If there is none, no word is withheld from either mention.
        """
        places = range(self._spans[m][1], self._spans[n][0])
        edges = [k for k in places if k not in self._owned and self._tokens[k].low in _NEXT]
        if places and self._tokens[places[-1]].low in _ENDS:
            edges.append(places[-1])  # "from 5 kg at birth to 8 kg in May"
        if not edges:
            return self._spans[m][1] if first else self._spans[n][0]
        return edges[0] if first else edges[-1]

    def _shares_tail(self, m: int, n: int) -> bool:
        gap = range(self._spans[m][1], self._spans[n][0])
        return all(k in self._owned or self._tokens[k].low in _SMALL for k in gap)

    def dealt(self, stated: Sequence[int], apart: Iterable[int]) -> list[Dealt]:
        """The lists that are distributed over lists of mentions, by "respectively" or by their number alone.

        Args:
            stated: mentions that state a fact: "nine months ended June 30" is no member of a list of amounts.
            apart: mentions that something else distinguishes, such as their years; only "respectively" assigns more
                to them.
        """
        deals = [
            replace(deal, group=tuple(stated[n] for n in deal.group))
            for deal in dealt(self._tokens, [self._spans[n] for n in stated], self._parse)
        ]
        done = {n for deal in deals for n in deal.group} | set(apart)
        for group in self._runs():
            if not done.intersection(group):
                deal = dealt_unsaid(self._tokens, self._spans, self._parse, group)
                deals += [] if deal is None else [deal]
        return deals

    def _runs(self) -> list[list[int]]:
        """Runs of two or more mentions of one kind with nothing but list words between."""
        runs: list[list[int]] = [[0]] if self._mentions else []
        for m, n in pairwise(range(len(self._mentions))):
            gap = self._tokens[self._spans[m][1] : self._spans[n][0]]
            alike = self._mentions[m].base_unit == self._mentions[n].base_unit
            if alike and gap and all(t.low in (",", "and") for t in gap):
                runs[-1].append(n)
            else:
                runs.append([n])
        return [run for run in runs if len(run) > 1]
