"""Noun phrases, read off a parse: which tokens are nouns that name something, and which words belong to each."""

from __future__ import annotations

from collections.abc import Sequence

from qbench.quantities.english.lexicon import MONTHS
from qbench.quantities.english.parse import Parse
from qbench.quantities.english.tokens import Token, abbreviates, glued

NOUN_TAGS = ("NN", "NNS", "NNP", "NNPS", "FW")
MODIFIER_TAGS = (*NOUN_TAGS, "JJ", "JJR", "JJS", "VBN", "VBG", "CD", "GW", "AFX", "ADD", "SYM", "HYPH", "LS")
PREMODIFIERS = frozenset({*NOUN_TAGS, "JJ", "JJR", "JJS", "AFX"})
WITHIN = frozenset(
    {"compound", "amod", "nmod", "nmod:poss", "nmod:unmarked", "flat", "part", "nummod", "goeswith", "acl"}
)
"""Relations by which words of a noun phrase hang on its head."""
IN_CHUNKS = PREMODIFIERS | {"VBN", "VBG", "HYPH", "CD"}
TIMES = frozenset(
    (
        "year years quarter quarters month months week weeks day days period today yesterday tomorrow time hour "
        "season decade century night morning afternoon evening weekend ago past"
    ).split()
)
NO_CONTENT = frozenset(
    "total totals number numbers amount amounts lot kind sort rest all other others such same respective many few "
    "several more less fewer most least much".split()
)
"""Words that say how much, not what: "a total of $5 million" is about something else."""
SUMMARIES = frozenset("average mean median maximum minimum high low peak".split())
"""Nouns that say how much where "of" and an amount follow: "an average of 70 days"."""
IN_PREPOSITIONS = frozenset(
    "top addition terms light spite front case lieu view favour favor charge response regard respect relation "
    "accordance comparison contrast line".split()
)
"""Nouns that with "in" or "on" before and "of", "to" or "with" after them are prepositions: "on top of"."""
JOINTS = frozenset("-&+./'’")
HEADWARD = frozenset({"compound", "amod", "flat", "part"})
"""Relations that lead from a word of a noun phrase to its head."""
STEPS = 12
"""From a word to the head of its noun phrase, at most."""
DATES = MONTHS | frozenset("Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split())


class NounPhrases:
    """The noun phrases of a parsed text, outside its mentions.

    Args:
        tokens: of the text.
        spans: for each mention, in order, its first token and the one after its last, with its comparator and unit.
        parse: of the tokens.

    Attributes:
        owner: for each token, the mention that it belongs to, or -1.
        empty: nouns that name nothing: "total", the "average" of "an average of 5", the "top" of "on top of".
    """

    def __init__(self, tokens: Sequence[Token], spans: Sequence[tuple[int, int]], parse: Parse) -> None:
        self.tokens, self.parse = tokens, parse
        self._starts = [first for first, _ in spans]
        self.owner = [-1] * len(tokens)
        for n, (first, last) in enumerate(spans):
            self.owner[first:last] = [n] * (last - first)
        lows = ["", *(token.low for token in tokens), ""]
        self.empty = {
            k
            for k, (before, low, after) in enumerate(zip(lows, lows[1:], lows[2:], strict=False))
            if low in NO_CONTENT
            or (low in IN_PREPOSITIONS and before in ("in", "on") and after in ("of", "to", "with"))
        }
        before_of = (first - 2 for first, _ in spans if first > 1 and tokens[first - 1].low == "of")
        self.empty |= {k for k in before_of if tokens[k].low in SUMMARIES}
        self.empty |= {first - 1 for first, _ in spans if first and tokens[first - 1].low == "worth"}

    def names(self, k: int) -> bool:
        """Whether a token is a noun that can name what a quantity is about."""
        token = self.tokens[k]
        if self.parse.tags[k] not in NOUN_TAGS or self.owner[k] != -1:
            return False
        if self.parse.tags[k] == "FW" and len(token.text) == 1:
            return False  # "i.e."
        if token.low in TIMES:
            return token.low == "time" and self._compounded(k)
        return k not in self.empty and token.text not in DATES

    def _compounded(self, k: int) -> bool:
        """Whether a noun right before token k says what it is: "the journey time"."""
        return k > 0 and self.parse.relations[k - 1] == "compound" and self.parse.tags[k - 1] == "NN"

    def phrase(self, head: int) -> list[int]:
        """The content words of the noun phrase of `head`, in order, without those of mentions.

        Which nouns hang on the head is read off the parse; which words stand before each of them, off their tags, which
        are surer.
        """
        words: set[int] = set()
        waiting = [head]
        while waiting:
            k = waiting.pop()
            if k != head and not self._inside(k):
                continue
            # Marks come in only between words that they join; a parser takes "C." for one word.
            wordy = self.tokens[k].kind != "mark" and self.parse.tags[k] in MODIFIER_TAGS
            if wordy and k not in self.empty:
                words.add(k)
                if self.parse.tags[k] in NOUN_TAGS:
                    words.update(self._before(k))
            waiting += self.parse.children[k]
        return self._with_pieces(words)

    def case(self, k: int) -> str:
        """The preposition of token k; "" where it has none."""
        return next((self.tokens[c].low for c in self.parse.children[k] if self.parse.relations[c] == "case"), "")

    def run(self, k: int) -> int | None:
        """The last noun of the chunk that starts at token k; None if none starts there or it only tells a time."""
        head = None
        while k < len(self.tokens) and self.owner[k] == -1:
            if self.names(k):
                head = k
            elif self.parse.tags[k] not in IN_CHUNKS or self.tokens[k].low in TIMES or self.tokens[k].text in DATES:
                break
            k += 1
        return head

    def head_of(self, k: int) -> int:
        """The head of the noun phrase that token k stands in."""
        for _ in range(STEPS):
            head = self.parse.heads[k]
            if head == k or not self.names(head) or self.parse.relations[k] not in HEADWARD:
                break
            k = head
        return k

    def _before(self, k: int) -> list[int]:
        """The words that stand before a noun in its chunk; a mention is stepped over: "a sharp 3 % drop"."""
        words: list[int] = []
        while k:
            k -= 1
            if self.owner[k] != -1:
                if words and self.tokens[k + 1].text in ",;":
                    break
                k = self._starts[self.owner[k]]
                continue
            if self.tokens[k].low in TIMES:
                break  # "last season Chris Wood": a comma was left out
            if self.parse.tags[k] in PREMODIFIERS:
                if k not in self.empty:
                    words.append(k)
            elif not (self.parse.tags[k] == "HYPH" or self.tokens[k].text in "-&"):
                break
        return words

    def _inside(self, k: int) -> bool:
        relation, token = self.parse.relations[k], self.tokens[k]
        if self.owner[k] != -1:
            return False
        if relation.startswith("nmod") and (token.low in TIMES or self.case(k) == "with"):
            return False
        if relation.startswith("nmod") and self.case(k) != "of" and self._measured(k):
            return False  # "a loss on revenue of $2 million"
        if relation == "conj":
            # "a weight of 1.2 kg and a price of 900 euros": what has an amount of its own is another thing
            return self.names(k) and not self._holds_mention(k)
        if relation == "acl":
            # "the skull found in China", but not "the firm, founded in 2016"
            below = (c for c in self.parse.children[k] if self.names(c))
            has_object = any(self.parse.relations[c].startswith(("obl", "obj")) for c in below)
            return has_object and self.parse.tags[k] in ("VBN", "VBG") and not self._holds_mention(k)
        if relation in ("obl", "obj"):
            return self.parse.relations[self.parse.heads[k]] == "acl" and self.names(k)
        return relation in WITHIN

    def _measured(self, k: int) -> bool:
        return any(self.owner[c] != -1 and self.case(c) == "of" for c in self.parse.children[k])

    def _holds_mention(self, k: int) -> bool:
        waiting = [k]
        while waiting:
            k = waiting.pop()
            if self.owner[k] != -1:
                return True
            waiting += self.parse.children[k]
        return False

    def _with_pieces(self, words: set[int]) -> list[int]:
        """With the rest of words that hyphens and the like join ("full-time", "S&P") and a number after a name."""
        for k in sorted(words):
            for step in (-1, 1):
                m = k + step
                while self._free(m) and self._free(m + step) and self._glued(m, m - step) and self._glued(m, m + step):
                    if self.tokens[m].text not in JOINTS or self.tokens[m + step].kind == "mark":
                        break
                    words |= {m, m + step}
                    m += 2 * step
        words |= {k + 1 for k in words if self._free(k + 1) and abbreviates(self.tokens, k + 1)}
        for k in sorted(words):
            if self._free(k + 1) and self.tokens[k + 1].kind == "number" and self.parse.tags[k].startswith("NNP"):
                words.add(k + 1)
        return sorted(k for k in words if self.tokens[k].text != "/")  # "oil/gas" are two words

    def _free(self, k: int) -> bool:
        return 0 <= k < len(self.tokens) and self.owner[k] == -1

    def _glued(self, a: int, b: int) -> bool:
        return glued(self.tokens[min(a, b)], self.tokens[max(a, b)])
