"""The gate on (concept, unit) pairs: which of them somebody would ask about, and why the others not.

An index holds what sentences say, and most of it is nothing that anybody searches for: a share of "patients", the
months of an "effective tax rate", the dollars of an "increase". Each reason is counted in the benchmark's card.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import polars as pl

from qbench.errors import InputError
from qbench.generation.languages import generation_package
from qbench.generation.mentions import Mentions
from qbench.generation.options import GenerationOptions
from qbench.generation.pairs import Pair, observed, pair_table, phrase, sane
from qbench.lazy import object_at
from qbench.quantities.concept_match import Concept, concept_stretches, concept_words
from qbench.quantities.english.heads import EMPTY, LASTING, POPULATIONS
from qbench.quantities.english.lexicon import WEAK_WORDS
from qbench.quantities.english.sentences import MEASURES
from qbench.quantities.types import Span
from qbench.randomness import shuffled

TIME = "a time of something that does not last"
CODE = "a bare number of something that is counted, labelled or measured in a unit"
FEW_COUNTED = "a count that is seldom more than a few"
NOT_COUNTED = "a count of something under the name of something else"
PER_SHARE = "an amount per share of what is stated as a whole"
CENTS = "cents of what is stated in whole amounts, whose share or piece is meant"
POPULATION = "a percentage of a population, which does not say a percentage of what"
SHARE_OR_GROWTH = "a percentage of an amount, which may be its growth or its share"
NOTHING = "a concept that says nothing"
DATE = "a date in the concept"
NAME = "a name"
REPEATED = "a word twice, or profit with loss"
WORDLESS = "no word that can be searched for, or too many"
SCATTERED = "words that never stand side by side"
NOUN = "a count of something that is not counted"
MOVED = "a level of a change"
RAN_IN = "a heading that ran into the words after it"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_LASTING = LASTING | _words("up interval window plan option")
"""What a time may be stated of, as the last word of a concept."""

_PEOPLE = POPULATIONS | _words(
    "group arm cohort people student user baseline intervention treatment father worker employee member "
    "customer consumer shareholder stockholder investor holder owner party lender creditor supplier vendor plaintiff"
)
"""Populations, as the last word of a concept: "48% of patients" is about what the 48% did."""

_SCORES = _words(
    "ratio score index risk coefficient rate odds scale factor rank rating multiple size number count probability "
    "p gpa average mean beta elasticity correlation shr employment population circulation attendance headcount "
    "enrollment enrolment"
)
"""What a bare number may be stated of, as the last word of a concept."""

_TOTALS = _words(
    "headcount staff workforce population enrollment enrolment attendance membership circulation payroll employment "
    "crew fleet audience readership ridership sample size number count"
)
"""Names of numbers of people or things: "a staff of 40 employees"."""

_PORTIONS = _words(
    "rate yield margin coupon premium discount interest stake share ratio concession fee commission inflation "
    "unemployment tax return content growth accuracy sensitivity specificity power prevalence incidence efficacy "
    "mortality adherence retention response survival humidity purity efficiency utilization utilisation occupancy "
    "turnout ownership holding capacity tariff duty levy spread probability risk compliance attendance success "
    "failure dropout attrition recovery remission relapse proportion percentage portion weight"
)
"""What a percentage measures, as the last word of a concept."""

_VAGUE = _words(
    "score index scale factor size count number rank rating multiple dose ratio rate risk coefficient credit market "
    "system plan package age aged labour labor pay paying top pretax water heifer steer hog cattle interest charge "
    "obligation commitment service"
)
"""Words that leave open what is measured where no other stands beside them."""

_TAXED = frozenset({("after", "tax"), ("before", "tax")})
"""Nor do these name anything alone: "$31 million after-tax"."""

_FIRST = _words("available outstanding worth due remaining following such certain additional")
"""Words with which no name of a quantity begins: "available for repurchases", "worth of goods"."""

_OF_SOMETHING = _words("benefit gain effect advantage cost payment")
_SUMMED = _words("net total overall aggregate gross other")
"""Of a "net benefit" nobody can tell what it is a benefit of."""
_HOLDING = _words("included including include includes comprised comprising consisted consisting excluded excluding")
"""Words between a whole and its parts: "other net included income" was read across them."""

_CENTS = frozenset({"cent", "penny", "eurocent"})

_POINTING = _words("prior previous preceding last next same such following latter former respective aforesaid said")
"""Words that point to something in the text, which a searcher does not see: "prior-year charge"."""

_PERIODS = _words("year quarter month week period season day")

_EMPTY = EMPTY | _words(
    "mark barrier threshold milestone ceiling "
    "total making control placebo level value mean median average range amount number year month day period "
    "end date company segment additional outstanding certain ci sd se sem iqr n p act rule share stock shares "
    "million billion dollar percent time first second minimum maximum per each plus minus bid qd po iv band "
    "lot lots series qtrly qtly mthly quarterly monthly annual yearly daily weekly priced opening closing target "
    "worth trade trading oper primary diluted reported randomized randomised enrolled included equivalent"
)
"""Words that, last or alone, leave open what a number is about."""

_MOVES = _words(
    "increase decrease decline rise fall drop growth reduction improvement gain jump slide surge higher lower "
    "bigger smaller"
)

_NO_COUNT = _words(
    "group arm point comparison method way part time share unit step case thing type kind item series lot "
    "occasion fold side place event action day week month year quarter hour minute dose mean level degree set "
    "number record stage class band lt ln factor reason issue area purpose goal objective question round example "
    "category phase period variable outcome parameter measure instance respect aspect offer bid option proposal split "
    "strong bolivar crown ago institute drug condition treatment visit session plaintiff country nation state "
    "house module workforce staff head"
)
"""Counted nouns that nobody asks the number of."""

_ANYBODY = frozenset({"people", "person"})
"""Who is counted nobody can tell from such a word alone."""

_STEPS = frozenset({"percentage point", "basis point"})
"""Units of differences: without a word of rise or fall they are effects and fees, which only some concepts have."""

_DATES = _words(
    "january february march april may june july august september october november december jan feb mar apr jun "
    "jul aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday today yesterday "
    "tomorrow"
)

_YEARS = re.compile(r"(?:19|20)?\d\d/\d\d|\d{4}")
_GLUED = re.compile(r"\d+[^\W\d_]{3}|[^\W\d_]{4,}\d|(?:st|nd|rd|th)$")
"""Footnote and page numbers that ran into a word, and the rest of an ordinal that lost its number."""

_RUN_IN = re.compile(r"(?:day|week|month|year)s[a-z]{3}")
"""A heading that ran into what it stands over: "Nine MonthsRevenue rose"."""

_MOSTLY = 0.8
"""Share of a concept's mentions from which on what they have in common counts: capitals make it a name, a place between
an article and its number a word about the number."""

_MANY = 10.0
"""Counts with a smaller median are told in passing ("both houses", "four reasons"), and not searched for."""

_LARGE = 1000.0
"""Bare numbers with a smaller median are codes, pages and group sizes as often as amounts."""

_DEVICES = frozenset({"data", "charge", "frequency", "luminance"})
"""Families of units in which nothing is measured but a device or a part of one."""

_NEAR = 4
"""Words before a number among which its verb stands: "weighs in at just 900 g"."""
_AMOUNT = re.compile(r"[\s:]{0,2}[$€£¥]?\d")
_ARTICLE = re.compile(r"(?<![\w-])an?\s+$")
"""An article, and no letter that names something ("vitamin A content")."""
_CURRENCY = re.compile(r"\s+[^\w\s]?")
"""Between a word and the number right behind it; a colon would make a label of the word."""


@dataclass(frozen=True)
class Gate:
    """Decides on pairs with the mentions of a corpus.

    Attributes:
        mentions: of the index.
        sentences: pair -> number of its sentences.
    """

    mentions: Mentions
    sentences: Mapping[Pair, int]

    def split(self, pairs: Sequence[Pair], *, strict: bool = True) -> tuple[list[Pair], Counter[str]]:
        """The pairs that pass, in their order, and how many did not, by reason.

        Without `strict` all pass whose concept has a word that can be searched for.
        """
        reasons: Counter[str] = Counter()
        passed = []
        for pair in pairs:
            reason = self.reason(pair) if strict else None if self.sane(" ".join(pair.concept)) else WORDLESS
            if reason is None:
                passed.append(pair)
            else:
                reasons[reason] += 1
        return passed, reasons

    def sane(self, concept: str) -> bool:
        """Whether a concept can be searched for."""
        return sane(concept)

    def reason(self, pair: Pair) -> str | None:
        """Why nobody would ask about a pair; None if somebody might."""
        words = concept_words(pair.concept, self.mentions.language)
        unit = self.mentions.family_of(pair.unit)
        return self._of_words(pair, words) or self._of_unit(pair, words, unit) or self._of_texts(pair, words)

    def _of_words(self, pair: Pair, words: Sequence[str]) -> str | None:
        if not words or not self.sane(" ".join(pair.concept)) or any(_GLUED.match(word) for word in words):
            return WORDLESS
        if all(self.mentions.names.is_name(word) for word in pair.concept) and not self._of_a_thing(pair):
            return NAME
        if len(set(words)) < len(words) or {"profit", "loss"} <= set(words):
            return REPEATED
        if any(word in _DATES or _YEARS.fullmatch(word) for word in words):
            return DATE
        if words[-1] in _EMPTY or all(word in _EMPTY | WEAK_WORDS for word in words) or len(words[-1]) < 2:
            return NOTHING
        if (
            not _POINTING.isdisjoint(words)
            or not _HOLDING.isdisjoint(pair.concept)
            or ("current" in words and not _PERIODS.isdisjoint(words))
        ):
            return NOTHING
        if words[0] in _FIRST or "ago" in words or (len(words) == 1 and words[0] in _VAGUE) or words in _TAXED:
            return NOTHING
        if words[-1] in _OF_SOMETHING and _SUMMED.issuperset(words[:-1]):
            return NOTHING
        return MOVED if not _MOVES.isdisjoint(words) else None

    def _of_unit(self, pair: Pair, words: Sequence[str], family: str) -> str | None:
        last = words[-1]
        if family == "time":
            return None if last in _LASTING else TIME
        if pair.unit in _STEPS and not pair.change and last not in _PORTIONS:
            return MOVED
        if family == "count":
            return self._of_count(pair, words)
        if family == "age" and words[-1] == "age" and any(word in _PEOPLE for word in words[:-1]):
            return NOTHING  # "patients (mean age 60 years)" gives "patients mean age"
        if pair.unit.endswith(" per share") and self._is_money(pair):
            return PER_SHARE
        if pair.unit in _CENTS and self._is_money(pair, but=_CENTS):
            return CENTS
        if not pair.unit:
            return self._of_bare(pair, last)
        if family == "currency" and last in _PEOPLE:
            return NOTHING
        if family == "ratio" and not pair.change and last not in _PORTIONS:
            return POPULATION if last in _PEOPLE or self._counts(last) else self._of_share(pair)
        return None

    def _of_count(self, pair: Pair, words: Sequence[str]) -> str | None:
        noun = concept_words(tuple(pair.unit.split()), self.mentions.language)
        strange = any(word in WEAK_WORDS or not word.isalpha() or _RUN_IN.match(word) for word in noun)
        if strange or not noun or not _NO_COUNT.isdisjoint(noun) or self._is_money(pair):
            return NOUN
        if _ANYBODY.issuperset(words):
            return NOTHING
        if self.mentions.given:
            return None
        if tuple(words[-len(noun) :]) != noun and words[-1] not in _TOTALS:
            return NOT_COUNTED  # "type 2 diabetes below 300 patients", "aged below 300 children"
        values = self.mentions.value[observed(self.mentions, (pair.concept,), pair.unit, pair.change)]
        return FEW_COUNTED if not values.size or float(np.median(values)) < _MANY else None

    def _is_money(self, pair: Pair, but: frozenset[str] = frozenset()) -> bool:
        """Whether the corpus states whole amounts of money of what a pair counts (a surplus), or gives per share."""
        return self._sentences_in(pair, lambda family: family == "currency", but) >= self.sentences.get(pair, 0)

    def _sentences_in(self, pair: Pair, families: Callable[[str], bool], but: frozenset[str] = frozenset()) -> int:
        """How many sentences state a pair's concept in other units, of some families, `but` for some."""
        return sum(
            number
            for other, number in self._of_concept.get(pair.concept, ())
            if other.unit != pair.unit and other.unit not in but and families(self.mentions.family_of(other.unit))
        )

    @cached_property
    def _of_concept(self) -> dict[Concept, list[tuple[Pair, int]]]:
        found: dict[Concept, list[tuple[Pair, int]]] = {}
        for pair, number in self.sentences.items():
            found.setdefault(pair.concept, []).append((pair, number))
        return found

    def _of_bare(self, pair: Pair, last: str) -> str | None:
        if last in _SCORES:
            return None
        if last in _PEOPLE or self._counts(last):
            return CODE
        if self._sentences_in(pair, bool) > self.sentences.get(pair, 0):
            return CODE  # "output of 1 million", where others state tonnes
        if not self.mentions.given:
            return CODE  # "copper 11,827" leaves out the tonnes
        values = self.mentions.value[observed(self.mentions, (pair.concept,), pair.unit, pair.change)]
        return CODE if not values.size or float(np.median(np.abs(values))) < _LARGE else None

    def _counts(self, word: str) -> bool:
        """Whether the corpus counts it."""
        return word in self.mentions.counted_nouns

    def _of_share(self, pair: Pair) -> str | None:
        """A percentage of what the corpus states as an amount."""
        amounts = self._sentences_in(pair, lambda family: family in ("", "currency", "count", "mass", "volume"))
        return SHARE_OR_GROWTH if 2 * amounts >= self.sentences.get(pair, 0) else None

    def _of_texts(self, pair: Pair, words: Sequence[str]) -> str | None:
        said = phrase(self.mentions, pair)
        if said is None:
            return SCATTERED
        if any(first == second for first, second in pairwise(said.split())):
            return REPEATED  # "flash storage storage"; "cash and cash equivalents" passes
        rows = observed(self.mentions, (pair.concept,), pair.unit, pair.change)
        stated = [self._stretches(int(row)) for row in rows.tolist()]
        if any(self.mentions.names.ran_together(text[first:last]) for text, spans in stated for first, last in spans):
            return RAN_IN
        numbers = self.mentions.table["value_start"].gather(rows).to_list()
        about = [_qualifies(text, spans, number) for (text, spans), number in zip(stated, numbers, strict=True)]
        if sum(about) >= max(_MOSTLY * len(stated), 1):
            return NOTHING
        named = [_is_title(text, spans) for text, spans in stated]
        return NAME if named and sum(named) >= _MOSTLY * len(named) and not self._of_a_thing(pair) else None

    def _of_a_thing(self, pair: Pair) -> bool:
        """Whether a name is of what is measured: "8 GB RAM", "the Zenbook 13 weighs 1.1 kg"; no maker of 5 tonnes."""
        if self.mentions.family_of(pair.unit) in _DEVICES:
            return True
        rows = observed(self.mentions, (pair.concept,), pair.unit, pair.change).tolist()
        starts = self.mentions.table["value_start"]
        before = (self.mentions.texts[int(self.mentions.doc[row])][: starts[row]] for row in rows)
        return 2 * sum(not MEASURES.isdisjoint(text.lower().split()[-_NEAR:]) for text in before) >= max(len(rows), 1)

    def _stretches(self, row: int) -> tuple[str, list[Span]]:
        """The sentence of a mention, and where the stretches of its concept stand."""
        text = self.mentions.texts[int(self.mentions.doc[row])]
        words, place = self.mentions.table["concept"][row].split(), self.mentions.table["concept_spans"][row].to_list()
        return text, [span for _, span in concept_stretches(tuple(words), place, text)]


def _qualifies(text: str, spans: Sequence[Span], number: int) -> bool:
    """Whether a concept stands between an article and its number: "astounding" of "an astounding $3 million".

    Args:
        text: the sentence.
        spans: stretches of the concept.
        number: where the number begins.
    """
    if len(spans) != 1:
        return False
    first, last = spans[0]
    between = _CURRENCY.fullmatch(text, last, number)
    return text[first:last].islower() and bool(between and _ARTICLE.search(text, max(0, first - 9), first))


def _is_title(text: str, spans: Sequence[Span]) -> bool:
    """Whether every word of a concept is capitalised where it stands, inside a sentence.

    A label that stands right before its number ("Revs 12 mln") is none.
    """
    stated = [text[first:last] for first, last in spans]
    if not stated or any(_AMOUNT.match(text, last) for _, last in spans):
        return False
    parts = [word for part in stated for word in part.split() if word[:1].isalpha() and len(word) > 2]
    inside = all(first > 0 for first, _ in spans) or len(parts) > 1
    return inside and bool(parts) and all(word[0].isupper() and word[1:].islower() for word in parts)


def usable_pairs(mentions: Mentions, options: GenerationOptions) -> tuple[list[Pair], dict[str, int]]:
    """The pairs that get queries, ordered, and how many others there are, by reason.

    Args:
        mentions: of the index.
        options: thresholds, whether the gate is shut, and how many pairs at most.

    Raises:
        InputError: no pair is usable.
    """
    table = pair_table(mentions)
    frequent = table.filter(pl.col("sentences") >= options.min_sentences)
    varied = frequent.filter(pl.col("values") >= 2)
    named = [
        Pair(tuple(concept.split()), unit, change)
        for concept, unit, change in varied.select("concept", "unit", "change").iter_rows()
    ]
    reasons = {"too few sentences": table.height - frequent.height, "one value only": frequent.height - varied.height}
    sentences = {Pair(tuple(c.split()), u, m): n for c, u, m, n in table.drop("values").iter_rows()}
    gate: Gate = object_at(generation_package(mentions.language).GATE)(mentions, sentences)
    passed, refused = gate.split(named, strict=options.gate)
    if not passed:
        most = max(table["sentences"].to_list(), default=0)
        raise InputError(
            f"no usable (concept, unit) pair: of {table.height} pairs, {frequent.height} have at least "
            f"{options.min_sentences} sentences, {varied.height} of these 2 or more distinct values, and none of those "
            f"can be asked about{_list(refused)}",
            remedy=f"The most frequent pair has {most} sentences: give a larger corpus, or a lower --min-sentences",
        )
    passed.sort()
    if options.max_pairs is not None and len(passed) > options.max_pairs:
        passed = sorted(shuffled(passed, options.seed, "pairs", str)[: options.max_pairs])
    return passed, {reason: number for reason, number in (reasons | dict(sorted(refused.items()))).items() if number}


def _list(refused: Mapping[str, int]) -> str:
    return f" ({'; '.join(f'{reason}: {number}' for reason, number in sorted(refused.items()))})" if refused else ""
