"""The labels of mined pairs for an audit: do two descriptions state one fact, and does a description say what it is of?

Sheets, answers and figures are those of `qbench.annotation.audit`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import polars as pl

from qbench.annotation.audit_subject import Kind, Subject, Verdicts, by_query
from qbench.annotation.form import CAUSE, COMMENT, Item, Pair, Piece
from qbench.annotation.options import AuditOptions
from qbench.mining.describe import Descriptions
from qbench.mining.judging import amount, marked_sentence
from qbench.mining.paraphrases import Pairs
from qbench.sheets import one_line

DESCRIPTION = "description"
"""The kind of descriptions by themselves; pairs have their labels for kinds."""

CAUSES: tuple[str, ...] = (
    "another thing",
    "another time or place",
    "equal by chance",
    "same fact after all",
    "says too little",
    "strange words",
    "number misread",
    "not a quantity",
    "left open",
    "other",
)

COLUMNS: tuple[str, ...] = (
    "query_id",
    "query",
    "query_value",
    "query_sentence",
    "doc_id",
    "claim",
    "text",
    "value",
    "sentence",
    "verdict",
    CAUSE,
    COMMENT,
)

GUIDELINE = """\
# What is asked

Descriptions of numbers were mined from texts, and pairs of them labelled by their values alone. Above each text
stands what is claimed. Say whether the claim is right.

# The claims

- The description says what the number is: somebody who reads the description and the value alone knows which quantity
  it is, as far as the sentence says it.
- Both state one fact: the same quantity of the same thing, at the same time and place as far as the two say so.
  Rounding and other units are no difference.
- They state different facts: another thing, time, place or kind of figure.

# The verdicts

- right: you would sign the claim.
- wrong: the claim does not hold.
- nonsense: there is nothing to claim: the number is no quantity, or a description no description of anything.
- ?, cannot tell: the sentences leave it open.

After wrong or nonsense say why. One cause is enough, the first that applies.

# The causes

- another thing: the two are about different things, or the description about something else than the number.
- another time or place: the same figure of another year, quarter, company or country.
- equal by chance: unrelated numbers that happen to be equal.
- same fact after all: called different, and the same.
- says too little: the description leaves out what the number is, though the sentence says it.
- strange words: words that do not belong to the number.
- number misread: value or unit are not what the sentence says.
- not a quantity: a label, a code, a date, a page or a name.
- left open: the sentences do not say enough.
- other: say in a comment what it is.
"""

_CLAIMS = {
    DESCRIPTION: "The description says what the number is",
    "paraphrase": "Paraphrase: both state one fact",
    "duplicate": "Duplicate: both state one fact in the same words",
    "confusing": "Confusing: they state different facts",
}


def pair_subject(pairs: Pairs, options: AuditOptions) -> Subject:
    """The labels of mined pairs, of both splits, and the descriptions in them."""
    families = pairs.descriptions().select("description_id", "family").collect().rows()

    def kinds(subject: Subject) -> list[Kind]:
        table = pairs.table().select("query_id", "doc_id", "label").collect()
        paired = pl.concat([table["query_id"], table["doc_id"]]).unique().sort().to_list()
        found = [Kind(DESCRIPTION, options.descriptions, {name: [""] for name in paired})]
        for label in (label for label in _CLAIMS if label != DESCRIPTION):
            rows = table.filter(pl.col("label") == label).select("query_id", "doc_id").rows()
            found.append(Kind(label, options.pairs, by_query(rows)))
        return found

    return Subject(
        name=pairs.path.resolve().name,
        key=pairs.manifest.digest,
        kinds=kinds,
        groups={name: {"unit family": family or "no unit"} for name, family in families},
        strata=("unit family",),
        recorded=("seed",),
        form=lambda items, key: PairForm(pairs, items, key),
        guideline=GUIDELINE,
        prompt="pairs",
        language=Descriptions(pairs.path, pairs.manifest).language,
    )


class PairForm(Verdicts):
    """The `qbench.annotation.form.Form` of mined pairs and of descriptions by themselves.

    Args:
        pairs: that are audited.
        items: of the sheet; the source of each is its kind.
        key: of the sheet.
    """

    columns = COLUMNS
    causes = CAUSES

    def __init__(self, pairs: Pairs, items: Sequence[Item], key: str) -> None:
        self.key = key
        self._items = {item.pair: item for item in items}
        wanted = sorted({name for item in items for name in item.pair} - {""})
        rows = pairs.descriptions().filter(pl.col("description_id").is_in(wanted)).collect()
        self._rows: dict[str, dict[str, Any]] = {row["description_id"]: row for row in rows.iter_rows(named=True)}

    def cells(self, item: Item) -> list[str]:
        """The row of an item: description, value and sentence of both."""
        query, record = self._rows[item.query_id], self._record(item)
        left, right = ([amount(row), one_line(row["sentence"])] for row in (query, record))
        text = one_line(record["description"])
        claim = self.claim(item)
        return [item.query_id, one_line(query["description"]), *left, item.doc_id, claim, text, *right, "", "", ""]

    def query(self, query_id: str) -> tuple[str, list[str]]:
        """A description; its value and sentence."""
        row = self._rows[query_id]
        return row["description"], [amount(row), row["sentence"]]

    def claim(self, item: Item) -> str:
        """What the label claims."""
        return _CLAIMS[item.sources[0]]

    def document(self, item: Item) -> tuple[str, list[Piece]]:
        """The other description with its value, and its sentence with the value marked."""
        row = self._record(item)
        return f"{row['description']}: {amount(row)}", marked_sentence(row)

    def texts(self, pair: Pair) -> tuple[str, str] | None:
        """The two descriptions."""
        item = self._items.get(pair)
        return None if item is None else (self._rows[pair[0]]["description"], self._record(item)["description"])

    def items(self, pairs: Collection[Pair]) -> list[Item]:
        """The items of some pairs, in the order of the sheet."""
        return [item for pair, item in self._items.items() if pair in pairs]

    def _record(self, item: Item) -> Mapping[str, Any]:
        """The second description of a pair; a description by itself is its own."""
        return self._rows[item.doc_id or item.query_id]
