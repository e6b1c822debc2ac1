"""Kinds of wording that only queries have, each with sentences that no set of everyday queries has."""

import pytest

from qbench.quantities.english.queries import parse_query
from qbench.quantities.extractors import ExtractorOptions, get_extractor

EXTRACTOR = get_extractor(ExtractorOptions(language="en"))


def read(query):
    parsed = parse_query(query, EXTRACTOR)
    return parsed.terms, [(c.comparator, c.value, c.high, c.unit) for c in parsed.conditions]


@pytest.mark.parametrize(
    ("text", "terms", "conditions"),
    [
        # money by what it is paid for each
        ("barn 700pcm", "barn", [("=", 700, 700, "")]),
        ("barn £700pcm", "barn", [("=", 700, 700, "pound sterling per month")]),
        ("rooms 95 pw or less", "rooms", [("<=", 95, 95, "")]),
        ("clerk 52k pa", "clerk", [("=", 52000, 52000, "")]),
        ("tutor 18.50ph", "tutor", [("=", 18.5, 18.5, "")]),
        ("shops open 9pm", "shops open 9pm", []),
        ("ahi over 20/hr", "ahi", [(">", 20, 20, "per hour")]),
        ("cherries under 4/kg", "cherries", [("<", 4, 4, "")]),
        ("ferry < £90pppn", "ferry", [("<", 90, 90, "pound sterling")]),
        ("inns $95/night 2 beds", "inns beds", [("=", 95, 95, "dollar per night"), ("=", 2, 2, "bed")]),
        ("boats under 60 grand", "boats", [("<", 60000, 60000, "")]),
        ("baby grand piano 150 cm", "baby grand piano", [("=", 150, 150, "centimetre")]),
        ("price above 1.25 gbp usd", "price gbp usd", [(">", 1.25, 1.25, "")]),
        # results, and what they leave out
        ("profit before tax above 30", "profit before tax", [(">", 30, 30, "")]),
        ("income (loss) before income taxes over 30", "income loss before income taxes", [(">", 30, 30, "")]),
        ("tents before easter under 90", "tents easter", [("<", 90, 90, "")]),
        # people of an age, and ages within bounds
        ("over 60 adult volunteers", "adult volunteers", [(">", 60, 60, "volunteer")]),
        ("average age up to 70 years", "average age", [("<=", 70, 70, "year of age")]),
        # letters that other words make a unit
        ("plug 16a", "plug", [("=", 16, 16, "ampere")]),
        ("house 16a mill lane", "house 16a mill lane", []),
        ("magnet pull 60n", "magnet pull", [("=", 60, 60, "newton")]),
        ("lamp 2700k", "lamp", [("=", 2700, 2700, "kelvin")]),
        ("salary 70k", "salary", [("=", 70000, 70000, "")]),
        ("hoover 3000pa", "hoover", [("=", 3000, 3000, "pascal")]),
        ("photon energy 2 ev", "photon energy", [("=", 2, 2, "electronvolt")]),
        ("ev with 2 seats", "ev seats", [("=", 2, 2, "seat")]),
        ("capacitor 47uf", "capacitor", [("=", 47, 47, "microfarad")]),
        ("coach 5v/12v", "coach", [("=", 5, 5, "volt"), ("=", 12, 12, "volt")]),
        ("bodysuit 9-12m", "bodysuit", [("between", 9, 12, "month")]),
        ("rope 9-12m", "rope", [("between", 9, 12, "metre")]),
        # names
        ("redmi 12 pro max 64gb", "redmi 12 pro max", [("=", 64, 64, "gigabyte")]),
        ("tyres 225/45 r17", "tyres 225/45 r17", []),
        ("psu 80+ silver", "psu 80+ silver", []),
        ("22k gold bangle", "22k gold bangle", []),
        ("grant of 22k", "grant", [("=", 22000, 22000, "")]),
        ("5 in 1 grill", "5 in 1 grill", []),
        ("10k training plan", "10k training plan", []),
        ("400m under 50 seconds", "400m", [("<", 50, 50, "second")]),
        ("fiesta 1.4 petrol", "fiesta 1.4 petrol", []),
        ("carpet 250x300", "carpet 250x300", []),
        ("display 2560x1440", "display", [("=", 2560, 2560, "pixel"), ("=", 1440, 1440, "pixel")]),
        ("bra 36d", "bra 36d", []),
        ("4 may to 8 may trips", "4 may 8 may trips", []),
        ("size 12 skirt", "size 12 skirt", []),
        # round numbers that are no years
        ("piano up to 1800", "piano", [("<=", 1800, 1800, "")]),
        ("piano under 2000 walnut", "piano walnut", [("<", 2000, 2000, "")]),
        ("piano 1900 or less", "piano", [("<=", 1900, 1900, "")]),
        ("piano budget of 1700", "piano budget", [("=", 1700, 1700, "")]),
        ("castles up to 1995", "castles up 1995", []),
        # limits behind amounts, and one unit for two
        ("tent $300 max 4 kg", "tent", [("<=", 300, 300, "dollar"), ("=", 4, 4, "kilogram")]),
        ("tent 20 inches or under 4 kg", "tent", [("<=", 20, 20, "inch"), ("=", 4, 4, "kilogram")]),
        ("tent $300 and up canvas", "tent canvas", [(">=", 300, 300, "dollar")]),
        ("tent £300 tops", "tent", [("<=", 300, 300, "pound sterling")]),
        ("film not over 2 hours", "film", [("<=", 2, 2, "hour")]),
        ("tent rating 4+, under $300", "tent rating", [(">=", 4, 4, ""), ("<", 300, 300, "dollar")]),
        ("tent below 300 and 4 kg", "tent", [("<", 300, 300, ""), ("=", 4, 4, "kilogram")]),
        ("melons over 3 but below 5 kg", "melons", [(">", 3, 3, "kilogram"), ("<", 5, 5, "kilogram")]),
        ("plumber $60 an hour or so", "plumber", [("=", 60, 60, "dollar per hour")]),
        # counts, lengths and hours as they are typed
        ("3door cabinet", "door cabinet", [("=", 3, 3, "door")]),
        ("3abc cabinet", "3abc cabinet", []),
        ("cabinet 60 in under 200", "cabinet", [("=", 60, 60, "inch"), ("<", 200, 200, "")]),
        ("hose 15m under 25 dollars", "hose", [("=", 15, 15, "metre"), ("<", 25, 25, "dollar")]),
        ("funding 15m dollars", "funding", [("=", 15e6, 15e6, "dollar")]),
        ("triathlon under 3h30", "triathlon", [("<", 3.5, 3.5, "hour")]),
        ("cabinet 180 high", "cabinet high", [("=", 180, 180, "")]),
        ("insoles 60+ women", "insoles women", [(">=", 60, 60, "")]),
        ("bistro 8/10", "bistro", [("=", 8, 8, "")]),
        ("flat £900 pm", "flat", [("=", 900, 900, "pound sterling per month")]),
        ("silver above 2000 an ounce", "silver", [(">", 2000, 2000, "")]),
        ("zero waste shop", "zero waste shop", []),
        # what is counted, in short
        ("flats 4br 2ba", "flats", [("=", 4, 4, "bedroom"), ("=", 2, 2, "bathroom")]),
        ("bolts 40pcs", "bolts", [("=", 40, 40, "piece")]),
        ("socks 15 denier", "socks denier", [("=", 15, 15, "denier")]),
        ("cider 500ml x 12", "cider", [("=", 500, 500, "millilitre"), ("=", 12, 12, "")]),
        ("film 7 out of 10 or more", "film", [(">=", 7, 7, "")]),
        ("trousers 34 waist", "trousers waist", [("=", 34, 34, "")]),
        # bounds
        ("tremors stronger than magnitude 5", "tremors magnitude", [(">", 5, 5, "")]),
        ("comets fainter than magnitude 9", "comets magnitude", [(">", 9, 9, "")]),
        ("above band 3", "band", [(">", 3, 3, "")]),
        ("rank b or above 4 bed barn", "rank b bed barn", [("=", 4, 4, "bed")]),
        ("more than 3 less than 7 kg", "", [(">", 3, 3, "kilogram"), ("<", 7, 7, "kilogram")]),
        ("rating of 4 or above under $20", "rating", [(">=", 4, 4, ""), ("<", 20, 20, "dollar")]),
        ("bail 3 weeks pay max", "bail pay", [("<=", 3, 3, "week")]),
        ("loan 8k over 3 years", "loan", [("=", 8000, 8000, ""), ("=", 3, 3, "year")]),
        ("pump 9 l/min 2 year warranty", "pump warranty", [("=", 9, 9, "litre per minute"), ("=", 2, 2, "year")]),
        ("tips for over 55s", "tips", [(">", 55, 55, "year of age")]),
        ("chess rating below 900 clubs", "chess rating clubs", [("<", 900, 900, "")]),
        ("crp 80", "crp", [("=", 80, 80, "")]),
        ("cities between 1m and 2m inhabitants", "cities inhabitants", [("between", 1e6, 2e6, "inhabitant")]),
        ("rope between 1m and 2m", "rope", [("between", 1, 2, "metre")]),
        ("town over 1.5m inhabitants", "town inhabitants", [(">", 1.5e6, 1.5e6, "inhabitant")]),
        ("density above 900 per km2", "density", [(">", 900, 900, "per square kilometre")]),
        # without spaces
        ("parcel under9kg", "parcel", [("<", 9, 9, "kilogram")]),
        ("inn max70€", "inn", [("<=", 70, 70, "euro")]),
        ("stove 60€-90€", "stove", [("between", 60, 90, "euro")]),
        ("sacks 3to7kg", "sacks", [("between", 3, 7, "kilogram")]),
        ("coat 6ft3", "coat", [("=", 6.25, 6.25, "foot")]),
        ("shed 90ft2", "shed", [("=", 90, 90, "square foot")]),
        ("boat at-least 7 m", "boat", [(">=", 7, 7, "metre")]),
        ("boat 7k€", "boat", [("=", 7000, 7000, "euro")]),
        ("boat 12.500 €", "boat", [("=", 12500, 12500, "euro")]),
        ("boat 12.500 kg", "boat", [("=", 12.5, 12.5, "kilogram")]),
        # words that stay
        ("check out desk 2 m", "check out desk", [("=", 2, 2, "metre")]),
        ("rooms to let 20 m2", "rooms let", [("=", 20, 20, "square metre")]),
        ("rent due in 9 days", "rent due", [("=", 9, 9, "day")]),
    ],
)
def test_kinds(text, terms, conditions):
    assert read(text) == (terms, conditions)


@pytest.mark.parametrize(
    ("text", "concepts"),
    [
        ("tablet 4gb ram 7000mah battery 11 inch", [("tablet", "ram"), ("battery",), ("tablet",)]),
        ("cook 35 hours 20 days holiday salary 25k", [("cook",), ("holiday",), ("salary",)]),
        ("mower 40v motor range 2 km weight under 9kg", [("mower", "motor"), ("range",), ("weight",)]),
        ("note 4% coupon maturity under 7 years", [("note", "coupon"), ("maturity",)]),
        ("manure 30 kg potash at least 12%", [("manure",), ("potash",)]),
        ("women under 52 kg clean over 90 kg", [("women",), ("clean",)]),
        ("boys over 40 kg ibuprofen 200 mg", [("boys",), ("ibuprofen",)]),
        ("weight of 4 year old girl 17 kg", [("girl",), ("weight",)]),
        ("bus under 5 hours from oslo under €40", [("bus",), ("bus",)]),
        ("dryer 8kg 1200 rpm energy class b", [("dryer",), ("dryer",)]),
        ("chalet 3 bedrooms sauna up to 900 euros", [("chalet",), ("chalet",)]),
        ("cider alcohol under 5% 500 ml", [("cider", "alcohol"), ("cider",)]),
        ("bus pass limit 4000 over 60", [("bus", "pass", "limit"), ("bus", "pass")]),
        ("gpu 200w draw 3 fans", [("gpu", "draw"), ("gpu",)]),
        ("portfolio drift over 8% churn below 15% omega above 2", [("portfolio", "drift"), ("churn",), ("omega",)]),
        ("phone 256gb battery condition above 90%", [("phone",), ("battery", "condition")]),
        ("pulse over 110 sats 91%", [("pulse",), ("sats",)]),
    ],
)
def test_words_go_with_the_amount_that_they_have(text, concepts):
    assert [c.concept for c in parse_query(text, EXTRACTOR).conditions] == concepts


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("fare rise over 6%", "up"),
        ("fare drop over 6%", "down"),
        ("wage increase above £90", "up"),
        ("climbs over 900 m", ""),
        ("fish tank over 90 l", ""),
        ("gym contract over 18", ""),
        ("logs bigger than 4 gb older than 9 days", ""),
        ("slicer 9 sheet cross cut", ""),
        ("firms that cut over 70 jobs", "down"),
    ],
)
def test_a_rise_is_asked_for_where_a_query_says_so(text, change):
    assert parse_query(text, EXTRACTOR).conditions[0].change == change
