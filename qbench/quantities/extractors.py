"""The extractor's role, and the extractors that are known by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from qbench.errors import UnknownNameError
from qbench.keys import revision
from qbench.options import option
from qbench.quantities.english.parse import EMBEDDED, NO_PARSER
from qbench.quantities.types import Quantity

if TYPE_CHECKING:
    import polars as pl

    from qbench.quantities.units import Units

EXTRACTORS: Mapping[str, str] = {
    "rules": "numbers, units and comparators by our own grammar, counted nouns and concepts from a parse (default)",
    "quantulum3": "numbers and units by quantulum3, the rest as in `rules`",
}
BATCH = 1_000
"""Texts that are read together for a table: the parser works faster on many, and memory is to stay bounded."""


class Extractor(Protocol):
    """Finds the quantities of one text. Deterministic, and free of state between calls."""

    name: str
    units: Units

    def extract(self, text: str) -> list[Quantity]:
        """The mentions in `text`, ordered by value span; spans index into `text` as given."""
        ...

    def extract_query(self, text: str) -> list[Quantity]:
        """The mentions of a typed query, in order."""
        ...

    def explain_many(self, texts: Iterable[str]) -> list[list[tuple[Quantity, tuple[str, ...]]]]:
        """As `extract_many`, each mention with the names of the rules that made it."""
        ...

    def extract_many(self, texts: Iterable[str]) -> list[list[Quantity]]:
        """The mentions of each text, as `extract` finds them; faster where a parser works on batches."""
        ...


@dataclass(frozen=True)
class ExtractorOptions:
    """What can change an extractor's output; part of every digest that depends on extraction."""

    name: str = option(
        "rules",
        help="Extractor: rules or quantulum3; given takes the quantities that come with a corpus of `qbench synth`.",
        flag="extractor",
    )
    years: bool = option(False, help='Report calendar years too (unit "calendar year", family "date").', negatable=True)
    units_file: Path | None = option(None, help="A file of units, added to the built-in ones.", flag="units")
    spacy_model: str = option(
        EMBEDDED,
        help="Parser of sentences for counted nouns and concepts: embedded, an installed spaCy pipeline "
        "(en_core_web_sm), a folder with one, or none (word lists alone: several times faster, worse concepts).",
    )

    @classmethod
    def from_key(cls, key: Mapping[str, Any], units_file: Path | None = None) -> ExtractorOptions:
        """The options of which a manifest keeps the `key`; the defaults for what it lacks or no extractor made.

        Args:
            key: what `key` gave.
            units_file: where the user's units are kept now; a key holds only their digest.
        """
        plain = cls()
        name = str(key.get("extractor"))
        return cls(
            name=name if name in EXTRACTORS else plain.name,
            years=bool(key.get("years", plain.years)),
            units_file=units_file,
            spacy_model=str(key.get("spacy_model", plain.spacy_model)),
        )

    def key(self) -> dict[str, object]:
        """For digests: the options, the content of the units file, and the rules themselves."""
        from qbench.store import file_digest

        return {
            "extractor": self.name,
            "years": self.years,
            "units_file": None if self.units_file is None else file_digest(self.units_file),
            "spacy_model": self.spacy_model,
            "parser": _parser_digest(self.spacy_model),
            "rules": revision("extraction"),
            "data": _data_digest(),
        }


@cache
def _data_digest() -> str:
    """Digest of the files of units and senses: an edit of them makes every index stale."""
    from qbench.store import digest, file_digest

    return digest([file_digest(path) for path in sorted(Path(__file__).parent.rglob("data/*.txt"))])


@cache
def _parser_digest(name: str) -> str:
    """Names what parses: the files of a folder, or an installed pipeline's name and version."""
    if name == NO_PARSER:
        return name
    from qbench.quantities.english.parsers import embedded
    from qbench.store import digest, file_digest

    if name == EMBEDDED:
        return digest([file_digest(embedded.FOLDER / part) for part in (embedded.WEIGHTS, embedded.VOCABULARY)])
    folder = Path(name)
    if folder.is_dir():
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        return digest([[path.relative_to(folder).as_posix(), file_digest(path)] for path in files])
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return name


def get_extractor(options: ExtractorOptions = ExtractorOptions()) -> Extractor:
    """Build the extractor that `options` name.

    Raises:
        UnknownNameError: no extractor has that name.
    """
    from qbench.quantities.units import load_units

    if options.name not in EXTRACTORS:
        raise UnknownNameError("unknown extractor", value=options.name, remedy=f"Known: {', '.join(EXTRACTORS)}")
    units = load_units(options.units_file)
    if options.name == "quantulum3":
        from qbench.quantities.english.quantulum import QuantulumExtractor

        return QuantulumExtractor(units, years=options.years, spacy_model=options.spacy_model)
    from qbench.quantities.english.rules import RulesExtractor

    return RulesExtractor(units, years=options.years, spacy_model=options.spacy_model)


def extract_table(doc_ids: Iterable[str], texts: Iterable[str], extractor: Extractor) -> pl.DataFrame:
    """The quantity table of some texts (schema `quantity_schema`), in the order given."""
    import polars as pl

    from qbench.quantities.types import quantity_schema, to_row

    pairs = zip(doc_ids, texts, strict=True)
    rows = []
    while batch := list(islice(pairs, BATCH)):
        found = extractor.extract_many([text for _, text in batch])
        rows += [to_row(doc_id, q) for (doc_id, _), mentions in zip(batch, found, strict=True) for q in mentions]
    return pl.DataFrame(rows, schema=quantity_schema())
