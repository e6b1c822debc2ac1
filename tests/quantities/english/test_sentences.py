"""Sentence splitting: rules on hand-made texts, properties on any text, spaCy's own answer as the reference."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st

from qbench.quantities.english.full_stops import full_stop_is_token
from qbench.quantities.english.sentences import LONGEST, EnglishSplitter


@pytest.fixture(scope="module")
def splitter():
    return EnglishSplitter()


@pytest.fixture(scope="module")
def reference():
    return spacy.blank("en").tokenizer


@pytest.mark.parametrize(
    "marked",
    [
        "Acme Inc. said sales rose 3.5 percent.| Profit fell.",
        "It moved to the U.S. last year.| The U.S. market grew.",
        "It is sold in the U.S.| The rest goes abroad.",
        "Shares of Bolt Corp. fell.| The firm has No. 5 in its name.",
        "See Fig. 3 and No. 12 for details.| Dr. Smith paid approx. 5 dollars to Mr. Jones.",
        "ITEM 1. BUSINESS|\n1. Scope of the work|\n2. The rest",
        "The price is 3.| It was 4 before.",
        "A thin laptop. Weighs 1.37kg. It costs about 900 euros.| Costs rose.",
        "The lamp is new. It is red. This measures 20 cm.| It is out of stock.",
        "The phone.| The lamp. It has 8 LEDs. It is red. Lasts for ten hours.",
        "The lamp. 5 W, 400 lumens. It retails at $30.",
        "We sold it.| Costs in 2012 were 5 dollars.| This weighs on sales of $5.",
        '"We grew by 4 percent."| He left.',
        "Really?| Yes! It costs 5.00.",
        "Weight of 5 kg (11 lb.) and more.| Then it fell.",
        "Yahoo! said so.| iPhone sales rose.",
        "Cost of goods|• freight of 5 dollars|• rent",
        "价格为5元。|重量为3公斤。",
        "Wait... what is it|\nNext line",
        "* * *\n|5 kg|\n---",
    ],
)
def test_known_sentences(splitter, marked):
    wanted = [piece.strip(" \n•") for piece in marked.split("|")]
    text = marked.replace("|", "")
    assert [text[a:b] for a, b in splitter.spans(text)] == [piece for piece in wanted if any(map(str.isalnum, piece))]


def test_flattened_filings(splitter):
    text = (
        "sold in the period.Operating RisksOur growth of 5.2% in 2023.Revenue rose (net of tax).Cost fell, "
        "see www.Acme.Com or mail a.Smith@x.org now"
    )
    assert [text[a:b] for a, b in splitter.spans(text)] == [
        "sold in the period.",
        "Operating Risks",
        "Our growth of 5.2% in 2023.",
        "Revenue rose (net of tax).",
        "Cost fell, see www.Acme.Com or mail a.Smith@x.org now",
    ]


def test_lines_that_only_wrap_do_not_end_a_sentence(splitter):
    wrapped = (
        "The committee of the Bank of England met on the first Monday of\n"
        "March and left the rate at 5.25 percent, as it had in each of the\n"
        "three months before it"
    )
    assert splitter.spans(wrapped) == [(0, len(wrapped))]
    listed = "Net sales 5 million\nCost of sales 3 million\nProfit 2 million"
    assert [listed[a:b] for a, b in splitter.spans(listed)] == listed.split("\n")
    broken = "The bank of\nengland met\n\nand it left"
    assert [broken[a:b] for a, b in splitter.spans(broken)] == ["The bank of\nengland met", "and it left"]


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="ab AB.!?\n\t\"')(5,;•…。U.S", max_size=300) | st.text(max_size=200))
def test_spans_are_in_order_trimmed_and_lose_no_word(splitter, text):
    spans = splitter.spans(text)
    assert all(a < b <= c for (a, b), (c, _) in pairwise(spans))
    for start, end in spans:
        piece = text[start:end]
        assert piece == piece.strip()
        assert 0 < len(piece) <= LONGEST
        assert any(char.isalnum() for char in piece)
    covered = "".join(text[a:b] for a, b in spans)
    assert sum(map(str.isalnum, covered)) == sum(map(str.isalnum, text))


CORES = (
    "Inc U.S a.m Mr e.g J.P Calif v price GDP 5 3.5 1,200 10% kg °C 20°C O'Neil don't Réunion é C++ R&D x² ISO9001 A"
).split()


@settings(max_examples=300, deadline=None)
@given(
    st.builds(
        "".join,
        st.tuples(
            st.sampled_from(["", "(", '"', "“", "$", "€", "§", "[(", "~"]),
            st.sampled_from(CORES) | st.text(alphabet="abcXYZ059é", min_size=1, max_size=6),
            st.sampled_from(["", "-", "/", ":", ",", "–", "...", "."]).flatmap(
                lambda mark: st.sampled_from(CORES).map(lambda core: mark and mark + core)
            ),
            st.sampled_from(["", ")", '"', "%", "®", "’s"]),
        ),
    )
)
def test_full_stops_are_spacys(reference, word):
    assert full_stop_is_token(word) == (reference(word + ".")[-1].text == ".")


def test_ten_megabytes_in_one_line_are_cut_at_white_space(splitter):
    text = "5,000 dollars and more " * 450_000
    spans = splitter.spans(text)
    assert len(text) > 10_000_000
    assert sum(end - start for start, end in spans) > len(text) - 2 * len(spans)
    assert all(end - start <= LONGEST and text[start - 1] in " " for start, end in spans[1:])


@pytest.mark.parametrize("unit", ["x", ".", "\n", " ", "a.B", "No. ", "A. b\n"])
def test_cost_is_linear_whatever_the_text(splitter, unit):
    def seconds(size):
        text = unit * (size // len(unit))
        began = time.process_time()
        assert all(end - start <= LONGEST for start, end in splitter.spans(text))
        return time.process_time() - began

    assert seconds(80_000) < 40 * seconds(10_000) + 0.2  # 8 times is linear, 64 times is quadratic
