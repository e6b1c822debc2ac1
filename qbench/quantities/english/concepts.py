"""What a quantity is about, read off the parse: the noun phrase that it measures, and the subject that has it.

*Numbers Matter* section 3.1 takes concepts from the dependency parse of CQE; these are our own rules for the same
purpose. A concept is a phrase ("net worth", "tax on imported vehicles") and, where another word has it, its subject.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from qbench.quantities.english.lexicon import FUNCTION_WORDS
from qbench.quantities.english.noun_phrases import HEADWARD, NOUN_TAGS, NounPhrases
from qbench.quantities.english.parse import Parse
from qbench.quantities.english.repairs import repaired
from qbench.quantities.english.respectively import Dealt, dealt
from qbench.quantities.english.tokens import HYPHENS, Token, glued
from qbench.quantities.types import Change

SUBJECTS = ("nsubj", "nsubj:pass", "nsubj:outer", "csubj")
OBJECTS = ("obj", "iobj")
RELATIVE = frozenset("last past next previous coming".split())
"""Words before a stretch of time that count it from now."""
OWNERS = frozenset({"with", "of", "in", "by", "at", "from", "for"})
"""Prepositions behind whose noun stands what has it: "brothers with a net worth of $1.8bn", "pay for a 5 % stake"."""
SPENDING = frozenset("spend spends spending spent splashed lavished wasted save saves saving saved".split())
COMPLEMENT_CASES = frozenset({"off", "on", "for"})
NEAR = 15
"""Tokens to look at on either side where the parse leads nowhere."""
_EMPTY_RELATIONS = frozenset({"case", "punct", "advmod", "det", "mark", "cc"})
LISTED = 4
"""Tokens between two mentions of a list at most."""
DEPENDENT_CLAUSES = frozenset({"ccomp", "conj"})
CONTROLLED = frozenset({"xcomp", "ccomp", "advmod"})
"""Relations of clauses whose subject may be the object of the clause above."""
LABELLED = 5
"""Words of the label of a figure at most."""
_VERSUS = frozenset({"vs", "versus"})
CLIMBS = 12
"""Steps from a mention towards the root of its sentence."""


@dataclass(frozen=True, slots=True)
class MentionTokens:
    """A mention in its sentence: tokens first..last-1, comparator and unit included.

    Attributes:
        first, last: the range of its tokens.
        number: the first token of its number.
        family: of its unit; "" for a bare number.
        change: "up" or "down" where the rules take it for the size of a change, else "".
    """

    first: int
    last: int
    number: int
    family: str = ""
    change: Change = ""

    @property
    def count(self) -> bool:
        """Whether it counts things."""
        return self.family == "count"

    @property
    def time(self) -> bool:
        """Whether it is a length of time."""
        return self.family == "time"

    @property
    def money(self) -> bool:
        """Whether it is an amount of money."""
        return self.family.startswith("currency")


@dataclass(frozen=True, slots=True)
class Concept:
    """Indexes of the tokens that name what a mention is about, and the rule.

    Attributes:
        words: what is measured ("net worth"), or the subject where nothing else is named.
        subject: who or what has it, where `words` say what is measured.
        how: name of the rule.
    """

    words: tuple[int, ...]
    how: str
    subject: tuple[int, ...] = ()


NONE = Concept((), "none")
PRONOUN = -1


def find_concepts(tokens: Sequence[Token], mentions: Sequence[MentionTokens], parse: Parse) -> list[Concept]:
    """The concept of each mention; one without words where nothing names it."""
    spans = [(mention.first, mention.last) for mention in mentions]
    finder = _Finder(tokens, mentions, repaired(tokens, spans, parse))
    concepts = [finder.concept(n) for n in range(len(mentions))]
    for deal in dealt(tokens, spans, parse):
        for n, concept in zip(deal.group, finder.dealt_out(deal, [concepts[n] for n in deal.group]), strict=True):
            concepts[n] = concept
    return concepts


def concepts_of(deal: Dealt, tokens: Sequence[Token], mentions: Sequence[MentionTokens], parse: Parse) -> list[Concept]:
    """The concepts of the mentions of a list that stands before them; see `find_concepts`."""
    spans = [(mention.first, mention.last) for mention in mentions]
    return _Finder(tokens, mentions, repaired(tokens, spans, parse)).dealt_out(deal, [NONE] * len(deal.group))


class _Finder:
    def __init__(self, tokens: Sequence[Token], mentions: Sequence[MentionTokens], parse: Parse) -> None:
        self.tokens, self.mentions, self.parse = tokens, mentions, parse
        self._nouns = NounPhrases(tokens, [(mention.first, mention.last) for mention in mentions], parse)
        self._done: dict[int, Concept] = {}

    def concept(self, n: int) -> Concept:
        """The concept of mention n; that of an equal mention before it ("190 points, or 0.6 %") is its own too."""
        if n not in self._done:
            self._done[n] = NONE  # a mention that is reached again while it is worked on has none
            self._done[n] = self._find(n)
        return self._done[n]

    def dealt_out(self, deal: Dealt, separate: Sequence[Concept]) -> list[Concept]:
        """The concepts of the mentions of a list, each from its own item and the words shared by all.

        Args:
            deal: the items of the list and the mentions they belong to.
            separate: the concept of each mention, as if there were no list.
        """
        listed = deal.words()
        shared = [k for k in self._shared(deal) if k not in listed] if deal.before else []
        concepts = []
        for concept, item, lent in zip(separate, deal.items, deal.lent, strict=True):
            leading = shared if deal.before else [k for k in concept.words if k not in listed]
            subject = () if deal.before else tuple(k for k in concept.subject if k not in listed)
            concepts.append(Concept((*leading, *item, *lent, *deal.tail), "respectively", subject))
        return concepts

    def _shared(self, deal: Dealt) -> list[int]:
        """What a list before its mentions hangs on: "sales in Japan and India", "rents differed in Rome and Pisa"."""
        start = deal.items[0][0]
        for item in deal.items:
            outer = item[-1]
            for _ in range(CLIMBS):
                if self.parse.relations[outer] not in ("conj", *HEADWARD):
                    break
                outer = self.parse.heads[outer]
            head = self.parse.heads[outer]
            if head < start and self.parse.relations[outer] == "nmod" and self._nouns.names(head):
                if self._nouns.case(outer) != "between":
                    return [k for k in self._nouns.phrase(head) if k < start]
            elif self.parse.relations[outer] not in ("nmod", "obl") or head > start:
                continue
            subject = next((s for k, *_ in self._upwards(head) if (s := self._own_subject(k)) is not None), PRONOUN)
            if subject != PRONOUN and subject < start:
                return [k for k in self._nouns.phrase(subject) if k < start]
        return self._before_list(start)

    def _before_list(self, start: int) -> list[int]:
        """The noun of "sales in the north, the south", by tags: where the list led the parser astray."""
        k = start - 1
        while k > 0 and self.parse.tags[k] in ("DT", "PRP$", "PDT"):
            k -= 1
        noun = k - 1
        if noun < 0 or self.parse.tags[k] != "IN" or not self._nouns.names(noun):
            return []
        return [m for m in self._nouns.phrase(noun) if m < k]

    def _find(self, n: int) -> Concept:
        mention, at = self.mentions[n], self._anchor(n)
        if self._one_of(mention) or self._dates(mention):
            return NONE
        if label := self._label(n):
            return Concept(label, "of its label")
        if label := self._abbreviation(mention.first):
            return Concept(label, "of its abbreviation")
        below = self._complement(n)
        if (noun := self._modified(n)) is not None:
            # "a 25 % tax on imported cars": a parser may hang the cars on the percentage
            return self._climb(n, at, (noun,) if below is None or below < noun else (noun, below), "of its noun")
        if below is not None:
            if self.parse.relations[at] in ("appos", "parataxis"):
                return self._concept_of((below,), None, "of what")
            return self._climb(n, at, (below,), "of what")
        if n and [t.text for t in self.tokens[max(0, mention.first - 2) : mention.first]] == [",", "or"]:
            return self.concept(n - 1)  # "60 % of its market cap, or $30 billion"
        if (before := self._bracketed(mention)) is not None:
            other = self._nouns.owner[before]
            return self._concept_of((before,), None, "before the bracket") if other == -1 else self.concept(other)
        return self._climb(n, at, (), "")

    def _climb(self, n: int, at: int, things: tuple[int, ...], how: str) -> Concept:
        """Climb from a mention to the root for the noun it measures, unless `things` has it, and for its subject."""
        for k, head, relation in self._upwards(at):
            if (done := self._with_subject(n, k, head, relation, things, how)) is not None:
                return done
            other = self._nouns.owner[head]
            if other not in (-1, n):
                if not things and not self._noun_between(other, n):
                    return self.concept(other)
                if things and relation == "conj" and self._nouns.case(things[0]) == "of":
                    # "5 kg of flour and 2 litres of milk": both are had by one subject
                    return self._had(things, how, self.concept(other).subject)
                break
            if self._nouns.names(head) and head != k:
                if relation in SUBJECTS:
                    break
                if not things and relation not in ("conj", "parataxis", "list"):
                    things, how = (self._first_of_chain(at, head),), "of its noun"
            elif not things and k == at and (noun := self._paid_for(n, k)) is not None:
                things, how = (noun,), "of what is paid for"
            elif not things and k == at and (noun := self._object_of(n, k)) is not None:
                return self._concept_of((noun,), None, "of the object")
            if things and relation in (*SUBJECTS, "appos", "parataxis", "dep"):
                break
        if things:
            return self._concept_of(things, None, how)
        if n and self._listed(n - 1, n):
            return self.concept(n - 1)
        return (
            NONE if self.parse.relations[at] in SUBJECTS else self._concept_of(self._nearest(n), None, "nearest noun")
        )

    def _with_subject(
        self, n: int, k: int, head: int, relation: str, things: tuple[int, ...], how: str
    ) -> Concept | None:
        """The concept, if token k or its head gives the subject of the mention; None to continue upwards."""
        if not things and self._said_of_counted(k, n):
            return Concept((k,), "of the predicate")
        subject = self._own_subject(k)
        if subject is not None:
            return self._concept_of(things, None if subject == PRONOUN else subject, how)
        if (mention := self._subject_mention(k, n)) is not None:
            if not things:
                own = self.concept(mention)
                return own if own.words else Concept(self._holder(mention), "of the subject")
            return self._had(things, how, self._holder(mention))
        if relation in CONTROLLED and (noun := self._object(head, k)) is not None and head < noun < k:
            return self._concept_of(things, noun, how)  # "could cause sea levels to rise 11 feet"
        if head == k or not self._nouns.names(head):
            return None
        if relation.startswith("acl"):  # "men aged 25"
            return self._concept_of(things, head if not things or relation == "acl:relcl" else None, how)
        if things and head not in things and relation == "nmod" and self._nouns.case(k) in OWNERS:
            return self._concept_of(
                things, head, how
            )  # "brothers with a net worth of $1.8bn", "the purchase of a 5 % stake"
        return None

    def _said_of_counted(self, k: int, n: int) -> bool:
        """Whether token k is said, for a time, of what another mention counts: "two were ill for a day"."""
        if not self.mentions[n].time:
            return False
        below, case = self.parse.children[k], self.mentions[n].first - 1
        copular = any(self.parse.relations[c] == "cop" for c in below)
        if not copular or self.parse.tags[k] != "JJ" or case < 0 or self.parse.tags[case] != "IN":
            return False
        subject = next((c for c in below if self.parse.relations[c] in SUBJECTS), k)
        if self.parse.tags[subject] in ("WP", "WDT"):
            subject = self.parse.heads[k]
        counting = self._nouns.owner[subject]
        return counting not in (-1, n) and not (self.mentions[counting].money or self.mentions[counting].time)

    def _first_of_chain(self, at: int, noun: int) -> int:
        """The noun that is measured where several have an "of": the margin in "a margin of error of 3 points"."""
        while self._nouns.case(at) == self._nouns.case(noun) == "of" and self.parse.relations[noun] == "nmod":
            head = self.parse.heads[noun]
            if head == noun or not self._nouns.names(head):
                break
            noun = head
        return noun

    def _upwards(self, k: int) -> Iterator[tuple[int, int, str]]:
        """Token, head and relation, from token k to the root."""
        for _ in range(CLIMBS):
            head = self.parse.heads[k]
            yield k, head, self.parse.relations[k]
            if head == k:
                return
            k = head

    def _object_of(self, n: int, k: int) -> int | None:
        """The object of the verb that the mention goes with: "raised the price by 5 %"."""
        head, relation = self.parse.heads[k], self.parse.relations[k]
        if self.mentions[n].time and self._nouns.case(k) not in ("from", "to", "by"):
            return None
        if relation.startswith(("obl", "advmod", "xcomp")):
            return self._object(head, k)
        return None

    def _paid_for(self, n: int, k: int) -> int | None:
        """What an amount of money buys: "passengers paid $200 for flights"."""
        if not self.mentions[n].money or self.parse.relations[k] != "obj":
            return None
        verb = self.parse.heads[k]
        cases = ("for", "on") if self.tokens[verb].low in SPENDING else ("for",)
        obliques = (c for c in self.parse.children[verb] if self.parse.relations[c] == "obl")
        return next((c for c in obliques if self._nouns.case(c) in cases and self._nouns.names(c)), None)

    def _bracketed(self, mention: MentionTokens) -> int | None:
        """The noun, or the mention, right before the bracket that a mention opens: "John Gant (0.5 WAR)"."""
        k = mention.first - 1
        if k < 1 or self.tokens[k].text not in "([":
            return None
        return k - 1 if self._nouns.names(k - 1) or self._nouns.owner[k - 1] != -1 else None

    def _subject_mention(self, k: int, n: int) -> int | None:
        """The mention that is the subject of token k: "two thirds of the workers earn $5"."""
        for child in self.parse.children[k]:
            if self.parse.relations[child] in SUBJECTS and self._nouns.owner[child] not in (-1, n):
                return self._nouns.owner[child]
        return None

    def _holder(self, n: int) -> tuple[int, ...]:
        """Mention n as a subject: the noun it counts ("two brothers own $5 million"), else the words of its concept."""
        mention = self.mentions[n]
        counted = [k for k in range(mention.first, mention.last) if mention.count and self.parse.tags[k] in NOUN_TAGS]
        return tuple(counted) or (*self.concept(n).words, *self.concept(n).subject)

    def _had(self, things: tuple[int, ...], how: str, subject: tuple[int, ...]) -> Concept:
        """What is measured, with its subject, where that does not name the same thing again."""
        named = {self.tokens[k].low for k in things}
        again = any(self.tokens[k].low in named for k in subject)
        return Concept(tuple(self._phrases(things)), how, () if again else subject)

    def _phrases(self, heads: tuple[int, ...]) -> list[int]:
        return sorted({k for head in heads for k in self._nouns.phrase(head)})

    def _listed(self, a: int, b: int) -> bool:
        """Whether nothing but marks and small words stands between two mentions of one sentence."""
        between = self.tokens[self.mentions[a].last : self.mentions[b].first]
        return len(between) <= LISTED and all(t.text != "." for t in between) and not self._noun_between(a, b)

    def _noun_between(self, a: int, b: int) -> bool:
        return any(self._nouns.names(k) for k in range(self.mentions[a].last, self.mentions[b].first))

    def _nearest(self, n: int) -> tuple[int, ...]:
        """The nearest noun on the left, else on the right, for mentions whose parse gives none."""
        mention = self.mentions[n]
        for reach in (
            range(mention.first - 1, max(-1, mention.first - NEAR), -1),
            range(mention.last, mention.last + NEAR),
        ):
            for k in reach:
                if k >= len(self.tokens) or self.tokens[k].text in ";:|" or self.parse.tags[k] in ("PRP", ""):
                    break
                if self._nouns.names(k):
                    return (self._nouns.head_of(k),)
        return ()

    def _label(self, n: int) -> tuple[int, ...]:
        """The words before two figures in columns of them, which no parser can read: "Net 1,300 vs 900 Rev 5 vs 4"."""
        mention, own = self.mentions[n], self._words_before(self.mentions[n].first)
        start = mention.first - len(own)
        if n and start and self.tokens[start - 1].low in _VERSUS and self.mentions[n - 1].last == start - 1:
            first = self._label(n - 1)
            return (*first, *own) if first else ()
        paired = mention.last < len(self.tokens) and self.tokens[mention.last].low in _VERSUS
        before = self.tokens[start - 1] if start else None
        begins = (
            before is None or before.kind == "number" or before.text in ":.;-" or self._nouns.owner[start - 1] != -1
        )
        return own if paired and begins else ()

    def _abbreviation(self, first: int) -> tuple[int, ...]:
        """The word of "(pop. 3,400)", "(elev. 900 m)": an abbreviation that opens brackets before a mention."""
        tokens, k = self.tokens, first - 2
        opens = k > 0 and tokens[k - 1].text == "(" and tokens[k + 1].text == "." and glued(tokens[k], tokens[k + 1])
        return (k,) if opens and tokens[k].text.islower() and tokens[k].low not in FUNCTION_WORDS else ()

    def _words_before(self, first: int) -> tuple[int, ...]:
        k = first
        while k and first - k < LABELLED and self._nouns.owner[k - 1] == -1 and self.tokens[k - 1].kind == "word":
            if self.tokens[k - 1].low in FUNCTION_WORDS or self.tokens[k - 1].low in _VERSUS:
                break
            k -= 1
        return tuple(range(k, first))

    def _one_of(self, mention: MentionTokens) -> bool:
        """Whether the mention is the "one of" of "one of the best speakers", which measures nothing."""
        words = [t.low for t in self.tokens[mention.first : mention.first + 2]]
        return words == ["one", "of"]

    def _dates(self, mention: MentionTokens) -> bool:
        """Whether the mention says when, as in "in the last three months"."""
        return mention.time and mention.first > 0 and self.tokens[mention.first - 1].low in RELATIVE

    def _concept_of(self, things: tuple[int, ...], subject: int | None, how: str) -> Concept:
        phrase = self._phrases(things)
        rest = [] if subject is None else [k for k in self._nouns.phrase(subject) if k not in phrase]
        if not phrase:
            return Concept(tuple(rest), "of the subject") if rest else NONE
        return Concept(tuple(phrase), f"{how} and the subject" if rest else how, tuple(rest))

    def _anchor(self, n: int) -> int:
        """The token of a mention whose head lies outside it, the last such."""
        mention = self.mentions[n]
        inside = range(mention.first, mention.last)
        outward = [k for k in inside if self.parse.heads[k] not in inside or self.parse.heads[k] == k]
        heads = [k for k in outward if self.parse.relations[k] not in _EMPTY_RELATIONS]
        k = (heads or outward or [mention.first])[-1]
        return self.parse.heads[k] if self.parse.heads[k] in self._nouns.empty else k  # "a total of $5 million"

    def _complement(self, n: int) -> int | None:
        """The noun that follows "of" or the like: "60 % of the workers", "$1 billion in gains"."""
        mention = self.mentions[n]
        case = self.tokens[mention.last].low if mention.last < len(self.tokens) else ""
        if case == "of" or (case == "in" and mention.money):
            k = mention.last + 1
            while case == "of" and k < len(self.tokens) and self.parse.tags[k] in ("DT", "PRP$", "PDT"):
                k += 1
            if (head := self._nouns.run(k)) is not None:
                return head
        for k in range(mention.first, mention.last):
            for child in self.parse.children[k]:
                if child >= mention.last and self._nouns.owner[child] == -1 and self._nouns.names(child):
                    if self.parse.relations[child] == "nmod" and self._completes(child, mention):
                        return child
        return None

    def _modified(self, n: int) -> int | None:
        """The noun right after a mention that stands before it as an adjective: "a 25 % tax", "an 80-yard pass"."""
        mention = self.mentions[n]
        attribute = mention.last - mention.first > 2 and self.tokens[mention.last - 2].text in HYPHENS
        counts = mention.count and not attribute  # "a 12-man jury"
        if counts or mention.last >= len(self.tokens) or self.parse.tags[mention.last] in ("JJR", "RBR"):
            return None
        return self._nouns.run(mention.last)

    def _completes(self, k: int, mention: MentionTokens) -> bool:
        case = self._nouns.case(k)
        if case == "in":
            return mention.money and not any(self.parse.relations[c] == "det" for c in self.parse.children[k])
        return case == "of" or (case in COMPLEMENT_CASES and not mention.count)

    def _own_subject(self, k: int) -> int | None:
        """The subject of a clause whose predicate is token k; `PRONOUN` for one that names nothing; None for none."""
        for child in self.parse.children[k]:
            if self.parse.relations[child] in SUBJECTS and self._nouns.owner[child] == -1:
                if self._nouns.names(child):
                    return child
                if (whole := self._whole(child)) is not None:
                    return whole
                if self.parse.tags[child] in ("PRP", "EX") or self.tokens[child].low in ("this", "these", "those"):
                    # "the company said it has 1,000 customers": the clause above may name it
                    return None if self.parse.relations[k] in DEPENDENT_CLAUSES else PRONOUN
        return None

    def _whole(self, k: int) -> int | None:
        """The noun of "some of the best deals" or "the number of deals", where token k is "some" or "number"."""
        if self.parse.tags[k] not in ("DT", "JJ", "JJR", "JJS", "CD", "PDT") and k not in self._nouns.empty:
            return None
        return next((c for c in self.parse.children[k] if self._nouns.names(c) and self._nouns.case(c) == "of"), None)

    def _object(self, k: int, but: int) -> int | None:
        for child in self.parse.children[k]:
            if self.parse.relations[child] in OBJECTS and child != but and self._nouns.owner[child] == -1:
                if self._nouns.names(child):
                    return child
        return None
