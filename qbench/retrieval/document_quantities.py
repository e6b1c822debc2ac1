"""The quantities of a benchmark's documents, as a retriever may see them.

Gold quantities are for labels: a retriever that read them would know more than the text says. So they are extracted
anew unless the benchmark's own were extracted too.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from qbench.corpora.types import Document
from qbench.errors import OptionError
from qbench.index.chunks import CHUNK, QUANTITIES, SENTENCES, CorpusChunk, chunks, extraction
from qbench.keys import key
from qbench.progress import Progress, silent
from qbench.quantities.extractors import ExtractorOptions
from qbench.quantities.types import quantity_schema
from qbench.retrieval.stored import Stored, stored
from qbench.store import finished
from qbench.work.pool import default_workers, in_processes
from qbench.work.shards import FOLDER, make_shards
from qbench.work.tasks import Engine, Shard, in_this_process

if TYPE_CHECKING:
    from qbench.benchmark.benchmark import Benchmark

DocumentQuantities = Literal["auto", "stored", "extracted"]
"""Where they come from: the benchmark's own, our extractor, or (auto) the first if they were extracted."""

FILE = "quantities.parquet"


def extractor_options(benchmark: Benchmark) -> ExtractorOptions:
    """The options with which a benchmark's quantities were extracted, or should be.

    Imported queries may ask for years, so years count where nobody has extracted quantities yet.
    """
    stated = benchmark.params.get("extractor") or {}
    plain = {"years": benchmark.params.get("quantities") is None, "language": benchmark.language}
    return ExtractorOptions.from_key({**plain, **stated})


def uses_stored(benchmark: Benchmark, source: DocumentQuantities) -> bool:
    """Whether the benchmark's own quantities are to be used, and its texts not extracted.

    Raises:
        OptionError: they are asked for, and there are none.
    """
    if source == "stored" and not benchmark.has("quantities"):
        raise OptionError(
            "the benchmark holds no quantities of its documents",
            value=source,
            remedy="Use auto or extracted: they are found in the texts",
        )
    # "given" ones were extracted by the authors of an imported benchmark, and kept because the user wished it.
    used = source == "stored" or (source == "auto" and benchmark.params.get("quantities") in ("extracted", "given"))
    return used and benchmark.has("quantities")


def extract_documents(
    corpus: pl.DataFrame,
    corpus_key: str,
    options: ExtractorOptions,
    root: Path,
    *,
    workers: int | None = None,
    engine: Engine | None = None,
    progress: Progress = silent,
) -> Stored:
    """The quantity table of a corpus on disk (`FILE`), made if it is not there yet; resumes where it was.

    Documents are cut into sentences, as `qbench build-index` does; spans count from a sentence's start, and the column
    `offset` says where in the passage that is.

    Args:
        corpus: columns doc_id and passage.
        corpus_key: names the corpus' content.
        options: of the extractor.
        root: the folder of all indexes.
        workers: processes; as many as cores by default, fewer for a small corpus.
        engine: runs the extraction instead of them.
        progress: reports the number of documents done.
    """

    def make(folder: Path) -> None:
        shards = folder / FOLDER
        names = _extract(corpus, options, shards, workers, engine, progress)
        tables = [_passage_quantities(shards, name) for name in names]
        table = pl.concat(tables) if tables else pl.DataFrame(schema={**quantity_schema(), "offset": pl.Int32})
        table.write_parquet(folder / FILE, compression="zstd")

    return stored(root, "quantities", _params(corpus_key, options), make)


def is_extracted(corpus_key: str, options: ExtractorOptions, root: Path) -> bool:
    """Whether `extract_documents` has made its table."""
    name = key("quantities", **_params(corpus_key, options))
    return finished(root / name, "quantities", name)


def _params(corpus_key: str, options: ExtractorOptions) -> dict[str, Any]:
    return {"corpus": corpus_key, **options.key()}


def _passage_quantities(shards: Path, name: str) -> pl.DataFrame:
    """The quantities of a chunk, by document instead of sentence."""
    sentences = pl.read_parquet(shards / f"{name}{SENTENCES}", glob=False)
    quantities = pl.read_parquet(shards / f"{name}{QUANTITIES}", glob=False)
    where = sentences.select("doc_id", _document="source_id", offset=pl.col("start").cast(pl.Int32))
    table = quantities.join(where, on="doc_id", how="left", maintain_order="left")
    return table.with_columns(doc_id="_document").drop("_document")


def _extract(
    corpus: pl.DataFrame,
    options: ExtractorOptions,
    folder: Path,
    workers: int | None,
    engine: Engine | None,
    progress: Progress,
) -> list[str]:
    """Make the shards of all chunks that have none yet; returns the names of all chunks, in order."""
    documents = (Document(doc_id, text) for doc_id, text in corpus.select("doc_id", "passage").iter_rows())
    size = sum(corpus["passage"].str.len_chars())
    workers = min(workers or default_workers(), 1 + size // CHUNK)
    # quantulum3's answers depend on PYTHONHASHSEED, which workers have fixed.
    here = in_this_process if workers == 1 and options.name == "rules" else in_processes(workers)
    done = 0

    def report(chunk: CorpusChunk, _: Shard | None) -> None:
        nonlocal done
        done += chunk.items
        progress(done, corpus.height, "finding quantities")

    task = extraction(options)
    return make_shards(task, chunks(documents), folder, last=SENTENCES, engine=engine or here, report=report)
