"""What an audit asks about, whatever the artefact: kinds of labels, claims to agree to, and reasons not to."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from qbench.annotation.drawing import draw
from qbench.annotation.form import CAUSE, COMMENT, Form, Item
from qbench.quantities.languages import ENGLISH

NONSENSE, WRONG, RIGHT = range(3)
"""The verdicts, as grades: the lowest of two is the stricter one."""

VERDICTS: tuple[str, ...] = ("nonsense", "wrong", "right")

VERDICT = "verdict"
"""The column of verdicts."""

COLUMNS: tuple[str, ...] = (
    "item",
    "kind",
    "query_id",
    "query",
    "condition",
    "doc_id",
    "claim",
    "text",
    "marked",
    "original",
    VERDICT,
    CAUSE,
    COMMENT,
)
"""Of a benchmark's labels: `item` counts them, `marked` has the numbers that the page marks in the text, and `original`
the sentence that a permuted sample was made from."""


@dataclass(frozen=True)
class Kind:
    """Labels of one kind.

    Attributes:
        name: "relevant" for example.
        number: how many are drawn.
        labels: query -> what is labelled for it.
        by_query: name of a further figure, of the queries none of whose labels of this kind is wrong, those that have
            none included; "" for none. Nonsense counts for nothing in such a kind: its labels share their query.
        texts: what is labelled -> its text, where texts may be equal; of these one is drawn.
    """

    name: str
    number: int
    labels: Mapping[str, Sequence[str]]
    by_query: str = ""
    texts: Mapping[str, str] | None = None

    @property
    def size(self) -> int:
        """Number of labels."""
        return sum(map(len, self.labels.values()))


class Verdicts:
    """What the forms of all audits have in common; an item's kind is its only source."""

    columns: tuple[str, ...] = COLUMNS
    grade, text = VERDICT, "text"
    labels = VERDICTS
    tones: tuple[str, ...] = ("part", "no", "yes")
    highest = RIGHT
    words = True
    question = "Is what is claimed right?"
    causes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Subject:
    """Something with labels that can be audited.

    Attributes:
        name: for people.
        key: of the artefact.
        kinds: gives the subject's labels by kind, with the number of each that the options want.
        groups: query -> dimension -> what it is in that dimension; figures are given by these.
        strata: the dimensions by which samples are drawn.
        recorded: names of the options that the record of an audit gives.
        form: makes the form of some items from the key of the sheet.
        guideline: text for those who read.
        prompt: name of the prompt for chat models.
        topics: query -> what it is about; those that are not named are each about something else.
        language: code of the texts' language.
    """

    name: str
    key: str
    kinds: Callable[[Subject], Sequence[Kind]]
    groups: Mapping[str, Mapping[str, str]]
    strata: tuple[str, ...]
    recorded: tuple[str, ...]
    form: Callable[[Sequence[Item], str], Form]
    guideline: str
    prompt: str
    topics: Mapping[str, str] = field(default_factory=dict)
    language: str = ENGLISH

    def draw(
        self,
        labels: Mapping[str, Sequence[str]],
        number: int,
        seed: int,
        kind: str,
        texts: Mapping[str, str] | None = None,
    ) -> list[tuple[str, str]]:
        """Draw labels of a kind, stratified, from queries of its own: see `qbench.annotation.drawing.draw`."""
        strata = {query: ", ".join(self.groups[query][dimension] for dimension in self.strata) for query in labels}
        return draw(labels, strata, number, seed, kind, topics=self.topics, texts=texts)


def by_query(pairs: Collection[tuple[str, str]]) -> dict[str, list[str]]:
    """Query -> what is labelled for it."""
    labels: dict[str, list[str]] = {}
    for query, labelled in pairs:
        labels.setdefault(query, []).append(labelled)
    return labels
