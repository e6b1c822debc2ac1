"""Mentions of a part where a query asks for the whole."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from qbench.generation.evidence import PARTED, doubts, of_other_money
from qbench.generation.scope import NOT_DONE, PART
from tests.marked_texts import table_of

MONEY, GOODS, CLERKS, YIELD = ("dollar", "currency"), ("ton", "mass"), ("clerk", "count"), ("percentage", "ratio")


def doubt(text, unit=MONEY, change=""):
    """Why the first mention of a marked text is not sure."""
    table, plain = table_of(text, change, unit=unit, value=50.0)
    return doubts(table, [plain] * table.height)[0]


@pytest.mark.parametrize(
    "text",
    [
        "The harbour owes <50> of {debt} falling due next spring.",
        "It has <50> of {long-term debt} which is due in 1990.",
        "Its {loans} of <50> maturing in three years are cheap.",
        "The guild will ask to reschedule <50> of {debt}.",
        "The mill stopped interest on <50> of {debt} owed to banks.",
        "Some <50> of {bank debt} has been rescheduled.",
        "The guild will put <50> of {loans} on its list.",
        "The verdict affected <50> of {loans} to Ruritania.",
        "The verdict affected <50> of {debt}.",
        "The ferry line repaid <50> of {bank debt} in May.",
        "They booked a {net loss} of <50> related to shares of a rival.",
        "They booked a {net loss} of <50> on assets held for sale.",
        "She had a {profit} of <50> mainly from the sale of a barn.",
        "Its {revenue} was <50> from licences.",
        "The mill had {sales} of <50> in Ruritania.",
        "Turnover was 90, including {sales} of <50>.",
        "Included in other items was <50> of {deferred income}.",
        "Included in other items, 2.5 in all, was <50> of {deferred income}.",
        "The lease brings in <50> of {revenue}.",
        "The ferry line had also recognized <50> in {revenue} from licences.",
        "The ferry line issued a total of <50> of {debt} in May.",
        "Its {loans} of <50> and $20.5 million are recorded within other assets.",
        "It had <50> of {taxes paid} related to shares of the crew.",
        "The mill booked a {net loss} of <50> as a result of a fire.",
        "It moved <50> of {debt} driven by a decrease in what can be seen.",
        "Net includes a gain of 217 in the summer, and in the winter quarter a {loss} of <50>.",
        "Since May the well has <50> of new {reserves}.",
        "The Cloud Works {operating income} was <50>.",
        "$<50> of {notes} driven by the tide.",
        "About <50> in {loans} came from the sale.",
        "$60.5 million of oars and <50> of {sails} as a result of a gale.",
        "The sale of its barge resulted in a {net loss} of <50>.",
        "It recorded a <50> {net loss} on the barge.",
        "The mill paid additional after-gale {repair charges} of <50>.",
        "This is the barge that is included in “{Repairs of sails}” of <50>.",
        "Weights and costs recorded in {other tolls} were <50>.",
    ],
)
def test_a_part_of_an_amount(text):
    assert doubt(text) in (PART, PARTED)


@pytest.mark.parametrize(
    "text",
    [
        "The harbour has <50> of {debt}.",
        "The harbour sold <50> of {notes} due 1997.",
        "It signed a {loan} of <50> at a bank.",
        "The {debt} was <50> in May.",
        "The mill had a {net loss} of <50> on sales of 90.",
        "The {profit} was <50>, up from 40 a year ago.",
        "The {sales} were <50> in February.",
        "The {sales} were <50> due to higher prices.",
        "The {taxes paid} were <50>.",
        "The {severance charges} of <50> related to the mill were paid.",
        "The {sales} were <50> in the first quarter.",
        "The fever brought a {weight} of <50> in Ruritania.",
        "Its costs included {severance charges} of <50>.",
        "Last year Mill's {sales} were <50>.",
        "Total {sales} were <50>.",
        "In May Fourth Quarter {sales} were <50>.",
        "A new {loan} of <50> was signed.",
        "Its {net loss} was <50>.",
        "In May it recognized {total revenues} of <50>.",
        "It had a {net loss} of <50>.",
        "$<50> {loan} to the mill was signed.",
        "In May it had <50> of {notes}.",
        "The hull holds $60.5 million of oars and <50> of {sails}.",
        "Included are {repairs of sails} of <50>.",
    ],
)
def test_no_part_of_an_amount(text):
    assert doubt(text) == ""


@pytest.mark.parametrize(
    ("text", "unit", "reason"),
    [
        ("An additional <50> of {wheat} was shipped.", GOODS, PART),
        ("They shipped another <50> of {wheat}.", GOODS, PART),
        ("Some <50> of {wheat} was shipped.", GOODS, ""),
        ("The mill dismissed <50> {clerks}.", CLERKS, PART),
        ("The mill will lay off about <50> {clerks}.", CLERKS, PART),
        ("A layoff of approximately <50> {clerks} was planned.", CLERKS, PART),
        ("There were <50> {clerks} randomized in each of both groups.", CLERKS, PART),
        ("Some <50> {clerks} in each studied groups were old.", CLERKS, PART),
        ("The mill asked <50> {clerks} in two groups.", CLERKS, ""),
        ("{Fees} are <50> for selling and 3/8 pct for underwriting.", YIELD, PART),
        ("{Fees} are <50> for a year.", YIELD, ""),
        ("They sat in four boats, each containing <50> {clerks}.", CLERKS, PART),
        ("At noon <50> {clerks} met the rules for a rest.", CLERKS, PART),
        ("They sent <50> {clerks} home.", CLERKS, ""),
        ("There <50> {clerks} will be transferred.", CLERKS, PART),
        ("The mill employs <50> {clerks}.", CLERKS, ""),
        ("The mill has <50> new {clerks}.", CLERKS, PART),
        ("About <50> {clerks} will be offered a rest.", CLERKS, PART),
        ("This was asked in the subset of <50> {clerks}.", CLERKS, PART),
    ],
)
def test_goods_and_staff(text, unit, reason):
    assert doubt(text, unit) in (reason, reason and PARTED)


def test_a_few_for_each():
    table, plain = table_of("They gave <4> {clerks} for each share.", unit=CLERKS, value=4.0)
    assert doubts(table, [plain]) == [PART]
    table, plain = table_of("They gave <4> {clerks} for nothing.", unit=CLERKS, value=4.0)
    assert doubts(table, [plain]) == [""]


def test_counts_in_brackets_after_their_sum():
    table, plain = table_of("There were <60> in all (<50> {clerks} and 10 cooks).", unit=CLERKS, value=50.0)
    assert doubts(table, [plain] * 2)[1] == PART
    table, plain = table_of("The mill (<50> {clerks}) is small.", unit=CLERKS, value=50.0)
    assert doubts(table, [plain]) == [""]


@pytest.mark.parametrize(
    ("text", "unit", "reason"),
    [
        ("The widow seeks {damages} of <50>.", MONEY, NOT_DONE),
        ("The pilots are pressing for {fees} of <50>.", YIELD, PARTED),
        ("They dropped a plan to pay {fees} of <50>.", MONEY, NOT_DONE),
        ("The plan has {fees} of <50>.", MONEY, ""),
        ("The senate called for a {deficit} of <50>.", MONEY, NOT_DONE),
        ("The hill has a potential of <50> of {gold}.", GOODS, NOT_DONE),
        ("The king was interested in buying <50> of {gold}.", GOODS, NOT_DONE),
        ("The king bought <50> of {gold}.", GOODS, ""),
        ("The smuggler faces a {fine} of <50>.", MONEY, NOT_DONE),
        ("The weavers rejected an offer of a {wage} of <50>.", MONEY, NOT_DONE),
        ("The bridge is contingent on a {loan} of <50>.", MONEY, NOT_DONE),
        ("The guild reaffirmed its agreement to keep {output} at <50>.", GOODS, NOT_DONE),
        ("What the gale cost will reach <50> in {damages}.", MONEY, NOT_DONE),
        ("Next year <50> of {wheat} will be sold.", GOODS, ""),
        ("The king allowed the export of <50> of {wheat}.", GOODS, ""),
        ("The king authorized the export of <50> of {wheat}.", GOODS, NOT_DONE),
        ("The well yields <50> of {gas} and 40 barrels of oil daily.", ("cubic foot", "volume"), PARTED),
        ("The well yielded <50> of {gas} and 40 barrels of oil.", ("cubic foot", "volume"), ""),
        ("Millers applied and requested <50> of {wheat}.", GOODS, NOT_DONE),
        ("The sale will soon result in {damages}; <50> is said.", MONEY, PARTED),
        ("The sale will result in <50> of {damages}.", MONEY, NOT_DONE),
        ("The court set {damages} of <50>.", MONEY, ""),
        ("The island must buy <50> of {wheat}.", GOODS, NOT_DONE),
        ("The island bought <50> of {wheat}.", GOODS, ""),
        ("The owners will inject <50> of {capital}.", MONEY, NOT_DONE),
        ("By 1999 the {yield} will be about <50>.", YIELD, PARTED),
        ("The {yield} was <50>.", YIELD, ""),
        ("The board limited the {yield} to <50>.", YIELD, NOT_DONE),
        ("Tarline Limited had a {yield} of <50>.", YIELD, ""),
        ("He sat in gaol in lieu of $<50> {bond}.", MONEY, NOT_DONE),
    ],
)
def test_what_is_wanted_owed_to_come_or_the_most_that_may_be(text, unit, reason):
    assert doubt(text, unit) == reason


def test_a_currency_of_the_same_name():
    said = ["Profit was 5 Canadian dollars.", "Sales were 9 dollars.", "Debt was 3 US$.", "Sales were 8 dollars."]
    rows = [("canadian dollar per share", "currency per count", 13, 29), ("dollar", "currency", 13, 20)]
    rows += [("dollar", "currency", 11, 14), ("dollar", "currency", 13, 20)]
    said += ["H.K. sales were just 7 dollars."]
    rows += [("dollar", "currency", 24, 31)]
    table = pl.DataFrame(rows, schema=["unit", "family", "unit_start", "unit_end"], orient="row")
    np.testing.assert_array_equal(of_other_money(table, said, [0, 0, 0, 1, 2]), [False, True, False, False, True])
    many = pl.concat([table[:2], *[table[1:2]] * 30])
    assert not of_other_money(many, [*said[:2], *[said[1]] * 30], [0] * 32).any()
