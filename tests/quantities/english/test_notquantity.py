"""Numbers that are no quantities, and look-alikes that are, in sentences of our own."""

import pytest

from qbench.quantities.english.amounts import AmountFinder
from qbench.quantities.english.ranges import join
from qbench.quantities.english.tokens import tokenize
from qbench.quantities.units import load_units

FINDER = AmountFinder(load_units())


def values(text):
    tokens = tokenize(text)
    return [a.low for a in join(tokens, FINDER.find(tokens, text)) if not a.year]


@pytest.mark.parametrize(
    "text",
    [
        # parts of nothing, a part that somebody took
        "half the time it rained", "bought by a third party",
        # dates
        "on Dec 2", "on 2 December", "on 9 May it rained", "on Aug. 14 it rained", "the 4th of July", "12/31/2023",
        "2023-12-31", "31.12.2023", "season 2023-24", "in 2019/20", "A.D. 1000", "AD 70", "in 1260 BC",
        "300 B.C. or so", "the 1990s", "the mid-1980s", "FY19", "from June 5-8", "from June 5 to 8",
        "the May 2028 bonds", "the May 2031 term loans", "by the June eight record date", "from 14.30 pm on",
        "the 2-5 December fair", "March 31, 2024", "SEPT 30, 2024", "the class of '99", "on 3/14 it rained",
        "open 24/7", "after 9/11", "in 2019 and 2020", "by 2120", "between 1987 and 1989", "January 5",
        # clock times
        "at 10.45pm", "at 12:01 a.m. sharp", "at 0401 GMT", "at 5am", "at 17:22", "at five o'clock", "from 9-11 a.m.",
        "at 1300 pdt", "from 5 to 7 pm", "in 2:04:31",
        # versions, codes, numbers of things
        "version 1.2.3", "192.168.10.1", "call 555-0123", "(212) 555-0123", "1-800-555-0123", "COVID-19", "COVID -19",
        "the G20-led talks", "a TA-35 plate", "a V-6 engine", "Form 10-K", "Section 401(k)", "a 401(k) plan", "Room 12",
        "Article 5", "page 3", "Route 66", "in Game 6", "No. 5", "#1", "ISBN 978-3-16-148410-0", "Model 3", "Big 12",
        "see example.org/12345/2", "U-238", "0401", "agent 007",
        # citations, list marks, places
        "in phases 3, 5, and 7 of it", "see Figs. 2 and 3", "Columns 4-6", "so they said (Li, 2006a)", "Ca(ClO4)2",
        "as seen before (26,29)", "in earlier work (4,35–38)", "as shown [12].",
        "a one-time fee", "a one-way street", "a two-factor key", "a three-dimensional map", "a 5k run", "the 10K race",
        "phone 555-0123", "Phone 02079460958",
        "as shown [3,4] and [5-8].", "1. Open the box", "2) Close it", "(3) Go home",
        "51.5° N", "40°42′N",
        # ordinals and names
        "the 1st and the 22nd", "the twenty-first", "the S&P 500 fell", "the Nasdaq 100", "the FTSE 100 rose",
        "a new iPhone 11 Pro for sale", "the Galaxy Note 20 Ultra is out", "the Boeing 787 Dreamliner flew",
        "his Slow Five call was fine", "a 3D film", "7-Eleven opened",
        # the second of two models, processors, lists
        "the iPhone 11 and 11 Pro Max", "a Snapdragon 410 chipset, new", "the Boeing 737 jet", "a Euro 6 engine",
        "the Group of Seven met", "a 4K screen", "films in 8K", "a 50-50 split", "20/20 vision",
        # numbers of things, in words too
        "the number three carmaker", "in phase two of it", "the number 7 seed", "scope 1 & 2 emissions", "zone 5c",
        "under Topic 740-10", "Item 407 (c)(3) and (d)(4)", "the market(1) grew", "in $000's",
        "due to (1) rain and (2) wind", "grant 100574/Z/12/Z",
        "in Sections 4.06 and 4.07 it rained", "with genotypes 1 and 4 infections", "at T10, 20 and 30 it rained",
        "Mill 1 was older than Mill 2", "in the ABC 1 (dry) and ABC 2 (wet) groups",
        # pages, notes and headings
        "It is told in Form 10-K.58Item it was", "The costs were as follows:1 Costs of rent", "It was told so. 12.",
        "3.1 Risks of the mill (continued)",
        # idioms with a numeral
        "one-on-one talks", "a two-for-one offer", "a zero-sum game", "zero-emission cars",
        # law, places, bets, addresses
        "under 28 U.S.C. 1331", "17 C.F.R. § 240", "in Springfield, IL 62704", "at 5/1 odds", "the 5-1 favourite",
        "in Springfield, California 95054", "in Salem, New York 10001-1234", "at 2485 Maple Drive, Springfield",
        "at 12 North Main St.",
        "see https://example.org/a?b=364768&c=5", "see www.example.org/b%20c",
        "see 10.1234/ab56-78",
        # years before a noun, lives, days in words, hours of the day
        "its 2018 sales", "Keytruda 2018 sales rose", "above 2002 levels", "a 2011 report", "the 1986 year",
        "it had 2019 sales of", "Wesley (1703-1791) wrote", "on April Three", "on May 28 and 29 at noon",
        "at 1900 hours", "1900 hours local time",
        # labels, in small letters too
        "in period 2 of it", "a category 5 storm", "pillar 1 rules", "Study 2 ended", "under IAS 28", "a usb 3.2 port",
        # pages, footnotes, points and headings
        "by the end of the term.2 The mill rose", "under the Plan.7.03 Claims rose", "it is as follows:1 Includes rain",
        "by all of them.9.", "on May 31, 2023.103 ACME rose", "in cash. 26 ACME MAY 2024 FORM 10-K",
        "in cash. 4 Acme, Inc. rose", "as in Note 16. 30•It rose", "these kinds: 1) tea, 2) rice, and 3) maize",
        "2 Includes the fees of May", "Note: 1 The tax fell", "17 Impairment of goodwill", "the 2024 USD Notes rose",
        # telephones, streets, hours
        "phone 650 555 0123 fax 650 555 0124", "at 111 Market Place", "in Washington, D.C. 20006-3700",
        "call 212/555-0123 now", "it closed at 7.", "the game tonight at 8, they say", "on nov. 6 and oct 12",
        "a three-party deal", "an iphone 11 and an rtx 3080 for sale", "my macbook pro 16 died",
        "the boeing 737 max was late", "the sp 500 fell", "the ftse 100 and the nikkei 225 fell",
        "on may 5, by march 4 and since march 31, 2020", "a 2 in 1 kettle", "an Orbit AB540UA-DM186 case",
        "the ORB72MVR 7RG", "the output of mill 3 fell",
        # what is left of an exponent
        "counts s −1",
        # denominators
        "deaths per 100,000",
        # what is several things in one, kinds of tests, ions and bonds, sections, titles, models with a letter
        "a 2-in-1 laptop", "this three-in-one lamp", "a two-tailed test", "a 2-sided t-test", "of Mg+2 in water",
        "of omega (n)-3 acids", "see § 1.409A-1(b)(4) of it", 'the show "60 Minutes" ran', "the film “12 Years” won",
        "its new Zen 4c core", "of 25[OH]D in blood", "for June 20/30 shipment", "safety first; 2.",
        "2 Segments of the group (continued)", "zero coupon bonds", "Standard and Poor's 500 stock rose",
        "the 7000 series and 5000-series chips", "by SPSS 15.0", "it fell in year two", "2“Closing Date” means",
        "in 10 AD",
        "a Zeta 320-15ISK case", "an Orbit HD Graphics 620 chip", "a Quadro 3000M card", "the HDMI 2.0 port",
        "in LEVI'S 501 jeans", "the ACME 250 G6 case", "DDR4 2400 memory", "the 2006A rights",
    ],
)  # fmt: skip
def test_leaves_alone(text):
    assert values(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("In May 120 boats sank", [120]),
        ("10 AD patients", [10]),
        ("zero deaths", [0]),
        ("in two series and 15 series", [2, 15]),
        ("last year two people died", [2]),
        ("in year two boats sank", [2]),
        ("the tea group (19) and the rye group (20), but not group (1)", [19, 20]),
        ("5 “big” boats", [5]),
        # beside those: inches, goals in a game, charges, titles that are none, a letter that is a unit
        ("2 in × 1 in", [2, 1]),
        ("a 5-in pipe", [5]),
        ("two-tonne and 2-sided", [2]),
        ("it lost +2 points", [2]),
        ("(r = 5)-3 kg", [5, 3]),
        ('he said "60 minutes are enough"', [60]),
        ('“12 years ago," he said', [12]),
        ("In summer 4c is normal", [4]),
        ("first; 2.5 kg", [2.5]),
        ("2 Segments of the group rose 5%", [2, 5]),
        ("Oakfield had 1986 sales of about $5", [5]),
        ("had 1986 boats of about 5 tonnes", [5]),
        ("paid 1,500 a month 2 rooms", [1500, 2]),
        ("in month 2 of it, 5 kg", [5]),
        ("On Dec 2, 40 boats sank", [40]),
        ("From June 5 to 8 boats a day sank", [8]),
        ("2 may be enough", [2]),
        ("they march 4 km", [4]),
        ("2 in 1 group and 3 in the other", [2, 1, 3]),
        ("pre-USD 5 tolls of USD10", [5, 10]),
        ("a median of score 3 was told", [3]),
        ("5 a day", [5]),
        ("motors of 5-10KW", [5]),
        ("two USB 3.2 ports", [2]),
        ("a USB 2 m cable", [2]),
        ("4GB/64GB of memory", [4, 64]),
        ("two Tesla owners", [2]),
        ("Marta Ruiz, 65, now sails", [65]),
        ("On Monday, 65, and so on", [65]),
        ("a boat [5 metres] long", [5]),
        ("In phase 3, 5 kg were lost", [5]),
        ("see notes 2 and 3 kg of flour", [3]),
        ("he ate ten, he said (10)", [10, 10]),
        ("five (5) days", [5]),
        ("a sub-9 micron film", [9]),
        ("more-than-5 kg", [5]),
        ("a 787 kg load", [787]),
        ("In Paris 500 boats sank", [500]),
        ("Then Paris Saw 500 Boats Sinking Near Lyon", [500]),
        ("The Fleet Lost 12 Ships", [12]),
        ("the EUR 500 fee", [500]),
        ("5.5% a year", [5.5]),
        ("3/4 of the boats", [0.75]),
        ("It rose 5.", [5]),
        ("-40 °C", [-40]),
        ("45° north of", [45]),
        ("2150 boats", [2150]),
        ("2000 to 3000 tonnes", [2000]),
        ("05 kg", [5]),
        ("over 9000 boats", [9000]),
        ("1400 m up", [1400]),
        ("for 1900 hours", [1900]),
        ("In May four ships sank", [4]),
        ("the first three quarters of it", [3]),
        ("five-to-six-week", [5]),
        ("zero percent", [0]),
        ("a 1/5 share", [0.2]),
        ("5 zebras", [5]),
        ("sold 4K boats", [4000]),
        ("sold 4k boats, a 4k tv", [4000]),
        ("In 2019, 62704 boats", [62704]),
        ("In California 95054 boats sank", [95054]),
        ("12 Street musicians played", [12]),
        ("5 main roads", [5]),
        ("30-year bonds", [30]),
        ("It flies 85 Acme 737 jets", [85]),
        ("At Acme 300 workers left", [300]),
        ("1100-1350 lbs", [1100]),
        ("an sp of 500 kg", [500]),
        ("In 2019 it was at 7. Then it rose.", [7]),
        ("a period 3 times longer", [3]),
        ("It rose.5 boats sank", [5]),
        ("Price:5 Euros", [5]),
        ("It lost (5 of tea, 3) boats", [5, 3]),
        ("12 Palestinians and", [12]),
        ("28 patients of", [28]),
        ("It weighs 3.Then", [3]),
        ("on May 31, 2023.5 kg", []),
        ("The oven is at 7 bar tonight", [7]),
        ("It rose 5 in. 26 MEN SANK THERE", [5, 26]),
        ("a phone 500 euros", [500]),
        ("a table 120 cm wide", [120]),
        ("a case 15-inch wide", [15]),
        ("a flight 12 hours long", [12]),
        ("a one-day sail", [1]),
        ("a two-time winner", [2]),
        ("sold 5k runners' shoes, 40k boats", [40000]),
        ("it sailed in under 5s", [5]),
    ],
)
def test_keeps(text, expected):
    assert values(text) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("Marta Ruiz, 65, now sails", "year of age"),
        ("Ruiz, 7, sails", "year of age"),
        ("aged 18", "year of age"),
        ("anyone 60 or older", "year of age"),
        ("adults 65 and over", "year of age"),
        ("voters under 30, too", "year of age"),
        ("under 40 contracts", ""),
        ("a jab for under-5s", "year of age"),
        ("a jab for under 5s", "year of age"),
        ("the over-65s", "year of age"),
        ("a run in under 5s", "second"),
        ("60 or older than he", ""),
        ("swimmers younger than 18", "year of age"),
        ("On Monday, 65, and so on", ""),
        ("The total was 9, 65, 7", ""),
    ],
)
def test_ages(text, unit):
    tokens = tokenize(text)
    assert {a.unit.name for a in FINDER.find(tokens, text)} == {unit}


def test_years_are_kept_apart():
    tokens = tokenize("in 2019")
    (amount,) = FINDER.find(tokens, "in 2019")
    assert amount.year
    assert "year" in amount.how


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It has 2012 patients.", [2012]),
        ("at least one prior therapy", [1]),
        ("more than one of them", [1]),
        ("one or more of the boats", []),
        ("two or more of the boats", [2]),
        ("At 6 weeks of age, one can swim.", [6]),
        ("half of the boats", [0.5]),
        ("about 2012 boats", [2012]),
        ("The yard sold 2019 canoes.", [2019]),
        ("The yard's 2000 canoes", []),
        ("Its 2019 canoes were new.", []),
    ],
)
def test_years_and_counts(words_only, text, expected):
    assert [q.value for q in words_only.extract(text)] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # statistics and their degrees of freedom
        ("F(1, 88) = 4.9 and t(45) = 2.1", [4.9, 2.1]),
        ("F1,95=3.1", [3.1]),
        ("Group F (8 kg) won.", [8]),
        # points in time
        ("It was drawn on day 1, 3 and 5, and at min 2, 5 and 15.", []),
        ("On day 1, 30 people came.", [30]),
        ("A laptop with min 16 GB of memory", [16]),
        # points of lists without an opening bracket
        ("They ate 1) 480 g of rye or 2) 500 g of oats.", [480, 500]),
        ("They (n = 2) ate 5 g (of 3) each.", [2, 5, 3]),
        # hours
        ("It opens between 1900 and 2300 hours.", []),
        ("It worked between 1900 and 2300 hours a year.", [1900]),
        ("16.9.2008 AT 13.32 Acme met", []),
        ("It closed on May 5 at 13.32 euros.", [13.32]),
        ("It closed at 13.32 after all.", [13.32]),
        # names of contracts and of technologies
        ("the Five-Year Credit Agreement and the 364-Day Facility", []),
        ("a five-year credit line and a 12-Month Plan", [5, 12]),
        ("its 5G network and a licence in 3G", []),
        ("It weighs 5 g.", [5]),
        # what is not counted
        ("one or more shops", []),
        ("at one time three shops", [3]),
        ("prices and dozens sold rose", []),
        ("dozens of shops", [12]),
        # verbs that look like labels
        ("The readers number 190,000.", [190000]),
        ("Its staff numbered 517 in May.", [517]),
        ("pages numbered 517 and flight number 190", []),
        ("rose a year-on-year 32 pct", [32]),
        # telephones, identifiers, journals, exchanges
        ("Call +358 20 555 2004 or +44 20 7946 0958.", []),
        ("gains of +12 20 30", [12, 20, 30]),
        ("(doi:10.1186/1472-6963-14-347)", []),
        ("Rye 2017;66:389–397 and Oats 2015;33(8):911-918", []),
        ("in 2017; 66 of them", [66]),
        ("Acme (TSE: 8002) and Brix (HKG : 0700)", []),
        ("NYSE: 4500 shares", [4500]),
        # further days and years
        ("between September 23 and 30 last year", []),
        ("in September 23 and 30 boats", [30]),
        ("spread over 2011 and 2012", []),
        ("over 2011 and 40 kg", [2011, 40]),
        # grades, layouts, formats, names of measures and substances
        ("knees of grade 3 to 4", []),
        ("type 1 or 2 diabetes, level 1 and 2.", []),
        ("In stage 2 and 4 boats sank.", [4]),
        ("from level 3 to 5 km below", [3]),
        ("a 2×3 factorial design and a 2 x 2 table", []),
        ("a 2 x 4 plank", [2, 4]),
        ("in 4K at 60 fps, 120 fps in 1080p, or 720p", [60, 120]),
        ("1080 pages and 4K runs", [1080, 4000]),
        ("expiratory volume in 1 s of 2.1 L", [2.1]),
        ("a volume in 1 s", [1]),
        ("AUC0–9 h, and AUC0-24 h of 45", [45]),
        ("BAY 94-8862 was compared", []),
        ("CI 94-8862", [94]),
        ("toxicity of grade ≥3 and a score ≥3", [3]),
        ("at years 1, 3 and 6", []),
        ("in recent years 5 yards closed", [5]),
        ("the quarter of 2023:1 Value of boats", []),
        ("Costs were $4 million. 2 In 2023, they were $3 million.", [4e6, 3e6]),
        ("Europe12 WeeksNet revenue", [12]),
        ("longer in the PACU 108 ± 37 min", [108]),
        ("at T0 ± 5 min", [5]),
        ("4500 est. tonnes left", [4500]),
        ("pre- and post-14 d, and every-4-weeks", [14, 4]),
        # names of devices, and their sizes
        ("Acme One 5s Android smartphone.", []),
        ("Acme 8110 4G phone", []),
        ("Acme 8110 64 GB phone", [64]),
        ("5.5-inch Acme smartphone", [5.5]),
        ("Acme sold 8110 phones", [8110]),
        # years and what they have; one who speaks
        ("it said 1987 earnings rose", []),
        ("one dealer said so", []),
        ("two dealers said so", [2]),
        ("a seat costs $39 one way", [39]),
        ("there is one way to mend it", [1]),
        # lines that are no text
        ("M9V4@(#8P<'@[('=I9'1H.B`V-3AP>#X-CQD:78@<W1Y;&4]", []),
        ("NET LOSS $5 MILLION (3%) & TAX 12%", [5e6, 3, 12]),
        ("in 1-9/2008", []),
        ("in 1-9 months", [1]),
    ],
)
def test_numbers_of_the_text_and_of_quantities(words_only, text, expected):
    assert [q.value for q in words_only.extract(text)] == expected
