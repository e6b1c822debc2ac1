"""Names of statistics: which figure of a sentence "CI", "SD", "OR" or "n" belongs to.

Abstracts of trials pack an estimate, its spread and a test into brackets: "odds ratio 0.5 (95% CI 0.3 to 0.9; n = 80)".
The name right before a figure says what that figure is, and says nothing of others; a spread or an interval measures
what its estimate does. "Mean (SD) age was 45 (12) years" names both figures before either.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence, Set
from itertools import pairwise
from typing import NamedTuple

from qbench.quantities.english.binder.features import Sentence
from qbench.quantities.english.concepts import Concept, MentionTokens
from qbench.quantities.english.parse import Parse
from qbench.quantities.english.tokens import Token, glued

SPREADS = frozenset("CI CIs CrI SD SDs SE SEM SEs IQR range".split())
"""Names of how far around an estimate values, or the estimate itself, lie."""
LONG_SPREADS = frozenset(
    {
        ("confidence", "interval"),
        ("credible", "interval"),
        ("interquartile", "range"),
        ("standard", "deviation"),
        ("standard", "error"),
    }
)
ESTIMATES = frozenset("OR ORs AOR aOR HR HRs aHR AHR RR RRs aRR IRR aIRR SMD WMD MD ICC AUC ES".split())
LONG_ESTIMATES = frozenset(
    {("hazard", "ratio"), ("odds", "ratio"), ("risk", "ratio"), ("rate", "ratio"), ("relative", "risk")}
)
LETTERS = frozenset("n N r R b B d t z".split())
"""Names of one letter, which are such between a sign and a bare number alone."""
P_VALUES = frozenset({"p", "P"})
LOCATIONS = frozenset("mean means median medians average".split())
"""Estimates of which a text says in brackets which spread it gives: "mean (SD)"."""
LONG_LOCATIONS = frozenset("ratio ratios difference".split())
LONGEST_HEADER = 8
"""Tokens in the brackets of "median [interquartile range (IQR)]" at most."""

MOST = 12
"""Mentions that share the name of the first of them, at most."""
NEAREST = 10
"""Tokens between a figure that names nothing but a statistic and the one that says what was measured, at most."""

_SIGNS = frozenset("= : < > ≤ ≥ ~ ≈ ( [ ,".split())
_OPENS, _CLOSES = "([", ")]"
_BETWEEN = frozenset("( [ , ; ± % 90 95 99 per cent".split())
"""What may stand between an estimate and the name of its spread."""
_BETWEEN_NAMES = _BETWEEN - {"±"} | {"and"}
"""What may stand between the names of an estimate and of its spread."""
_LINKS = frozenset(", and or / vs versus .".split())


class _Header(NamedTuple):
    """ "Mean (SD)": the tokens that name the spread, and the one that names the estimate and is not of its spread."""

    spread: tuple[int, ...]
    estimate: tuple[int, ...] = ()


def with_statistics(sentence: Sentence, concepts: Sequence[Concept]) -> list[Concept]:
    """The concepts of a text's mentions, each with the name of its own statistic and without those of others."""
    return _Named(*sentence).concepts(concepts)


class _Named:
    """The mentions of a text with the names that stand right before them."""

    def __init__(self, tokens: Sequence[Token], mentions: Sequence[MentionTokens], parse: Parse) -> None:
        self._tokens, self._mentions, self._parse = tokens, mentions, parse
        self._names = _dealt_out(tokens, mentions, [_name(tokens, mention) for mention in mentions])
        self._owners: dict[int, int] = {}
        for n, name in enumerate(self._names):
            self._owners.update((k, n) for k in name)
            if name and name[-1] + 1 < len(tokens) and tokens[name[-1] + 1].kind == "number":
                if glued(tokens[name[-1]], tokens[name[-1] + 1]):
                    self._owners[name[-1] + 1] = n  # "CI95%"

    def concepts(self, concepts: Sequence[Concept]) -> list[Concept]:
        """See `with_statistics`."""
        found: list[Concept] = []
        for n, concept in enumerate(concepts):
            others = self._of_others(n, concept)
            estimate = self._estimate(n)
            if estimate is not None:
                concept = found[estimate]
                others = self._of_others(n, concept) - {*self._names[estimate]}
            own = () if self._is(n, P_VALUES) else self._names[n]
            emptied = concept.words and others.issuperset([*concept.words, *concept.subject])
            if emptied and not self._names[n] and (near := self._nearest(n)) is not None:
                concept = found[near]
                others = {*self._names[near]}
            found.append(_changed(concept, without=others, named=own))
        for n, header in self._in_brackets():
            found[n] = _changed(found[n], without={*header.spread}, named=header.estimate)
            located = {k for k in header.estimate if self._tokens[k].low in LOCATIONS}
            found[n + 1] = _changed(found[n], without=located, named=header.spread)
        return found

    def _is(self, n: int, names: Set[str]) -> bool:
        return len(self._names[n]) == 1 and self._tokens[self._names[n][0]].text in names

    def _is_spread(self, n: int) -> bool:
        return (len(self._names[n]) > 1 or self._is(n, SPREADS)) and not self._is_estimate(n)

    def _is_estimate(self, n: int) -> bool:
        words = tuple(self._tokens[k].low for k in self._names[n])
        return self._is(n, ESTIMATES) or words in LONG_ESTIMATES

    def _of_others(self, n: int, concept: Concept) -> set[int]:
        """The words of a concept that name other mentions, but for a name that mention n shares."""
        named = ((k, self._owners[k]) for k in (*concept.words, *concept.subject) if k in self._owners)
        return {k for k, m in named if m != n and not self._shares(m, n)}

    def _shares(self, m: int, n: int) -> bool:
        """Whether mention n has the name of mention m, too: "n = 86 vs 86", "AUC 0.7 (SD 0.1) vs 0.6"."""
        if not m < n <= m + MOST:
            return False
        if self._is_estimate(m):
            return self._mentions[m].family == self._mentions[n].family and not self._names[n]
        return all(self._linked(k) for k in range(m, n))

    def _linked(self, n: int) -> bool:
        """Whether nothing but a link stands between mention n and the next one."""
        gap = self._tokens[self._mentions[n].last : self._mentions[n + 1].first]
        return len(gap) < LONGEST_HEADER and all(token.low in _LINKS for token in gap)

    def _estimate(self, n: int) -> int | None:
        """The mention whose spread mention n is by its name, p-values between the two passed over."""
        if not n or not self._names[n] or not self._is_spread(n):
            return None
        spread = self._mentions[n].family
        while n and self._names[n] and self._follows(n):
            n -= 1
            if not self._is(n, P_VALUES):
                families = {spread, self._mentions[n].family} - {""}
                return n if len(families) < 2 else None  # no spread is in kilometres of a mean in hours
        return None

    def _nearest(self, n: int) -> int | None:
        """The mention before mention n in its sentence, p-values passed over, that is near enough to say what n is."""
        near = n - 1
        while near >= 0 and self._is(near, P_VALUES):
            near -= 1
        gap = self._tokens[self._mentions[near].last : self._mentions[n].first] if near >= 0 else ()
        near_enough = len(gap) <= NEAREST and not any(token.text in ".!?" for token in gap)
        return near if near >= 0 and near_enough else None

    def _follows(self, n: int) -> bool:
        """Whether nothing but marks and a level stands between the mention before mention n and the name of n."""
        gap = self._tokens[self._mentions[n - 1].last : self._names[n][0]]
        return all(token.text in _BETWEEN for token in gap)

    def _in_brackets(self) -> Iterator[tuple[int, _Header]]:
        """Mentions followed by their spread in brackets, by their index, with what named such a spread before."""
        tokens = self._tokens
        headers = [header for k in range(len(tokens)) if (header := _header(tokens, k)) is not None]
        # "4 kg (95% CI 2 to 6) and 5 kg (3 to 8)": the second interval is named as the first one
        headers += [_Header(name) for n, name in enumerate(self._names) if name and self._is_spread(n)]
        headers.sort()
        ends = [header.spread[-1] for header in headers]
        families: dict[_Header, str] = {}
        for n, (mention, spread) in enumerate(pairwise(self._mentions)):
            named = self._names[n] and not self._is_estimate(n)
            if named or self._names[n + 1] or not _fills_brackets(tokens, mention.last, spread):
                continue
            numbers = sum(token.kind == "number" for token in tokens[spread.first : spread.last])
            at = bisect_left(ends, mention.first) - 1
            if at >= 0 and self._together(headers[at].spread[-1], mention.number):
                family = families.setdefault(headers[at], mention.family)
                alike = spread.family in ("", family) and mention.family == family
                if alike and numbers == _ends(tokens, headers[at].spread):
                    yield n, headers[at]
            elif numbers > 1 and (mention.family == spread.family or self._names[n]):
                yield n, _Header(())

    def _together(self, a: int, b: int) -> bool:
        """Whether two tokens are of one sentence."""
        return self._parse.stretches[a] == self._parse.stretches[b]


def _dealt_out(
    tokens: Sequence[Token], mentions: Sequence[MentionTokens], names: Sequence[tuple[int, ...]]
) -> list[tuple[int, ...]]:
    """The names of mentions, two that stand before two figures dealt out: "(HR; 95% CI: 1.2; 0.9 to 1.5)"."""
    found = list(names)
    for n, (mention, spread) in enumerate(pairwise(mentions)):
        if not names[n] or names[n + 1]:
            continue
        k = names[n][0]
        while k and tokens[k - 1].text in _BETWEEN_NAMES:
            k -= 1
        estimate = _estimate_before(tokens, k) if k < names[n][0] else ()
        numbers = sum(token.kind == "number" for token in tokens[spread.first : spread.last])
        gap = tokens[mention.last : spread.first]
        if estimate and numbers == _ends(tokens, names[n]) and all(token.text in _BETWEEN for token in gap):
            found[n], found[n + 1] = estimate, names[n]
    return found


def _estimate_before(tokens: Sequence[Token], k: int) -> tuple[int, ...]:
    """The name of an estimate that ends right before token k; () for none."""
    if k > 1 and (tokens[k - 2].low, tokens[k - 1].low) in LONG_ESTIMATES:
        return (k - 2, k - 1)
    return (k - 1,) if k and (tokens[k - 1].text in ESTIMATES or tokens[k - 1].low in LOCATIONS) else ()


def _changed(concept: Concept, *, without: Set[int], named: Sequence[int]) -> Concept:
    """A concept without some words, and with its name; one that is as it should be stays as it is."""
    lacks = named and not {*named} <= {*concept.words, *concept.subject}
    if not lacks and without.isdisjoint(concept.words) and without.isdisjoint(concept.subject):
        return concept
    words = {k for k in concept.words if k not in without}
    subject = tuple(k for k in concept.subject if k not in without)
    if not words:
        words, subject = {*subject}, ()
    words |= {k for k in named if k not in subject}
    return Concept(tuple(sorted(words)), concept.how, subject)


def _name(tokens: Sequence[Token], mention: MentionTokens) -> tuple[int, ...]:
    """The tokens of the name right before a mention; () for none."""
    k, signs = mention.first - 1, ""
    while k >= 0 and tokens[k].text in _SIGNS and len(signs) < 3:
        signs += tokens[k].text
        k -= 1
    if k > 1 and tokens[k].text == "%" and tokens[k - 1].kind == "number":
        k -= 2  # "CI 95%: 1.2"
    k -= k > 0 and tokens[k].text == "." and tokens[k - 1].text == "I"
    if k < 0 or tokens[k].kind != "word":
        return ()
    if [token.text for token in tokens[max(0, k - 2) : k + 1]] == ["C", ".", "I"]:
        return (k - 2, k - 1, k)
    word, before = tokens[k].text, tokens[k - 1] if k else None
    signed = not {*"=<>:"}.isdisjoint(signs)
    opens = before is not None and before.text in ("(", "[", ",", ";")
    pair = (before.low, tokens[k].low) if before is not None else ("", "")
    if pair in LONG_SPREADS:
        return (k - 1, k)
    if word == "range":  # "(range, 20-40)"; what ranges is none
        return (k,) if opens and signs else ()
    if word in SPREADS:  # "95% CI 2", "(SD 3)"; not "the iPhone SE 64 GB", nor "mean ± SD, 4.5 ± 1.9"
        leads = opens or signed or (before is not None and (before.text == "%" or before.kind == "number"))
        return (k,) if leads and before is not None and before.text != "±" else ()
    bare = not mention.family
    if word in ESTIMATES:
        return (k,) if not {*_OPENS} & {*signs} and (signed or (opens and bare)) else ()
    if word in P_VALUES or word in LETTERS:
        return (k,) if bare and not {*"=<>"}.isdisjoint(signs) else ()
    return (k - 1, k) if pair in LONG_ESTIMATES and not {*_OPENS} & {*signs} else ()


def _ends(tokens: Sequence[Token], spread: Sequence[int]) -> int:
    """How many numbers give a spread: two for an interval."""
    return 2 if any(tokens[k].low in _INTERVALS for k in spread) else 1


_INTERVALS = frozenset("ci cis cri iqr range interval".split())


def _fills_brackets(tokens: Sequence[Token], k: int, mention: MentionTokens) -> bool:
    """Whether a mention alone fills the brackets that open at token k."""
    if k >= len(tokens) or tokens[k].text not in _OPENS or mention.last >= len(tokens):
        return False
    gap = tokens[k + 1 : mention.first]
    return tokens[mention.last].text in _CLOSES and all(token.text in "±+/-" for token in gap)


def _header(tokens: Sequence[Token], k: int) -> _Header | None:
    """The header whose brackets open right after token k."""
    if k + 2 >= len(tokens) or tokens[k + 1].text not in _OPENS:
        return None
    if tokens[k].low not in LOCATIONS and tokens[k].text not in ESTIMATES and tokens[k].low not in LONG_LOCATIONS:
        return None
    spread: list[int] = []
    for j in range(k + 2, min(len(tokens), k + 2 + LONGEST_HEADER)):
        if tokens[j].text in SPREADS or tokens[j].low in _LONG_WORDS:
            spread.append(j)
        elif tokens[j].text in _CLOSES and (j + 1 == len(tokens) or tokens[j + 1].text not in _CLOSES):
            own = _estimate_before(tokens, k + 1)
            return _Header(tuple(spread), own) if spread else None
        elif tokens[j].text not in _IN_HEADER:
            return None
    return None


_LONG_WORDS = frozenset(word for pair in LONG_SPREADS for word in pair)
_IN_HEADER = frozenset("± + / - ( ) [ ] % 90 95 99 ,".split())
