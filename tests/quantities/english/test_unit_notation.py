"""Units as different fields write them, in sentences of our own: brackets, compounds in letters, dimensions, ages."""

import pytest

from qbench.quantities.english.rules import RulesExtractor
from qbench.quantities.units import load_units

UNITS = load_units()
RULES = RulesExtractor(UNITS)


def read(text):
    return [(q.value if q.value == q.high else (q.value, q.high), q.unit) for q in RULES.extract(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # beside the number
        ("a load of 20 (kg) and a rate of 95 (%)", [(20, "kilogram"), (95, "percentage")]),
        ("boys 12 (m) and girls", [(12, "")]),
        ("boiled at 100° Celsius", [(100, "celsius")]),
        ("kept at 25 degC", [(25, "celsius")]),
        ('a shelf 10 " long', [(10, "inch")]),
        ('he scored 10 "long" goals', [(10, "")]),
        ("a plank 2 in long, 4 in wide", [(2, "inch"), (4, "inch")]),
        ("a board 2 1/2 in thick", [(2.5, "inch")]),
        ("an 8 x 10 in photograph", [(8, "inch"), (10, "inch")]),
        ("we put 8 x 10 in the table", [(8, ""), (10, "")]),
        ("24 WeeksNet revenue rose 9%", [(24, "week"), (9, "percentage")]),
        ("Six Months Ended June 30", [(6, "month")]),
        ("19.5 mln Year Shr loss", [(19.5e6, "")]),
        ("a 150 point rise and a 5 point lead", [(150, "point"), (5, "point")]),
        ("15 point guards", [(15, "guard")]),
        ("a 15.6 in, full HD display", [(15.6, "inch")]),
        ("the screen measures 14 in.", [(14, "inch")]),
        ("gaming monitor 27 in 144 Hz", [(27, "inch"), (144, "hertz")]),
        ("the monitor sold 27 in 2019", [(27, "")]),
        ("they let 15 in, then 16", [(15, ""), (16, "")]),
        ("it is 30-odd km away", [(30, "kilometre")]),
        ("it won 2 in Leeds, 4 in total", [(2, ""), (4, "")]),
        ("mills shipped 278,000 t of it", [(278_000, "tonne")]),
        ("5 t was", [(5, "")]),
        ("a park of 4 km squared", [(4, "square kilometre")]),
        ("3 metres cubed", [(3, "cubic metre")]),
        ("a 0.8%-units decrease", [(0.8, "percentage point")]),
        ("the margin rose 1.4 pts", [(1.4, "percentage point")]),
        ("the team scored 12 pts", [(12, "point")]),
        ("0.1 U/mL of it", [(0.1, "unit per millilitre")]),
        # sides, and how many of a size
        ("a 9x13-inch pan", [(9, "inch"), (13, "inch")]),
        ("a box of 10x20x30 cm", [(10, "centimetre"), (20, "centimetre"), (30, "centimetre")]),
        ("a box of 10 x 20 x 30 cm", [(10, "centimetre"), (20, "centimetre"), (30, "centimetre")]),
        ("a rope of 2 x 30 m, tubes of 2 x 150 cm", [(2, ""), (30, "metre"), (2, ""), (150, "centimetre")]),
        ("a tray of 30 x 20 x 1.5 cm", [(30, "centimetre"), (20, "centimetre"), (1.5, "centimetre")]),
        ("sold with 64/128/256 GB", [(64, "gigabyte"), (128, "gigabyte"), (256, "gigabyte")]),
        ("signed on 12/31/2023 for 64 GB", [(64, "gigabyte")]),
        ("a 1.5L/50oz bottle", [(1.5, "litre"), (50, "fluid ounce")]),
        ("a 3 kg/7 lb bag", [(3, "kilogram"), (7, "pound-mass")]),
        # by so many of something
        ("32 mg per 100 kg of feed", [(32, "milligram per 100 kilograms")]),
        ("0.5 g/100 ml of salt", [(0.5, "gram per 100 millilitres")]),
        ("ham at 2.50 euros per 100 g", [(2.5, "euro per 100 grams")]),
        ("1.12 dlrs per thousand cubic feet", [(1.12, "dollar per thousand cubic feet")]),
        ("12 deaths per 100,000 people", [(12, "death per 100000 people")]),
        ("3 cars per hundred older adults", [(3, "car per hundred older adults")]),
        ("a flow of 40 ml/100 g/min", [(40, "millilitre per 100 grams per minute")]),
        ("12 deaths per 100,000 in 2020", [(12, "death")]),
        ("78 Gy/39 fractions", [(78, "gray")]),
        ("12 V/2 A", [(12, "volt")]),
        ("120 lb/54 kg", [(120, "pound-mass"), (54, "kilogram")]),
        ("a syrup of 250 mg/5 ml", [(250, "milligram per 5 millilitres")]),
        ("a dose of 5 mg/10 kg", [(5, "milligram")]),
        ("a 12oz/355ml can", [(12, "ounce"), (355, "millilitre")]),
        ("the 3/5/2021 GB edition", []),
        ("a shutter of 1/500 s, or 1/60 second", [(0.002, "second"), (1 / 60, "second")]),
        ("a 1920x1080 display", [(1920, "pixel"), (1080, "pixel")]),
        ("2x8 GB of memory", [(2, ""), (8, "gigabyte")]),
        ("a case of 6 x 1.5L bottles", [(6, ""), (1.5, "litre")]),
        ("a 4x4 truck, a 2x4 board", []),
        ("longer by 2.8 (10.7) days", [(2.8, "day"), (10.7, "day")]),
        ("a fall of 8.6 [1.6] mg/dL", [(8.6, "milligram per decilitre"), (1.6, "milligram per decilitre")]),
        ("we got 5 (3) m", [(5, ""), (3, "")]),
        ("two Tesla owners", [(2, "")]),
        ("a field of 3 Tesla", [(3, "tesla")]),
        ("2,800,000 Class A shares", [(2_800_000, "")]),
        # rates
        ("dividends of $2 or more per share", [(2, "dollar per share")]),
        ("a fee of 3 euros or less a day", [(3, "euro per day")]),
        ("a fee of 3 euros or more, a share", [(3, "euro")]),
        ("lakes colder than -20 c in May", [(-20, "celsius")]),
        ("500 mg twice daily", [(500, "milligram"), (2, "count per day")]),
        ("interest of 5% per annum", [(5, "percentage per year")]),
        ("interest of 3% p.a. on it", [(3, "percentage per year")]),
        ("a rent of £900 pcm", [(900, "pound sterling per month")]),
        ("they had EUR 3 mn a year", [(3e6, "euro per year")]),
        ("fees of $3 million annually.", [(3e6, "dollar per year")]),
        ("20 mg prednisone daily", [(20, "milligram per day")]),
        ("20 mg daily doses", [(20, "milligram")]),
        ("9 μg bid and 5 mg t.i.d. for a month", [(9, "microgram"), (5, "milligram")]),
        ("£900 p.c.m. for a flat", [(900, "pound sterling per month")]),
        ("140,000 sq. metres of floor and 9 cu. feet of air", [(140_000, "square metre"), (9, "cubic foot")]),
        ("3,257 tons of ore a day during May", [(3257, "ton per day")]),
        ("8,536,000 dollars or 1.40 dollars a share", [(8_536_000, "dollar"), (1.4, "dollar per share")]),
        ("€300 per quality-adjusted life-year", [(300, "euro per quality-adjusted life year")]),
        ("€300 per quality-adjusted life year gained", [(300, "euro per quality-adjusted life year")]),
        ("35 cm of H2O", [(35, "centimetre of water")]),
        ("120 mm of mercury", [(120, "millimetre of mercury")]),
        ("40 cm of water", [(40, "centimetre")]),
        ("20 en% of fat and 30 energy % of starch", [(20, "percentage"), (30, "percentage")]),
        ("150 μg o.d. for a month", [(150, "microgram per day")]),
        ("250 kcal/d on 5 d/wk", [(250, "kilocalorie per day"), (5, "day per week")]),
        ("26 y of follow-up", [(26, "year")]),
        ("un 26 y otro", [(26, "")]),
        # science
        ("yields of 5.4 Mg ha-1", [(5.4, "tonne per hectare")]),
        ("5.4 kg ha-1 d-1", [(5.4, "kilogram per hectare per day")]),
        ("rain of 900 mm a-1", [(900, "millimetre per year")]),
        ("500 Mg of caffeine per dose", [(500, "milligram")]),
        ("12 g C kg-1 of soil", [(12, "gram per kilogram")]),
        # what is measured stands before the period
        ("turns out 420,000 tonnes of pulp a year", [(420_000, "tonne per year")]),
        ("given 0.25 mg calcitriol per day", [(0.25, "milligram per day")]),
        ("uses 300 litres of rain water a day", [(300, "litre per day")]),
        ("drank 2 litres of water a week ago", [(2, "litre")]),
        ("added 5 ml of water a second time", [(5, "millilitre")]),
        ("drew 10 ml of blood an hour apart", [(10, "millilitre")]),
        ("gave 200 ml of milk a day early", [(200, "millilitre")]),
        ("adds 10 g of salt per litre", [(10, "gram")]),
        ("reserves of 1.9 billion barrels of oil", [(1.9e9, "barrel")]),
        ("120 kg N ha−1", [(120, "kilogram per hectare")]),
        ("5 kg CO2 per km", [(5, "kilogram per kilometre")]),
        ("3 mg N/L", [(3, "milligram per litre")]),
        ("6 mg elemental iron/kg/day", [(6, "milligram per kilogram per day")]),
        ("an efficiency of 1.5gMJ-1", [(1.5, "gram per megajoule")]),
        ("5 kg rice and/or beans", [(5, "kilogram")]),
        ("300 euros per weather-related flight delay avoided", [(300, "euro per weather-related flight delay")]),
        ("300 euros per catheter", [(300, "euro per catheter")]),
        ("300 euros per catheter-and", [(300, "euro per catheter")]),
    ],
)
def test_units(text, expected):
    assert read(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5 dollars and 20 cents", [(5.2, "dollar")]),
        ("5 euros and 20 cents", [(5.2, "euro")]),
        ("5 canadian dollars and 20 cents", [(5.2, "canadian dollar")]),
        ("5 yen and 20 cents", [(5, "yen"), (20, "cent")]),
        ("three dollars and fifty cents a litre", [(3.5, "dollar per litre")]),
        ("$3 and 50 cents", [(3.5, "dollar")]),
        ("5 dollars or 20 cents", [(5, "dollar"), (20, "cent")]),
        ("5.5 dollars and 20 cents", [(5.5, "dollar"), (20, "cent")]),
        ("2 hours and 30 minutes", [(2.5, "hour")]),
        ("2 hours and 90 minutes", [(2, "hour"), (90, "minute")]),
        ("between 1 year and 6 months", [(1, "year"), (6, "month")]),
        ("1 month, 6 months and 30 days", [(1, "month"), (6, "month"), (30, "day")]),
        ("6 years 3 months", [(6.25, "year")]),
        ("an hour and a half", [(1.5, "hour")]),
        ("a mile and a quarter", [(1.25, "mile")]),
        ("a week and a day", []),
        ("it took two hours and a half", [(2.5, "hour")]),
        ("a fee of five thousand dollars ($5,000)", [(5000, "dollar")]),
        ("ten percent (10%) of it", [(10, "percentage")]),
        ("ten percent (12%) of it", [(10, "percentage"), (12, "percentage")]),
        ("$5 (5 dollars)", [(5, "dollar"), (5, "dollar")]),
        ("one in five adults", [(0.2, "")]),
        ("nine in ten of them", [(0.9, "")]),
        ("1 in 20 trees", [(0.05, "")]),
        ("he finished 1 in 5", [(1, ""), (5, "")]),
        ("they won three in five days", [(3, ""), (5, "day")]),
        ("8/128GB of memory", [(8, "gigabyte"), (128, "gigabyte")]),
        ("1/8 inch", [(0.125, "inch")]),
        ("a transition at 573.15K, not 300 °C", [(573.15, "kelvin"), (300, "celsius")]),
        ("a salary of 45K", [(45_000, "")]),
    ],
)
def test_several_parts(text, expected):
    assert read(text) == expected


def test_spans_of_several_parts():
    text = "it lasts 2 hours and 30 minutes"
    (quantity,) = RULES.extract(text)
    assert text[slice(*quantity.value_span)] == "2 hours and 30 minutes"
    assert quantity.unit_span is not None
    assert text[slice(*quantity.unit_span)] == "hours"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("people aged 65 years or older", [(65, "year of age")]),
        ("age >= 18 years", [(18, "year of age")]),
        ("a 65-year-old", [(65, "year of age")]),
        ("children under 5", [(5, "year of age")]),
        ("children under 5 years", [(5, "year of age")]),
        ("members older than 65", [(65, "year of age")]),
        ("men ≥ 65 years", [(65, "year of age")]),
        ("a mean age of 45.2 ± 3.1 years", [(45.2, "year of age")]),
        ("mechanics ranging in age from 19 to 64 years", [((19, 64), "year of age")]),
        ("aged between 22 and 65 years", [((22, 65), "year of age")]),
        ("twenty women (30.3 ± 2.0 years)", [(20, "woman"), (30.3, "year of age")]),
        ("infants aged six weeks", [(6, "week of age")]),
        ("women under 20 weeks of pregnancy", [(20, "week")]),
        ("mothers ≥ 34 weeks of gestation", [(34, "week")]),
        ("women over 20 years of age", [(20, "year of age")]),
        ("its shares eased to 512p in a falling market", [(512, "penny")]),
        ("two caches and three tranches", [(2, "cache"), (3, "tranche")]),
        ("when they turn 21", [(21, "year of age")]),
        ("a mean age of up to 50 years", [(50, "year of age")]),
        ("pupils aged no more than 9 years", [(9, "year of age")]),
        ("the average age is not below 45 years", [(45, "year of age")]),
        ("the median age of these drivers exceeds 60 years", [(60, "year of age")]),
        # times that are no ages
        ("treated for 5 years", [(5, "year")]),
        ("a gestational age of 29 weeks", [(29, "week")]),
        ("at age 65, 5 years after", [(65, "year of age"), (5, "year")]),
        ("cheese aged 24 months", [(24, "month")]),
        ("smokers over 5 years of it", [(5, "year")]),
        ("contracts of 5 years or more", [(5, "year")]),
        ("twenty women (5 years)", [(20, "woman"), (5, "year")]),
        ("he turned 40 pages", [(40, "page")]),
        ("homes for the aged within 3 years", [(3, "year")]),
    ],
)
def test_ages(text, expected):
    assert read(text) == expected


def test_ages_meet_each_other():
    ages = ["aged 60 months", "5 years of age", "a 5-year-old", "children under 5", "younger than 5 years"]
    found = [RULES.extract(text)[0] for text in ages]
    assert {q.base_unit for q in found} == {"year of age"}
    assert {round(q.base_value, 6) for q in found} == {5.0}


def test_rates_of_interest_meet_each_other():
    forms = ["5% per annum", "5 percent p.a.", "5% per year", "5% annually", "5 per cent a year", "5 %/yr"]
    assert {RULES.extract(f"interest of {form}")[0].unit for form in forms} == {"percentage per year"}
