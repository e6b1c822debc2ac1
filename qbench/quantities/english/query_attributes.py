"""Words that name what has amounts, "ram", "wingspan", "rent", and of which families of units the amounts are."""

from __future__ import annotations

from collections.abc import Mapping

from qbench.quantities.english.inflection import singular

MEASURED = frozenset(
    "price budget cost rent salary wage fee rating score metascore points size index ratio age capacity population "
    "ph bmi gpa iq eps spf count number total level rank value rate weight height length width depth distance speed "
    "power temperature pressure humidity odds quantity qty amount storage bp percentile efficiency magnitude p/e "
    "dose par handicap attendance employees revenue profit sales income turnover calories protein earned earning "
    "earns sleeps sleeping seats seating serves serving feeds fits hosts accommodates grossed grossing grosses "
    "netted netting scored scoring scores rated weighing weighs costing paid paying "
    "pays "
    "hba1c a1c glucose egfr crp esr hb hgb haemoglobin hemoglobin ferritin tsh psa ldl hdl triglycerides wbc inr hr rr "
    "spo2 sats gcs lactate troponin d-dimer dimer fio2 peep map sbp dbp fev1 bnp ntprobnp alt ast bilirubin albumin "
    "mach calcium magnesium phosphate sodium potassium urea bun creatinine amh fsh lh vei era platelets pulse temp "
    "fever sugar cholesterol loan mortgage deposit target goal reading result limit threshold".split()
)
"""What a bare number right after it is a value of: "score 80", "grossed 500000". After other words it is one of a name:
"iphone 13"."""
CAPACITIES = frozenset(
    "sleeps sleeping seats seating serves serving feeds fits hosts accommodates carries holds".split()
)
"""Those among them that say how many a thing is for, and nothing of the amounts that follow."""
DIMENSIONS = frozenset("away apart left remaining tall high long wide deep thick across old max min or more".split())
"""Words after an amount that name nothing of their own: "a beach 500 m away"."""
WORN = frozenset("waist leg inseam collar chest bust".split())
"""What a bare number before it is the size of: "jeans 32 waist"."""
PARTS = WORN | frozenset(
    "screen display panel frame cable cord blade wheel wheels rim rims tyre tyres tire tires heel heels lens aperture "
    "barrel bar deck hose pipe driver drivers fabric".split()
)
"""What has a length of its own, named after it: "27 inch screen"."""
LEADING = frozenset(
    "rating score size index ratio capacity population rate height width length depth distance speed power temperature "
    "pressure age efficiency dose weight volume output range storage span reach payload torque flow diameter radius "
    "thickness clearance runtime elevation altitude read write download upload deposit "
    "gap wavelength circumference girth wingspan perimeter suction vacuum latency lifespan lifetime consumption thrust "
    "valuation aum cop viscosity density conductivity voltage current frequency resistance load accuracy "
    "tolerance precision bodyweight".split()
)
"""What stands before its own amount, of money and otherwise: "ter below 0.15% fund size > 500m"."""
_MONEY = (
    "valuation aum assets capex opex ebitda debt funding bonus stipend grant premium spending spend price prices "
    "budget cost costs salary rent deposit fee fees wage income revenue sales profit turnover bills cap "
    "size"
)
_NUTRIENTS = "protein fat sugar sugars carbs fibre fiber salt sodium alcohol"
_FAMILIES = {
    "length": " ".join(PARTS) + " height width length depth distance range span reach diameter radius thickness "
    "clearance elevation altitude travel size gap wavelength circumference girth wingspan perimeter bore stride pitch "
    "shank hem inseam wheelbase tread headroom legroom drop head",
    "time": "experience exp warranty guarantee playtime runtime battery maturity holiday holidays leave vacation "
    "follow-up followup notice playback standby talktime autonomy time duration "
    "latency response lag lifespan lifetime uptime half-life tenor maturity term sentence",
    "charge": "battery batteries capacity", "energy": "battery batteries", "voltage": "battery batteries motor",
    "frequency": "refresh bandwidth rate speed display screen panel", "current": "motor",
    "luminance": "display screen", "power": "motor engine wattage output power charger", "sound": "noise",
    "data": "ram memory storage ssd hdd disk cache vram", "image": "camera sensor selfie resolution",
    "mass": f"weight bodyweight payload load capacity baggage luggage dose {_NUTRIENTS} caffeine",
    "ratio": f"accuracy tolerance precision "
    f"abv ltv apr coupon yield return returns margin dividend discount ter roe roi humidity efficiency "
    f"charge charges deposit share turnout moisture incline hba1c rate ratio {_NUTRIENTS}",
    "volume": "boot trunk tank volume capacity size bowl jug basin drum bin bucket",
    "flow": "flow rate", "speed": "speed wind",
    "data rate": "speed read write download upload", "transfer rate": "speed read write download upload",
    "area": "plot garden lot land site yard field paddock grounds size room flat apartment office house studio lawn "
    "coverage", "temperature": "temperature temp",
    "pressure": "pressure suction vacuum strength", "torque": "torque", "age": "age ages", "currency": _MONEY,
    "": f"{_MONEY} mach spin fill "
    "rating score ph bmi egfr inr iq gpa pe p/e p/b cop seer spf gcs index ratio rate magnitude age "
    "capacity population inhabitants hba1c potassium output beta volume users subscribers views followers multiple",
    "none": "class colour color edition brand",
}  # fmt: skip
"""Families of units, "" for bare numbers, and the words that have such an amount."""
HAS: Mapping[str, frozenset[str]] = {
    word: frozenset(family for family, words in _FAMILIES.items() if word in words.split())
    for word in " ".join(_FAMILIES.values()).split()
}
"""The families that an amount of each word has, so that it goes with one of them: "40 cm cutting width 36 v"."""


COUNTING = CAPACITIES | frozenset(
    "points count number total quantity qty amount storage capacity population attendance employees size value age "
    "output volume users subscribers views followers cap term battery battery batteries scored scoring scores netted "
    "netting netted earned earning earns paid paying pays".split()
)
"""Measured words whose amounts count something: "population of 3 million people"."""
_TOLD = frozenset(("", "currency", "ratio"))
SCALES = (MEASURED | LEADING | {word for word, has in HAS.items() if has & _TOLD}) - COUNTING - {"share"}
"""What has an amount of its own, so that a bounded number after it counts nothing: "beta under 0.8 utilities"."""
UNCOUNTED = frozenset("spf magnitude rank rating score bmi iq gpa ph index beta pe p/e hba1c egfr grade".split())
"""Those after which no number counts anything: "spf 50 kids"."""


_BARE = frozenset(("",))


def families(word: str) -> frozenset[str] | None:
    """The families of the amounts that a word in small letters has; None for a word of which nothing is known."""
    return HAS.get(word, HAS.get(singular(word), _BARE if word in SCALES and word in MEASURED else None))


def has_family(has: frozenset[str], family: str) -> bool:
    """Whether a word that has the families of `has` may have an amount of that one."""
    return ("currency" if family.startswith("currency") else family) in has
