"""Building an index: read, cut, extract in parallel, merge. Resumable, and the same bytes whatever the workers."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from qbench import keys
from qbench.corpora.shared_files import SharedFiles, open_shared
from qbench.corpora.source import Source, open_source, read_documents, refuse_unused
from qbench.corpora.types import OnError, Problems, ReadOptions
from qbench.errors import InputError, OptionError, QbenchError
from qbench.index.chunks import QUANTITIES as QUANTITY_SHARD
from qbench.index.chunks import SENTENCES as SENTENCE_SHARD
from qbench.index.chunks import CorpusChunk, chunks, chunks_of_rows, extraction
from qbench.index.disk import GIVEN, MODEL, PAIRS, QUANTITIES, SENTENCES, UNITS, Index
from qbench.index.merge import concatenate, write_pairs
from qbench.index.schemas import FORMAT, arrow_schema, sentence_schema
from qbench.licences import UNKNOWN, normalised
from qbench.progress import Progress, silent
from qbench.quantities.extractors import ExtractorOptions, check_extractor, for_texts
from qbench.quantities.languages import AUTO, SAMPLE, SAMPLE_CHARACTERS, language_package
from qbench.quantities.scripts import unread
from qbench.quantities.types import quantity_schema
from qbench.store import MANIFEST, Draft, digest, drafting, read_manifest, restate
from qbench.work.pool import in_processes, worker_count
from qbench.work.shards import FOLDER, make_shards
from qbench.work.tasks import Engine, Shard

KIND = "index"


def build_index(
    source: str | Path,
    output: str | Path,
    *,
    extractor: ExtractorOptions = ExtractorOptions(),
    reading: ReadOptions = ReadOptions(),
    workers: int | None = None,
    engine: Engine | None = None,
    on_error: OnError = "skip",
    licence: str | None = None,
    workers_read: bool = False,
    overwrite: bool = False,
    progress: Progress = silent,
) -> Index:
    """Build the concept/unit index of a corpus (*Numbers Matter*, sections 3.2.1 and B.1).

    An interrupted run resumes when the same call is repeated. An existing index of the same input and options is opened
    and not built again.

    Args:
        source: file, folder, "hf:NAME[:CONFIG][:SPLIT]" or "irds:ID"; see `qbench.corpora.open_source`.
        output: folder of the index.
        extractor: extractor and its options; the name "given" uses the quantities supplied with the corpus. Where it
            leaves the language to the texts, their script decides (`in_language`), and the index says which it was.
        reading: fields and encodings.
        workers: number of worker processes; the processor's cores by default.
        engine: what runs them, such as `qbench.work.on_ray.on_ray()`; processes of this machine by default.
        on_error: "skip" leaves bad records out and counts them, "fail" stops at the first.
        licence: of the texts, for the cards of what is made of them; what the source says by default. Stated of an
            index that is there already, it is only written down.
        workers_read: workers read the source themselves: a file or folder of Parquet, or a URL of one, that all of them
            reach. The index has the same bytes.
        overwrite: replace another index in `output`.
        progress: receives the number of finished documents and an estimate of their total.

    Raises:
        InputError: the source is missing or has nothing usable; or a record is bad, and `on_error` is "fail".
        OptionError: an option makes no sense, or `output` holds something else.
        UnknownNameError: there is no such language or extractor.
        BusyError: another process is writing to `output`.
        MissingPackageError: the source or the extractor needs a package that is not installed.
        QbenchError: the index cannot be written (a full disk), or a worker died.
    """
    processes = in_processes(worker_count(workers))
    plan = _Plan(extractor, reading, engine or processes, on_error, progress)
    _check(plan)
    folder = Path(output)
    corpus = _shared(source, plan) if workers_read else open_source(source, given=plan.given)
    extractor = in_language(extractor, corpus, reading)
    plan = replace(plan, extractor=extractor)
    _refuse_inside(folder, source)
    progress(0, None, "reading digests")
    params = index_params(corpus, reading, extractor, licence)
    key = keys.key("index", **params)
    _state_licence(folder, key, params)
    try:
        with drafting(folder, KIND, key, params, overwrite=overwrite) as draft:
            if draft is not None:
                _make(corpus, draft, plan)
    except OSError as fault:
        full = fault.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        raise QbenchError(
            f"the index cannot be written: {os.strerror(fault.errno) if fault.errno else fault}",
            file=folder,
            remedy="Make room, and run the same command again: it resumes" if full else None,
        ) from fault
    if draft is None:
        _refuse_skipped(folder, on_error)
    return replace(Index.open(folder), new=draft is not None)


def _shared(source: str | Path, plan: _Plan) -> SharedFiles:
    """A source that workers read, looked through by them."""
    if plan.given:
        raise OptionError("workers read texts without quantities only", remedy="Leave --workers-read out")
    shared = open_shared(source)
    shared.scan(plan.reading, plan.engine, plan.progress)
    return shared


def in_language(extractor: ExtractorOptions, corpus: Source, reading: ReadOptions) -> ExtractorOptions:
    """The options with the language of a corpus, by the script of its first documents, where they say none."""
    if extractor.language != AUTO:
        return extractor
    try:
        with closing(read_documents(corpus, reading, Problems("skip"))) as first:
            documents = list(islice(first, SAMPLE))
    except QbenchError:  # which will be met again, and said, when the corpus is read
        documents = []
    return for_texts(extractor, (document.text[:SAMPLE_CHARACTERS] for document in documents))


def index_params(
    corpus: Source, reading: ReadOptions, extractor: ExtractorOptions, licence: str | None
) -> dict[str, Any]:
    """What an index is made of, for its key and its manifest: the corpus, how it is read, and its licence if known."""
    params: dict[str, Any] = {
        "source": corpus.name,
        "content": digest(corpus.fingerprint()),
        "reading": reading.key(),
        "extractor": extractor.key(),
        "format": FORMAT,
        "revision": keys.revision("index"),
    }
    stated = normalised(licence or corpus.licence)
    return params if stated == UNKNOWN else {**params, "licence": stated}


@dataclass(frozen=True)
class _Plan:
    extractor: ExtractorOptions
    reading: ReadOptions
    engine: Engine
    on_error: OnError
    progress: Progress

    @property
    def given(self) -> bool:
        return self.extractor.name == GIVEN


@dataclass
class _Tally:
    documents: int = 0
    finished: int = 0
    sentences: int = 0


def _check(plan: _Plan) -> None:
    Problems(plan.on_error)
    check_extractor(plan.extractor, GIVEN)
    units = plan.extractor.units_file
    if units is not None and not units.is_file():
        raise InputError("no such file of units", file=units)


def _make(source: Source, draft: Draft, plan: _Plan) -> None:
    shards = draft.folder / FOLDER
    problems = Problems(plan.on_error)
    tally = _Tally()
    names = _extract(source, shards, plan, problems, tally)
    plan.progress(tally.documents, tally.documents, "documents; merging")
    folder = draft.folder
    sentences = (shards / f"{name}{SENTENCE_SHARD}" for name in names)
    quantities = (shards / f"{name}{QUANTITY_SHARD}" for name in names)
    draft.counts = {
        "documents": tally.documents,
        "sentences": concatenate(sentences, folder / SENTENCES, arrow_schema(sentence_schema())),
        "quantities": concatenate(quantities, folder / QUANTITIES, arrow_schema(quantity_schema())),
        **write_pairs(folder / QUANTITIES, folder / PAIRS),
        **problems.summary(),
        "ignored_files": getattr(source, "ignored", 0),
    }
    draft.counts |= unread_counts(folder, plan.extractor)
    keep_extractor_files(folder, plan.extractor)


def unread_counts(folder: Path, extractor: ExtractorOptions) -> dict[str, Any]:
    """For the counts of an index: its sentences in scripts that are none of the language's; {} without any."""
    if extractor.name == GIVEN:
        return {}
    table = pq.ParquetFile(folder / SENTENCES)
    texts = (text for batch in table.iter_batches(columns=["text"]) for text in batch.column(0).to_pylist())
    counts = unread(texts, language_package(extractor.language).SCRIPTS)
    return {"unread": counts} if counts else {}


def keep_extractor_files(folder: Path, extractor: ExtractorOptions) -> None:
    """Copy the user's units and the extractor's model, where there are such, into an index."""
    if extractor.units_file is not None:
        shutil.copyfile(extractor.units_file, folder / UNITS)
    if extractor.model is not None:
        # As the units: permuted sentences of a benchmark made from the index are read by the same extractor.
        shutil.copytree(extractor.model, folder / MODEL, dirs_exist_ok=True)


def _extract(source: Source, folder: Path, plan: _Plan, problems: Problems, tally: _Tally) -> list[str]:
    """Make the shards of all chunks that have none yet; returns the names of all chunks."""

    def read() -> Iterator[CorpusChunk]:
        for chunk in _chunks(source, plan, problems):
            tally.documents += chunk.items
            yield chunk

    def report(chunk: CorpusChunk, shard: Shard | None) -> None:
        tally.finished += chunk.items
        tally.sentences += shard.count if shard else 0
        total = round(tally.documents * chunk.total / chunk.done) if chunk.done and chunk.total else None
        if total is not None:
            total = max(total, tally.documents)
        plan.progress(tally.finished, total, f"documents, {tally.sentences:,} sentences")

    task = extraction(plan.extractor)
    return make_shards(task, read(), folder, last=SENTENCE_SHARD, engine=plan.engine, report=report)


def _chunks(source: Source, plan: _Plan, problems: Problems) -> Iterator[CorpusChunk]:
    """All chunks of a source, with the texts, or with where workers find them."""

    def position() -> tuple[int, int]:
        return source.meter.done, source.meter.total

    if isinstance(source, SharedFiles):
        yield from chunks_of_rows(source.rows(problems), plan.reading, position)
        refuse_unused(source, problems)
    else:
        yield from chunks(read_documents(source, plan.reading, problems, given=plan.given), position)


def _state_licence(folder: Path, key: str, params: dict[str, Any]) -> None:
    """Update the licence of an index that differs from the requested one in nothing else."""
    if not (folder / MANIFEST).is_file():
        return
    manifest = read_manifest(folder)
    # Compared as JSON, which knows no tuples.
    bare = [
        digest({name: settings[name] for name in settings if name != "licence"})
        for settings in (manifest.params, params)
    ]
    if manifest.kind == KIND and manifest.digest != key and bare[0] == bare[1]:
        restate(folder, KIND, key, params)


def _refuse_inside(folder: Path, source: str | Path) -> None:
    """An index written into a file's place, or around its own source, would replace it."""
    path = Path(source)
    if path.exists() and path.resolve().is_relative_to(folder.resolve()):
        raise OptionError("the output folder holds the corpus", file=folder, remedy="Choose another folder")


def _refuse_skipped(folder: Path, on_error: OnError) -> None:
    counts: dict[str, Any] = read_manifest(folder, KIND).counts
    if on_error == "fail" and counts["bad"]:
        raise InputError(
            "this index was built, and bad records were left out",
            file=folder,
            value=counts["bad"],
            remedy=f"The first: {counts['bad_examples'][0]}",
        )
