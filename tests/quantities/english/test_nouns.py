"""What a number counts, by tags that the test itself sets: a word of a text may carry one after a slash."""

import pytest

from qbench.quantities.english.amounts import AmountFinder
from qbench.quantities.english.nouns import count_nouns
from qbench.quantities.english.parse import Parse
from qbench.quantities.english.rules import RulesExtractor
from qbench.quantities.english.tokens import tokenize
from qbench.quantities.languages import EMBEDDED
from qbench.quantities.units import load_units

FINDER = AmountFinder(load_units())


def counted(tagged, modifies=None):
    """(value, unit, text of the unit) for each amount; words without a tag are left without one.

    `modifies`: the noun that the first number hangs on; otherwise no word hangs on another.
    """
    words = [word.rpartition("_") for word in tagged.split(" ")]
    text = " ".join(word or tag for word, _, tag in words)
    given = {word: tag for word, _, tag in words if word}
    tokens = tokenize(text)
    # A word with a hyphen is several tokens; its last one carries the tag, the rest are adjectives.
    tags = ["CD" if token.kind == "number" else "" for token in tokens]
    for word, tag in given.items():
        pieces = [p.text for p in tokenize(word)]
        for k in range(len(tokens) - len(pieces) + 1):
            if [t.text for t in tokens[k : k + len(pieces)]] == pieces:
                tags[k : k + len(pieces)] = [*["JJ"] * (len(pieces) - 1), tag]
    heads, relations = list(range(len(tokens))), [""] * len(tokens)
    amounts = FINDER.find(tokens, text)
    if modifies is not None:
        k = amounts[0].number.first
        heads[k], relations[k] = [t.text for t in tokens].index(modifies), "nummod"
    found = count_nouns(tokens, text, amounts, FINDER.forms, Parse(tags, heads, relations))
    return [(a.low, a.unit.name, text[slice(*a.unit_span)] if a.unit_span else "") for a in found]


@pytest.mark.parametrize(
    ("tagged", "expected"),
    [
        # the noun phrase after the number
        ("It has 500 users_NNS here", [(500, "user", "users")]),
        ("It has 500 red_JJ iron_NN doors_NNS here", [(500, "red iron door", "red iron doors")]),
        ("It has 1,200 full-time_JJ employees_NNS", [(1200, "full-time employee", "full-time employees")]),
        ("It has 20 black_JJ and_CC white_JJ cows_NNS", [(20, "black white cow", "black and white cows")]),
        ("It sold 20 Kia_NNP and_CC Opel_NNP cars_NNS", [(20, "kia opel car", "Kia and Opel cars")]),
        ("It has 500 people_NNS", [(500, "people", "people")]),
        ("It has 30 staff_NN", [(30, "staff", "staff")]),
        # what says nothing of what is counted is left out
        ("It has 20 more_JJR employees_NNS", [(20, "employee", "employees")]),
        ("It has 20 remaining_VBG employees_NNS", [(20, "employee", "employees")]),
        # the phrase ends where another begins
        ("It has 500 users_NNS Monday_NNP", [(500, "user", "users")]),
        ("It sold 500 cars_NNS May_NNP", [(500, "car", "cars")]),
        ("It has 500 users_NNS last_JJ year_NN", [(500, "user", "users")]),
        ("It has 500 users_NNS and_CC doors_NNS", [(500, "user", "users")]),
        ("It has 500 , users_NNS said", [(500, "", "")]),
        ("5 red_JJ 6 doors_NNS", [(5, "", ""), (6, "door", "doors")]),
        # what bounds the number from behind stands between
        ("It has 500+ users_NNS", [(500, "user", "users")]),
        ("It has 500-plus users_NNS", [(500, "user", "users")]),
        ("It has 500 plus_CC users_NNS", [(500, "user", "users")]),
        ("It has two or_CC more_JJR lesions_NNS", [(2, "lesion", "lesions")]),
        ("It has two or_CC fewer_JJR lesions_NNS", [(2, "lesion", "lesions")]),
        ("a dozen or_CC so_RB boats_NNS", [(12, "boat", "boats")]),
        ("It has two or_CC more_JJR", [(2, "", "")]),
        ("It has two or_CC", [(2, "", "")]),
        ("It has two", [(2, "", "")]),
        ("It granted 500 PSUs_NN", [(500, "psu", "PSUs")]),
        ("It saw 2 stimuli_NNS", [(2, "stimulus", "stimuli")]),
        # after "of": what some of are counted
        ("two of the_DT old_JJ ships_NNS sank", [(2, "old ship", "old ships")]),
        ("one of all_DT its_PRP$ ships_NNS sank", [(1, "ship", "ships")]),
        ("300 of the_DT ships_NNS sank", [(300, "ship", "ships")]),
        # a "one" or "half" that counts nothing is no quantity
        ("one door_NN", [(1, "door", "door")]),
        ("one said_VBD", []),
        ("one of them_PRP", []),
        ("half of them_PRP", [(0.5, "", "")]),
        ("we ate half", []),
        ("minus one", [(-1, "", "")]),
        ("one or two doors_NNS", [(1, "", ""), (2, "door", "doors")]),
        ("one to three doors_NNS", [(1, "", ""), (3, "door", "doors")]),
        ("between one and three doors_NNS", [(1, "", ""), (3, "door", "doors")]),
        ("one and three doors_NNS", [(3, "door", "doors")]),
        # a year counts, unless the words before it make it one
        ("it sold 2019 cars_NNS", [(2019, "car", "cars")]),
        ("in 2019 cars_NNS sold", [(2019, "calendar year", "")]),
        # whatever the parser takes a preposition for, it is no noun
        ("0-to-60 in_NN five_NN", [(0, "", ""), (60, "", ""), (5, "", "")]),
        # a word that is no count
        ("it ends 7 tonight_NN", [(7, "", "")]),
        # other units are left as they are, and rates are read
        ("It has 5 kg_NNS doors_NNS", [(5, "kilogram", "kg")]),
        ("5 tests_NNS per day", [(5, "test per day", "tests per day")]),
    ],
)
def test_what_is_counted(tagged, expected):
    assert counted(tagged) == expected


@pytest.mark.parametrize(
    ("tagged", "modifies", "unit"),
    [
        ("a 3 bedroom_NN house", "bedroom", "bedroom"),
        ("a 3 bedroom_NN house", None, ""),
        ("a 3.5 bedroom_NN house", "bedroom", ""),
        ("revs 19.5 mln Year_NN shr", "Year", ""),
    ],
)
def test_a_singular_is_counted_where_the_number_hangs_on_it(tagged, modifies, unit):
    assert counted(tagged, modifies)[0][1] == unit


@pytest.mark.parametrize(
    ("tagged", "noun", "unit"),
    [
        ("We run two operating_VBG and_CC reportable_JJ segments_NNS", "segments", "reportable segment"),
        (
            "It had 9 support_NN and_CC repair_NN operations_NNS employees_NNS",
            "employees",
            "support repair operations employee",
        ),
        ("It lists 3 well_RB insured_VBN member_NN banks_NNS", "banks", "member bank"),
        ("It had 9 runners_NNS ages_NNS 19", "runners", "runner"),
        # what stands between is no phrase
        ("It had 9 , said_VBD banks_NNS", "banks", ""),
        ("It had 9 with_IN red_JJ banks_NNS", "banks", ""),
    ],
)
def test_the_head_is_the_noun_that_the_number_hangs_on(tagged, noun, unit):
    assert counted(tagged, noun)[0][1] == unit


@pytest.mark.usefixtures("no_binder")
@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("The number of open posts rose to 300 from 280.", ["post", "post"]),
        ("The number of issued shares is 12,890,829.", ["share"]),
        ("The number of boats rose 5% to 300.", ["percentage", "boat"]),
        ("A number of tests gave a score of 45.", [""]),
        ("The number of boats fell. It was 45.", [""]),
        ("It was seen in 12 (25%) patients here.", ["patient", "percentage"]),
        ("It was seen in 12/44 (27.3%) patients.", ["patient", "patient", "percentage"]),
        ("Five of nine teams lost, as did 5 out of 8 clubs.", ["team", "team", "club", "club"]),
        ("It holds 8 million (2018: 3 million) shares.", ["share", ""]),
        ("They paid $7, $15 and $13 per share.", ["dollar per share"] * 3),
        ("They paid $7 in May, $13 per share.", ["dollar", "dollar per share"]),
        ("It made a profit of $5 million against a loss of 3 million.", ["dollar", "dollar"]),
        ("Stocks fell to 500 tonnes from an anticipated 800.", ["tonne", "tonne"]),
        ("It weighs 5 kg. Against this stood a score of 4.", ["kilogram", ""]),
        ("It weighs 5 kg, and it has a score of 4,000.", ["kilogram", ""]),
        ("It came 3 of a kind.", [""]),
        ("They came back after one, three and six months.", ["month"] * 3),
        ("One, three and six of them came back.", ["", ""]),
        ("Thousands of books and tens of thousands of maps burned.", ["map"]),
        ("Thousands of euros were lost.", ["euro"]),
        ("It was 12 (if at all) boats.", [""]),
        ("The number of boats in 30 tests gave 45.5 on the scale.", ["test", ""]),
    ],
)
def test_what_the_subject_counts(text, units):
    rules = RulesExtractor(FINDER.units, spacy_model=EMBEDDED)
    assert [q.unit for q in rules.extract(text)] == units


def test_the_rule_is_named():
    text = "5 doors"
    tokens = tokenize(text)
    parse = Parse(["CD", "NNS"], [1, 1], ["nummod", "root"])
    (amount,) = count_nouns(tokens, text, FINDER.find(tokens, text), FINDER.forms, parse)
    assert "noun unit" in amount.how


def test_phrases_compare_by_their_head():
    units = FINDER.units
    assert units.get("full-time employee").base_unit == units.get("employee").base_unit == "employee"
    assert units.get("people").base_unit == units.get("person").base_unit
    assert set(units.get("people").names) == {"people"}
    assert units.get("child").names == ("child", "children")
