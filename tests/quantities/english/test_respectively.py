"""Lists that a "respectively" deals out, by tags that the test itself sets."""

import pytest

from qbench.quantities.english.parse import Parse
from qbench.quantities.english.respectively import MOST, dealt
from qbench.quantities.english.tokens import tokenize

TAGS = {
    "and": "CC", "or": "CC", "were": "VBD", "was": "VBD", "are": "VBP", "the": "DT", "in": "IN", "of": "IN",
    "urban": "JJ", "rural": "JJ", "rose": "VBD", "respectively": "RB", ",": ",", ".": ".", ";": ":",
}  # fmt: skip


class Counting(list):
    """A list that counts how often its items are looked at."""

    looks = 0

    def __getitem__(self, k):
        self.looks += len(range(*k.indices(len(self)))) if isinstance(k, slice) else 1
        return super().__getitem__(k)


def dealt_words(text):
    """The words that each number gets; None for one that gets none."""
    tokens = tokenize(text)
    mentions = [(k, k + 1) for k, token in enumerate(tokens) if token.kind == "number"]
    tags = ["CD" if t.kind == "number" else TAGS.get(t.low, "NN") for t in tokens]
    found = {}
    for deal in dealt(tokens, mentions, Parse(tags, list(range(len(tokens))), [""] * len(tokens))):
        items = [[*item, *lent] for item, lent in zip(deal.items, deal.lent, strict=True)]
        found |= {n: [*item, *deal.tail] for n, item in zip(deal.group, items, strict=True)}
    return [" ".join(tokens[k].text for k in found[n]) if n in found else None for n in range(len(mentions))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("revenue and profit were 5 and 8, respectively.", ["revenue", "profit"]),
        ("tin, iron and lead were 5, 6 and 7, respectively.", ["tin", "iron", "lead"]),
        ("sales rose 5 and 8 in May and June, respectively.", ["May", "June"]),
        ("sales rose 5 and 8 in May and June respectively.", ["May", "June"]),
        # the noun that the last item lends, and what follows the list
        ("urban and rural incomes were 5 and 8, respectively.", ["urban incomes", "rural incomes"]),
        ("revenue and profit of mills were 5 and 8, respectively.", ["revenue mills", "profit mills"]),
        # as many as there are numbers, or none
        ("tin, iron and lead were 5 and 6, respectively.", [None, None]),
        ("revenue was 5, respectively.", [None]),
        ("revenue and profit were 5. Now 8, respectively.", [None, None]),
        ("revenue and profit were 5 and 8.", [None, None]),
        ("respectively", []),
        ("5 respectively", [None]),
        # each list its own
        (
            "tin and lead were 5 and 6, respectively; iron and zinc were 7 and 8, respectively.",
            ["tin", "lead", "iron", "zinc"],
        ),
    ],
)
def test_lists(text, expected):
    assert dealt_words(text) == expected


@pytest.mark.parametrize("piece", ["5 respectively ", "5 , respectively and ", "respectively ", "5 "])
def test_work_grows_with_the_text(piece):
    def looks(times):
        tokens = Counting(tokenize("5 " + piece * times + "respectively"))
        mentions = Counting((k, k + 1) for k, token in enumerate(list(tokens)) if token.kind == "number")
        parse = Parse(Counting(["NN"] * len(tokens)), list(range(len(tokens))), [""] * len(tokens))
        list(dealt(tokens, mentions, parse))
        return tokens.looks + mentions.looks + parse.tags.looks

    assert looks(800) <= 10 * looks(100) + 100 * MOST
