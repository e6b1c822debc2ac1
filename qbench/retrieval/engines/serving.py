"""What is written for every engine: the tables of an index, a folder of files, and the query that is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from qbench.index.disk import Index
from qbench.keys import key, revision
from qbench.quantities.extractors import get_extractor
from qbench.quantities.types import Condition
from qbench.quantities.units import load_units
from qbench.retrieval.analysis import tokens
from qbench.retrieval.engines.tables import MENTIONED, ServedTables, served_tables
from qbench.retrieval.passages import passages
from qbench.store import Draft, drafting

KIND = "served index"
MADE_UP = "laptop under 2 lb"
"""A query for an index that suggests none."""


@dataclass(frozen=True)
class Served:
    """What was written.

    Attributes:
        place: the schema or index on a server, or the folder.
        new: whether it was written now, and not there already.
    """

    place: str
    new: bool


@dataclass(frozen=True)
class AskedQuery:
    """A query as engines are asked it.

    Attributes:
        tokens: of its text.
        conditions: that the index's extractor reads in it.
        language: code of the index's language.
    """

    tokens: list[str]
    conditions: tuple[Condition, ...]
    language: str


def tables_of(index: Index) -> ServedTables:
    """The tables of an index: its sentences, and their mentions.

    Raises:
        InputError: a table of the index is damaged.
    """
    options = index.extractor_options()
    return served_tables(
        passages(index.sentences().collect()),
        index.quantities().select(MENTIONED).collect(),
        load_units(options.units_file),
        language=options.language,
    )


def asked_query(index: Index, query: str) -> AskedQuery:
    """A query as the extractor of an index reads it."""
    options = index.extractor_options()
    parsed = get_extractor(options).parse_query(query)
    return AskedQuery(tokens(query, options.language), tuple(parsed.conditions), options.language)


def example_query(index: Index) -> str:
    """A query that an index can answer: its most frequent concept and unit, and at least the median of their values.

    A made-up one where the index has no concepts, or its extractor reads no condition in that text.
    """
    named = index.pairs().filter(pl.col("concept") != "", pl.col("unit") != "")
    pair = named.select("concept", "unit", "sentences").sort(
        "sentences", "concept", "unit", descending=[True, False, False]
    )
    for concept, unit, _ in index.collected(pair.head(1)).iter_rows():
        median = named.filter(pl.col("concept") == concept, pl.col("unit") == unit).select(
            pl.col("values").list.median()
        )
        query = f"{concept} at least {index.collected(median).item():.6g} {unit}"
        base = load_units(index.extractor_options().units_file).get(unit).base_unit
        if [(one.comparator, one.base_unit) for one in asked_query(index, query).conditions] == [(">=", base)]:
            return query
    return MADE_UP


def write_files(
    index: Index, output: Path, what: Mapping[str, str], make: Callable[[Draft], None], overwrite: bool
) -> bool:
    """Make a folder of files, if it is not there yet; returns whether it was made.

    Raises:
        OptionError: `output` holds something else, and `overwrite` is off.
        BusyError: another process is writing to `output`.
    """
    params = {"index": index.manifest.digest, **what}
    with drafting(output, KIND, _key(**params), params, overwrite=overwrite) as draft:
        if draft is not None:
            make(draft)
    return draft is not None


def index_key(index: Index, engine: str) -> str:
    """Names what an engine holds of an index."""
    return _key(index=index.manifest.digest, engine=engine)


def _key(**what: str) -> str:
    return key("served tables", **what, analysis=revision("analysis"), bm25=revision("bm25"))
