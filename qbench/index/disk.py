"""An index on disk, opened: lazy tables, and what made them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from qbench.artefacts import open_artefact, reading, require_entries
from qbench.corpora.streams import reading_parquet
from qbench.errors import InputError
from qbench.index.facts import FACTS, STATED, THINGS
from qbench.index.schemas import FORMAT
from qbench.pages import html_table
from qbench.quantities.extractors import ExtractorOptions
from qbench.store import Manifest

SENTENCES = "sentences.parquet"
QUANTITIES = "quantities.parquet"
PAIRS = "pairs.parquet"
UNITS = "units.txt"
"""A copy of the user's own units, where there were any: an index needs nothing outside its folder."""
MODEL = "model"
"""A copy of the extractor's model, where it has one, likewise."""

_COUNTS = {
    **dict.fromkeys(("documents", "sentences", "quantities", "pairs", "concepts", "units", "ignored_files"), int),
    **dict.fromkeys(("bad", "mended"), dict),
}

SHOWN = 8
"""Pairs with most mentions that a notebook shows."""

GIVEN = "given"
"""The extractor's name where the quantities came with the corpus."""


def open_index(path: str | Path) -> Index:
    """Open an index; the same as `Index.open`.

    Raises:
        InputError: the folder is missing, unfinished, no index, of another version, or a table is gone or damaged.
    """
    return Index.open(path)


@dataclass(frozen=True, repr=False)
class Index:
    """A finished index. Tables are lazy: nothing is read before it is needed.

    Attributes:
        path: its folder.
        manifest: what made it, and counts.
        new: whether `build_index` has just made it; False where it was there already.
    """

    path: Path
    manifest: Manifest
    new: bool = field(default=False, compare=False)

    @classmethod
    def open(cls, path: str | Path) -> Index:
        """Open an index.

        Raises:
            InputError: the folder is missing, unfinished, no index, of another version, or a table is gone or damaged.
        """
        folder = Path(path)
        manifest = open_artefact(folder, "index", (SENTENCES, QUANTITIES, PAIRS))
        if "grounding" in manifest.params:
            open_artefact(folder, "index", (THINGS, FACTS, STATED))
        if manifest.params.get("format") != FORMAT:
            raise InputError(
                "another version of qbench made this index", file=folder, remedy="Build it again with build-index"
            )
        require_entries(folder, manifest, "params", {"extractor": dict})
        require_entries(folder, manifest, "counts", _COUNTS)
        return cls(folder, manifest)

    def sentences(self) -> pl.LazyFrame:
        """The sentences (schema `qbench.index.schemas.sentence_schema`), in the order of the corpus."""
        return self._scan(SENTENCES)

    def quantities(self) -> pl.LazyFrame:
        """All mentions (schema `qbench.quantities.types.quantity_schema`), in the order of the corpus."""
        return self._scan(QUANTITIES)

    def pairs(self) -> pl.LazyFrame:
        """The concept/unit index (schema `qbench.index.schemas.pair_schema`), sorted by concept and unit."""
        return self._scan(PAIRS)

    @property
    def grounded(self) -> bool:
        """Whether a table states facts about its documents (`qbench ground`)."""
        return "grounding" in self.manifest.params

    def things(self) -> pl.LazyFrame:
        """What each document of a grounded index is about (schema `qbench.index.facts.thing_schema`)."""
        return self._scan(THINGS)

    def facts(self) -> pl.LazyFrame:
        """The facts of a grounded index (schema `qbench.index.facts.fact_schema`)."""
        return self._scan(FACTS)

    def stated(self) -> pl.LazyFrame:
        """The mentions that state its facts (schema `qbench.index.facts.stated_schema`)."""
        return self._scan(STATED)

    @property
    def given(self) -> bool:
        """Whether the quantities came with the corpus."""
        return bool(self.manifest.params["extractor"].get("extractor") == GIVEN)

    def extractor_options(self) -> ExtractorOptions:
        """The options of the extractor that made the quantities, for reading queries in the same way.

        Where the quantities came with the corpus, those of the default extractor.
        """
        units, model = self.path / UNITS, self.path / MODEL
        return ExtractorOptions.from_key(
            self.manifest.params["extractor"],
            units_file=units if units.is_file() else None,
            model=model if model.is_dir() else None,
        )

    def summary(self) -> dict[str, Any]:
        """How many documents, sentences, quantities, pairs, concepts and units; what was left out, by reason."""
        return dict(self.manifest.counts)

    def __repr__(self) -> str:
        counts = self.manifest.counts
        return f"Index({str(self.path)!r}, {counts['sentences']} sentences, {counts['quantities']} quantities)"

    def _repr_html_(self) -> str:
        kinds = ("documents", "sentences", "quantities", "pairs", "concepts", "units")
        caption = f"{self.path.name}: " + ", ".join(f"{self.manifest.counts[kind]:,} {kind}" for kind in kinds)
        columns = ["concept", "unit", "count", "mean", "low", "high"]
        order = pl.col("count").cast(pl.Int64).neg(), "concept", "unit"
        pairs = self.collected(self.pairs().select(columns).sort(*order).head(SHOWN))
        rows = [(concept, unit, *(f"{number:,.6g}" for number in numbers)) for concept, unit, *numbers in pairs.rows()]
        return html_table(["concept", "unit", "mentions", *columns[3:]], rows, caption=caption, numbers=(2, 3, 4, 5))

    def collected(self, table: pl.LazyFrame) -> pl.DataFrame:
        """The rows of a table, or of what is asked of it.

        Raises:
            InputError: the table is no readable Parquet.
        """
        with reading_parquet(self.path, "a table of this index is damaged", "Build the index again"):
            return table.collect()

    def _scan(self, name: str) -> pl.LazyFrame:
        with reading(self.path, self.manifest, name) as table:
            return pl.scan_parquet(table, glob=False)
