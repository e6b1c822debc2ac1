"""Comparators and changes: what the words around a number say of it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qbench.quantities.english.comparators import read_comparators
from qbench.quantities.extractors import ExtractorOptions, get_extractor

RULES = get_extractor(ExtractorOptions(spacy_model="none"))
WITH_YEARS = get_extractor(ExtractorOptions(spacy_model="none", years=True))


def comparators(text, extractor=RULES):
    return [q.comparator for q in extractor.extract(text)]


def changes(text):
    return [q.change for q in RULES.extract(text)]


@pytest.mark.parametrize(
    ("text", "comparator"),
    [
        # comparatives, their inclusive forms and their negations
        ("it weighs more than 7 kg", ">"),
        # ages, and what is done every so often
        ("most fall ill before age 14 years", "<"),
        ("men over age 50", ">"),
        ("rowers under the age of 16", "<"),
        ("a hotel in goa min age 21", "="),
        ("the hulls are tested at least every four years", "<="),
        ("the pump is cleaned about every 6 weeks", "~"),
        ("calves born at 37 weeks gestation and above", ">="),
        ("the fee went past the 5 million euro mark", ">"),
        ("trained over a 2-y period", "="),
        ("it lasted over 60 months", ">"),
        ("it was superior in healing over 5% zinc cream", "="),
        ("a barn estimated at 40,000 euros", "="),
        ("an estimated 40,000 euros", "~"),
        # agreements and maximums that bound nothing; prices that begin at
        ("notes under a five year debenture", "="),
        ("it lends under a $500 million facility", "="),
        ("done in under a 10-minute window", "<"),
        ("bids under a 5 euro limit", "<"),
        ("it sells for under a million dollars", "<"),
        ("training (RMET) over four weeks", "="),
        ("(over four weeks)", ">"),
        ("prices start from 20 euros", ">="),
        ("rooms are available from 80 euros", ">="),
        ("tickets cost from 20 euros", ">="),
        ("cut its costs from 20 million euros", "="),
        ("it raised rates from 5% a year ago", "="),
        ("rates from 5%", ">="),
        ("a house within 500 m of the lake", "<="),
        ("it weighs a little less than 7 kg", "<"),
        ("an age greater than or equal to 21 years", ">="),
        ("a load equal to or greater than 30 kg", ">="),
        ("a load less or equal to 30 kg", "<="),
        ("no later than 9 months", "<="),
        ("not under 12 kg", ">="),
        ("the crate should not be more than 5 kg", "<="),
        ("the fee does not exceed $40", "<="),
        ("not just over 5 kg", ">"),
        # adverbs, and what holds over an approximation
        ("just under 296 hp", "<"),
        ("well over 60 boats", ">"),
        ("up to about 10%", "<="),
        ("more than an estimated 400 boats", ">"),
        ("more than a 5% share", ">"),
        ("at least another 5 kg", ">="),
        # places
        ("north of $3 billion", ">"),
        ("just shy of 40 km", "<"),
        ("at or above 35 dB", ">="),
        ("upwards of 50 ships", ">"),
        ("as many as 60 ships", "<="),
        ("a maximum of 4 litres", "<="),
        ("will buy back up to 5 million shares", "<="),
        ("it climbed back up to 5 kg", "="),
        ("invited up to 5 choirs from Spain", "<="),
        ("usb 3.0 max 5 kg", "<="),
        ("a minimum of 4 litres", ">="),
        ("sub-9 second laps", "<"),
        # approximations
        ("roughly 30 degrees", "~"),
        ("some 300 riders", "~"),
        ("around the 30 minute mark", "~"),
        ("nearing 12%", "~"),
        ("60 minutes or so", "~"),
        # signs
        ("a flow >=18 litres", ">="),
        ("a flow > or = 18 litres", ">="),
        ("a flow </= 18 litres", "<="),
        ("a flow ≥ 18 litres", ">="),
        ("a flow ~ 18 litres", "~"),
        # after the number
        ("18 litres or more", ">="),
        ("18 litres (or more)", ">="),
        ("18 litres and below", "<="),
        ("18+ litres", ">="),
        ("18 litres at most", "<="),
        ("18 litres max", "<="),
        ("18 litres of milk", "="),
        # no comparator
        ("it fell over the past 8 weeks", "="),
        ("the plan runs, over 3 years, in town", "="),
        ("a film about two dogs", "="),
        ("listed under 5 categories", "="),
        ("it went up to 5 kg", "="),
        ("it ticked up to 5 kg", "="),
        ("divers have gone up to 5 m deep", "<="),
        ("the costs from 3 lawsuits", "="),
        ("each worker picked up to 5 kg", "<="),
        ("its value has gone up to 5 euros", "="),
        ("5 kg and upwards of it", "="),
        ("twice as many as 60 ships", "="),
        ("an average of 70 days", "="),
        # verbs that are denied
        ("do not spend more than 20 euros", "<="),
        ("you can't weigh more than 90 kg", "<="),
        ("dont spend more than 20 euros", "<="),
        ("it never lasts less than 3 days", ">="),
        ("it is not surprisingly more than 90 kg", ">"),
        ("the farm, not the mill, has more than 9 kg", ">"),
        # maximum and minimum
        ("The maximum load was 5 kg.", "<="),
        ("The minimum height of riders is 120 cm.", ">="),
        ("The daily maximum was 13 °C.", "="),
        ("daily max 13.2 mm", "="),
        ("rain: max 13.2 mm", "<="),
        ("The maximum, they say, was 5 kg.", "="),
        ("terms of 9 months or less to be called short", "<="),
        # time that passes
        ("they rowed for over 10 hours", ">"),
        ("within 6 months", "<="),
        ("within the last 6 months", "<="),
        ("in the last 6 months", "="),
        ("over the age of 18", ">"),
        ("a jab for under-5s", "<"),
        ("a jab for the over-65s", ">"),
        # adjectives without a comparative of their own
        ("it is more expensive than $40", ">"),
        ("it does not weigh more than 5 kg", "<="),
        ("it runs faster than 5 seconds", "<"),
        ("it runs slower than 5 seconds", ">"),
        ("it runs faster than 5 km/h", ">"),
        ("prices as low as $40", ">="),
        ("prices as high as $40", "<="),
        ("it is no more expensive than $40", "<="),
        ("it is more affordable than $40", "<"),
        ("it is less costly than $40", "<"),
        ("it is less affordable than $40", ">"),
        # what is passed, topped out at, or owned by nobody
        ("the base topped 2 million users", ">"),
        ("visits surpassed 300 a day", ">"),
        ("debt climbed past $900 million", ">"),
        ("the drive tops out at 4,100 MB/s", "<="),
        ("a floor of 2.50 euros", ">="),
        ("no single holder owns more than 5%", "<="),
        ("no fee exceeds 5%", "<="),
        ("the rule forbids banks from holding more than 15%", "<="),
        ("no change in more than 5 patients", ">"),
        ("no debt, and more than $5 million", ">"),
        ("jobs with no weekends over $18", ">"),
        ("minimum deposit of $500", "="),
        ("maybe 40 people came", "~"),
        ("it cost the best part of £30", "~"),
        ("you see easily 20 metres", ">="),
        ("I get 30 fps at best", "<="),
        # a greatest or least thing
        ("a maximum daily dose of 40 mg", "<="),
        ("a minimum price of 1,850 euros", ">="),
        ("an alternative minimum tax of 15%", "="),
        # lengths of time that are still to come
        ("for at least the next 12 months", ">="),
        ("for about the last 5 years", "~"),
        ("over the next 12 months", "="),
        # words that say something else
        ("they took over 31 shops", "="),
        ("it took over 5 hours", ">"),
        ("the price rose as high as $19.57", "="),
        ("rooms from as low as $40", ">="),
        ("profit was up to EUR 0.9 m, from a loss", "="),
        ("profit was up to EUR 0.9 m a year", "<="),
        ("higher than twelve months before", "="),
        ("more than twelve months before", ">"),
        ("an estimated 3-year survival", "="),
        ("it rose as high as 5 euros", "="),
        ("it could rise as high as 5 euros", "<="),
        ("lent up to the aggregate amount of $6 million", "<="),
        ("lent up to an aggregate principal amount of $6 million", "<="),
        ("it weighs up to the old 5 kg", "="),
        ("5 kg or more than that", ">="),
        # what is capped, and the least of what would be
        ("it caps daily sales of milk at 5 litres", "<="),
        ("it capped sales, at 5 litres a day", "="),
        ("the minimum for groups would be 5 kg", ">="),
        ("it may arrive as soon as 5 hours after the call", ">="),
        # what nobody does
        ("no customer accounted for more than 5 percent of sales", "<="),
        ("a customer accounted for more than 5 percent of sales", ">"),
        # what something stands under
        ("he sang under two presidents", "="),
        ("losses were paid under 3 insurance policies", "="),
        ("it signed under 500 contracts", "<"),
    ],
)
def test_comparator(text, comparator):
    assert comparators(text) == [comparator]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("just under 296 hp (221 kW)", ["<", "<"]),
        ("more than 100 kilometers (62 miles)", [">", ">"]),
        ("about 100 kilometers (62 miles)", ["~", "="]),
        ("more than 100 kilometers in 62 minutes", [">", "="]),
        ("more than 60% of sales, or more than $30 billion", [">", ">"]),
        ("a weight of 1.4 kg and above 250 GB", ["=", ">"]),
        ("5 kg plus 3 kg", ["=", "="]),
        ("over $40 but under $90", [">", "<"]),
        # one word for all of a list
        ("about $5 million and $6 million", ["~", "~"]),
        ("over 5, 6, and 9 kg", [">"] * 3),
        ("roughly five or six boats", ["~", "~"]),
        ("up to 5 kg and 30 cm", ["<=", "="]),
        ("about 5 kg and over 6 kg", ["~", ">"]),
        ("5 kg or more and 6 kg", [">=", "="]),
        ("about 5 kg of tea and 6 kg of rice", ["~", "~"]),
        ("at most 5 x 7 inches", ["<=", "<="]),
        ("at least 2 x 1.5 L", [">=", "="]),
        ("rent was approximately $3 million in 2018 and $2 million in 2019", ["~", "~"]),
        ("power bank no more than 20000 mAh under 400 g", ["<=", "<"]),
        ("approximately 55% for wages, 10% for rent, and 35% for fuel", ["~", "~", "~"]),
        ("about 5 kg of tea, which cost 6 kg of rice", ["~", "="]),
        ("over 5 kg of tea and 6 kg of rice", [">", "="]),
        ("over 5 kg by day 3 and 6 kg by day 9", [">", ">"]),
        ("300 lamps, or less than 2 kg", ["=", "<"]),
        ("300 lamps , or more than 40 %", ["=", ">"]),
        ("about 16 mln, one mln above its limit", ["~", "="]),
        ("about $4 million and $1 million higher", ["~", "~"]),
        # both sides of a stroke, and what a limit is elsewhere
        ("a pressure of <130/80 and >5/10 mg", ["<", "<", ">", ">"]),
        ("over 5 / 10 kg", [">", "="]),
        ("a rating over 8.3/10", [">", "="]),
        ("The maximum was 4 in group I and 2 in group II", ["<=", "<="]),
        ("The minimum wage was 4 euros in May and 5 boats in June", [">=", "="]),
        ("The maximum was 4 in group I, which had 2 in May", ["<=", "="]),
        ("a parcel with 2 kg < w < 5 kg and 3 ≤ h ≤ 6 mm", [">", "<", ">=", "<="]),
        ("5 kg > the load of 3 kg", ["=", "="]),
        ("The wall is roughly 60 m or 197 ft long", ["~", "~"]),
        ("The wall is roughly 60 m (197 ft) long", ["~", "="]),
        # the ends of an age
        ("lambs aged 4 weeks to 5 months", [">=", "<="]),
        ("it grew from 4 weeks to 5 months", ["=", "="]),
        ("5 min 30 s", ["="]),
        ("the cost, revised up to 850 kg from 750 kg", ["=", "="]),
    ],
)
def test_comparators_of_several(text, expected):
    assert comparators(text) == expected


def test_words_of_dates_bound_years_only():
    assert comparators("after 1990", WITH_YEARS) == [">"]
    assert comparators("since the year 1990", WITH_YEARS) == [">="]
    assert comparators("within 1990", WITH_YEARS) == ["="]
    assert comparators("after 5 kg", WITH_YEARS) == ["="]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Sales rose 5%.", ["up"]),
        ("Sales rose about 1.5%.", ["up"]),
        ("Shares were down nearly 12%.", ["down"]),
        ("Shares, up 19 per cent, led the list.", ["up"]),
        ("The index edged down 0.03%.", ["down"]),
        ("The index lost 190 points, or 0.6%.", ["down", "down"]),
        ("Acme fell 12 cents (0.9%).", ["down", "down"]),
        ("It plunged 40 per cent to $2.06.", ["down", ""]),
        ("Acme gained 10 cents to $31.20.", ["up", ""]),
        ("They hope to grow sales by 35 per cent.", ["up"]),
        ("Valve lift was increased by 18 degrees.", ["up"]),
        ("Waste fell by a factor of 3.", ["down"]),
        ("Costs rose by a factor of 2.5 to $40 million.", ["up", ""]),
        ("Its A share lost EUR 0.12 on Monday.", ["down"]),
        ("Holders of shares lost EUR 12.", [""]),
        ("She cut 3-fold pleats.", [""]),
        ("The firm lost EUR 12 on Monday.", [""]),
        ("The plan brings the loss of 380 jobs.", ["down"]),
        # multiples are sizes of changes, however they are joined
        ("Yields increased 3-fold.", ["up"]),
        ("Yields were increased 2.5-fold with lime.", ["up"]),
        ("Waste was reduced twofold.", ["down"]),
        ("Yields increased 2- to 3-fold.", ["up"]),
        ("A 2-fold dilution was increased.", [""]),
        ("Staff grew by 1,600 jobs or 2.2 per cent.", ["up", "up"]),
        ("Acme jumped 8.5% and Bolt gained 3.5%.", ["up", "up"]),
        ("Acme fell 0.9%, while Bolt slid 1.1%, Cord by 2.6%.", ["down"] * 3),
        ("It closed 2.3% higher.", ["up"]),
        ("It ended 5 cents lower.", ["down"]),
        # levels, nouns, denials, and verbs that say something else
        ("Sales rose to $5 million.", [""]),
        ("It closed 1.9 per cent up at 845p.", ["up", ""]),
        ("It ended 0.8% lower at 7,512 points.", ["down", ""]),
        ("Sales fell by half.", ["down"]),
        ("The rate fell below 5%.", [""]),
        ("Prices did not rise 5%.", [""]),
        ("The margin fell from 5% to 3%.", ["", ""]),
        ("Pain fell by 5 (1.2) points.", ["down", ""]),
        ("It is taxed at the lower 21% rate.", [""]),
        # lists, and what an adverb or a sign says
        ("Heat cut yields by 8% and 9%, grain size by 4%.", ["down"] * 3),
        ("It cut fares by 8 euros in May, and by 9 euros in June.", ["down"] * 2),
        ("Fares rose 4% in 2021 and 6% in 2022.", ["up"] * 2),
        ("Fares would have been 3 and 5 euros lower.", ["down"] * 2),
        ("Sales were favorably impacted by $4 million.", ["up"]),
        ("Rain adversely affected visits by 12%.", ["down"]),
        ("Acme (+0.2 %) led, Bolt (-0.4 %) did not.", ["up", "down"]),
        ("The dogs lost -8 kg.", ["down"]),
        ("The margin was -5 %.", [""]),
        ("The margin changed by -5 %, tolls moved +2 points.", ["down", "up"]),
        ("The margin stood by 5 %.", [""]),
        ("It is 5+3 % of it.", ["", ""]),
        ("The field was -4 V, at -3 m and -9 °C.", ["", "", ""]),
        ("Blood sugar: -4 mg/dl.", ["down"]),
        ("Weight was lower than in the spring by 3 kg.", ["down"]),
        ("Scores were 7 points higher.", ["up"]),
        ("The roof is 7 m higher.", [""]),
        ("Tips fell by 4 % compared with 5 %.", ["down", "down"]),
        ("She gave up 200 yards.", [""]),
        ("It makes up 5% of sales.", [""]),
        ("It raised $5 million.", [""]),
        ("It climbed 3 years ago.", [""]),
        ("It weighs 5 kg.", [""]),
        ("firms that cut more than 1,000 jobs", ["down"]),
        ("the one that cut 5 mm pipes", [""]),
    ],
)
def test_change(text, expected):
    assert changes(text) == expected


def test_a_comparator_and_a_change_are_both_kept():
    (rise,) = RULES.extract("Sales rose more than 5%.")
    assert (rise.comparator, rise.change) == (">", "up")


def test_the_span_of_a_comparator_holds_its_words():
    for text, words in [
        ("it is well over 5 kg", "well over"),
        ("it should not be more than 5 kg", "not be more than"),
        ("it is 5 kg or more", "or more"),
        ("about 5 kg or so", "about"),
    ]:
        (found,) = RULES.extract(text)
        assert text[slice(*found.comparator_span)] == words


PIECES = (
    "about over under no not more than or at least up to within the last by rose fell + > = ( ) , - 5 kg 10% $".split()
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=25))
def test_any_order_of_words_gives_one_reading_for_each_amount(words):
    for q in WITH_YEARS.extract(" ".join(words)):
        assert q.comparator in ("=", "~", "<", "<=", ">", ">=", "between")
        assert q.change in ("", "up", "down")


def test_no_amounts_no_readings():
    assert read_comparators([], [], None) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("max torque 55 Nm", ["<="]),
        ("The minimum order: 100 boxes.", [">="]),
        ("Max Mill 5 kg", ["="]),
        ("The boeing 737 max seats 172 guests.", ["="]),
        ("The daily max load 13 kg.", ["="]),
        ("It is spread over 70 lakes.", ["="]),
        ("It is sold in over 70 shops.", [">"]),
        ("Damage may top 500 million dollars.", [">"]),
        ("the top 500 shops", ["="]),
        ("16GB, upgradable to 64GB", ["=", "<="]),
        ("It came closer to 13 hours.", ["~"]),
        ("the remaining 2.5+million shares", [">="]),
        ("About 60% of wheat, 25% for rye (dry), and 15% of oats.", ["~", "~", "~"]),
        ("About 60% came from wheat, and 25% was rye.", ["~", "="]),
        ("Over 60% of wheat, 25% for rye.", [">", "="]),
        ("The maximum exposure to rain at 31 May 2019 was $59 (2018: $56).", ["<=", "<="]),
        ("The minimum rent was $59 (2017/18: $56).", [">=", ">="]),
        ("The minimum rent was $59 (tax: $56).", [">=", "="]),
        ("The most that we have paid was $1.2 million.", ["="]),
        ("The maximum amount of payments to the firm was $1.2 million.", ["<="]),
        ("A gain of about $59 (2018: $56).", ["~", "="]),
        ("Royalties over two mines were sold over three years.", ["=", "="]),
        ("It was -24 (P < 0.001) and -20.", ["=", "<", "="]),
    ],
)
def test_bounds_of_what_is_named(rules, text, expected):
    assert [q.comparator for q in rules.extract(text)] == expected


def test_a_rate_over_a_time_is_in_the_course_of_it():
    found = get_extractor(ExtractorOptions(spacy_model="none")).extract("The loan costs 6.9 % over 60 months.")
    assert [(quantity.value, quantity.comparator) for quantity in found] == [(6.9, "="), (60, "=")]
