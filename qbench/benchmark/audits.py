"""What people found who read a sample of an artefact's labels: the record beside it, and what tables say of it.

`qbench.annotation.audit` makes the record. It names the digest of the artefact whose labels were read, and holds for no
other: what is made from an audited benchmark is not audited.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from qbench.artefacts import AUDIT
from qbench.errors import InputError
from qbench.store import read_json

ALL, QUERIES = "all", "queries"
"""Dimensions of a figure about all labels of a kind, and of one that counts queries and not labels."""

SHOWN = {"relevant": ("comparator", "query kind")}
"""Kinds of labels, and the dimensions in which a card shows figures of their groups; the record has all."""

UNJUDGED, SAMPLE = "unjudged", " sample, "
"""The kind of documents without a judgment, and what stands in the kinds of training samples."""


@dataclass(frozen=True, slots=True)
class Figure:
    """What was said of the labels of one kind, or of one group of them.

    Attributes:
        kind: of the labels, "relevant" for example.
        by, group: a dimension and what the labels have in common in it: "comparator", "<"; `ALL` or `QUERIES`
            and "" for the kind.
        labels: how many the artefact has; 0 where that was not counted.
        drawn: how many are in the sample.
        right, wrong, nonsense, unsure: how many of these were said to be so; unsure is "cannot tell".
        share: right / (right + wrong + nonsense), to six digits as low and high; None where nothing was said.
        low, high: its Wilson interval at 95 %.
    """

    kind: str
    by: str
    group: str
    labels: int
    drawn: int
    right: int
    wrong: int
    nonsense: int
    unsure: int
    share: float | None
    low: float
    high: float

    @property
    def read(self) -> int:
        """Number of labels that were said to be right, wrong or nonsense."""
        return self.right + self.wrong + self.nonsense


@dataclass(frozen=True, slots=True)
class Cause:
    """How many labels of a kind are wrong or nonsense for one reason; "" for none given."""

    kind: str
    verdict: str
    cause: str
    labels: int


@dataclass(frozen=True)
class Audit:
    """The record of an audit.

    Attributes:
        artefact: digest of what was audited.
        sheet: digest of the sample.
        drawn: how the sample was drawn: seed, split, sizes.
        auditors: name -> number of verdicts, and how a chat model was asked.
        agreement: pair of auditors -> figures of `qbench.evaluation.agreement.agreements` on right against the rest.
        figures, causes: what was found.
    """

    artefact: str
    sheet: str
    drawn: Mapping[str, Any]
    auditors: Mapping[str, Mapping[str, Any]]
    agreement: Mapping[str, Mapping[str, Any]]
    figures: Sequence[Figure]
    causes: Sequence[Cause]

    @property
    def kinds(self) -> list[Figure]:
        """The figures of whole kinds of which something was said."""
        return [figure for figure in self.figures if figure.by in (ALL, QUERIES) and figure.read]

    def to_json(self) -> dict[str, Any]:
        """The record as JSON data."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Audit:
        """The inverse of `to_json`.

        Raises:
            TypeError, KeyError: it is no such data.
        """
        parts = {
            "figures": tuple(Figure(**row) for row in data["figures"]),
            "causes": tuple(Cause(**row) for row in data["causes"]),
        }
        return cls(**{**data, **parts})


def read_audit(folder: Path) -> Audit | None:
    """The audit of an artefact; None where there is none.

    Raises:
        InputError: the file holds something else.
    """
    path = folder / AUDIT
    if not path.is_file():
        return None
    data = read_json(path)
    fault = _fault(data)
    if fault:
        remedy = "Remove it, and run `qbench benchmark audit` again with the filled sheets"
        raise InputError("not the record of an audit", file=path, value=fault, remedy=remedy)
    return Audit.from_json(data)


def _fault(data: object) -> str:
    """What is wrong with the data of a record, in words; "" for nothing."""
    fault = _wrong_entries(data, Audit, "the record")
    if fault or not isinstance(data, Mapping):
        return fault
    for name, inner in (("drawn", str | int | float | None), ("auditors", Mapping), ("agreement", Mapping)):
        if not isinstance(data[name], Mapping) or not all(isinstance(part, inner) for part in data[name].values()):
            return f"{name} is no object, or holds something else"
    asked = [row.get("asked") for row in data["auditors"].values()]
    if not asked or not all(isinstance(how, Mapping | None) for how in asked):
        return "nobody is named as an auditor, or how a model was asked is no object"
    if not all(isinstance(value, int | float | None) for row in data["agreement"].values() for value in row.values()):
        return "an agreement is no number"
    for name, kind in (("figures", Figure), ("causes", Cause)):
        if not isinstance(data[name], list):
            return f"{name} is no list"
        for number, row in enumerate(data[name], start=1):
            fault = _wrong_entries(row, kind, f"entry {number} of {name}")
            if fault:
                return fault
    if not any(row["by"] == ALL for row in data["figures"]):
        return "no kind of labels has a figure"
    return ""


def _wrong_entries(data: object, kind: type[Audit | Figure | Cause], what: str) -> str:
    """Which entries of a JSON object some data lacks or has too many."""
    if not isinstance(data, Mapping):
        return f"{what} is no object"
    names = {field.name for field in fields(kind)}
    for lacking in sorted(names - data.keys()):
        return f"{what} lacks {lacking}"
    for unknown in sorted(data.keys() - names):
        return f"{what} has an unknown entry {unknown}"
    for field in fields(kind):
        allowed = _TYPES.get(str(field.type))
        if allowed is not None and (not isinstance(data[field.name], allowed) or isinstance(data[field.name], bool)):
            return f"{field.name} in {what} is of another type"
    return ""


_TYPES: Mapping[str, Any] = {"str": str, "int": int, "float": int | float, "float | None": int | float | None}
"""Types of fields, as they are written in the classes, and of their values in JSON."""


def audit_of(audit: Audit | None, digest: str) -> Audit | None:
    """The audit, if it is of the artefact with this digest and says anything."""
    return audit if audit is not None and audit.artefact == digest and audit.kinds else None


def shown(audit: Audit) -> list[Figure]:
    """The figures that cards and the terminal show: of every kind, and by the groups of `SHOWN`."""
    return [
        figure
        for figure in audit.figures
        if figure.read
        and (figure.by in (ALL, QUERIES) or (figure.by in SHOWN.get(figure.kind, ()) and _several(audit, figure)))
    ]


def _several(audit: Audit, figure: Figure) -> bool:
    """Whether a figure's dimension has more than one group: else it repeats the figure of the kind."""
    return sum(other.read > 0 and (other.kind, other.by) == (figure.kind, figure.by) for other in audit.figures) > 1


def figure_cells(figure: Figure) -> list[str]:
    """What a table says of a figure: labels, share, interval, number read, and the three other counts."""
    name = figure.kind if figure.by in (ALL, QUERIES) else f"{figure.kind}, {figure.by} {figure.group}"
    drawn = f"{figure.read:,} of {figure.labels:,}" if figure.labels else f"{figure.read:,}"
    counts = (figure.wrong, figure.nonsense, figure.unsure)
    return [name, percent(figure.share), f"{100 * figure.low:.1f} to {percent(figure.high)}", drawn, *map(str, counts)]


def audit_note(audit: Audit | None, digest: str) -> str:
    """One sentence for the foot of a table of figures on a benchmark.

    Args:
        audit: that was found with the benchmark.
        digest: of the benchmark.
    """
    found = audit_of(audit, digest)
    if found is None:
        return "Labels not audited."
    parts = [
        f"{figure.kind} {percent(figure.share)} right ({100 * figure.low:.1f} to {percent(figure.high)}, "
        f"{figure.read:,} read)"
        for figure in found.kinds
        # Samples are none of the leaderboard's; of the unjudged it is the queries that count.
        if figure.kind != UNJUDGED and SAMPLE not in figure.kind
    ]
    return f"Labels audited by {who(found)}: {'; '.join(parts)}."


def percent(share: float | None) -> str:
    """A share as tables show it.

    >>> percent(0.9313), percent(None)
    ('93.1 %', '-')
    """
    return "-" if share is None else f"{100 * share:.1f} %"


def who(audit: Audit) -> str:
    """People by their names or numbers, models as models."""
    names = [f"the model {name}" if row.get("asked") else name for name, row in audit.auditors.items()]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
