"""Nouns of change, in sentences of our own, with and without a parse."""

import pytest

from qbench.quantities.extractors import ExtractorOptions, get_extractor

pytestmark = pytest.mark.usefixtures("no_binder")

BY_WORDS = get_extractor(ExtractorOptions(spacy_model="none"))
PARSED = get_extractor(ExtractorOptions())


@pytest.fixture(params=[BY_WORDS, PARSED], ids=["words", "parse"])
def changes(request):
    return lambda text: [q.change for q in request.param.extract(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # after the amount
        ("The mill saw a 5 per cent drop in sales.", ["down"]),
        ("The plan brought an 8% organic growth.", ["up"]),
        ("The clinic reported 6% weight loss.", ["down"]),
        ("We expect a $40 million net increase in output.", ["up"]),
        ("It was due to a 12% price cut and a 3% volume decline.", ["down", "down"]),
        ("The tide brought a 20 cm rise in the harbour.", ["up"]),
        # before it
        ("The town saw an increase of 600 jobs.", ["up"]),
        ("The town saw an increase of about 5%.", ["up"]),
        ("The town saw an increase of $5 million, or 7%.", ["up", "up"]),
        ("There was a decline in unit volume of 7 per cent.", ["down"]),
        ("It led to an increase in total fees (port and canal) of $103 million.", ["up"]),
        ("It led to a decrease in income, tax, and dues of $30 million, $4 million, and $2 million.", ["down"] * 3),
        ("It led to falls of 3%, 5% and 9%.", ["down"] * 3),
        ("The mean reduction in pain was 12%.", ["down"]),
        ("The ward had reductions in pain (12%).", ["down"]),
        ("The mean change in weight was -3 kg.", ["down"]),
        ("It had an unfavorable change of $3 million.", ["down"]),
        ("It was offset by higher operating costs of 3%.", ["up"]),
        ("It fell by 12 mm (95% CI 8 to 16).", ["down", "down"]),
        ("The fall in stress was greater in the spa group (40 %) than at home.", ["down"]),
        ("The rise in grip was similar in both (men: 4 %; women: 5 %).", ["up", "up"]),
        ("The fall in stress was linked to nausea (12 %).", [""]),
        # results, levels, and nouns that are not the head or not of the amount
        ("It posted a net loss of $5 million.", [""]),
        ("It had depreciation of $5 million.", [""]),
        ("The growth rate was 5%.", [""]),
        ("It bought a 5% growth fund.", [""]),
        ("It rose to 5% after an increase to 4%.", ["", ""]),
        ("It had a higher tax rate of 30%.", [""]),
        ("After the increase, the farm had sales of $5 million.", [""]),
        ("The rise came with fees of $5 million.", [""]),
        ("It followed 3 increases.", [""]),
        ("The use of fuel decreased by a mean of 4 %.", ["down"]),
        ("They asked for a decrease up to 40 % in rent.", ["down"]),
        ("It is sold in $500 increments.", [""]),
        ("It ended a 5-year decline.", [""]),
        ("They ran a 9 km hike.", [""]),
        ("The increase in the number of 40 boats was slow.", [""]),
        # sums of cuts and rises
        ("The plan holds $9 billion in military spending cuts.", ["down"]),
        ("It brings 40 megawatts of peak-load reductions.", ["down"]),
        ("They face 30 euros in rent increases a month.", ["up"]),
        ("It paid $9 million in tax cuts experts' fees.", [""]),
        ("They met 9 times in cuts of the film.", [""]),
        ("It sold 67 cut-to-length harvesters.", [""]),
        # how large something is
        ("The hedge grows 6-8 feet high.", [""]),
        ("The hedge grew 6 feet.", ["up"]),
    ],
)
def test_changes(changes, text, expected):
    assert changes(text) == expected
