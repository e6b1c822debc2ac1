"""Sentences whose numbers were annotated with what they measure, and what a binder should say of them.

A line of JSON is a sentence:

    {"text": "Net sales of the unit rose 5 %", "quantities": [{"span": [27, 30], "concept": ["Net", "sales", "unit"],
     "core": "net sales"}]}

`span` holds the characters of the number with its unit, `concept` the words that name what it measures, in order, and
`core` the part of them that people would search for. `doc`, or else `id`, names what must not be split over training
and dev. `change` ("up", "down" or null) and `unit` are read, too. A text of others may stay where it is: then the line
has, instead of `text`, the `file` in a folder of data, the `field` and `doc` there, and the characters `at` and
`length`; its concepts and cores are spans of the text.
"""

from __future__ import annotations

import gzip
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qbench.corpora.streams import json_objects
from qbench.corpora.types import Problems
from qbench.errors import InputError
from qbench.quantities.english.binder.features import (
    CHANGES,
    MENTION_COLUMNS,
    WORD_COLUMNS,
    Labels,
    Pivot,
    Sentence,
    family,
    pivots,
)
from qbench.quantities.english.binder.model import OUTPUTS
from qbench.quantities.english.concepts import Concept, MentionTokens
from qbench.quantities.types import Span
from qbench.store import digest, parse_json, read_text

LOSSES = np.array([1.0, 0.5, 1.0, 1.0, 1.0, 1.0], dtype=np.float32)
"""Weights of the losses of `OUTPUTS`."""
NEAR, GAP, BACK = 0.02, 0.1, 3.0
"""What it costs a word of a concept to be a token away from the number or from the word before, and to precede that."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """A quantity of a sentence.

    Attributes:
        span: the characters of its number, with the unit.
        concept: words that name what it measures; () where none do.
        core: the part of them that people would search for.
        unit: its name; "" of a bare number.
        change: "up" or "down" where it is the size of a rise or fall, else "".
    """

    span: Span
    concept: tuple[str, ...]
    core: str
    unit: str = ""
    change: str = ""


@dataclass(frozen=True, slots=True)
class AnnotatedText:
    """A sentence with its quantities, None where nobody has said; `group` names what must stay in one split."""

    text: str
    quantities: tuple[Annotation, ...] | None
    group: str


@dataclass(frozen=True, slots=True)
class Target:
    """A mention of sentence number `sentence`, and what a binder should say of it.

    Attributes:
        marks: the right outputs, of shape (tokens of the window, `OUTPUTS`); all 0 where nobody has said.
        counted: 1 for the outputs that are asked for, of the same shape. Of what is no quantity nothing else is.
    """

    sentence: int
    view: Pivot
    marks: NDArray[np.float32]
    counted: NDArray[np.float32]

    @property
    def quantity(self) -> bool:
        """Whether it is a quantity."""
        return not self.marks[:, OUTPUTS.index("none")].any()


def read_annotations(paths: Sequence[Path], data: Path | None = None) -> list[AnnotatedText]:
    """The annotated sentences of some files.

    Args:
        paths: JSON lines; see the head of this module.
        data: folder of the files that lines without a text are from.

    Raises:
        InputError: a file is missing or broken, a line is none such, or its text is not where it says; with file, line
            and value.
    """
    documents: dict[str, dict[str, dict[str, Any]]] = {}
    texts = []
    for path in paths:
        numbered = enumerate(read_text(path, "annotations").split("\n"), start=1)
        for number, row in json_objects(numbered, str(path), Problems("fail")):
            try:
                texts.append(_annotated(row, data, documents))
            except InputError as fault:
                raise InputError(
                    fault.message, file=path, line=number, value=fault.value, remedy=fault.remedy
                ) from None
            except (AttributeError, IndexError, KeyError, TypeError, ValueError) as fault:
                remedy = 'Give {"text": ..., "quantities": [{"span": [0, 4], "concept": [...], "core": "..."}, ...]}'
                message = f"not an annotated sentence: {fault!r}"
                raise InputError(message, file=path, line=number, value=row, remedy=remedy) from fault
    return texts


def key_of(texts: Sequence[AnnotatedText]) -> str:
    """A digest of the sentences, in order."""
    rows = [[t.text, t.group, [astuple(q) for q in t.quantities or ()]] for t in texts]
    return digest(rows)


def _annotated(
    row: Mapping[str, Any], data: Path | None, documents: dict[str, dict[str, dict[str, Any]]]
) -> AnnotatedText:
    apart = "text" not in row
    text = _restored(row, data, documents) if apart else row["text"]
    if not isinstance(text, str):
        raise TypeError("the text is no text")
    quantities = []
    for quantity in row["quantities"]:
        start, end = quantity["span"]
        if not 0 <= start < end <= len(text):
            raise ValueError(f"no span of the text: {quantity['span']}")
        concept, core = quantity["concept"], quantity["core"] or ""
        if apart:
            concept, core = _words(text, concept), " ".join(_words(text, quantity["core"]))
        if isinstance(concept, str) or not all(isinstance(word, str) for word in (*concept, core)):
            raise TypeError("a concept is a list of words, a core a text")
        unit, change = str(quantity.get("unit") or ""), str(quantity.get("change") or "")
        if change not in CHANGES:
            raise ValueError(f"no change: {change!r}")
        quantities.append(Annotation((start, end), tuple(concept), core, unit, change))
    return AnnotatedText(text, tuple(quantities), str(row.get("doc") or row.get("id") or text))


def _words(text: str, spans: Iterable[Span]) -> list[str]:
    return [text[start:end] for start, end in spans]


def _restored(row: Mapping[str, Any], data: Path | None, documents: dict[str, dict[str, dict[str, Any]]]) -> str:
    """The text of a line that only says where it stands."""
    name = row["file"]
    if data is None:
        remedy = "Name the folder that holds it with --data"
        raise InputError("the text of this line is in another file", value=name, remedy=remedy)
    path = data / name
    if not path.resolve().is_relative_to(data.resolve()):
        raise InputError("this file is outside of the folder of data", value=name)
    if name not in documents:
        if not path.is_file():
            raise InputError("no such file", value=str(path), remedy="Name the folder that holds it with --data")
        documents[name] = _documents(path)
    try:
        text: str = documents[name][row["doc"]][row["field"]]
    except KeyError as fault:
        raise InputError(f"{name} has no such document or field", value=fault.args[0]) from None
    return text[row["at"] : row["at"] + row["length"]]


def _documents(path: Path) -> dict[str, dict[str, Any]]:
    """The documents of a file by their identifiers: of compressed JSON lines, or the sentences of a treebank."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        if not path.name.endswith(".conllu.gz"):
            rows = [parse_json(line, path, line=number) for number, line in enumerate(lines, start=1)]
            return {str(row.get("doc_id") or row["pmcid"]): row for row in rows}
        found: dict[str, dict[str, Any]] = {}
        sentence = ""
        for line in lines:
            if line.startswith("# sent_id = "):
                sentence = line.partition(" = ")[2].strip()
            elif line.startswith("# text = "):
                found[sentence] = {"": line.partition(" = ")[2].strip()}
        return found


def labels_of(parsed: Sequence[Sentence | None], concepts: Sequence[Sequence[Concept]]) -> Labels:
    """The most frequent strings of each kind in texts, as many as the tables of features have rows for.

    Args:
        parsed: the texts; None for those without a mention.
        concepts: of the mentions of each text, by the rules.
    """
    live = [sentence for sentence in parsed if sentence is not None]
    kinds: tuple[tuple[Iterable[str], int], ...] = (
        ((tag for s in live for tag in s.parse.tags), WORD_COLUMNS["tag"]),
        ((relation for s in live for relation in s.parse.relations), WORD_COLUMNS["relation"]),
        ((family(mention.family) for s in live for mention in s.mentions), MENTION_COLUMNS["family"]),
        ((concept.how for each in concepts for concept in each), MENTION_COLUMNS["rule"]),
    )
    return Labels.of(*(sorted(name for name, _ in Counter(names).most_common(size - 1)) for names, size in kinds))


def targets(
    texts: Sequence[AnnotatedText],
    parsed: Sequence[Sentence | None],
    concepts: Sequence[Sequence[Concept]],
    labels: Labels,
) -> Iterator[Target]:
    """Each mention of each text, with what a binder should say of it."""
    for n, (text, sentence, own) in enumerate(zip(texts, parsed, concepts, strict=True)):
        if sentence is None:
            continue
        stated = [_stated(text, sentence, mention) for mention in sentence.mentions]
        views = pivots(sentence.mentions, own, sentence.parse, labels)
        for m, view in enumerate(views):
            marks = np.zeros((len(view.words), len(OUTPUTS)), dtype=np.float32)
            known = stated[m] is not None or text.quantities is None
            if text.quantities is not None:
                _mark(marks, sentence, view, stated, m)
            yield Target(n, view, marks, _counted(view, known=known, bare=not sentence.mentions[m].family))


def word_scores(
    mentions: Iterable[tuple[NDArray[np.bool_], NDArray[np.float32], NDArray[np.float32]]],
) -> dict[str, float]:
    """Precision, recall and F1 of the words of concepts, from 0 to 1.

    Args:
        mentions: of each, the words that are taken for its concept, shape (words,); and `marks` and `counted`, as in
            `Target`.
    """
    right = said = true = 0
    for taken, marks, counted in mentions:
        asked = counted[:, 0] > 0
        wanted = (marks[:, 0] > 0) & asked
        right += int((taken & wanted).sum())
        said += int((taken & asked).sum())
        true += int(wanted.sum())
    precision, recall = right / max(1, said), right / max(1, true)
    f1 = 2 * precision * recall / (precision + recall) if right else 0.0
    return {"precision": precision, "recall": recall, "f1": f1}


def hide_rules(words: Any, mentions: Any, shown: Any) -> None:
    """Hide the answers of the rules from some mentions of a batch, so that a model does not follow them blindly.

    Args:
        words: features of the words, shape (mentions, words, `WORD_COLUMNS`), changed in place; a tensor or an array.
        mentions: features of the mentions, shape (mentions, `MENTION_COLUMNS`), changed in place.
        shown: 1 or 0, shape (2, mentions): whether the concept of the rules is shown, and whether their change is.
    """
    for name in ("rule", "other rule"):
        words[:, :, list(WORD_COLUMNS).index(name)] *= shown[0][:, None]
    mentions[:, list(MENTION_COLUMNS).index("rule")] *= shown[0]
    mentions[:, list(MENTION_COLUMNS).index("change")] *= shown[1]


def _stated(text: AnnotatedText, sentence: Sentence, mention: MentionTokens) -> Annotation | None:
    """The annotated quantity that shares its number with a mention."""
    number = sentence.tokens[mention.number]
    return next((q for q in text.quantities or () if q.span[0] < number.end and number.start < q.span[1]), None)


def _counted(view: Pivot, *, known: bool, bare: bool) -> NDArray[np.float32]:
    """The outputs that are asked for: words that are not the mention's own, other numbers of a bare one, its number."""
    counted = np.zeros((len(view.words), len(OUTPUTS)), dtype=np.float32)
    place = view.words[:, list(WORD_COLUMNS).index("mention")]
    if known:
        counted[:, : OUTPUTS.index("unit")] = (place != 1)[:, None]
        counted[:, OUTPUTS.index("unit")] = bare * (place > 1)
        counted[view.number - view.start, OUTPUTS.index("up") :] = 1
    counted[view.number - view.start, OUTPUTS.index("none")] = 1
    return counted


def _mark(
    marks: NDArray[np.float32], sentence: Sentence, view: Pivot, stated: Sequence[Annotation | None], m: int
) -> None:
    """Words of the concept and of its core, the number whose unit a bare one shares, change; or that it is none."""
    quantity = stated[m]
    if quantity is None:
        marks[view.number - view.start, OUTPUTS.index("none")] = 1
        return
    core = {word.lower() for word in re.findall(r"\w+", quantity.core)}
    inside = range(view.start, view.start + len(marks))
    for k in aligned([token.low for token in sentence.tokens], quantity.concept, view.number):
        if k in inside:
            marks[k - view.start, :2] = 1, sentence.tokens[k].low in core
    if not sentence.mentions[m].family and quantity.unit:
        sharing = [
            mention.number
            for mention, other in zip(sentence.mentions, stated, strict=True)
            if mention.family and mention.number in inside and other is not None and other.unit == quantity.unit
        ]
        if sharing:
            nearest = min(sharing, key=lambda k: abs(k - view.number) + (k > view.number))
            marks[nearest - view.start, OUTPUTS.index("unit")] = 1
    if quantity.change:
        marks[view.number - view.start, OUTPUTS.index(quantity.change)] = 1


def aligned(tokens: Sequence[str], words: Sequence[str], near: int) -> list[int]:
    """The tokens that the words of a concept stand for: in order, close together, and near the number.

    Args:
        tokens: of the text, in lower case.
        words: of the concept; those that are no token are passed over.
        near: index of the number.

    >>> aligned("sales of boats rose , sales of cars fell 5 %".split(), ["Sales", "cars"], 9)
    [5, 7]
    """
    places: list[list[int]] = []
    for word in words:
        for piece in re.findall(r"\w+|[^\w\s]", word.lower()):
            if found := [k for k, low in enumerate(tokens) if low == piece]:
                places.append(found)
    if not places:
        return []
    best = {k: (abs(k - near) * NEAR, [k]) for k in places[0]}
    for found in places[1:]:
        best = {
            k: min(
                (cost + abs(k - before) * GAP + (BACK if k < before else 0) + abs(k - near) * NEAR, [*path, k])
                for before, (cost, path) in best.items()
            )
            for k in found
        }
    return min(best.values())[1]
