"""The phrases that bound a number, made from a small grammar: a comparative, what may stand before it, and its forms.

`before(...)` and `after(...)` find the longest phrase that ends, or begins, at a token: one look into a dict by the
nearest word, and almost always no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from qbench.quantities.english.tokens import Token
from qbench.quantities.types import MentionComparator

Phrase = tuple[str, ...]

MORE = (
    "more greater larger higher bigger longer older taller heavier faster farther further wider deeper later better "
    "stronger louder thicker richer quicker hotter warmer costlier pricier newer dearer brighter "
    "harder steeper denser tougher wetter fatter saltier sweeter spicier"
).split()
LESS = (
    "less fewer smaller lower shorter younger lighter cheaper earlier slower thinner colder cooler narrower worse "
    "weaker nearer sooner closer quieter softer fainter dimmer slimmer leaner shallower flatter drier milder poorer"
).split()
"""Comparatives of "than", of "or ..." and of "and ..."."""
SWIFT = frozenset(("faster", "quicker", "slower"))
"""Comparatives that turn round with a length of time: what is faster than 10 seconds takes less."""
DEARER = "expensive costly pricey powerful massive distant".split()
CHEAPER = "affordable economical".split()
"""Adjectives of "more ... than" and "less ... than"."""

INCLUSIVE: dict[str, MentionComparator] = {">": ">=", "<": "<=", ">=": ">=", "<=": "<=", "~": "~", "=": "="}

_OVER = (
    "over|over -|above|above -|exceeding|exceed|exceeds|exceeded|in excess of|upwards of|upward of|"
    "beyond|north of|>|& gt ;|topped|topping|surpass|surpasses|surpassed|surpassing|outpacing|outpaced|outpaces|"
    "climbed past|climbs past|"
    "soared past|"
    "rose past|surged past|jumped past|grew past|went past|may top|might top|could top|would top|will top|should top|"
    "can top|to top"
)
_UNDER = "below|below -|under|under -|beneath|underneath|south of|shy of|short of|inferior to|<|& lt ;"
_BEFORE: dict[MentionComparator, str] = {
    ">": _OVER + "|superior to|over than|after|past|post|post -",
    "<": _UNDER + "|before|sub|sub -|prior to|pre|pre -",
    ">=": "at least|at the least|easily|floor of|a floor of|at the very least|minimum of|a minimum of|"
    "at a minimum|a minimum|minimum|min|min .|"
    "a min of|min of|minimum :|min :|min . :|starting at|starting from|since|≥|⩾|≧|> =|"
    "= >|> / =|> or =|> and =|as little as|as few as|as early as|as soon as|from at least|"
    "atleast|as low as|as cheap as|"
    "priced from|prices from|fares from|rates from|starts from|start from|starts at|start at|begins at|available from|"
    "cost from|costs from|costing from|retails from|retailing from",
    "<=": "at most|at the most|at the very most|maximum of|a maximum of|at a maximum|a maximum|maximum|max|max .|"
    "a max of|max of|maximum :|max :|max . :|up to|upto|up to and including|up to a maximum of|as much as|as many as|"
    "as high as|as late as|atmost|≤|⩽|≦|< =|= <|< / =|< or =|< and =|until|till|capped at|"
    "limited to|not to exceed|within|"
    "upgradable to|upgradeable to|expandable to|extendable to|"
    "extensible to|ceiling of|a ceiling of|cap of|a cap of|within a radius of|"
    "tops out at|topping out at|maxes out at|maxing out at",
    "~": "about|around|approximately|approx|approx .|approximate|nearly|almost|roughly|close to|near to|near|"
    "closer to|circa|ca|ca .|c .|an estimated|estimated|an approximate|some|~|∼|≈|≃|≅|"
    "more or less|something like|somewhere around|somewhere near|in the region of|in the neighborhood of|"
    "in the neighbourhood of|in the vicinity of|on the order of|in the order of|of the order of|nearing|approaching|"
    "verging on|bordering on|virtually|practically|round about|roundabout|barely|scarcely|hardly|give or take|"
    "not far from|not far off|maybe|perhaps|possibly|best part of|the best part of|better part of|the better part of",
}  # fmt: skip
_AFTER: dict[MentionComparator, str] = {
    ">=": "or above|or over|or beyond|or up|or upwards|or so and above|and above|and over|and up|"
    "and upwards|and upward|"
    "and beyond|or onwards|and onwards|onwards|upwards|minimum|at least|at a minimum|"
    "at the least|at minimum|plus|- plus|"
    "or after",
    "<=": "or below|or under|or beneath|and below|and under|maximum|max|at most|at the most|"
    "at a maximum|at maximum|tops|at best|"
    "or before",
    "~": "or so|or thereabouts|or thereabout|ish|- ish|- odd|odd|give or take|more or less|"
    "approximately|approx|or around",
}
DATE_ONLY = frozenset(
    tuple(p.split())
    for p in "after|before|since|until|till|past|prior to|as early as|as late as|post|post -|pre|pre -".split("|")
)
"""Of the phrases before a number, those that bound a calendar year and nothing else."""
DEGREES = frozenset(
    "just well slightly far much significantly considerably substantially somewhat marginally comfortably way long "
    "only even still strictly already".split()
)
"""Adverbs before a phrase that leave its sense alone: "just under", "well over"."""
NEGATIONS = frozenset(
    "not no never nor cannot can't cannot don't doesn't didn't won't mustn't isn't aren't wasn't weren't shouldn't "
    "couldn't needn't without dont "
    "doesnt didnt wont cant shouldnt couldnt".split()
)


def _phrases_before() -> dict[Phrase, MentionComparator]:
    table: dict[Phrase, MentionComparator] = {}
    for comparator, phrases in _BEFORE.items():
        for phrase in phrases.split("|"):
            table[tuple(phrase.split())] = comparator
    sides: tuple[tuple[MentionComparator, Sequence[str], str], ...] = ((">", MORE, _OVER), ("<", LESS, _UNDER))
    for strict, words, prepositions in sides:
        inclusive = INCLUSIVE[strict]
        for word in words:
            table[word, "than"] = table[word, "then"] = strict
            # "greater than or equal to", "greater or equal to", "equal to or greater than", "≥ or more"
            for tail in ("or equal to", "or equals", "or equals to", "or equal", "or equal than", "or exactly"):
                table[word, "than", *tail.split()] = table[word, *tail.split()] = inclusive
            for lead in ("equal to", "equal", "equals", "at"):
                table[*lead.split(), "or", word, "than"] = inclusive
        for adjective in DEARER + CHEAPER:
            degree = "more" if (adjective in DEARER) == (strict == ">") else "less"
            table[degree, adjective, "than"] = strict
        for preposition in prepositions.split("|"):
            for lead in ("at", "equal to", "equal", "close to", "meet", "meets", "near", "on"):
                table[*lead.split(), "or", *preposition.split()] = inclusive
            for tail in ("or equal to", "or equal", "or at"):
                table[*preposition.split(), *tail.split()] = inclusive
    return table


def _phrases_after() -> dict[Phrase, MentionComparator]:
    table = {tuple(p.split()): comparator for comparator, phrases in _AFTER.items() for p in phrases.split("|")}
    for strict, words in ((">", MORE), ("<", LESS)):
        for word in words:
            table["or", word] = table["and", word] = INCLUSIVE[strict]
    return table


class _Table:
    """Phrases to be looked up from one end: the longest wins, and most words end or begin none."""

    def __init__(self, phrases: dict[Phrase, MentionComparator], at: int) -> None:
        self._phrases = phrases
        lengths: dict[str, set[int]] = {}
        for phrase in phrases:
            lengths.setdefault(phrase[at], set()).add(len(phrase))
        self.lengths = {word: sorted(sizes, reverse=True) for word, sizes in lengths.items()}

    def get(self, tokens: Sequence[Token]) -> tuple[MentionComparator, Phrase] | None:
        """The comparator that just these tokens say."""
        phrase = tuple(t.low for t in tokens)
        comparator = self._phrases.get(phrase)
        return None if comparator is None else (comparator, phrase)


_BEFORE_TABLE = _Table(_phrases_before(), -1)
_AFTER_TABLE = _Table(_phrases_after(), 0)


def comparative(word: str) -> Literal[">", "<"] | None:
    """Which side a comparative stands for: "longer" is more."""
    return ">" if word in MORE else "<" if word in LESS else None


def before(tokens: Sequence[Token], end: int) -> tuple[MentionComparator, int, Phrase] | None:
    """The phrase whose last token is end - 1: its comparator, its first token, and the phrase."""
    if not end:
        return None
    for length in _BEFORE_TABLE.lengths.get(tokens[end - 1].low, ()):
        if length <= end and (entry := _BEFORE_TABLE.get(tokens[end - length : end])):
            if length == 1 and end > 1 and tokens[end - 2].text == "/":
                continue  # "12 l/min 10 year warranty"
            return entry[0], end - length, entry[1]
    return None


def after(tokens: Sequence[Token], first: int) -> tuple[MentionComparator, int, Phrase] | None:
    """The phrase whose first token is `first`: its comparator, the token after it, and the phrase."""
    if first >= len(tokens):
        return None
    for length in _AFTER_TABLE.lengths.get(tokens[first].low, ()):
        if first + length <= len(tokens) and (entry := _AFTER_TABLE.get(tokens[first : first + length])):
            return entry[0], first + length, entry[1]
    return None


def chained(tokens: Sequence[Token], first: int) -> tuple[MentionComparator, int] | None:
    """What the mark behind the first amount of "1 kg < weight <= 5 kg" says of it, and the token after the mark."""
    end = _sign(tokens, first)
    if end is None:
        return None
    k, turned = end, _TURNED[tokens[first].text]
    while k < len(tokens) and k - end < _CHAINED and tokens[k].kind == "word":
        k += 1
    second = _sign(tokens, k)
    if k == end or second is None or _TURNED[tokens[k].text][0] != turned[0]:
        return None
    second += second < len(tokens) and tokens[second].text in "$€£"
    if second >= len(tokens) or tokens[second].kind != "number":
        return None
    return (INCLUSIVE[turned] if end - first > 1 else turned), end


def _sign(tokens: Sequence[Token], k: int) -> int | None:
    """The token after a "<" or "<=" at token k; None for no such mark."""
    if k >= len(tokens) or tokens[k].text not in _TURNED:
        return None
    return k + 2 if k + 1 < len(tokens) and tokens[k + 1].text == "=" else k + 1


_TURNED: dict[str, MentionComparator] = {
    "<": ">",
    "≤": ">=",
    "⩽": ">=",
    "≦": ">=",
    ">": "<",
    "≥": "<=",
    "⩾": "<=",
    "≧": "<=",
}


_CHAINED = 4
"""Words between the marks of a chained inequality at most."""

RISES_TO = frozenset(
    "back add adds adding added went goes going gone moved pushed bumped brought shot jumped ran bringing catch "
    "caught stand stands stood lead leading led own owned come came coming grew rounded rounding tick ticks "
    "ticked edge edges edged creep creeps crept inched sent bid drove drives rose climbed step steps stepped "
    "stepping top topping it scale scaled scaling ramp ramped upgrade upgraded".split()
)
"""Words before "up to" that make it a direction."""
