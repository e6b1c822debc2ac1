"""Numbers of a query that name something: races and sprints, grades of oil, formats of pictures, sides of tyres."""

from __future__ import annotations

from collections.abc import Sequence

from qbench.quantities.english.lexicon import FUNCTION_WORDS, SEARCH_NOISE, SIDES
from qbench.quantities.english.query_attributes import MEASURED, WORN, families
from qbench.quantities.english.query_concepts import LIMITS, RANKED
from qbench.quantities.english.tokens import Token, glued
from qbench.quantities.types import Quantity

NAMES = frozenset(
    "fortune p formula iphone ipad galaxy pixel rtx gtx rx ryzen core windows playstation xbox boeing airbus usb hdmi "
    "size wifi bluetooth android ios python java route highway euro type series model macbook pro max gen area forbes "
    "nasdaq ftse dax russell nikkei pg".split()
)
"""Names of which a number is a part even before what could be counted: "fortune 500 companies"."""
BEFORE_MAX = frozenset("air pro mi note redmi ultra nike iphone hot shure ipad".split())
"""Words before a "max" that is part of a name: "air max 90"."""
CROSSES = frozenset(("x", "×"))
EACH = frozenset("a an per each every / p".split())
AREAS = frozenset("sq m sqm sqkm sqft ha hectare acre mile km kg lb litre liter gallon ounce".split())
"""What so many are counted on: "density above 1000 per km2"."""
PERIODS = frozenset("hour day night week month quarter year annum".split())
"""What a bare amount of money may be paid for, each: "1500 a month"."""
SPEEDS = frozenset((60.0, 62.0, 100.0, 200.0))
"""Speeds that cars are timed up to: "0-60 in under 4 s"."""
PICTURES = frozenset(
    "tv television monitor screen display inch hz camera projector webcam video laptop oled qled uhd hdr fp drone cam "
    "dashcam cctv gopro recording hdmi resolution ultrawide image photo picture wallpaper phone tablet px pixel".split()
)
"""Words beside which "4k" is a format of pictures."""
WIDTHS = frozenset("1280 1366 1920 2560 3440 3840 5120 7680".split())
TRACK = frozenset((50, 60, 100, 110, 200, 400, 800, 1500, 3000, 5000, 10000))
RACES = frozenset(
    "sprint sprints sprinter sprinters hurdles hurdler hurdlers dash freestyle butterfly backstroke breaststroke "
    "medley relay relays final finals steeplechase runner runners race races record".split()
)
"""What is named by its length in metres: "the 100m hurdles"."""

METALS = frozenset("gold silver sterling platinum".split())
CARATS = frozenset((8e3, 9e3, 10e3, 14e3, 18e3, 21e3, 22e3, 24e3))
THOUSANDTHS = frozenset((375.0, 585.0, 750.0, 800.0, 835.0, 900.0, 925.0, 950.0, 958.0, 999.0))
"""Fineness of metals, in a thousand parts; with a "k", in carats read as thousands."""
TIMES = frozenset("s sec secs second seconds min mins minute minutes".split())
RUNNING = frozenset(
    "run runs runner runners running race races time times training plan pb parkrun marathon walk treadmill".split()
)
"""Words beside which "5k" is a race."""

LONGEST_CODE = 4
"""Digits of most numbers of models; longer ones that end with a nought are amounts."""
ERAS = frozenset(("bc", "bce", "ad"))
HOTTEST = 5000.0
"""Nobody asks for so many degrees."""
BRANDS = frozenset("xiaomi oneplus redmi mi poco iphone ipad pixel realme honor nokia moto motorola galaxy".split())
"""What calls its models "13t", "5c", "6s"."""


def is_name(tokens: Sequence[Token], number: int, first: int, last: int, quantity: Quantity) -> bool:
    """Whether a quantity is read out of a name, and no condition.

    Args:
        tokens: of the query.
        number: the number's token.
        first, last: its token range with its unit and the words that bound it.
        quantity: as it was read.
    """
    if is_race(tokens, first, last, quantity) or (last < len(tokens) and tokens[last].low in ERAS):
        return True
    return any(names(tokens, number, quantity) for names in (is_sprint, is_format, is_oil, is_model, is_fineness))


def is_race(tokens: Sequence[Token], first: int, last: int, quantity: Quantity) -> bool:
    """Whether a length names a race: "100m sprinters", "under 10 seconds in the 100 m"."""
    if quantity.comparator == "=" and not quantity.unit and tokens[last - 1].low == "k":
        return quantity.value in (5e3, 1e4) and _is_run(tokens, first, last)
    if quantity.unit != "metre" or quantity.value not in TRACK:
        return False
    if _is_timed(tokens, last):
        return True
    if last < len(tokens):
        return tokens[last].low in RACES
    return [t.low for t in tokens[max(0, first - 2) : first]] == ["in", "the"]


def _is_timed(tokens: Sequence[Token], k: int) -> bool:
    """Whether a bound in time stands at token k: "800m under 2 minutes", "200m sub 20 s"."""
    words = [t.low for t in tokens[k : k + 4]]
    k += 1 + (words[:2] in (["less", "than"], ["faster", "than"]))
    if not words or words[0] not in ("under", "sub", "below", "less", "faster", "in", "<") or k + 1 >= len(tokens):
        return False
    return tokens[k].kind == "number" and tokens[k + 1].low in TIMES


def _is_run(tokens: Sequence[Token], first: int, last: int) -> bool:
    """Whether a "5k" is run: "5k training plan", "5k under 25 minutes"."""
    timed = first == 0 and last < len(tokens) and tokens[last].low in ("under", "sub", "in", "below")
    return timed or any(t.low in RUNNING for t in tokens[max(0, first - 2) : last + 2])


def is_sprint(tokens: Sequence[Token], number: int, quantity: Quantity) -> bool:
    """Whether a range is what cars are timed over, "0-60 mph in 4 s", "0-100 under 5 seconds"."""
    if (
        quantity.value
        or quantity.high not in SPEEDS
        or number + 3 >= len(tokens)
        or tokens[number + 1].low not in ("-", "to")
    ):
        return False
    return tokens[number + 3].low in ("in", "under", "mph", "km", "kmh", "kph", "time", "less", "sprint", "below", "<")


def is_oil(tokens: Sequence[Token], number: int, quantity: Quantity) -> bool:
    """Whether a range is a grade of motor oil: "5w-30"."""
    k = number + 1
    if quantity.unit != "watt" or quantity.comparator != "between" or k + 2 >= len(tokens):
        return False
    return tokens[k].low == "w" and tokens[k + 1].text == "-" and glued(tokens[k], tokens[k + 1])


def is_format(tokens: Sequence[Token], number: int, quantity: Quantity) -> bool:
    """Whether a number is of a format: "4k" beside a word of pictures, the sides of a tyre."""
    if quantity.unit == "pixel" and quantity.unit_span is None:
        return not _is_of_pictures(tokens)  # "rug 200x300"
    if quantity.unit or number + 1 >= len(tokens):
        return False
    if quantity.value not in (2e3, 4e3, 5e3, 8e3):
        return False
    return tokens[number + 1].low == "k" and _is_of_pictures(tokens)


def _is_of_pictures(tokens: Sequence[Token]) -> bool:
    """Whether a query is about what shows or takes pictures, or names a usual width of a screen."""
    return any(t.low.removesuffix("s") in PICTURES or t.text in WIDTHS for t in tokens)


def is_fineness(tokens: Sequence[Token], number: int, quantity: Quantity) -> bool:
    """Whether a number is how pure gold or silver is: "14k gold ring", "ring 18k white gold", "925 silver"."""
    near = {t.low for t in tokens[max(0, number - 3) : number + 5]}
    bare = quantity.family in ("", "count") and quantity.comparator == "="
    if not bare or near.isdisjoint(METALS):
        return False
    if number + 1 < len(tokens) and tokens[number + 1].low == "k":
        return quantity.value in CARATS
    return quantity.value in THOUSANDTHS and number + 1 < len(tokens) and tokens[number + 1].low in METALS


def is_model(tokens: Sequence[Token], number: int, quantity: Quantity) -> bool:
    """Whether a number and the letter glued to it are a model: "xiaomi 13t", "i5 12400f"."""
    if quantity.comparator != "=" or number + 1 >= len(tokens) or not glued(tokens[number], tokens[number + 1]):
        return False
    letter = tokens[number + 1].text
    if letter == "f":
        return quantity.value >= HOTTEST
    return letter in ("t", "c", "s") and number > 0 and tokens[number - 1].low in BRANDS


def in_name(tokens: Sequence[Token], number: int, first: int, last: int, *, counted: bool) -> bool:
    """Whether a number is a word of a name, or of the results wanted: it is searched for then.

    "Bobsleigh Men's Four", "rtx 3080 laptop", "air max 90", "top 10 films"; but "score 80", "rating of 4.5", "flat 3
    rooms".

    Args:
        tokens: of the query.
        number: the number's token.
        first, last: its token range with its unit and the words that bound it.
        counted: whether it counts a noun.
    """
    if last < len(tokens) - 1 and tokens[last].low in CROSSES and tokens[last + 1].kind == "number":
        return False  # "beer 24 x 330 ml"
    if _has_measure_behind(tokens, first, last):
        return False
    if first > 1 and tokens[first - 1].low in CROSSES and _multiplies(tokens, first - 1):
        return False  # "water 1.5 l x 6", "batteries x8", "bath 1700 x 700"
    if not first or not (tokens[first - 1].kind == "word" or _ends_code(tokens, first - 1)):
        return False
    lead, bounds = tokens[first - 1].low, first < number or (not counted and last > number + 1)
    if bounds:
        called = tokens[last - 1].low == "max" and lead in NAMES
        if first < number:
            called = tokens[first].low == "max" and lead in BEFORE_MAX
        return called and not counted and lead not in MEASURED
    if lead in RANKED or (tokens[number].kind == "word" and tokens[number].text.istitle()):
        return True
    if counted:
        return lead in NAMES
    if len(digits := tokens[number].text.replace(",", "")) > LONGEST_CODE and digits.isdecimal() and digits[-1] == "0":
        return lead in NAMES  # "tax free allowance 12570"
    if lead == "size" and number > 1 and tokens[number - 2].low in ("battery", "batteries"):
        return True
    if lead == "size" and last < len(tokens) and _goes_on(tokens, number, last):
        return True  # "size 14 dress", "size 5 11-16 kg"
    if is_paid_for(tokens, last) or (last < len(tokens) and tokens[last].low == "per"):
        return False  # "rooms 40 a night", "seeds 500 per packet"
    return not (lead in MEASURED or lead in FUNCTION_WORDS or lead in SEARCH_NOISE or lead in LIMITS)


def _has_measure_behind(tokens: Sequence[Token], first: int, last: int) -> bool:
    """Whether what follows a number makes it an amount: what it measures, or what it is out of."""
    after = [t.low for t in tokens[last : last + 2]]
    if after == ["out", "of"] or (after in (["/", "5"], ["/", "10"]) and glued(tokens[last], tokens[last + 1])):
        return True  # "hotel 4.5 out of 5", "hotel 8/10"
    led = families(tokens[first - 1].low) if first else None
    if led and "" not in led and after and families(after[0]):
        return True  # "16gb ram 512 ssd"
    return bool(after) and after[0] in WORN | SIDES  # "jeans 32 waist 34 leg", "wardrobe 236 high"


def _multiplies(tokens: Sequence[Token], k: int) -> bool:
    """Whether the x at token k says how many there are: it touches its number, or stands behind another or a unit."""
    numbers = tokens[k - 1].kind == "number" or tokens[k - 2].kind == "number"
    return numbers or glued(tokens[k], tokens[k + 1])


def _goes_on(tokens: Sequence[Token], number: int, last: int) -> bool:
    """Whether a whole number of a size is followed by what has it, or by the next amount."""
    after = tokens[last]
    if not tokens[number].text.isdecimal() or after.low in FUNCTION_WORDS or after.text in "<>≤≥=":
        return False
    return after.kind in ("word", "number") or after.text in "$€£"


def _ends_code(tokens: Sequence[Token], k: int) -> bool:
    """Whether token k is the number of a name: the 4 of "audi a4"."""
    return tokens[k].kind == "number" and k > 0 and tokens[k - 1].kind == "word" and glued(tokens[k - 1], tokens[k])


def is_paid_for(tokens: Sequence[Token], k: int) -> bool:
    """Whether "a month", "per hour" stands at token k."""
    if k + 1 >= len(tokens) or tokens[k].low not in EACH:
        return False
    return tokens[k + 1].low in PERIODS or (tokens[k].low in ("per", "a", "an") and tokens[k + 1].low in AREAS)
