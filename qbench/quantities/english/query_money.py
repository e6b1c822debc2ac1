"""Amounts of a query that are money by what is asked for: "earphones under 30 pounds", "cruise below 1000pp".

A document says by its words which pound it means; a query of three words does it by the thing, which has a weight that
nobody would ask for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from qbench.quantities.english.ambiguity import resolve
from qbench.quantities.english.query_attributes import families
from qbench.quantities.english.tokens import Token
from qbench.quantities.types import Quantity
from qbench.quantities.units import Unit, Units

HEAVIEST = {
    3: "earphone earbud headphone headset phone smartphone watch smartwatch mouse keyboard shoe sneaker trainer boot "
    "dress jacket coat shirt jean skirt perfume charger cable ssd router webcam camera lens gift present toy game "
    "book novel wine whisky tablet kindle e-reader ipad iphone airpod console controller sunglasses handbag makeup "
    "jewellery necklace razor hairdryer kettle toaster lamp "
    "frother grinder mixer mug bottle pan pot knife vase candle clock toy puzzle scarf belt hat wallet purse umbrella "
    "pillow duvet towel bedding curtain rug cushion trouser jumper hoodie sweater legging sandal slipper heel sock bra "
    "plant seed bulb drill sander saw torch cable adapter hub charger powerbank stylus trackpad microphone "
    "calculator stapler pen planner rucksack mirror frame poster print",
    30: "laptop notebook macbook chromebook monitor drone tent backpack stroller pushchair guitar vacuum hoover "
    "printer microwave blender speaker soundbar scooter",
    400: "tv sofa mattress fridge freezer washer dryer dishwasher desk table wardrobe bike bicycle bed wedding",
    7000: "car hatchback estate saloon convertible suv van bmw audi vw ford toyota mercedes honda nissan volvo kia",
    0: "flight hotel hostel flat house apartment studio holiday ticket room meal restaurant course insurance "
    "subscription contract sim broadband concert theatre weekend cruise villa cottage haircut airbnb resort deposit "
    "bedroom job internship spa tour ferry venue party train coach taxi class lesson gym membership dentist surgery",
}
"""Things by the most pounds that anyone would ask one of them to weigh."""
_MOST = {word: most for most, words in HEAVIEST.items() for word in words.split()}
WEIGHED = frozenset(
    "weigh weighs weighing weight heavy heavier light lighter load payload capacity lift lifts baggage luggage "
    "holds carry carries towing lbs lb kg".split()
)
"""Words with which pounds are of weight."""
HOMES = frozenset("house houses flat flats apartment apartments villa bungalow condo penthouse mansion".split())
LOCAL = frozenset("within from away high tall wide long walk beach sea deep fence wall ceiling garden".split())
"""Homes, and the words with which metres are said of them."""
VALUED = frozenset("valued worth priced sold raised raising earning earned paid paying costing spent bought".split())
"""Verbs that lead to money."""
BABIES = frozenset(
    "romper rompers bodysuit bodysuits sleepsuit sleepsuits onesie onesies babygrow babygrows dungarees snowsuit "
    "pramsuit bib bibs teether teethers weaning soother dummy puree pouch pouches".split()
)
"""What is made for so many months."""
OLDEST = 36
PRINTERS = ("printer", "laserjet", "inkjet", "scanner", "copier")
"""What puts out pages: so many "ppm" are pages a minute."""
PERSONS = frozenset("people person man woman child user viewer follower voter visitor".split())
FURTHEST = 100
"""Metres that "6m eaves" may be, at most."""
LONGEST = 100
"""Tokens of a query at most: what is longer is prose, and tells by its words."""
FEWEST_EACH = 20.0
"""From here on, "pp" in a query without percentages is "per person"."""


def as_money(tokens: Sequence[Token], quantity: Quantity, units: Units) -> Quantity:
    """The quantity, in money where the query's words leave no other sense."""
    unit, per, period = quantity.unit.partition(" per ")
    if quantity.unit == "part per million" and any(t.low.startswith(PRINTERS) for t in tokens):
        return as_unit(quantity, units.get("page per minute"), units)
    if quantity.family == "count" and _is_of_metres(tokens, quantity):
        return _metres(quantity, units)
    if quantity.unit_span is None or unit not in ("pound-mass", "percentage point", "metre"):
        return quantity
    if len(tokens) > LONGEST:
        return quantity
    start, end = quantity.unit_span
    written = "".join(t.low for t in tokens if start <= t.start and t.end <= end)
    if written == "pp" and quantity.value >= FEWEST_EACH and not any(t.text == "%" for t in tokens):
        return replace(quantity, unit="", family="", base_unit="", base_value=quantity.value, base_high=quantity.high)
    words = [t.low for t in tokens if t.kind == "word"]
    if quantity.unit == "metre" and not BABIES.isdisjoint(words):
        return _months(quantity, units) if written == "m" and quantity.high <= OLDEST else quantity
    if quantity.unit == "metre":
        return _millions(tokens, quantity, words)
    surface = next((t.low for t in tokens if t.start == start), "")
    if surface not in ("pound", "pounds") or not WEIGHED.isdisjoint(words):
        return quantity
    limits = [_MOST[thing] for word in words if (thing := _thing(word)) is not None]
    if not limits or quantity.value <= min(limits):
        return quantity
    return as_unit(quantity, units.get("pound sterling" + per + period), units)


def as_unit(quantity: Quantity, unit: Unit, units: Units) -> Quantity:
    """The quantity with another unit for its number."""
    low, high = (units.to_base(value, unit.name) for value in (quantity.value, quantity.high))
    return replace(
        quantity, unit=unit.name, family=unit.family, base_unit=unit.base_unit, base_value=low, base_high=high
    )


def _is_of_metres(tokens: Sequence[Token], quantity: Quantity) -> bool:
    """Whether the "m" of "with 6m eaves", beside which no word speaks for millions, is a metre."""
    k = next((k for k, t in enumerate(tokens) if t.end == quantity.value_span[1]), 0)
    if (
        not k
        or tokens[k].text != "m"
        or quantity.unit in PERSONS
        or quantity.value % 1e5
        or quantity.value > FURTHEST * 1e6
    ):
        return False
    sense = resolve("m", tokens, k, k + 1)
    return sense is None or sense.scale is None or not sense.cued


def _metres(quantity: Quantity, units: Units) -> Quantity:
    """An amount in millions of what stands after it, as one in metres."""
    start, end = quantity.value_span
    span = (end - 1, end)
    plain = replace(quantity, value=quantity.value / 1e6, high=quantity.high / 1e6, value_span=(start, end - 1))
    return replace(as_unit(plain, units.get("metre"), units), unit_span=span)


def _millions(tokens: Sequence[Token], quantity: Quantity, words: Sequence[str]) -> Quantity:
    """The "1m" of "4 bed house under 1m", "revenue over 20m" is a million: nobody asks for lower houses."""
    start = quantity.value_span[1]
    letter = next((t for t in tokens if t.start == start), None)
    home = not HOMES.isdisjoint(words) and LOCAL.isdisjoint(words) and quantity.comparator in ("<", "<=")
    if letter is None or letter.text != "m" or not (home or _is_of_money(tokens, quantity)):
        return quantity
    low, high = quantity.value * 1e6, quantity.high * 1e6
    span = quantity.value_span[0], letter.end
    return replace(
        quantity, value=low, high=high, unit="", family="", base_unit="", base_value=low, base_high=high,
        value_span=span, unit_span=None,
    )  # fmt: skip


def _is_of_money(tokens: Sequence[Token], quantity: Quantity) -> bool:
    """Whether the word before an amount has amounts of money or bare numbers, and no length: "aum over 500m"."""
    start = (quantity.comparator_span or quantity.value_span)[0]
    lead = next((t.low for t in reversed(tokens) if t.end <= start and t.low not in ("of", "is", "a")), "")
    has = frozenset(("",)) if lead in VALUED else families(lead) or frozenset()
    return not has.isdisjoint(("currency", "")) and "length" not in has


def _months(quantity: Quantity, units: Units) -> Quantity:
    """The "12-18m" of "romper 12-18m" is months: nobody is so long."""
    return as_unit(quantity, units.get("month"), units)


def _thing(word: str) -> str | None:
    """The word in the singular, if it names a thing of the table."""
    return next((form for form in (word, word.removesuffix("s"), word.removesuffix("es")) if form in _MOST), None)
