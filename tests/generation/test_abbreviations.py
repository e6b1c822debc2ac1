"""Abbreviations, and the texts that say them."""

from __future__ import annotations

import polars as pl

from qbench.generation.abbreviations import explained, shorts_in
from qbench.generation.mentions import load_mentions
from qbench.quantities.types import Quantity, quantity_schema, to_row


def test_those_that_texts_explain():
    found = explained(["The mean sail wear (SW) and masts of hemp (AB) of harbour dock units (HDUs)."], "en")
    assert found.other_ways(("yearly", "sail", "wear")) == [(("yearly",), "SW")]
    assert found.other_ways(("harbour", "dock", "unit")) == [((), "HDU")]
    assert found.other_ways(("mast", "of", "hemp")) == []
    assert (("relative", "risk"), "") in found.other_ways(("risk", "ratio"))
    assert shorts_in("The SWs of IBM or Or, OR 1.8 (RR)") == {"SW", "IBM", "OR", "RR"}


def test_sentences_that_say_an_abbreviation_say_its_words():
    texts = ["An odds ratio of 2.", "OR 3 was found.", "It is 3 or 4.", "Odds of 5, ratio of 6.", "The RR was 4."]
    table = pl.DataFrame({"doc_id": [str(n) for n in range(5)], "text": texts})
    rows = [to_row(str(n), Quantity(3.0, 3.0, "=", "", "", "", 3.0, 3.0, ("x",))) for n in range(5)]
    mentions = load_mentions(table, pl.DataFrame(rows, schema=quantity_schema()))
    assert mentions.docs_saying(("odds", "ratio")).tolist() == [0, 1, 3]
    assert mentions.docs_saying(("risk", "ratio")).tolist() == [4]
    given = load_mentions(table, pl.DataFrame(rows, schema=quantity_schema()), given=True)
    assert given.docs_saying(("odds", "ratio")).tolist() == [0, 3]
