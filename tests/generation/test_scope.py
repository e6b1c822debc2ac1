"""What the text around a mention takes from it."""

from __future__ import annotations

import polars as pl
import pytest

from qbench.generation.evidence import PARTED, doubts
from qbench.generation.scope import CONJUNCTION, EFFECT, FRACTION, MOMENT, NOT_DONE, PART, PIECE, SEGMENT
from tests.marked_texts import table_of

MONEY, TIME, COUNT, DOSE = ("dollar", "currency"), ("week", "time"), ("sailor", "count"), ("milligram", "mass")
SHARE = ("percentage", "ratio")


def doubt(text, unit=MONEY, *, value=50.0, change=""):
    """Why the first mention of a marked text is not sure."""
    table, plain = table_of(text, change, unit=unit, value=value)
    return doubts(table, [plain] * table.height)[0]


@pytest.mark.parametrize(
    "text",
    [
        "It spent <5> of {rigging} and mooring expense, and more on paint.",
        "It spent <5> on tar with <5> of {rigging}, mooring and towing costs.",
        "The unpaid harbour dues and {pilot fees} total <5>.",
        "Dues, tolls and {pilot fees} were <5>.",
        "Dues, tolls, and {pilot fees} were <5>.",
        "A <5> {rope} and sail allowance is paid.",
        "It holds <5> of {loans} or guarantees to owners within 90 days.",
        "It has <5> of {rigging} and a mast.",
    ],
)
def test_one_member_of_a_conjunction(text):
    table, plain = table_of(text)
    assert CONJUNCTION in doubts(table, [plain] * table.height)


@pytest.mark.parametrize(
    "text",
    [
        "It spent <5> of {rigging cost} and mooring cost of <6>.",
        "It had <5> of {rigging cost} and it repaid a loan.",
        "It had <5> of {rigging cost} and was sold.",
        "It had <5> of {rigging cost}, and in May the harbour froze.",
        "Sails wore out quickly and {rigging cost} was <5>.",
        "In 2022 tolls rose, and {rigging cost} was <5>.",
        "Tolls were 4 and {rigging cost} was <5>.",
        "{Rigging and mooring cost} was <5>.",
        "The {rigging} and {mooring} cost <5>.",
        "It has <5> of {rigging} and a 20 m mast.",
    ],
)
def test_no_conjunction_or_a_whole_one(text):
    assert doubt(text) != CONJUNCTION


@pytest.mark.parametrize(
    "text",
    [
        "In the galley group <50> {sailors} fell ill.",
        "The deck arm had <50> {sailors} in it.",
        "Of the crew, <50> {sailors} were put in the galley group.",
        "Either deck (<50> {sailors}; 9 boats) or hold (<49> {sailors}; 8 boats) was drawn.",
        "There were <50> {sailors} (27.5%) lost at sea.",
        "On the way <50> of 80 {sailors} deserted.",
        "Then <50> {hungry control sailors} ate.",
        "They sailed in three crews (each composing of <50> {sailors}).",
    ],
)
def test_some_of_those_who_are_counted(text):
    assert doubt(text, COUNT) in (PART, "nothing in the text ties the number to its concept")


def test_a_group_is_no_whole_but_a_study_of_groups_is():
    assert doubt("The deck arm had <50> {sailors} in it.", COUNT) == PART
    assert doubt("A group of <50> {sailors} sailed.", COUNT) == ""
    assert doubt("In a parallel-group study, <50> {sailors} sailed.", COUNT) == ""
    assert doubt("There <50> {sailors} were drawn for a deck group or a hold group.", COUNT) == ""
    assert doubt("All <3> {sailors} slept.", COUNT, value=3.0) == PART
    assert doubt("All <50> {sailors} slept.", COUNT) == ""
    assert doubt("All under-<5> {sailors} slept.", COUNT, value=5.0) == PART
    table, plain = table_of("The few ill sailors (n = <50>) slept.", unit=COUNT, value=50.0)
    at = pl.lit(plain.index("sailors"))
    assert doubts(table.with_columns(unit_start=at, unit_end=at + len("sailors")), [plain]) == [PART]
    assert doubt("Only <3> {sailors} wept.", COUNT, value=3.0) == PART
    assert doubt("One of <50> {sailors} with scurvy sang.", COUNT) == PART
    assert doubt("All under-<5> {sailors} slept.", COUNT, value=5.0) == PART
    table, plain = table_of("The few ill sailors (n = <50>) slept.", unit=COUNT, value=50.0)
    at = pl.lit(plain.index("sailors"))
    assert doubts(table.with_columns(unit_start=at, unit_end=at + len("sailors")), [plain]) == [PART]
    assert doubt("Only <3> {sailors} wept.", COUNT, value=3.0) == PART
    assert doubt("One of <50> {sailors} sang.", COUNT) == ""
    assert doubt("A third more, <0.3> {sailors}, sang.", COUNT, value=0.3) == PART


def test_several_counts_of_one_noun():
    assert doubt("There sang <90> {sailors} and 22 sailors slept.", COUNT) == ""  # only one is a mention
    table, plain = table_of("There sang <90> {sailors} and <22> slept.", unit=COUNT, value=90.0)
    assert doubts(table, [plain] * 2)[0] == PART
    table, plain = table_of("In total, <90> {sailors} came, of whom <22> slept.", unit=COUNT, value=90.0)
    assert doubts(table, [plain] * 2)[0] == ""


def test_counts_of_two_kinds():
    table, plain = table_of("There were <48> young and <132> {old sailors} there.", unit=COUNT)
    assert doubts(table, [plain] * 2)[1] == PART


def test_the_ages_of_two_groups():
    unit = ("year of age", "age")
    assert doubt("The {median age} was <50> versus 54 years.", unit) == PART
    assert doubt("The {median age} was <50> years.", unit) == ""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("The northern segment had {rope sales} of <5>.", SEGMENT),
        ("Its subsidiary Tarline lost a ship; {rope sales} were <5>.", ""),
        ("In its division, {rope sales} were <5>.", SEGMENT),
        ("{Segment assets} were <5>.", ""),
        ("{Rope sales} were <5>, and the segment grew.", ""),
    ],
)
def test_segments(text, reason):
    assert doubt(text) == reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("They sang after <3> of {drill}.", MOMENT),
        ("They sang at about <3> of {drill}.", MOMENT),
        ("They sang after 2 and <3> of {drill}.", MOMENT),
        ("They sang after at least <3> of {drill}.", MOMENT),
        ("They sang in the first <3> of {drill}.", MOMENT),
        ("The {drill} at <3> was loud.", MOMENT),
        ("They sang in <3> of {drill}.", ""),
        ("After a <3> {drill} they sang.", ""),
        ("The {drill} was for <3>.", ""),
        ("The {drill} lasted through a course of 9. A <3> {drill} is dull.", ""),
    ],
)
def test_points_in_time(text, reason):
    assert doubt(text, TIME) == reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("In May <5> of {rope purchases} was authorized.", NOT_DONE),
        ("The board authorized <5> of {rope purchases}.", NOT_DONE),
        ("They approved {rope purchases} of <5>.", NOT_DONE),
        ("There was <5> of {rope cost} not yet recognized.", NOT_DONE),
        ("Assuming {rope cost} of <5>, it would sink.", NOT_DONE),
        ("The annualized {rope cost} was <5>.", NOT_DONE),
        ("{Authorized capital} was <5>.", ""),
        ("There was <5> of {rope cost} that is expected to be recognized in May.", ""),
        ("In May <5> of {rope purchases} were made.", ""),
    ],
)
def test_what_is_not_done(text, reason):
    assert doubt(text) == reason


def test_a_dose_that_may_help_was_given_and_a_duty_that_might_be_was_not():
    assert doubt("A <5> {tar dose} might help.", DOSE) == ""
    assert doubt("A <5> {tar duty} might be easier to bear.", SHARE) == NOT_DONE


def test_what_one_cause_did_to_a_result():
    assert doubt("The barge fleet reduced our whole {operating profit} by <5>.", change="down") == EFFECT
    assert doubt("The {operating profit} was up by <5>.", change="up") == ""
    assert doubt("It reduced its {harbour debt} by <5>.", change="down") != EFFECT


@pytest.mark.parametrize("text", ["The {hawser} is 26/<64> inch.", "The {hawser} is <64>/9 inch."])
def test_fractions(text):
    assert doubt(text, ("inch", "length")) == FRACTION


def test_what_others_are_counted_by():
    assert doubt("They gave ten oars per each $<50> {bond}.") == PIECE
    assert doubt("They gave ten oars for every $<50> of {principal}.") == PIECE
    assert doubt("They gave ten oars and a $<50> {bond}.") == ""


@pytest.mark.parametrize(
    ("text", "unit", "reason"),
    [
        ("The mean of any <5> of {service} is taken.", TIME, MOMENT),
        ("A crew of <50> {sailors} would do.", COUNT, NOT_DONE),
        ("A crew of <50> {sailors} did.", COUNT, ""),
        ("A cutoff {weight} of <50> is used.", DOSE, PARTED),
        ("The {toll} shall be <5>.", MONEY, PARTED),
        ("The <5> {sailors} who earn most shall be officers.", COUNT, NOT_DONE),
        ("Planned {output} was <5> in May.", DOSE, NOT_DONE),
        ("The {output} was <5> in May.", DOSE, ""),
    ],
)
def test_times_of_any_and_plans(text, unit, reason):
    assert doubt(text, unit) == reason


@pytest.mark.parametrize(
    ("before", "reason"), [("four ", PIECE), ("4 ", PIECE), ("a ", ""), ("in 1986 ", ""), ("12,804 ", "")]
)
def test_a_time_of_each_of_several(before, reason):
    table, plain = table_of(f"They gave {before}<5>-week {{courses}}.", unit=TIME)
    at = plain.index("week")
    table = table.with_columns(unit_start=pl.lit(at, pl.Int32), unit_end=pl.lit(at + 4, pl.Int32))
    assert doubts(table, [plain]) == [reason]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("The mill will buy <50> of {rope}.", NOT_DONE),
        ("The mill has offered <50> of {rope} to the harbour.", NOT_DONE),
        ("The harbour is tendering for <50> of {rope}.", NOT_DONE),
        ("The mills agreed to {rope output} of <50>.", NOT_DONE),
        ("The mill has a {rope quota} of <50>.", ""),
        ("The mill bought <50> of {rope}.", ""),
        ("The sailors will receive <50> of {tar}.", ""),
    ],
)
def test_goods_that_are_offered_or_agreed_upon(text, reason):
    assert doubt(text, ("tonne", "mass")) == reason


def test_a_debt_is_no_interest_paid_on_it():
    assert doubt("The port suspended {interest payments} of <5> owed to the mills.") == PART
    assert doubt("The port made {interest payments} on <5>.") == PARTED
    assert doubt("The port made {interest payments} of <5>.") == ""
