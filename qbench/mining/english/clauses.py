"""The context of a mention: its section between headings, and its clause.

The clause adds the verb, places and conditions to the concept, and shows whether the mention states a fact.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from qbench.quantities.english.concepts import SUBJECTS
from qbench.quantities.english.lexicon import FUNCTION_WORDS
from qbench.quantities.english.noun_phrases import NounPhrases
from qbench.quantities.english.parse import Parse
from qbench.quantities.english.tokens import Token

CASES = frozenset(
    "in at for on by from under within across among amongst during outside inside to through excluding including per "
    "of with without between against throughout into before after under over due following based because".split()
)
"""Prepositions of the phrases that descriptions include."""
PLACES = frozenset("in at on by within among amongst during under without with after before for".split())
"""Prepositions that tell the members of a list apart, each right behind its own."""
EMPTY_VERBS = frozenset(
    "be is are was were been being am 's have has had having do does did reach reaches reached reaching total totaled "
    "totalled totaling amount amounted amounts amounting stand stands stood represent represents represented come "
    "comes came equal equals equaled equalled include includes included including comprise comprises comprised account "
    "accounts accounted record recorded report reported reports say says said show shows showed shown see sees saw "
    "seen average averaged averages approximate approximated become became remain remained remains get gets got "
    "consist consists consisted measure measured measures note noted compare compared compares according accorded "
    "reflect reflects reflected reflecting representing follow follows followed following believe believes believed "
    "expect expects expected consider considers considered related relating".split()
)
"""Verbs that say no more than "is"."""
PHRASES = frozenset("addition connection accordance fact turn general particular part total respect example".split())
"""Nouns that form prepositions and adverbs with "in": "in addition"."""
UNREAL = frozenset("may might could would should must shall ought".split())
"""Auxiliaries of clauses that state no fact."""
UNREAL_WORDS = frozenset("punishable liable assuming".split())
"""Words whose complements are no facts: "punishable by a fine of $500"."""
PLANNING = frozenset(
    "plan plans planned planning intend intends intended intending aim aims aimed aiming seek seeks sought hope hopes "
    "hoped".split()
)
"""Verbs whose complements are no facts yet: "plans to deliver 200,000"."""
CONDITIONAL = frozenset("if unless whether".split())
CONDITIONS = frozenset("if unless".split())
"""Marks of a clause on which the fact of another depends."""
UPWARD = ("xcomp", "advcl", "acl", "conj", "ccomp", "parataxis")
"""Relations of clauses that state a fact only if the clause above does: "may be ordered to pay $5"."""
PRONOUNS = frozenset("it they he she".split())
"""Subjects that may stand for that of the clause above."""
CLIMBS = 12
MARK = "|"
"""Sign that replaces the end of a heading; parsers take it for the end of a sentence."""
_GLUED = re.compile(r"\b[A-Z]?[a-z]{3,}(?=[A-Z][a-z])")
_RUN_ON = re.compile(
    r"(?:(?<=[a-z]{3})|(?<=[A-Z]{3})|(?<=[)%]))(?:\. ?\d{1,3}|\.(?:\d{1,3} )?)(?=[A-Z][a-z])"
    r"|(?<![\w.,$-])(?:19|20)\d\d(?=[A-Z][a-z]{2})"
    r"|\([a-z]\)(?=[A-Z][a-z])"
)
"""Ends of sentences, footnotes and years of headings that ran into a sentence: "sales.2 In", "(a)Includes"."""
_WORD = re.compile(r"[A-Z][a-z]+")
_NOUNS = re.compile(r".*(?:[^isu]s|ions?|ments?|ances?|ences?|enses?|ity|ness|[Ii]ncome|[Rr]evenue)$")
"""Ends of the nouns that headings end with, and few of the names with a capital inside ("PayPal", "LexisNexis")."""


def separate_headings(text: str) -> str:
    """A text of the same length in which a mark replaces the last word of each heading glued to the next word.

    So it does for what joins two sentences: a full stop without a space, the number of a footnote, the year of a
    heading.

    >>> separate_headings("Operating ActivitiesNet cash of PayPal"), separate_headings("AssetsAs of May")
    ('Operating         | Net cash of PayPal', '    | As of May')
    >>> separate_headings("fell.2 In May"), separate_headings("2022Net income"), separate_headings("(a)Includes tax")
    ('fell|  In May', '|   Net income', '|  Includes tax')
    """
    return _RUN_ON.sub(lambda match: MARK.ljust(len(match[0])), _GLUED.sub(_blank, text))


def _blank(match: re.Match[str]) -> str:
    after = _WORD.match(match.string, match.end())
    glued = _NOUNS.match(match[0]) or (after is not None and after[0].lower() in FUNCTION_WORDS)
    return f"{MARK} ".rjust(len(match[0])) if glued else match[0]


def sections(tokens: Sequence[Token]) -> list[range]:
    """The ranges of tokens between marks: beyond a mark is a heading, or the text under another one."""
    starts = [0, *(k + 1 for k, token in enumerate(tokens) if token.text == MARK)]
    return [range(a, b - 1) for a, b in pairwise([*starts, len(tokens) + 1])]


class Clause:
    """The clause of a mention.

    Args:
        tokens: of the text.
        nouns: its noun phrases.
        parse: of the tokens.
        first, last: the mention's tokens.
    """

    def __init__(self, tokens: Sequence[Token], nouns: NounPhrases, parse: Parse, first: int, last: int) -> None:
        self._tokens, self._nouns, self._parse = tokens, nouns, parse
        self._mention = range(first, last)
        outward = (k for k in self._mention if not first <= parse.heads[k] < last)
        self._path = self._climb(next(outward, min(first, len(tokens) - 1)))
        self.head = self._path[-1]

    def verb(self) -> int | None:
        """The clause's verb, if it says more than "is"."""
        if not self._parse.tags[self.head].startswith("VB") or self._tokens[self.head].low in EMPTY_VERBS:
            return None
        return self.head if self._nouns.owner[self.head] == -1 else None

    def subject(self) -> list[int]:
        """The words of a named subject; for "it", the subject of the clause above: "Acme said it bought 500 shares".

        A common noun is left to the concept, which includes it if it has the quantity: "we", "the study" and "the
        analysis" are the subjects of most clauses.
        """
        k = self.head
        for _ in range(CLIMBS):
            own = next((c for c in self._parse.children[k] if self._parse.relations[c] in SUBJECTS), None)
            if own is None:
                # "agreed to sell", "sold its mill and bought another": the subject is not repeated
                dependent = self._parse.relations[k] in ("xcomp", "conj")
            else:
                if self._nouns.names(own) and not self._holds_mention(own):
                    phrase = self._nouns.phrase(own)
                    return phrase if any(self._parse.tags[m] in ("NNP", "NNPS") for m in phrase) else []
                dependent = self._parse.relations[k] == "ccomp" and self._tokens[own].low in PRONOUNS
            above = self._parse.heads[k]
            if not dependent or above == k or not self._parse.tags[above].startswith("VB"):
                break
            k = above
        return []

    def is_whole(self) -> bool:
        """Whether the mention opens the clause as a whole, of which a part is counted next: "of 120 patients, 45"."""
        k = self._mention.start - 1
        return k >= 0 and self._tokens[k].low == "of" and (k == 0 or self._tokens[k - 1].kind == "mark")

    def acts(self) -> bool:
        """Whether the mention itself is the subject of a verb that says something: "45 received placebo"."""
        subject = any(self._parse.relations[k] in SUBJECTS and self._parse.heads[k] == self.head for k in self._mention)
        return subject and self.verb() is not None

    def phrases(self, times: Sequence[bool]) -> list[int]:
        """The words of the object and the prepositional phrases of clause and mention.

        Phrases with a mention or an expression of time are left out; of an object that another mention counts, the noun
        is included.

        Args:
            times: for each token whether it is part of an expression of time.
        """
        words: list[int] = []
        below = [k for m in self._mention for k in self._parse.children[m] if k not in self._mention]
        for k in {*self._parse.children[self.head], *below}:
            relation = self._parse.relations[k]
            if relation == "obj" and self._of_another(k):
                words.append(k)  # "bought 500 shares for $4 million": the shares, not how many
            if not relation.startswith(("obl", "obj", "nmod", "orphan")) or not self._nouns.names(k) or times[k]:
                continue
            if not relation.startswith("obj") and not self._places(k):
                continue
            if self._holds_mention(k) or (self._of_another(self.head) and k > self.head and k not in below):
                continue
            words += [m for m in self._nouns.phrase(k) if not times[m]]
        return words

    def is_real(self) -> bool:
        """Whether the clause, and those that it depends on, state a fact."""
        above = self._above()
        if any(self._tokens[k].low in PLANNING for k in above):
            return False
        return not any(self._unreal(k) for k in (*self._path, *above)) and not self._depends()

    def _unreal(self, k: int) -> bool:
        if self._tokens[k].low in UNREAL_WORDS:
            return True
        for c in self._parse.children[k]:
            low, relation = self._tokens[c].low, self._parse.relations[c]
            if (relation == "aux" and low in UNREAL) or (relation == "mark" and low in CONDITIONAL):
                return True
        return False

    def _depends(self) -> bool:
        """Whether the clause waits for a condition: "if sales reach $5 million, the bonus will be $200,000"."""
        below = self._parse.children
        clauses = (c for k in self._path for c in below[k] if self._parse.relations[c] == "advcl")
        return any(
            self._parse.relations[m] == "mark" and self._tokens[m].low in CONDITIONS for c in clauses for m in below[c]
        )

    def _above(self) -> list[int]:
        """The heads of the clauses above on whose reality this one depends."""
        k, heads = self.head, list[int]()
        for _ in range(CLIMBS):
            head, relation = self._parse.heads[k], self._parse.relations[k]
            if head == k or relation not in UPWARD or self._stands_alone(k, relation):
                break
            k = head
            heads.append(k)
        return heads

    def _stands_alone(self, k: int, relation: str) -> bool:
        """Whether a clause has a subject or a tense of its own, and so may state a fact by itself."""
        if relation not in ("conj", "ccomp", "parataxis", "advcl"):
            return False
        below = {self._parse.relations[c].partition(":")[0] for c in self._parse.children[k]}
        return bool(below & {"nsubj", "csubj", "aux", "cop"}) or self._parse.tags[k] in ("VBD", "VBZ", "VBP")

    def _of_another(self, k: int) -> bool:
        """Whether token k belongs to another mention, and so does the text behind it."""
        return self._nouns.owner[k] != -1 and k not in self._mention

    def _places(self, k: int) -> bool:
        case = self._nouns.case(k)
        return case in CASES and not (case == "in" and self._tokens[k].low in PHRASES)

    def _climb(self, k: int) -> list[int]:
        """From the mention to the head of its clause: the first verb, what is said with "is", or the root."""
        path = [k]
        for _ in range(CLIMBS):
            head = self._parse.heads[k]
            if head == k or any(self._parse.relations[c] == "cop" for c in self._parse.children[k]):
                break
            k = head
            path.append(k)
            if self._parse.tags[k].startswith("VB") and self._nouns.owner[k] == -1:
                break
        return path

    def _holds_mention(self, k: int) -> bool:
        stack = [k]
        while stack:
            k = stack.pop()
            if self._nouns.owner[k] != -1:
                return True
            stack += self._parse.children[k]
        return False
