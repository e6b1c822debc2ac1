"""The closed-class English words that extraction leans on. Lists, not learning: a reader can check them."""

from __future__ import annotations

ONES = {
    w: float(i)
    for i, w in enumerate(
        (
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
            "sixteen seventeen eighteen nineteen"
        ).split()
    )
}
TENS = {
    w: float(10 * i) for i, w in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2)
}
SCALES = {
    "hundred": 1e2, "thousand": 1e3, "lakh": 1e5, "million": 1e6, "crore": 1e7, "billion": 1e9, "trillion": 1e12,
    "quadrillion": 1e15, "dozen": 12.0,
}  # fmt: skip
ABBREVIATIONS = frozenset("inc corp co ltd bros jr sr mr mrs dr".split())
"""Words of names that a full stop follows."""
ABBREVIATED_SCALES = {
    "mn": 1e6, "mln": 1e6, "mio": 1e6, "bn": 1e9, "bln": 1e9, "tn": 1e12, "trn": 1e12, "tln": 1e12, "cr": 1e7,
}  # fmt: skip
"""Abbreviated magnitudes that mean nothing else."""
GLUED_SCALES = {"k": 1e3, "K": 1e3, "M": 1e6, "B": 1e9}
"""Letters that are a magnitude when glued to a number without a currency: "5k", "10M"."""
MONEY_SCALES = {**GLUED_SCALES, "b": 1e9, "m": 1e6, "mm": 1e6, "MM": 1e6, "t": 1e12, "T": 1e12}
"""Letters that are a magnitude after an amount of money: "$5m"."""
FRACTIONS = {
    "half": 1 / 2, "third": 1 / 3, "thirds": 1 / 3, "fourth": 1 / 4, "fourths": 1 / 4, "quarters": 1 / 4,
    "fifth": 1 / 5, "fifths": 1 / 5, "sixth": 1 / 6, "sixths": 1 / 6, "eighth": 1 / 8, "eighths": 1 / 8,
    "tenth": 1 / 10, "tenths": 1 / 10,
}  # fmt: skip
FRACTION_MARKS = {
    "½": 1 / 2, "⅓": 1 / 3, "⅔": 2 / 3, "¼": 1 / 4, "¾": 3 / 4, "⅕": 1 / 5, "⅖": 2 / 5, "⅗": 3 / 5, "⅘": 4 / 5,
    "⅙": 1 / 6, "⅛": 1 / 8, "⅜": 3 / 8, "⅝": 5 / 8, "⅞": 7 / 8,
}  # fmt: skip

WEEKDAYS = frozenset("monday tuesday wednesday thursday friday saturday sunday".split())
MONTHS = frozenset(
    (
        "January February March April May June July August September October November December Jan Feb Mar "
        "Apr Jun Jul Aug Sep Sept Oct Nov Dec"
    ).split()
)

LABELS = frozenset(
    (
        "no nos note notes item items section sections sec article articles exhibit exhibits page pages pp "
        "chapter form rule table tables figure figures fig figs part parts version phase step type route "
        "flight room appendix schedule asu asc topic chapter series volume vol issue clause paragraph annex "
        "subpart question case model windows proposition regulation resolution act footnote ref reference id "
        "isbn tel phone fax zip suite floor week group groups day arm cohort stage cycle visit tier grade years "
        "level genotypes phases steps chapters columns column sites site numbered weeks days tiers stages groups "
        "routes rooms schedules months month scope zone genotype number "
        "period year category pillar usb hdmi"
    ).split()
)
"""Words after which a number is a name, not a quantity ("Note 5", "Form 10", "phase 3")."""
CAPITAL_LABELS = frozenset(
    (
        "Game Big Route Highway Interstate Fortune Formula Area District Division Class Title Channel Act Scene "
        "Psalm Book Mark Apollo Pier Gate Platform Terminal Lot Line Runway Bowl Catch Precinct Ward Lane Exit "
        "Studio Track Round Lesson Exercise Problem Theorem Lemma Eq Equation Episode Season Radio FY FIFA Q Covid "
        "Unit Building Windows Euro Android iOS Python Java Bluetooth Type Study Experiment Trial Web IAS IFRS FAS "
        "SFAS SAB EITF AASB FM Ste Year Period Category Pillar Patient Subject Event SPSS SAS Stata STATA"
    ).split()
)
"""The same, but only with a capital ("Game 6", "Big 12"): in small letters they are words like others."""
INDEX_NAMES = frozenset(
    "FTSE Nasdaq NASDAQ Nikkei Stoxx STOXX Russell ASX CAC DAX IBEX MDAX SMI TSX Topix TOPIX CSI MIB OMX BSE SENSEX "
    "Nifty NIFTY Kospi KOSPI Forbes".split()
)
"""Indices and lists whose name ends with a number ("the FTSE 100")."""

CHANGE_VERBS = frozenset(
    (
        "increase increases increased increasing decrease decreases decreased decreasing rise rises rose "
        "risen rising fall falls fell fallen falling grow grows grew grown growing decline declines declined "
        "declining drop drops dropped dropping change changes changed changing improve improved cut cuts "
        "reduce reduced reduces raise raises raised lower lowered lowers up down jump jumped surge surged "
        "slip slipped climb climbed expand expanded narrowed widened gained gain moved extended upped "
        "converted revised amended"
    ).split()
)

VERBS = CHANGE_VERBS | frozenset(
    (
        "is are was were be been being am has have had having do does did will would shall should can could "
        "may might must said says say reported reports report posted post totaled totalled total totals "
        "reached reaches reach stood stands amounted amounts amount earned earns cost costs costing weighs "
        "weigh weighed weighing measures measured measuring contains contain contained containing includes "
        "include included including comprised comprises comprising represents represented representing "
        "accounted accounts came comes made makes make paid pays pay bought buys buy sold sells sell acquired "
        "acquire received receives receive got gets get gave gives give given offers offered offering "
        "features feature featuring expects expected expect estimated estimates estimate projected forecast "
        "sees saw seen shows showed shown recorded records compared compares based held holds hold owns owned "
        "own provides provided provide requires required require used uses use using taken takes took take "
        "ranged ranges ranging averaged averages lost loses generated generates generate spent spends spend "
        "issued issues issue closed ended ends began starts started runs ran run employs employed employ "
        "produced produces produce charged charges charge traded trades valued priced rated recognized "
        "incurred declared announced plans planned agreed proposed set went goes go became become becomes "
        "remained remains remain continues continued resulted results resulting granted randomized randomised "
        "assigned allocated enrolled treated administered followed underwent performed conducted added adds "
        "consists consisted equals equal equipped exceeds exceeded exceed carries carried comes packs boasts "
        "sports supports weighing founded established released garnered grossed collected starring directed "
        "won competed participated aged stood attracts attracted yields yielded drawn borrowed repaid "
        "repurchased authorized approved outstanding located"
    ).split()
)
"""Verbs that stand between a concept and its number, or between a number and what follows."""

SIDES = frozenset("high tall wide long deep thick".split())
"""What an amount right before it measures."""

CLAUSES = frozenset("and but or that which who because although while if when".split())
"""Words that begin another clause."""

FUNCTION_WORDS = frozenset(
    (
        "a an the this that these those and or but nor so yet if then than as at by for from in into of off "
        "on onto out over per to toward towards upon via with within without against among between during "
        "since until till while when where which who whom whose what why how it its itself he she they them "
        "their his her him we us our ours you your i me my mine not no also only just about around "
        "approximately nearly almost roughly some any each every all both either neither most more less least "
        "fewer much many such same other another there here very too again once respectively under above "
        "below after before because due although though however therefore thus both yet already still ever "
        "never versus vs compared approximately excluding including plus minus times further "
        "furthermore moreover whether unless except let etc mr mrs ms dr find identify retrieve"
    ).split()
)

CHANGE_NOUNS = frozenset(
    (
        "increase increases decrease decreases rise fall drop decline growth reduction improvement change "
        "changes jump surge cut hike stake majority portion chance discount premium"
    ).split()
)
"""Heads that say how, not what: "a 5 % increase in net sales" is about net sales."""

WEAK_WORDS = frozenset(
    (
        "ci sd se sem iqr hr rr or aor irr anova vs shr avg "
        "approximately aggregate amount amounts amounting total number value level levels year years quarter "
        "quarters month months day days week weeks period periods time times end date ago fiscal today "
        "yesterday one two three four five six seven eight nine ten first second third fourth last next "
        "previous prior current recent same million billion thousand mln bln pct cts dlrs dlr percent "
        "respectively new former latter early late maximum minimum average rate range size additional certain "
        "company companies"
    ).split()
)
"""Words that, alone, say nothing of what a number is about."""

LY_NOUNS = frozenset(
    "family supply assembly anomaly reply italy july rally ally bully belly quarterly monthly daily weekly yearly "
    "hourly elderly early only".split()
)
"""Words in -ly that are no adverbs of manner: they may name what a number is about."""

LEADING_NOISE = frozenset(
    (
        "approximately aggregate total number first second third fourth last next previous prior current "
        "recent same new former latter early late fiscal additional certain such respective approximate one "
        "two three four five six seven eight nine ten million billion thousand mln bln pct cts dlrs dlr "
        "percent"
    ).split()
)
TRAILING_NOISE = frozenset(
    (
        "amount amounts amounting year years quarter quarters month months day days week weeks period periods "
        "today yesterday ago respectively million billion thousand mln bln pct cts dlrs dlr percent also "
        "alone"
    ).split()
)
"""Words that are cut from the ends of a concept while others remain."""

SEARCH_NOISE = FUNCTION_WORDS | frozenset(
    (
        "find list show name identify retrieve give get tell search are is was were be been has have had do "
        "does did can could would should will exactly exact equals equal please"
    ).split()
)
"""Words of a query that are no search words."""
