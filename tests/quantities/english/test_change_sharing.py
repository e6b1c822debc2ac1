"""Changes that are said once for several amounts, and those of changes measured with a sign."""

import pytest

from qbench.quantities.extractors import ExtractorOptions, get_extractor

pytestmark = pytest.mark.usefixtures("no_binder")

PARSED = get_extractor(ExtractorOptions(p_values=False))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Peak flow fell by 50% (p = 0.07) for drug A and 36% (p = 0.01) for drug B.", ["down", "down"]),
        ("A fall in mites was seen in the high (13.4%; P < 0.01) and the low (26.8%; P < 0.01) arm.", ["down", "down"]),
        ("Sales increased by 3.7% in the quarter or 1.8% on a normalised basis.", ["up", "up"]),
        ("Rain cut sales by $3 million, margin by 1.2% and profit by $4 million.", ["down", "down", "down"]),
        ("It cut its staff by 40 in Lyon and by 15 in Nice.", ["down", "down"]),
        ("An increase of 10 bln dlrs over the year and 20 bln dlrs since 1984 followed.", ["up", "up"]),
        ("Miles grew 9 pct in May to 2.75 billion and 7 pct in all to 4.85 billion.", ["up", "", "up", ""]),
        ("Income rose 8% for retail and 12% for wholesale.", ["up", "up"]),
        ("Ads fell 5 % in May after 3 % in April.", ["down", "down"]),
        ("Growth in assets would have been 3 pct, not 19.", ["up", "up"]),
        ("Sales rose 5% vs. -3% a year before.", ["up", "down"]),
        ("Pain fell by 12 mm (95% confidence interval (CI) -15 to -9).", ["down", "down"]),
        ("Sales grew by 5% (2018: 3%).", ["up", "up"]),
        ("Scores improved by 36% in men, compared with only 2% in women.", ["up", "up"]),
        # What follows a change need not be one.
        ("Sales rose 5%, driven by 3 new stores.", ["up", ""]),
        ("Gains of 5% were offset by $2 million of costs.", ["up", ""]),
        ("Prices rose 5% at shops with 20 staff, and 10% of clients left.", ["up", "", ""]),
        ("Revenue grew 4% in the north and 30% of it came from software.", ["up", ""]),
        ("The fall was greater in one arm (-8.6 [1.6] kg).", ["", "down", ""]),
        ("Costs fell by 5%, and 3 plants were built by 40 firms.", ["down", "", ""]),
        ("Rents rose $2 million, from $8 million to $10 million, or 25%.", ["up", "", "", "up"]),
        ("Rents rose $2 million, and taxes from $8 million to $10 million, or 25%.", ["up", "", "", ""]),
        ("Orders grew by 4 % year-on-year and 3 % year-on-year, respectively.", ["up", "up"]),
        ("Orders grew by 4 % year-on-year and 3 % of it was rye.", ["up", ""]),
    ],
)
def test_change_is_said_once(text, expected):
    assert [q.change for q in PARSED.extract(text)] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It decreased income for the three months ended in March by 8 percent.", ["", "down"]),
        ("The rise in income for the three months of $5 million was small.", ["", "up"]),
        ("A net decrease in cash from deposits of $43 million followed.", ["down"]),
        ("The mean reduction in pain under therapy was 19 points.", ["down"]),
        ("The mean change in weight from baseline to the end was -0.6 kg.", ["down"]),
        ("The mean change in weight from baseline was 0.6 kg.", ["up"]),
        ("Weight rose in one arm (weight change: 0.3 kg).", ["", "up"]),
        ("The difference in the change in weight was -0.6 kg.", ["down"]),
        ("Changes from baseline ranged from -3 kg to -2 kg.", ["down"]),
        ("The improvement in pain was 3 points.", ["down"]),
        ("The improvement in walking was 12%.", ["up"]),
        ("Spending will exceed last year's by 85 mln dlrs.", ["up"]),
        ("Analysts saw sales slip 1.5 %.", ["down"]),
        ("Improvements in scores were greater with the drug (-15.6) than without.", ["down"]),
        ("The mean change relative to baseline was -29.1%.", ["down"]),
        ("The variability rose (index:+49.1%).", ["up"]),
        ("A decrease in plaque (by 61%) was seen, and a slight (by 7%) increase in wear.", ["down", "up"]),
        # Levels and what is no change.
        ("The decrease was to a margin of -5%, and results were -3.", ["", ""]),
        ("The difference in weight between the arms was -2 kg (-4 pounds).", ["", ""]),
        ("The dose was lower in men (1.04 kg, 95% CI 0.9 to 1.1) than in women (1.4 kg).", ["", "", ""]),
        ("The mean difference in weight was -2 kg.", [""]),
        ("The allowance for loan losses to loans ratio of 1.75% was flat.", [""]),
        ("We lost 5% to follow-up, and the follow-up survey by 40 people ended.", ["down", ""]),
        ("The loss to follow-up was 5%.", [""]),
        ("After follow-up 60 patients remained.", [""]),
        ("The growth rate was 5%.", [""]),
        ("The effect of the Tax Cuts and Jobs Act of $4 million was small.", [""]),
        ("The pressure under the lid was 5%.", [""]),
    ],
)
def test_changes_by_their_nouns(text, expected):
    assert [q.change for q in PARSED.extract(text)] == expected


@pytest.mark.parametrize(
    "text",
    [
        "Exports rose by exactly 7 per cent.",
        "Exports rose by under 7 per cent.",
        "There was a rise in exports of precisely 7 per cent.",
        "Exports were up exactly 7 per cent.",
    ],
)
def test_a_word_on_how_exact_an_amount_is_leaves_its_change(text):
    assert [quantity.change for quantity in PARSED.extract(text)] == ["up"]
