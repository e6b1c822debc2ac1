"""Concept expansions: synonyms and supersets of concepts, from a dictionary file (*Numbers Matter* 3.3.2, B.5)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from qbench.errors import InputError
from qbench.quantities.concept_match import ALTERNATIVE
from qbench.store import digest, read_json, read_text

_PROVENANCE = "# made: "
"""Prefix of the comment line with the provenance as JSON."""


class Expansions:
    """Other names of concepts. An expansion of several concepts stands for all of them.

    Files are TSV (concept, tab, expansion; a concept may have several lines; `#` starts a comment line) or JSON
    ({concept: [expansion, ...]}). Case and white space are normalised.

    Attributes:
        provenance: the record in a file written by `qbench expand-concepts`; else {}.
        edited: whether such a file was changed after it was written.
    """

    def __init__(
        self, table: Mapping[str, Iterable[str]] | None = None, provenance: Mapping[str, Any] | None = None
    ) -> None:
        self.provenance: dict[str, Any] = dict(provenance or {})
        self._of: dict[str, tuple[str, ...]] = {}
        self._concepts: dict[str, list[str]] = {}
        for concept, expansions in (table or {}).items():
            self._add(_plain(concept), expansions)

    def _add(self, concept: str, expansions: Iterable[str]) -> None:
        expansions_of = dict.fromkeys(self._of.get(concept, ()))
        for expansion in map(_plain, expansions):
            if expansion and expansion != concept and expansion not in expansions_of:
                expansions_of[expansion] = None
                self._concepts.setdefault(expansion, []).append(concept)
        self._of[concept] = tuple(expansions_of)

    @classmethod
    def load(cls, path: Path | None) -> Expansions:
        """Read a dictionary file; None gives an empty dictionary.

        Raises:
            InputError: the file is missing, not UTF-8, or a line or an entry in it cannot be read.
        """
        if path is None:
            return cls()
        if path.suffix == ".json":
            return cls(_read_json(path))
        text = read_text(path, "expansions")
        return cls(_read_tsv(text, path), _read_provenance(text))

    @property
    def edited(self) -> bool:  # noqa: D102  # see the class
        return bool(self.provenance) and self.provenance.get("rows") != rows_digest(self.pairs())

    def __len__(self) -> int:
        return len(self._of)

    def lookup(self, concept: str) -> tuple[str, ...]:
        """The expansions of a concept, in the order of the file; () for an unknown one."""
        return self._of.get(_plain(concept), ())

    def concepts(self, expansion: str) -> tuple[str, ...]:
        """The concepts that an expansion stands for, in the order of the file."""
        return tuple(self._concepts.get(_plain(expansion), ()))

    def pairs(self) -> list[tuple[str, str]]:
        """All (concept, expansion)."""
        return [(concept, expansion) for concept, expansions in self._of.items() for expansion in expansions]


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def expansions_text(rows: Iterable[tuple[str, str]], provenance: Mapping[str, Any]) -> str:
    """A TSV file of (concept, expansion), with its provenance in a comment line."""
    record = json.dumps(provenance, sort_keys=True)
    lines = [f"{concept}\t{expansion}\n" for concept, expansion in rows]
    return "".join([f"# concept, tab, another name or a broader concept\n{_PROVENANCE}{record}\n", *lines])


def rows_digest(rows: Iterable[tuple[str, str]]) -> str:
    """16 digits that name some (concept, expansion), in their order."""
    return digest([[_plain(concept), _plain(expansion)] for concept, expansion in rows])


def _read_provenance(text: str) -> dict[str, Any]:
    """The record in a file's comments; {} where there is none that can be read."""
    for line in text.splitlines():
        if line.startswith(_PROVENANCE):
            try:
                record = json.loads(line.removeprefix(_PROVENANCE))
                json.dumps(record, ensure_ascii=False, allow_nan=False).encode()  # it goes into manifests and cards
            except (ValueError, RecursionError):
                return {}
            return record if isinstance(record, dict) else {}
        if line.strip() and not line.startswith("#"):
            break
    return {}


def _read_tsv(text: str, path: Path) -> dict[str, list[str]]:
    table: dict[str, list[str]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        cells = [_plain(cell) for cell in line.split("\t")]
        if len(cells) != 2 or not all(cells):
            raise InputError(
                "not a concept, a tab and an expansion",
                file=path,
                line=number,
                value=line,
                remedy="Write one expansion a line; repeat the concept for another one",
            )
        _refuse_bar(cells, path, number)
        table.setdefault(cells[0], []).append(cells[1])
    return table


def _read_json(path: Path) -> dict[str, list[str]]:
    read_text(path, "expansions")  # for its errors: a missing file is named as what it should be
    data = read_json(path)
    if not isinstance(data, dict):
        raise InputError("not a JSON object of concepts", file=path, remedy='Write {"concept": ["expansion", ...]}')
    for concept, expansions in data.items():
        if not isinstance(expansions, list) or not all(isinstance(text, str) and text.strip() for text in expansions):
            raise InputError(f"the expansions of {concept!r} are not a list of texts", file=path, value=expansions)
        _refuse_bar([concept, *expansions], path, None)
    return data


def _refuse_bar(texts: list[str], path: Path, line: int | None) -> None:
    for text in texts:
        if ALTERNATIVE in text:
            raise InputError(
                f"`{ALTERNATIVE}` separates concepts and cannot stand in one", file=path, line=line, value=text
            )
