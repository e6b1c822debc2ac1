"""Amounts of a query that are money by what is asked for: "earphones under 30 pounds", "cruise below 1000pp".

A document says by its words which pound it means. A query that bounds so many "pounds" asks for a price, unless it
speaks of weight, of what lives, or of a thing that is carried and may weigh so much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from qbench.quantities.english.ages import PEOPLE
from qbench.quantities.english.ambiguity import resolve
from qbench.quantities.english.amounts import CALENDAR_YEAR
from qbench.quantities.english.inflection import singular
from qbench.quantities.english.query_attributes import families
from qbench.quantities.english.tokens import Token
from qbench.quantities.types import Quantity
from qbench.quantities.units import Unit, Units

CARRIED = {
    10: "laptop notebook macbook chromebook tablet drone camera tripod tent backpack rucksack boot shoe jacket",
    60: "stroller pushchair pram bike bicycle scooter guitar kayak canoe suitcase vacuum printer microwave monitor",
}
"""What is chosen by its weight as well, by the most pounds that one of them weighs."""
_MOST = {word: most for most, words in CARRIED.items() for word in words.split()}
WEIGHED = frozenset(
    "weigh weighs weighing weight heavy heavier light lighter load payload capacity lift lifts baggage luggage "
    "holds carry carries towing lbs lb kg "
    "dumbbell dumbbells kettlebell kettlebells barbell weights plates snatch bench "
    "deadlift squat thrust torque pressure wrestlers boxers fighters lifters dog dogs puppy cat cats fish bass trout "
    "salmon carp turkey ham brisket meat bird birds animals horse horses".split()
)
"""Words with which pounds are of weight, and what lives or is eaten by them."""
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
PAID = frozenset("euro euros eur dollar dollars usd bucks pound pounds gbp quid".split())
"""Words of money; beside them stand amounts of it."""
_COUNTED = frozenset(("", "currency"))
PRINTERS = ("printer", "laserjet", "inkjet", "scanner", "copier")
"""What puts out pages: so many "ppm" are pages a minute."""
COUNTED_BY_MILLIONS = frozenset(
    "people person man woman child user viewer follower voter visitor inhabitant resident citizen employee passenger "
    "tourist subscriber customer student reader listener player share vote download household".split()
)
"""What is counted by the million, and not by the metre: "over 1.5m inhabitants"."""
DEAR = 1000
"""So many pounds are money whether they are bounded or not."""
THINGS = frozenset("kg g lb lbs cm mm m w v inch inches litre litres lumens".split())
"""Units of what has a length as well."""
FURTHEST = 100
"""Metres that "6m eaves" may be, at most."""
LONGEST = 100
"""Tokens of a query at most: what is longer is prose, and tells by its words."""
FEWEST_EACH = 20.0
"""From here on, "pp" in a query without percentages is "per person"."""


def as_money(tokens: Sequence[Token], quantity: Quantity, units: Units) -> Quantity:
    """The quantity, in money where the query's words leave no other sense."""
    unit, per, _ = quantity.unit.partition(" per ")
    if len(tokens) > LONGEST:
        return quantity
    if quantity.unit == "part per million" and any(t.low.startswith(PRINTERS) for t in tokens):
        return as_unit(quantity, units.get("page per minute"), units)
    if unit == CALENDAR_YEAR and per:  # "gold above 2000 an ounce"
        return _bare(quantity)
    k = _letter(tokens, quantity)
    if k and (_is_of_metres(tokens, quantity, k) or _is_beside_money(tokens, quantity, k)):
        return _metres(quantity, units)
    if quantity.unit_span is None:
        return quantity
    if unit == "percentage point":
        return _of_person(tokens, quantity)
    if quantity.unit == "metre":
        return _months_or_millions(tokens, quantity, units)
    return _sterling(tokens, quantity, units) if unit == "pound-mass" else quantity


def _of_person(tokens: Sequence[Token], quantity: Quantity) -> Quantity:
    """The "1000pp" of a query without percentages is a sum for each person."""
    persons = _written(tokens, quantity) == "pp" and quantity.value >= FEWEST_EACH
    return _bare(quantity) if persons and not any(t.text == "%" for t in tokens) else quantity


def _months_or_millions(tokens: Sequence[Token], quantity: Quantity, units: Units) -> Quantity:
    """The "12-18m" of "romper 12-18m" is months: nobody is so long. That of "house under 1m" is a million."""
    words = [t.low for t in tokens if t.kind == "word"]
    if BABIES.isdisjoint(words):
        return _millions(tokens, quantity, words)
    months = _written(tokens, quantity) == "m" and quantity.high <= OLDEST
    return as_unit(quantity, units.get("month"), units) if months else quantity


def _sterling(tokens: Sequence[Token], quantity: Quantity, units: Units) -> Quantity:
    """So many pounds are money if they are asked for and nothing in the query is weighed."""
    _, per, period = quantity.unit.partition(" per ")
    start = (quantity.unit_span or quantity.value_span)[0]
    surface = next((t.low for t in tokens if t.start == start), "")
    if surface not in ("pound", "pounds") or not (per or _is_asked(tokens, quantity)) or _is_weighed(tokens, quantity):
        return quantity
    things = (_thing(t.low) for t in tokens if t.kind == "word")
    if quantity.value <= max((_MOST[thing] for thing in things if thing is not None), default=0):
        return quantity
    return as_unit(quantity, units.get("pound sterling" + per + period), units)


def _written(tokens: Sequence[Token], quantity: Quantity) -> str:
    """The unit as it is written, in small letters."""
    start, end = quantity.unit_span or (0, 0)
    return "".join(t.low for t in tokens if start <= t.start and t.end <= end)


def _is_asked(tokens: Sequence[Token], quantity: Quantity) -> bool:
    """Whether an amount is bounded, or what something is had for: "tickets for 100 pounds"."""
    before = [t.low for t in tokens if t.end <= quantity.value_span[0]]
    return (
        quantity.comparator_span is not None
        or quantity.comparator == "between"
        or before[-1:] == ["for"]
        or quantity.value >= DEAR
    )


def _is_weighed(tokens: Sequence[Token], quantity: Quantity) -> bool:
    """Whether a query speaks of weight or of animals, or the amount is of people: "men over 200 pounds"."""
    start = (quantity.comparator_span or quantity.value_span)[0]
    before = [t for t in tokens if t.end <= start]
    people = before[-1:] and before[-1].low in PEOPLE and [t.kind for t in before[-2:-1]] != ["number"]
    return bool(people) or any(t.low in WEIGHED for t in tokens)


def as_unit(quantity: Quantity, unit: Unit, units: Units) -> Quantity:
    """The quantity with another unit for its number."""
    low, high = (units.to_base(value, unit.name) for value in (quantity.value, quantity.high))
    return replace(
        quantity, unit=unit.name, family=unit.family, base_unit=unit.base_unit, base_value=low, base_high=high
    )


def _bare(quantity: Quantity) -> Quantity:
    """The quantity as a number without a unit."""
    return replace(quantity, unit="", family="", base_unit="", base_value=quantity.value, base_high=quantity.high)


def _is_of_metres(tokens: Sequence[Token], quantity: Quantity, k: int) -> bool:
    """Whether the "m" of "with 6m eaves", token k, beside which no word speaks for millions, is a metre."""
    if quantity.family != "count" or quantity.unit.rpartition(" ")[2] in COUNTED_BY_MILLIONS:
        return False
    sense = resolve("m", tokens, k, k + 1)
    return sense is None or sense.scale is None or not sense.cued


def _is_beside_money(tokens: Sequence[Token], quantity: Quantity, k: int) -> bool:
    """Whether "10m" is a length, since only another amount is of money: "led strip 10m under 20 dollars"."""
    if quantity.unit or quantity.comparator != "=":
        return False
    if any(not _COUNTED.isdisjoint(_amounts_of(t.low)) for t in (*tokens[k - 2 : k - 1], *tokens[k + 1 : k + 2])):
        return False
    start, end = quantity.value_span
    others = [t for t in tokens if not start <= t.start < end]
    paid = [t for t in others if t.low in PAID or t.text in "$€£"]
    if not paid:  # "tripod 1.6m holds 5kg"
        return any(a.kind == "number" and b.low in THINGS for a, b in pairwise(others))
    return tokens[k - 2 : k - 1] != paid[:1]


def _amounts_of(word: str) -> frozenset[str]:
    """The families of a word's amounts, "" for bare numbers; none where nothing is known of it."""
    return frozenset(("",)) if word in VALUED else families(word) or frozenset()


def _letter(tokens: Sequence[Token], quantity: Quantity) -> int:
    """The "m" of an amount in millions that may be one in metres, which are as many as things have; 0 for none."""
    k = next((k for k, t in enumerate(tokens) if t.end == quantity.value_span[1]), 0)
    few = quantity.value <= FURTHEST * 1e6 and not quantity.value % 1e5
    return k if few and tokens[k].text == "m" else 0


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
    if letter is None or letter.text != "m":
        return quantity
    if not (home or _is_of_money(tokens, quantity) or _is_low_end(tokens, tokens.index(letter))):
        return quantity
    low, high, span = quantity.value * 1e6, quantity.high * 1e6, (quantity.value_span[0], letter.end)
    return _bare(replace(quantity, value=low, high=high, value_span=span, unit_span=None))


def _is_low_end(tokens: Sequence[Token], k: int) -> bool:
    """Whether the m at token k ends the lower end of a range in millions: "between 1m and 2m inhabitants"."""
    following = tokens[k + 1 : k + 5]
    if len(following) < 4:
        return False
    joint, number, letter, noun = following
    counted = singular(noun.low) in COUNTED_BY_MILLIONS
    return joint.low in ("and", "to", "-", "–", "or") and number.kind == "number" and letter.text == "m" and counted


def _is_of_money(tokens: Sequence[Token], quantity: Quantity) -> bool:
    """Whether the word before an amount has amounts of money or bare numbers, and no length: "aum over 500m"."""
    start = (quantity.comparator_span or quantity.value_span)[0]
    lead = next((t.low for t in reversed(tokens) if t.end <= start and t.low not in ("of", "for", "is", "a")), "")
    has = _amounts_of(lead)
    return not _COUNTED.isdisjoint(has) and "length" not in has


def _thing(word: str) -> str | None:
    """The word in the singular, if it names a thing of the table."""
    return next((form for form in (word, word.removesuffix("s"), word.removesuffix("es")) if form in _MOST), None)
