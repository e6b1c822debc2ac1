"""Bring a published data set back as the artefact that it was made from."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from qbench.artefacts import CARD, refuse_outside
from qbench.benchmark.audits import read_audit
from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.card import card
from qbench.benchmark.disk import KIND as BENCHMARK
from qbench.benchmark.disk import open_benchmark
from qbench.benchmark.parquet import read_parquet, read_table, write_table
from qbench.benchmark.types import Query
from qbench.corpora.streams import reading_parquet
from qbench.errors import InputError, OptionError
from qbench.index.merge import table_writer, write_group
from qbench.index.schemas import arrow_schema
from qbench.mining.describe import Descriptions
from qbench.mining.paraphrases import Pairs
from qbench.mining.types import DESCRIPTIONS, DESCRIPTIONS_KIND, PAIRS_KIND, description_schema
from qbench.progress import Progress, silent
from qbench.publishing.attachments import FOLDER as MADE_WITH
from qbench.publishing.hub import Hub, check_names
from qbench.publishing.prepare import KIND, LOCATIONS, OWN, WITHHELD
from qbench.publishing.withheld import location_schema, rebuild, rebuilt_descriptions, source_documents, unchanged
from qbench.store import (
    MANIFEST,
    Draft,
    Manifest,
    drafting,
    file_digest,
    finished,
    is_inner,
    read_manifest,
    refuse_foreign,
)

Fetch = Callable[[Path, "list[str]", Progress], None]
"""Copies or downloads files of the publication, by their paths, into a folder."""


def pull(
    name: str | Path,
    output: str | Path,
    *,
    revision: str | None = None,
    source: str | Path | None = None,
    overwrite: bool = False,
    hub: Hub | None = None,
    progress: Progress = silent,
) -> Path:
    """Bring a published artefact back; every file is compared with its published digest.

    Published files that it was made with are written into a folder beside it (`beside`). An interrupted call continues
    when it is repeated. A complete artefact in `output` is left unchanged.

    Args:
        name: OWNER/NAME, or the folder of a publication.
        output: the artefact's folder.
        revision: a branch, tag or commit; the newest state by default.
        source: the corpus, if its texts were withheld: a file, a folder, "hf:..." or "irds:...".
        overwrite: replace another artefact of the same kind in `output`.
        hub: the hub; by default the one that huggingface_hub is configured for.
        progress: called during downloads and while texts are rebuilt.

    Returns:
        the artefact's folder.

    Raises:
        InputError: there is no such publication; a file differs from its digest; or the source is another edition.
        OptionError: `output` or the folder beside it holds something else, or the texts were withheld and no source
            is given.
        BusyError: another process is writing there.
        ServerError: the hub refuses, or cannot be asked.
    """
    folder = Path(output)
    address, fetch = _open_publication(name, revision, hub)
    with tempfile.TemporaryDirectory() as scratch:
        fetch(Path(scratch), [MANIFEST, f"{OWN}/{MANIFEST}"], silent)
        publication = read_manifest(Path(scratch), KIND)
        manifest = read_manifest(Path(scratch) / OWN)
    if manifest.kind not in _OPENERS:
        raise InputError("the publication holds nothing that qbench pulls", file=address, value=manifest.kind)
    missing = _missing_attachments(publication, beside(folder), overwrite)
    if finished(folder, manifest.kind, manifest.digest):
        _pull_attachments(publication, missing, beside(folder), fetch, address)
        return folder
    refuse_foreign(folder, manifest.kind, overwrite)
    _check_source(publication, source, address)
    with drafting(folder, manifest.kind, manifest.digest, manifest.params, overwrite=overwrite) as draft:
        if draft is not None:
            _fetch_own(draft, publication, fetch, address, progress)
            if source is not None:
                _rebuild(draft, manifest, publication, source, progress)
            draft.counts, draft.version = dict(manifest.counts), manifest.version
    _OPENERS[manifest.kind](folder)  # opened once, which checks it
    _pull_attachments(publication, missing, beside(folder), fetch, address)
    return folder


def _check_source(publication: Manifest, source: str | Path | None, address: str) -> None:
    """Refuse a source if the texts were published, and its lack if they were withheld."""
    withheld = f"{WITHHELD}/{LOCATIONS}" in publication.files
    if withheld and source is None:
        raise OptionError(
            "its texts were not published, and have to come from your copy of the corpus",
            file=address,
            value=(publication.params.get("corpus") or {}).get("source"),
            remedy="Name it with --source",
        )
    if source is not None and not withheld:
        raise OptionError("its texts were published, and need no source", file=address, value=str(source))


def _fetch_own(draft: Draft, publication: Manifest, fetch: Fetch, address: str, progress: Progress) -> None:
    """Fetch the published files of the artefact, and what locates withheld texts; the former go into its folder."""
    fetched = draft.folder / ".fetched"
    wanted = [path for path in publication.files if _is_in(path, OWN, WITHHELD)]
    fetch(fetched, wanted, progress)
    _check(fetched, publication, wanted, address)
    for path in wanted:
        if _is_in(path, OWN) and path != f"{OWN}/{MANIFEST}":
            shutil.copyfile(fetched / path, draft.folder / Path(path).name)


def beside(folder: Path) -> Path:
    """The folder for published files that an artefact was made with."""
    whole = folder if folder.name else folder.absolute()
    return whole.with_name(f"{whole.name}.{MADE_WITH}")


def _is_in(path: str, *folders: str) -> bool:
    """Whether a path of a publication is a file directly in one of these folders.

    The manifest was written by others, so that paths that leave the folder are refused.
    """
    folder, _, name = path.partition("/")
    return folder in folders and is_inner(name) and "/" not in name


def _missing_attachments(publication: Manifest, folder: Path, overwrite: bool) -> list[str]:
    """The attached files of a publication that are not in the folder yet.

    Raises:
        OptionError: the folder has another file of that name.
    """
    missing = []
    for path in publication.files:
        if not _is_in(path, MADE_WITH):
            continue
        local = folder / Path(path).name
        if not local.is_file() or file_digest(local) != publication.files[path]["sha256"]:
            missing.append(path)
            if local.exists() and not overwrite:
                remedy = "Move it away, or replace it with --overwrite"
                raise OptionError("another file has the name of an attached one", file=local, remedy=remedy)
    return missing


def _pull_attachments(publication: Manifest, paths: list[str], folder: Path, fetch: Fetch, address: str) -> None:
    """Fetch attached files, each complete or not at all."""
    if not paths:
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as scratch:
        fetch(Path(scratch), paths, silent)
        _check(Path(scratch), publication, paths, address)
        folder.mkdir(exist_ok=True)
        for path in paths:
            (Path(scratch) / path).replace(folder / Path(path).name)


def _open_publication(name: str | Path, revision: str | None, hub: Hub | None) -> tuple[str, Fetch]:
    """The name of a publication, for errors, and the function that fetches its files."""
    local = Path(name)
    if local.is_dir():
        if revision is not None:
            raise OptionError("a folder has no revisions", file=local, value=revision)
        read_manifest(local, KIND)

        def copy(folder: Path, paths: list[str], progress: Progress) -> None:
            for path in paths:
                if not (local / path).is_file():
                    raise InputError("the publication lacks this file", file=local / path)
                refuse_outside(local, path)
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(local / path, folder / path)

        return str(local), copy
    repo_id = str(name)
    check_names(repo_id, None)
    hub = hub or Hub()
    remote = hub.look(repo_id, revision)
    if remote is None:
        raise InputError(
            "the hub has no such data set, or does not show it to you",
            file=repo_id,
            remedy="For a private one, log in with `hf auth login`",
        )
    if remote.manifest.get("kind") != KIND or f"{OWN}/{MANIFEST}" not in remote.files:
        raise InputError(
            "qbench did not publish this data set", file=repo_id, remedy="Import it, or index it as hf:NAME"
        )
    commit, listed = remote.commit, set(remote.files)

    def download(folder: Path, paths: list[str], progress: Progress) -> None:
        for path in paths:
            if path not in listed:
                raise InputError("the data set lacks this file", file=f"{repo_id}/{path}")
        hub.fetch(repo_id, commit, folder, paths, progress)

    return repo_id, download


def _check(folder: Path, publication: Manifest, paths: list[str], address: str) -> None:
    """Compare files with their published digests."""
    for path in paths:
        if file_digest(folder / path) != publication.files[path]["sha256"]:
            raise InputError(
                "the file is not as it was published",
                file=f"{address}/{path}",
                remedy="Ask its publisher, or pull an earlier revision",
            )


def _rebuild(draft: Draft, manifest: Manifest, publication: Manifest, source: str | Path, progress: Progress) -> None:
    """Rebuild the withheld tables from the user's copy of the corpus."""
    folder = draft.folder / ".fetched" / WITHHELD
    locations = read_parquet(folder / LOCATIONS, location_schema())
    reading = (publication.params.get("corpus") or {}).get("reading")
    texts, titles = rebuild(locations, source_documents(source, reading), source, progress)
    if manifest.kind == BENCHMARK:
        _rebuild_benchmark(draft.folder, folder, manifest, publication, locations, texts, titles)
    else:
        by_id = dict(zip(locations["doc_id"], texts, strict=True))
        table = rebuilt_descriptions(_read(folder / DESCRIPTIONS), by_id)
        _write_descriptions(table, draft.folder / DESCRIPTIONS, publication.params.get("row_groups"))


def _write_descriptions(table: pl.DataFrame, path: Path, groups: list[int] | None) -> None:
    """Write the table with the original bytes: by polars, or by pyarrow in groups of these numbers of rows."""
    if groups is None:
        table.write_parquet(path, compression="zstd")
        return
    schema = arrow_schema(description_schema())
    rows = table.to_arrow().cast(schema)
    start = 0
    with table_writer(path, schema) as writer:
        for size in groups:
            write_group(writer, rows.slice(start, size))
            start += size


def _rebuild_benchmark(
    folder: Path,
    withheld: Path,
    manifest: Manifest,
    publication: Manifest,
    locations: pl.DataFrame,
    texts: list[str],
    titles: list[str],
) -> None:
    corpus = pl.DataFrame(
        {"doc_id": locations["doc_id"], "text": texts, "title": titles, "source_id": locations["source_id"]}
    )
    write_table(corpus, "corpus", folder)
    samples = unchanged(_read(withheld / "samples.parquet"), corpus)
    write_table(samples, "samples", folder)
    queries = [Query.from_row(row) for row in read_table(folder / "queries.parquet", "queries").iter_rows(named=True)]
    quantities, facts = folder / "quantities.parquet", folder / "facts.parquet"
    benchmark = Benchmark(
        name=str(publication.params.get("name")),
        corpus=corpus,
        queries=queries,
        qrels=read_table(folder / "qrels.parquet", "qrels"),
        quantities=read_table(quantities, "quantities") if quantities.is_file() else None,
        samples=read_table(folder / "samples.parquet", "samples"),
        triples=read_table(folder / "triples.parquet", "triples"),
        facts=read_table(facts, "facts") if facts.is_file() else None,
        params={**manifest.params, "counts": manifest.counts.get("made", {})},
        digest=manifest.digest,
        audit=read_audit(folder),
    )
    text = card(benchmark, benchmark.name, manifest.digest)
    (folder / CARD).write_text(text, encoding="utf-8", newline="\n")


def _read(path: Path) -> pl.DataFrame:
    with reading_parquet(path):
        return pl.read_parquet(path, glob=False)


_OPENERS: Mapping[str, Callable[[Path], Any]] = {
    BENCHMARK: open_benchmark,
    PAIRS_KIND: Pairs.open,
    DESCRIPTIONS_KIND: Descriptions.open,
}
