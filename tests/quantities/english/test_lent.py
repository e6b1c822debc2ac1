"""Units that a number has of another one of the very same thing."""

from __future__ import annotations

import pytest

from qbench.quantities.extractors import ExtractorOptions, get_extractor

READER = get_extractor(ExtractorOptions())


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("Battery life, quoted at 18 hours, came closer to 13 in our test.", ["hour", "hour"]),
        ("The key rate, which opened at 4.62 pct, was seen at 4.50 later.", ["percentage", "percentage"]),
        ("Shipments of oats were 350,000 tonnes this year, and 420,000 in the year before.", ["tonne", "tonne"]),
        # of a size that tells another thing, in brackets, or by the way
        ("The response rate was 61% (14/23).", ["percentage", "", ""]),
        ("The remission rate was 52% in the study, and 3,100 answered.", ["percentage", ""]),
        ("It sold 26-week paper at 5.84.", ["week", ""]),
        # of what another verb governs, a part of them, a place or a time
        ("The kayak weighs 4 kg and holds 6.", ["kilogram", ""]),
        ("The note yields 5.2 percent and is worth 9.8.", ["percentage", ""]),
        ("About 72% of sailors are at least 50.", ["percentage", ""]),
        ("Recall was 60% at 5 and 55% at 10.", ["percentage", "", "percentage", ""]),
        ("Attendance was 61 percent, 72 voted.", ["percentage", ""]),
        ("40 pct fat cream was offered at 30.00 over.", ["percentage", ""]),
        ("The tender was 80 dollars and was 500 in all.", ["dollar", ""]),
    ],
)
def test_what_is_said_of_the_same_thing_has_its_unit(text, units):
    assert [q.unit for q in READER.extract(text)][: len(units)] == units
