"""From an index to the quantity description corpus C_q (*Quantity Retrieval*, section 3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import polars as pl

from qbench import keys
from qbench.artefacts import open_artefact, reading
from qbench.benchmark.parquet import read_parquet, scan_parquet
from qbench.errors import InputError
from qbench.index.disk import Index
from qbench.index.merge import concatenate
from qbench.index.schemas import arrow_schema
from qbench.mining import describing
from qbench.mining.describing import COUNTS, TABLE
from qbench.mining.options import ParserOptions
from qbench.mining.parsers import get_parser
from qbench.mining.types import DESCRIPTIONS, DESCRIPTIONS_KIND, description_schema
from qbench.progress import Progress, silent
from qbench.quantities.languages import ENGLISH
from qbench.store import Manifest, drafting, read_json
from qbench.work.pool import in_processes, worker_count
from qbench.work.shards import FOLDER, make_shards
from qbench.work.tasks import Chunk, Engine, Shard, Task, payload_of

SENTENCES = 256
"""Number of sentences in a chunk, the unit of work and of resuming."""
_ROWS = 20_000
"""Number of rows of each table of the index in memory at once."""
_NAMES = 1_000_000
"""Number of names of sentences in memory at once."""


@dataclass(frozen=True)
class Descriptions:
    """A finished description corpus. The table is lazy: nothing is read before it is needed.

    Attributes:
        path: its folder.
        manifest: its parameters and counts.
        new: whether this call made it; False if it existed already.
    """

    path: Path
    manifest: Manifest
    new: bool = field(default=False, compare=False)

    @classmethod
    def open(cls, path: str | Path) -> Descriptions:
        """Open a description corpus, or the one that a folder of pairs holds.

        Raises:
            InputError: the folder is missing, unfinished, something else, or its table is damaged.
        """
        folder = Path(path)
        manifest = open_artefact(folder)
        if DESCRIPTIONS not in manifest.files:
            raise InputError(
                f"this is a qbench {manifest.kind}, and descriptions are needed",
                file=folder,
                remedy="Make them with `qbench describe INDEX -o FOLDER`",
            )
        return cls(folder, manifest)

    @property
    def language(self) -> str:
        """Code of the texts' language."""
        return str(self.manifest.params.get("language", ENGLISH))

    def table(self) -> pl.LazyFrame:
        """`description_schema`, in the order of the corpus.

        Raises:
            InputError: the file is missing or damaged, or does not have the schema.
        """
        with reading(self.path, self.manifest, DESCRIPTIONS) as table:
            return scan_parquet(table, description_schema())

    def read(self) -> pl.DataFrame:
        """The whole table, checked.

        Raises:
            InputError: it cannot be read, or does not have the schema.
        """
        with reading(self.path, self.manifest, DESCRIPTIONS) as table:
            return read_parquet(table, description_schema())

    def check(self) -> None:
        """Look at every cell of the table, with one column in memory at a time.

        Raises:
            InputError: as for `read`.
        """
        with reading(self.path, self.manifest, DESCRIPTIONS) as table:
            scan_parquet(table, description_schema())
            for column, dtype in description_schema().items():
                read_parquet(table, {column: dtype})


def describe(
    index: str | Path | Index,
    output: str | Path,
    *,
    parser: ParserOptions = ParserOptions(),
    workers: int | None = None,
    engine: Engine | None = None,
    overwrite: bool = False,
    progress: Progress = silent,
) -> Descriptions:
    """Describe each mention of an index.

    An interrupted run is resumed when the same call is made again.

    Args:
        index: an index, or its folder.
        output: folder of the descriptions.
        parser: which parser writes the descriptions.
        workers: number of worker processes; None for the number of cores.
        engine: what runs them, as in `build_index`.
        overwrite: replace other descriptions in `output`.
        progress: receives the numbers of finished sentences and of all sentences.

    Raises:
        InputError: the index is missing, unfinished or damaged; or the tagger's checkpoint is.
        OptionError: an option makes no sense, or `output` holds something else.
        BusyError: another process is writing to `output`.
        MissingPackageError: the parser needs a package that is not installed.
    """
    source, folder = index if isinstance(index, Index) else Index.open(index), Path(output)
    workers = worker_count(workers)
    reading = source.extractor_options()
    model, language = parser.spacy_model or reading.spacy_model, reading.language
    checkpoint = None if parser.checkpoint is None else str(parser.checkpoint.absolute())
    options = {"parser": parser.parser, "checkpoint": checkpoint, "spacy_model": model, "language": language}
    key = get_parser(parser.parser, folder=parser.checkpoint, spacy_model=model, language=language).key()
    params = {"index": source.manifest.digest, "source": source.manifest.params.get("source"), "parser": key}
    if language != ENGLISH:
        params["language"] = language
    if "licence" in source.manifest.params:
        params["licence"] = source.manifest.params["licence"]
    name = keys.key("descriptions", **params)
    params["corpus"] = {name: source.manifest.params.get(name) for name in ("source", "content", "reading")}
    with drafting(folder, DESCRIPTIONS_KIND, name, params, overwrite=overwrite) as draft:
        if draft is None:
            return Descriptions.open(folder)
        shards = draft.folder / FOLDER
        names = _describe(source, shards, options, workers, engine, progress)
        tables = (shards / f"{name}{TABLE}" for name in names)
        rows = concatenate(tables, draft.folder / DESCRIPTIONS, arrow_schema(description_schema()))
        counts = sum((Counter(read_json(shards / f"{name}{COUNTS}")) for name in names), Counter[str]())
        draft.counts = {"descriptions": rows, **{name: counts[name] for name in describing.OUTCOMES}}
    return replace(Descriptions.open(folder), new=True)


def _describe(
    source: Index, folder: Path, options: dict[str, Any], workers: int, engine: Engine | None, progress: Progress
) -> list[str]:
    """Make the shards of all chunks that have none yet; returns the names of all chunks, in order."""
    total = _sentences_with_mentions(source)
    done = 0

    def report(chunk: Chunk, shard: Shard | None) -> None:
        nonlocal done
        done += chunk.items
        if shard is not None:
            progress(done, total, "sentences")

    # A tagger is one model that uses all cores by itself.
    engine = engine or in_processes(min(workers, 1 + total // SENTENCES) if options["parser"] == "rules" else 1)
    task = Task(describing.__name__, options)
    names = make_shards(task, _chunks(source), folder, last=COUNTS, engine=engine, report=report)
    progress(total, total, "sentences; merging")
    return names


def _chunks(source: Index) -> Iterator[Chunk]:
    """The sentences with mentions, in the order of the corpus."""
    batch: list[Any] = []
    for sentence in _sentences(source):
        batch.append(sentence)
        if len(batch) == SENTENCES:
            yield _chunk(batch)
            batch = []
    if batch:
        yield _chunk(batch)


def _chunk(sentences: list[Any]) -> Chunk:
    payload, name = payload_of(sentences)
    return Chunk(name, len(sentences), payload)


def _sentences(source: Index) -> Iterator[list[Any]]:
    """[doc_id, source_id, text, rows] of each sentence with mentions.

    Sentences and mentions are both in the order of the corpus; each table is read through once, some rows at a time.

    Raises:
        InputError: a mention's sentence is not where the order has it.
    """
    mentions = groupby(_rows(source, source.quantities()), key=itemgetter("doc_id"))
    sentence, rows = next(mentions, _NONE)
    for text in _rows(source, source.sentences().select("doc_id", "source_id", "text")):
        if text["doc_id"] == sentence:
            yield [*text.values(), sorted(rows, key=itemgetter("value_start", "value_end"))]
            sentence, rows = next(mentions, _NONE)
    if sentence is not None:
        raise InputError(
            "quantities of no sentence, or not in the order of the sentences",
            file=source.path,
            value=sentence,
            remedy="Build the index again",
        )


def _sentences_with_mentions(source: Index) -> int:
    """How many there are: those of mentions that follow each other are the same or not."""
    total, before = 0, None
    for part in _parts(source, source.quantities().select("doc_id"), _NAMES):
        names = part["doc_id"]
        total += int((names != names.shift()).sum()) + (names[0] != before)
        before = names[-1]
    return total


_NONE: tuple[None, Iterator[dict[str, Any]]] = (None, iter(()))


def _rows(source: Index, table: pl.LazyFrame) -> Iterator[dict[str, Any]]:
    """The rows of a table of an index, in order."""
    for part in _parts(source, table, _ROWS):
        yield from part.iter_rows(named=True)


def _parts(source: Index, table: pl.LazyFrame, rows: int) -> Iterator[pl.DataFrame]:
    """A table of an index, so many rows at a time."""
    for start in range(0, int(source.collected(table.select(pl.len())).item()), rows):
        yield source.collected(table.slice(start, rows))
