"""By how much two things differ, and changes whose verb stands apart, in sentences of our own."""

import pytest

from qbench.quantities.extractors import ExtractorOptions, get_extractor

pytestmark = pytest.mark.usefixtures("no_binder")

PARSED = get_extractor(ExtractorOptions())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # more or less than something else
        ("The new lamp is £50 cheaper than the old one.", ["down"]),
        ("Profit was 36 % more than in 2004.", ["up"]),
        ("She won 9,377 votes more than her rival.", ["up"]),
        ("She rowed it two minutes faster than her rival.", ["down"]),
        ("The walk took two minutes longer than planned.", ["up"]),
        ("The body is 20 percent lighter and the sensor 1.7 times larger.", ["down", "up"]),
        ("It carries 38 % more passengers.", ["up"]),
        ("Grade A is 12 % less expensive.", ["down"]),
        ("Energy prices were 5.6 % below year-ago levels.", ["down"]),
        ("The price is $20 below the list price.", ["down"]),
        ("It was sold 30 basis points above the previous tender.", ["up"]),
        ("It was 2 °C above normal.", ["up"]),
        ("It was offset by $150 million of lower debt payments.", ["down"]),
        # off a price
        ("Get 10% off with a card.", ["down"]),
        ("Save 25% on coats.", ["down"]),
        ("We saved 20% of our pay.", [""]),
        # "less than" before an amount bounds it; a time ago dates a level
        ("A drill with 18 V, less than 80 euros.", ["", ""]),
        ("A drill 18 V less than 80 euros.", ["", ""]),
        ("It weighs 5 kg less than 3 weeks ago.", ["down", ""]),
        ("A rate higher than 4 % but lower than 6 %.", ["", ""]),
        ("Fees will be up at least 8 %.", ["up"]),
        ("The ship picked up at Leeds 8 crates.", [""]),
        # no differences
        ("The hut is 300 m above the village.", [""]),
        ("Two more people came.", [""]),
        ("It fell to 5 % below 1 kg.", ["", ""]),
        ("The boat lies 20 m off the coast.", [""]),
        ("The rest is 5 or more.", [""]),
        # what firms add and lose by number
        ("The bank added 17 outlets and shed 230 jobs.", ["up", "down"]),
        ("A total of 140 jobs will be cut.", ["down"]),
        ("The yard lost 3 games.", [""]),
        ("She lost 3 kg in May.", ["down"]),
        ("Add 3 kg of flour.", [""]),
        ("The crew will take a 12 % pay cut.", ["down"]),
        # a rate, a list, and what leaves its verb out
        ("Credit grew at an annual rate of 6.4 % in May.", ["up"]),
        ("Loans are paid at an annual rate of 6.4 %.", [""]),
        ("Exports fell 2 % to $5 million and imports 4 % to $9 million.", ["down", "", "down", ""]),
        ("Sales grew by 12 % to $5 million, or by 6 % at constant rates.", ["up", "", "up"]),
        ("Costs fell by $4 million for Asia, $3 million for Europe and $2 million for Africa.", ["down"] * 3),
        ("A strong krona cut sales by 2 %.", ["down"]),
        ("Benefits could fall up to $26 million.", ["down"]),
        # what a test in brackets is of
        ("The drug increased the distance (172 m, p = 0.02) and vigour (6 points, p < 0.001).", ["up", "", "up", ""]),
        ("They had lower weight (4 kg, 95% CI 2 to 6).", ["down", "down"]),
        ("Scores improved with the drug (8 points vs 4 points; p = 0.01).", ["", "", ""]),
        ("Success was higher with the drug (83% vs 53%; p = 0.04).", ["", "", ""]),
        ("The pulse fell by 22 min (95% CI 21 min to 24 min).", ["down", "down"]),
        ("The difference between groups was -0.61%.", [""]),
        ("The difference between groups was 0.61%.", [""]),
        ("The bank charges 2% on loans up to $10,000 and 1.5% above that.", ["", "", ""]),
        ("Prices were 1.5% above that of last year.", ["up"]),
        ("The target was $50; the shares trade 10% above that.", ["", "up"]),
    ],
)
def test_differences(text, expected):
    assert [q.change for q in PARSED.extract(text)] == expected
