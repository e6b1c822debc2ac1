"""Gold descriptions: MeasEval, DuEE-fin, or JSON lines -> samples, and their training, development and test splits.

A line of JSON is one quantity of one text (a sentence, usually):

    {"text": "In 2021 revenue was 5 mn", "pivot": [20, 24], "segments": [[3, 7], [8, 15]], "group": "report-7"}

Spans are half-open and count characters. `segments` is empty where the quantity states no fact. `group`, which may be
left out, names what must not be split over training and test (a paragraph, a document); without it that is the text.
A line of DuEE-fin is a document with its events (`qbench.mining.duee_fin`), and a group of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, get_args

from qbench.corpora.streams import json_objects
from qbench.corpora.types import Problems
from qbench.errors import InputError, OptionError
from qbench.mining.duee_fin import described, is_document
from qbench.mining.measeval import read_paragraphs
from qbench.quantities.english.sentences import EnglishSplitter
from qbench.quantities.types import Span
from qbench.randomness import generator
from qbench.store import digest, read_text

Context = Literal["sentence", "paragraph"]
"""The text of a sample, for gold in paragraphs."""

SPLITS = ("train", "dev", "test")
SHARES = (0.7, 0.15, 0.15)
"""7 : 1.5 : 1.5, as in section 4.2."""


@dataclass(frozen=True, slots=True)
class GoldSample:
    """One quantity in a text, with its description.

    Attributes:
        text: a sentence, or a paragraph.
        pivot: the quantity, a half-open character span in `text`.
        segments: the spans of its description, in order, apart from each other and from the pivot; () where the
            quantity states no fact.
        group: name of what must stay in one split.
    """

    text: str
    pivot: Span
    segments: tuple[Span, ...]
    group: str

    @property
    def factual(self) -> bool:
        """Whether the quantity states a fact: whether it has a description."""
        return bool(self.segments)


@dataclass(frozen=True, slots=True)
class Gold:
    """A gold set; `counts` has what was read and what was left out."""

    samples: tuple[GoldSample, ...]
    counts: dict[str, int] = field(default_factory=dict)

    def key(self) -> str:
        """A digest of the samples, in order."""
        return digest([[s.text, s.pivot, s.segments, s.group] for s in self.samples])


def read_gold(path: Path, *, context: Context = "sentence") -> Gold:
    """Read a gold set: a MeasEval folder, a file of DuEE-fin, or of JSON lines (see the head of this module).

    A MeasEval folder holds `tsv/` and `text/` (or `txt/`), or folders that do. A MeasuredEntity, MeasuredProperty or
    Qualifier is a segment of the Quantity to which its links (HasProperty, HasQuantity, Qualifies) lead, directly or
    over others; a quantity without any states no fact. Segments are cut around the quantity, and joined where they
    overlap. A quantity across the end of a sentence has both sentences for its text.

    Args:
        path: the folder or file.
        context: the text of a sample of MeasEval. With "sentence", as in the paper, segments outside of it are left out
            and counted.

    Raises:
        InputError: `path` does not exist or cannot be used; with file, line and value.
        OptionError: `context` is unknown.
    """
    if context not in get_args(Context):
        raise OptionError("unknown context", value=context, remedy=f"Use one of {', '.join(get_args(Context))}")
    gold = _read_measeval(path, context) if path.is_dir() else _read_lines(path)
    if not gold.samples:
        raise InputError("no quantity in this gold set", file=path)
    return gold


def split(samples: Sequence[GoldSample], seed: int, *, limit: int | None = None) -> dict[str, tuple[GoldSample, ...]]:
    """Training, development and test split, 7 : 1.5 : 1.5 by quantities, groups kept whole.

    The paper splits by sentence; here sentences of one paragraph stay together, since they repeat each other's words.
    Groups are shuffled by `seed`, whatever their order in the file.

    Args:
        samples: the gold set.
        seed: of the shuffling.
        limit: maximum number of sentences of the training split: its first ones, so that a smaller limit gives a
            subset.

    Returns:
        the samples of "train", "dev" and "test".

    Raises:
        InputError: a split would be empty.
        OptionError: `limit` is less than 1.
    """
    if limit is not None and limit < 1:
        raise OptionError("the limit of training sentences must be 1 or more", value=limit)
    groups: dict[str, list[GoldSample]] = {}
    for sample in samples:
        groups.setdefault(sample.group, []).append(sample)
    order = sorted(groups, key=lambda group: (generator(seed, "gold split", group).random(), group))
    splits: dict[str, list[GoldSample]] = {name: [] for name in SPLITS}
    done = 0
    for group in order:
        middle = (done + len(groups[group]) / 2) / len(samples)
        splits[SPLITS[(middle >= SHARES[0]) + (middle >= SHARES[0] + SHARES[1])]] += groups[group]
        done += len(groups[group])
    if not all(splits.values()):
        raise InputError(
            "too few texts for a training, a development and a test split",
            value=f"{len(groups)} groups",
            remedy="Give at least ten texts, in groups of their own",
        )
    splits["train"] = list(_first_texts(splits["train"], limit))
    return {name: tuple(rows) for name, rows in splits.items()}


def texts(samples: Sequence[GoldSample]) -> int:
    """Number of sentences (or paragraphs) of the samples."""
    return len({(sample.group, sample.text) for sample in samples})


def _first_texts(samples: Sequence[GoldSample], limit: int | None) -> Iterator[GoldSample]:
    seen: set[tuple[str, str]] = set()
    for sample in samples:
        key = (sample.group, sample.text)
        if limit is None or key in seen or len(seen) < limit:
            seen.add(key)
            yield sample


def _read_measeval(folder: Path, context: Context) -> Gold:
    splitter = EnglishSplitter()
    counts: Counter[str] = Counter()
    samples = []
    for paragraph in read_paragraphs(folder, counts):
        text = paragraph.text
        whole = [(0, len(text))]
        sentences = splitter.spans(text) if context == "sentence" else whole
        for pivot, segments in paragraph.quantities:
            start, end = _around(pivot, sentences or whole, counts)
            apart = _merged(piece for segment in segments for piece in _without(text, segment, pivot))
            inside = [(a - start, b - start) for a, b in apart if start <= a and b <= end]
            counts["segments outside the sentence"] += len(apart) - len(inside)
            counts["quantities that lost all segments"] += bool(apart) and not inside
            shifted = (pivot[0] - start, pivot[1] - start)
            samples.append(GoldSample(text[start:end], shifted, tuple(inside), paragraph.name))
    return Gold(tuple(samples), _counted(samples, counts))


def _counted(samples: Sequence[GoldSample], counts: Counter[str]) -> dict[str, int]:
    return {
        "groups": len({sample.group for sample in samples}),
        "texts": texts(samples),
        "quantities": len(samples),
        "factual": sum(sample.factual for sample in samples),
        "segments": sum(len(sample.segments) for sample in samples),
        **{what: count for what, count in sorted(counts.items()) if count},
    }


def _around(pivot: Span, sentences: Sequence[Span], counts: Counter[str]) -> Span:
    """The sentence of a pivot, or from its first to its last where it touches several; itself where it touches none."""
    touched = [(a, b) for a, b in sentences if a < pivot[1] and pivot[0] < b]
    counts["quantities across sentences"] += len(touched) > 1
    return min([pivot[0], *(a for a, _ in touched)]), max([pivot[1], *(b for _, b in touched)])


def _without(text: str, segment: Span, pivot: Span) -> Iterator[Span]:
    """The parts of a segment outside the pivot, white space at the ends trimmed."""
    for start, end in ((segment[0], min(segment[1], pivot[0])), (max(segment[0], pivot[1]), segment[1])):
        piece = text[start:end] if start < end else ""
        if piece.strip():
            left = start + len(piece) - len(piece.lstrip())
            yield left, left + len(piece.strip())


def _merged(segments: Iterator[Span]) -> list[Span]:
    """Segments in order, overlapping ones joined."""
    merged: list[Span] = []
    for start, end in sorted(segments):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _read_lines(path: Path) -> Gold:
    samples: list[GoldSample] = []
    seen: dict[tuple[str, str, Span], int] = {}
    counts: Counter[str] = Counter()
    numbered = enumerate(read_text(path, "gold descriptions").split("\n"), start=1)
    for number, row in json_objects(numbered, str(path), Problems("fail")):
        if is_document(row):
            group = str(row.get("id") or number)
            samples += (GoldSample(*found, group) for found in described(row, counts, file=path, line=number))
            continue
        sample = _sample(row, path, number)
        key = (sample.group, sample.text, sample.pivot)
        if key in seen:
            message = f"the same quantity as in line {seen[key]}"
            raise InputError(message, file=path, line=number, value=sample.pivot, remedy="Keep one")
        seen[key] = number
        samples.append(sample)
    return Gold(tuple(samples), _counted(samples, counts))


def _sample(row: Mapping[str, Any], path: Path, number: int) -> GoldSample:
    if not isinstance(row.get("text"), str) or not {"pivot", "segments"} <= row.keys():
        remedy = 'Give {"text": ..., "pivot": [start, end], "segments": [[start, end], ...]}'
        raise InputError("not a gold description", file=path, line=number, value=row, remedy=remedy)
    text, group = row["text"], row.get("group", row["text"])
    if not isinstance(group, str):
        raise InputError("the group is no text", file=path, line=number, value=group)
    if not isinstance(row["segments"], list):
        raise InputError("the segments are no list", file=path, line=number, value=row["segments"])
    spans = [_span(span, text, path, number) for span in (row["pivot"], *row["segments"])]
    pivot, segments = spans[0], sorted(spans[1:])
    for (_, end), (start, _) in pairwise(segments):
        if start < end:
            raise InputError("two segments overlap", file=path, line=number, value=row["segments"])
    for start, end in segments:
        if start < pivot[1] and pivot[0] < end:
            raise InputError("a segment overlaps the pivot", file=path, line=number, value=[start, end])
    return GoldSample(text, pivot, tuple(segments), group)


def _span(span: Any, text: str, path: Path, number: int) -> Span:
    if not (isinstance(span, list) and len(span) == 2 and all(type(offset) is int for offset in span)):
        raise InputError("not a span [start, end]", file=path, line=number, value=span)
    start, end = span
    if not 0 <= start < end <= len(text) or not text[start:end].strip():
        remedy = f"Spans are half-open and count the {len(text)} characters of the text"
        raise InputError("not a span of the text", file=path, line=number, value=span, remedy=remedy)
    return start, end
