"""The task of labelling some queries.

The mentions lie in a folder, mapped into memory: the workers of a machine share one copy of texts and tables.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from qbench.benchmark.types import SPLITS, Query, Split
from qbench.generation.mentions import Mentions, shared
from qbench.generation.options import GenerationOptions
from qbench.generation.outcomes import Labeller, Outcome, labeller
from qbench.index.disk import Index
from qbench.quantities.codes import change_signs, comparator_codes
from qbench.store import read_json, write_json
from qbench.work.tasks import Shard, Task

LAST = ".labels.json"
_CODES = ("doc", "concept", "unit", "base")
_TABLE, _SENTENCES, _SAID = "mentions", "sentences", "names.json"


def task(index: Index, made: Labeller, folder: Path) -> Task:
    """Write what `tools` opens, and return the task; every node has to see index and folder under their paths."""
    mentions = made.sampler.mentions
    doubt = pl.Series(mentions.doubt.tolist(), dtype=pl.String)
    _write(
        mentions.table.with_columns(**{f"code of {name}": getattr(mentions, name) for name in _CODES}, doubt=doubt),
        folder / _TABLE,
    )
    blocked = {f"blocked {split}": made.blocked[split] for split in SPLITS}
    sentences = {"doc_id": mentions.doc_ids, "text": mentions.texts, "source": mentions.source, **blocked}
    _write(pl.DataFrame(sentences), folder / _SENTENCES)
    words = [" ".join(concept) for concept in mentions.concepts]
    write_json(folder / _SAID, {"concepts": words, "units": mentions.units, "bases": mentions.bases})
    # What templates and expansions say is in the queries.
    chosen = {**asdict(made.sampler.options), "templates": None, "expansions": None}
    places = {"index": str(index.path.absolute()), "folder": str(folder.absolute())}
    return Task(__name__, {**places, "options": chosen, "language": mentions.language})


def tools(options: Mapping[str, Any]) -> tuple[Labeller]:
    """The labeller of the task's mentions."""
    index = Index.open(options["index"])
    chosen = GenerationOptions(**{**options["options"], "kinds": tuple(options["options"]["kinds"])})
    mentions, blocked = _mapped(Path(options["folder"]), options["language"], given=index.given)
    return (labeller(index, mentions, blocked, chosen),)


def _mapped(folder: Path, language: str, *, given: bool) -> tuple[Mentions, dict[Split, NDArray[np.bool_]]]:
    """The mentions that `task` wrote, and which sentences each split may not use."""
    table, sentences, names = _read(folder / _TABLE), _read(folder / _SENTENCES), read_json(folder / _SAID)
    mentions = Mentions(
        table=table.drop("doubt", *(f"code of {name}" for name in _CODES)),
        texts=sentences["text"],
        doc_ids=sentences["doc_id"],
        source=sentences["source"].to_numpy(),
        doc=table["code of doc"].to_numpy(),
        concept=table["code of concept"].to_numpy(),
        unit=table["code of unit"].to_numpy(),
        base=table["code of base"].to_numpy(),
        value=table["value"].to_numpy(),
        low=table["base_value"].to_numpy(),
        high=table["base_high"].to_numpy(),
        comparator=comparator_codes(table["comparator"]),
        change=change_signs(table["change"]),
        doubt=shared(table["doubt"]),
        concepts=[tuple(words.split()) for words in names["concepts"]],
        units=names["units"],
        bases=names["bases"],
        language=language,
        given=given,
    )
    return mentions, {split: sentences[f"blocked {split}"].to_numpy() for split in SPLITS}


def _write(table: pl.DataFrame, folder: Path) -> None:
    """A file for each column: what is in several pieces is copied into one, and a column is less than a table."""
    folder.mkdir(exist_ok=True)
    for place, column in enumerate(table):
        content = column.rechunk().to_frame().to_arrow(compat_level=pl.CompatLevel.newest())
        with pa.OSFile(_file(folder, place), "wb") as file, pa.ipc.new_file(file, content.schema) as writer:
            writer.write_table(content)


def _read(folder: Path) -> pl.DataFrame:
    """A table whose columns lie in mapped files; `pl.read_ipc` would copy them."""
    files = (pa.memory_map(_file(folder, place)) for place in range(len(list(folder.glob("*.arrow")))))
    columns = [cast(pl.DataFrame, pl.from_arrow(pa.ipc.open_file(file).read_all())) for file in files]
    return pl.concat(columns, how="horizontal")


def _file(folder: Path, place: int) -> str:
    return str(folder / f"{place}.arrow")


def process(payload: str, made: Labeller) -> Shard:
    """The outcomes of the queries in a payload, rows of `Query.to_row`."""
    queries = [Query.from_row(row) for row in json.loads(payload)]
    outcomes = {query.query_id: _row(made.outcome(query)) for query in queries}
    return Shard({LAST: json.dumps(outcomes).encode()}, len(queries))


def _row(found: Outcome) -> dict[str, Any]:
    # A common concept has millions of answers: their bytes, not a number of Python for each.
    docs, grades = (b64encode(each.tobytes()).decode() for each in (found.docs.astype("<i4"), found.grades))
    return {**found.__dict__, "docs": docs, "grades": grades}


def outcomes(content: bytes) -> Iterator[tuple[str, Outcome]]:
    """What `process` made: the id of each query, and its outcome."""
    for name, row in json.loads(content).items():
        docs, grades = (
            np.frombuffer(b64decode(row[part]), dtype) for part, dtype in (("docs", "<i4"), ("grades", "i1"))
        )
        arrays = {"docs": docs.astype(np.int64), "grades": grades.astype(np.int8)}
        yield name, Outcome(**{**row, **arrays, "rejected": Counter(row["rejected"])})
