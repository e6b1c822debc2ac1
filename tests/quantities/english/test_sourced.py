"""Results with what they are from."""

import pytest

from qbench.quantities.extractors import ExtractorOptions, get_extractor

RULES = get_extractor(ExtractorOptions())


@pytest.mark.parametrize(
    ("text", "concept"),
    [
        ("It had a loss from continuing operations of $5 million.", "loss continuing operations"),
        ("A gain on the sale of assets of $6 million was booked.", "gain sale assets"),
        ("Net cash provided by operating activities of $7 million fell.", "net cash provided operating activities"),
        (
            "Prior net excludes an extraordinary loss on retirement of debt of $8 million.",
            "extraordinary loss retirement debt",
        ),
        ("Net includes after-tax gains on sale of securities of 113,432 dlrs.", "after-tax gains sale securities"),
        ("It includes amortization of patents from purchases of $151 million.", "amortization patents purchases"),
        # no result, another thing's amount, two results
        ("An extension on the sale of assets of $6 million was booked.", "sale assets"),
        ("It moved to a profit from a loss of $5 million.", "loss"),
    ],
)
def test_a_result_is_named_with_its_source(text, concept):
    (quantity,) = RULES.extract(text)
    assert " ".join(quantity.concept) == concept


def test_what_it_is_compared_with_is_of_the_same():
    quantities = RULES.extract("Net includes gains on sale of land of 756,000 dlrs vs 88,000 dlrs pretax.")
    assert [quantity.concept for quantity in quantities] == [("gains", "sale", "land")] * 2
