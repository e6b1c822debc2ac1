"""Sentences that look like those a rule is for, and are not: what is read of them is what they say."""

from __future__ import annotations

import pytest

from qbench.quantities.extractors import ExtractorOptions, get_extractor

READER = get_extractor(ExtractorOptions())


def read(text):
    """For each number: value (of a range the higher), unit, what bounds it but for "=", and its change."""
    found = READER.extract(text)
    told = [
        (
            f"{q.high if q.comparator == 'between' else q.value:g}",
            q.unit,
            "" if q.comparator == "=" else q.comparator,
            q.change,
        )
        for q in found
    ]
    return [" ".join(filter(None, words)) for words in told]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # hours of an office, and numbers that fall
        ("It takes nine to five kg.", ["9 kilogram between"]),
        ("Prices fell from nine to five dollars.", ["9 dollar", "5 dollar"]),
        ("The court ruled nine to five against him.", ["9", "5"]),
        ("She works nine to five, on a 9-to-5 shift.", []),
        ("The clinic is open Tuesday to Friday from 9 to 5.", []),
        ("From 9 to 5, the museum is open.", []),
        ("The number of shifts dropped from 9 to 5.", ["9", "5"]),
        ("The ratio of open jobs was 9 to 5.", ["9", "5"]),
        # what things are counted, and who lives
        ("After two ferries sank, 174 drowned.", ["2 ferry", "174"]),
        ("Of 40 patients, 5 died.", ["40 patient", "5 patient"]),
        # prices with fractions, and no sum of money
        ("It closed at 15-3/4 on Friday.", ["15.75"]),
        ("It raises 30 mln dollars by a bond priced at 101-1/4.", ["3e+07 dollar", "101.25"]),
        # what one thing is like, and how many there are
        ("It is a 5 star hotel. It is a large 40 room hotel.", ["5 star", "40 room"]),
        ("We rented a 3 bedroom flat of a 200 page list.", ["3 bedroom", "200 page"]),
        ("She has 2 star players.", ["2 star player"]),
        ("It has the 3 page designers.", ["3 page designer"]),
        ("They busted up 3 cells and closed down 4 mills.", ["3 cell", "4 mill"]),
        ("Shares closed up 4% and were up 3 points.", ["4 percentage up", "3 point up"]),
        # a price and the last digits of another
        ("It bought dollars at 137.80-85 yen.", ["137.85 yen between"]),
        ("It cost 12.50-15 dollars.", ["15 dollar between"]),
        ("They gave 0.0001-10 mg.", ["10 milligram between"]),
        ("It traded at 1.8215-25 marks.", ["1.8225 deutsche mark between"]),
        # thousands that a point parts, and what has thousandths
        ("It holds 6.000 shares.", ["6000 share"]),
        ("She took 20.000-40.000 IU per week.", ["40000 international unit per week between"]),
        ("It weighs 1.000 kg and has 1.500 faults and 3.000 points.", ["1 kilogram", "1.5 fault", "3 point"]),
        # a magnitude that is said once
        ("Reserves rose to 2,700 billion litres from the 2,466 of May.", ["2.7e+12 litre", "2.466e+12 litre"]),
        ("Output rose to 2.7 billion cubic feet from 1,400.", ["2.7e+09 cubic foot", "1400"]),
        # a quotient, and a label
        ("The rate of use was 52% (31/60) at last.", ["52 percentage", "31", "60"]),
        ("Of two groups, one has ASA status 1-3.", ["2 group", "3 between"]),
        # what millions of money are, and what millions count
        ("Its loss of 688 mln francs was under the 756 mln loss of 1985.", ["6.88e+08 franc", "7.56e+08 franc"]),
        ("It won a 78 mln mark order.", ["7.8e+07 deutsche mark"]),
        ("It has 7 million deals and 40 mln dollars.", ["7e+06 deal", "4e+07 dollar"]),
        ("It sold two millions, and six thousands boats.", ["2e+06", "6000 boat"]),
        # years of what is made anew each year
        ("It lends for all 1987 models.", []),
        ("About 2012 models were sold.", ["2012 model ~"]),
        ("It makes 2,019 models.", ["2019 model"]),
        # earlier than something, and the period before
        ("It had 1,200 visitors earlier this year.", ["1200 visitor"]),
        ("The firm cut 5,000 jobs earlier this month.", ["5000 job down"]),
        # counts that follow each other, and points of a list
        ("4 Danes came. 5 Swedes left.", ["4 dane", "5 swede"]),
        ("Fine: 5 Euros. Toll: 6 Euros.", ["5 euro", "6 euro"]),
        ("Who came? 12 Police officers. 13 Firefighters.", ["12 police officer", "13 firefighter"]),
        ("1 Danes eat it. 2 Swedes do not.", []),
        ("Fats. 1 A choice of nuts, " + "and seeds, " * 40 + "raw. 2 Oily fishes, grilled. 3 Plant oils.", []),
        ("^ 2 Billion dollars were spent.", ["2e+09 dollar"]),
        # counts in brackets behind a place, and its postcode
        ("Deaths in Italy (35000) and Spain (28000) rose.", ["35000", "28000"]),
        ("The office in Frankfurt am Main (60311) is closed.", []),
        ("He was born in Cologne (50667).", []),
        ("Hospital beds in Austria (50667) fell.", ["50667"]),
        # caps that are no limit
        ("He sells caps at 12 dollars.", ["12 dollar"]),
        ("Large cap stocks at 20 dollars sold off.", ["20 dollar"]),
        ("He capped his career at 35.", ["35"]),
        ("The bank caps the fee at 12 dollars.", ["12 dollar <="]),
        ("A cap on spending at $5 million was set.", ["5e+06 dollar <="]),
        ("The board set a cap at 15%.", ["15 percentage <="]),
        ("A rent cap at 900 euros is in force.", ["900 euro <="]),
        ("Groups, which the zoo caps at 18, met.", ["18 <="]),
        ("The union caps the week at 40 hours.", ["40 hour <="]),
        ("He capped his season at 20 goals.", ["20 goal"]),
        ("Ice capped peaks at 4,100 metres.", ["4100 metre"]),
        ("The town capped fares by law at 3 euros.", ["3 euro <="]),
        ("He capped the night with a win at 80.", ["80"]),
        # classes, and sums
        ("A BMI of 18.5-24.9 = normal.", ["24.9 between"]),
        ("So 20% - 8% = 12% is left.", ["20 percentage", "8 percentage", "12 percentage"]),
        ("So $9 - $4 = US$5.", ["9 dollar", "4 dollar", "5 dollar"]),
        # cuts of meat, and of budgets
        ("She ate 200 grams of cold cuts.", ["200 gram"]),
        ("They walked 30 km of mountain hikes.", ["30 kilometre"]),
        ("They agreed on $9 billion in spending cuts.", ["9e+09 dollar down"]),
        ("It gave $9 million in pay raises last year.", ["9e+06 dollar up"]),
        ("They plan 4 billion euros in cuts.", ["4e+09 euro down"]),
        ("It means 3 million tonnes of greenhouse gas reductions.", ["3e+06 tonne down"]),
        # rises before something, and how high a thing is
        ("Sea levels rose 20 cm long before 1900.", ["20 centimetre up"]),
        ("The lake dropped 2 feet high up in the hills.", ["2 foot down"]),
        ("The hedge grows 6 feet tall.", ["6 foot"]),
        ("The mast rises 90 m tall above the bay.", ["90 metre"]),
        ("The hedge grows 2 m high within 6 months.", ["2 metre", "6 month <="]),
        # what something stands under, and how many there are
        ("Well under 10 licences were sold.", ["10 licence <"]),
        ("The school hired under ten coaches.", ["10 coach <"]),
        ("There are under five facilities in town.", ["5 facility <"]),
        ("Under 5 acts of violence were recorded.", ["5 act <"]),
        ("It is sold under two brands.", ["2 brand"]),
        ("Staff hired under two contracts were let go.", ["2 contract"]),
        ("Fees paid for under two policies fell.", ["2 policy"]),
        ("As soon as 20 people came, it began.", ["20 people"]),
        ("The maximum temperature will be 20 degrees.", ["20 degree"]),
        ("The maximum temperature on Friday was 20 degrees.", ["20 degree"]),
        ("The grill's maximum temperature is 290 °C.", ["290 celsius <="]),
        ("The maximum fine would be 500 dollars.", ["500 dollar <="]),
        # names in capitals
        ("Of The Eleven Directors, four resigned.", ["11 director", "4 director"]),
        ("He saw The Seven Husbands in 3 days.", ["3 day"]),
        ("His play, The Four Aunts, ran for 3 years.", ["3 year"]),
        # pence, and pages
        ("The plan costs 40 p. 50 people use it.", ["40 penny", "50 people"]),
        ("See p. 88 of it.", []),
        ("Jones 1987 p. 45 notes it.", []),
        ("Of 90 60-year-old men 3 fell.", ["90 man", "60 year of age", "3 man"]),
        # one length of time that is bounded, and when something was
        ("The dough rests for at least an hour.", ["1 hour >="]),
        ("The repair took more than a week.", ["1 week >"]),
        ("They waited nearly a month for it.", ["1 month ~"]),
        ("It sold 300 boats, more than a year earlier.", ["300 boat"]),
        ("It is about a day's walk.", []),
        ("She has had more than a day job.", []),
        # nothing, numbers in registers, networks, ages
        ("Shr profit 12 cts vs loss nil.", ["12 cent", "0"]),
        ("Write to us, ABN 12 345 678 901.", []),
        ("It runs 3.5 G networks.", []),
        ("The drummer, 31, lost 3 sticks.", ["31 year of age", "3 stick"]),
        ("The result, 31, was good.", ["31"]),
        # levels
        ("The loan can be increased up to $9 million.", ["9e+06 dollar <="]),
        ("Fees could rise up to $9 million.", ["9e+06 dollar <= up"]),
        ("The drill cuts to a depth of 65 mm.", ["65 millimetre"]),
        # days, and what lies between
        ("On May 5 through 12 miles of forest they walked.", ["12 mile"]),
        ("The March 11 through 20 sales rose.", []),
        # signs that stand apart
        ("They were: − 5, − 6 and − 7 °C.", ["-5 celsius", "-6 celsius", "-7 celsius"]),
        ("It was small (95% CI − 0.4 to − 0.2).", ["-0.2 between"]),
        # nouns behind "per", and nouns that end in s
        ("It costs $5 per bed-night and $6 per X-ray.", ["5 dollar per bed-night", "6 dollar per x-ray"]),
        ("It costs $5 per lens and 30 euros per canvas.", ["5 dollar per lens", "30 euro per canvas"]),
    ],
)  # fmt: skip
def test_a_near_miss_is_read_for_what_it_says(text, expected):
    assert read(text) == expected
