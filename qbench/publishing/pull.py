"""From a published data set back to the artefact that it was."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qbench.benchmark.disk import CARD, Benchmark, open_benchmark
from qbench.benchmark.disk import KIND as BENCHMARK
from qbench.errors import InputError, OptionError
from qbench.index.merge import table_writer
from qbench.index.schemas import arrow_schema
from qbench.mining.describe import Descriptions
from qbench.mining.paraphrases import Pairs
from qbench.mining.types import DESCRIPTIONS, DESCRIPTIONS_KIND, PAIRS_KIND, description_schema
from qbench.progress import Progress, silent
from qbench.publishing.attachments import FOLDER as MADE_WITH
from qbench.publishing.hub import Hub, check_names
from qbench.publishing.prepare import KIND, OWN, PLACES, WITHHELD
from qbench.publishing.withheld import place_schema, rebuild, rebuilt_descriptions, source_documents, unchanged
from qbench.store import MANIFEST, Draft, Manifest, drafting, file_digest, finished, read_manifest, refuse_foreign

if TYPE_CHECKING:
    import polars as pl

Fetch = Callable[[Path, "list[str]", Progress], None]
"""Brings files of the publication, by their paths, into a folder."""


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
    """Bring a published artefact back; every file is compared with the digest that was published with it.

    What it was made with, where that was published, comes into a folder beside it (`beside`). A call that was
    interrupted goes on when it is made again. An artefact that is there already is left as it is.

    Args:
        name: OWNER/NAME, or the folder of a publication.
        output: the artefact's folder.
        revision: a branch, tag or commit; the newest state by default.
        source: the corpus, where its texts were withheld: a file, a folder, "hf:..." or "irds:...".
        overwrite: replace another artefact of the same kind in `output`.
        hub: where from; the hub that huggingface_hub is set up for by default.
        progress: told how far the texts are.

    Returns:
        the artefact's folder.

    Raises:
        InputError: there is no such publication; a file is not as it was published; or the source is another edition.
        OptionError: `output` or the folder beside it holds something else, or the texts were withheld and no source
            was named.
        BusyError: another process is writing there.
        ServerError: the hub refuses, or cannot be asked.
    """
    folder = Path(output)
    found, fetch = _find(name, revision, hub)
    with tempfile.TemporaryDirectory() as scratch:
        fetch(Path(scratch), [MANIFEST, f"{OWN}/{MANIFEST}"], silent)
        publication = read_manifest(Path(scratch), KIND)
        manifest = read_manifest(Path(scratch) / OWN)
    if manifest.kind not in _OPENERS:
        raise InputError("the publication holds nothing that qbench pulls", file=found, value=manifest.kind)
    lacking = _lacking(publication, beside(folder), overwrite)
    if finished(folder, manifest.kind, manifest.digest):
        _pull_makings(publication, lacking, beside(folder), fetch, found)
        return folder
    refuse_foreign(folder, manifest.kind, overwrite)
    withheld = f"{WITHHELD}/{PLACES}" in publication.files
    if withheld and source is None:
        raise OptionError(
            "its texts were not published, and have to come from your copy of the corpus",
            file=found,
            value=(publication.params.get("corpus") or {}).get("source"),
            remedy="Name it with --source",
        )
    if source is not None and not withheld:
        raise OptionError("its texts were published, and need no source", file=found, value=str(source))
    with drafting(folder, manifest.kind, manifest.digest, manifest.params, overwrite=overwrite) as draft:
        fetched = draft.folder / ".fetched"
        wanted = [path for path in publication.files if _is_in(path, OWN, WITHHELD)]
        fetch(fetched, wanted, progress)
        _check(fetched, publication, wanted, found)
        for path in sorted((fetched / OWN).iterdir()):
            if path.name != MANIFEST:
                shutil.copyfile(path, draft.folder / path.name)
        if withheld and source is not None:
            _rebuild(draft, manifest, publication, source, progress)
        draft.counts, draft.version = dict(manifest.counts), manifest.version
    _open(folder, manifest.kind)
    _pull_makings(publication, lacking, beside(folder), fetch, found)
    return folder


def beside(folder: Path) -> Path:
    """Where `pull` puts what an artefact was made with."""
    whole = folder if folder.name else folder.absolute()
    return whole.with_name(f"{whole.name}.{MADE_WITH}")


def _is_in(path: str, *places: str) -> bool:
    """Whether a path of a publication is a file right in one of its folders.

    Its manifest was written by others: a path that climbs out of its folder is none.
    """
    place, _, name = path.partition("/")
    return place in places and name not in ("", ".", "..") and not set(name) & set("/\\\0")


def _lacking(publication: Manifest, folder: Path, overwrite: bool) -> list[str]:
    """The paths of what the artefact was made with, as far as it is not in the folder.

    Raises:
        OptionError: the folder has another file of that name.
    """
    lacking = []
    for path in publication.files:
        if not _is_in(path, MADE_WITH):
            continue
        there = folder / Path(path).name
        if not there.is_file() or file_digest(there) != publication.files[path]["sha256"]:
            lacking.append(path)
            if there.exists() and not overwrite:
                remedy = "Move it away, or replace it with --overwrite"
                raise OptionError("another file has the name of one that comes along", file=there, remedy=remedy)
    return lacking


def _pull_makings(publication: Manifest, paths: list[str], folder: Path, fetch: Fetch, found: str) -> None:
    """Bring those files, each whole or not at all."""
    if not paths:
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as scratch:
        fetch(Path(scratch), paths, silent)
        _check(Path(scratch), publication, paths, found)
        folder.mkdir(exist_ok=True)
        for path in paths:
            (Path(scratch) / path).replace(folder / Path(path).name)


def _find(name: str | Path, revision: str | None, hub: Hub | None) -> tuple[str, Fetch]:
    """Where a publication is, for errors, and what brings its files."""
    local = Path(name)
    if local.is_dir():
        if revision is not None:
            raise OptionError("a folder has no revisions", file=local, value=revision)
        read_manifest(local, KIND)

        def copy(folder: Path, paths: list[str], progress: Progress) -> None:
            for path in paths:
                if not (local / path).is_file():
                    raise InputError("the publication lacks this file", file=local / path)
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
    commit, known = remote.commit, set(remote.files)

    def download(folder: Path, paths: list[str], progress: Progress) -> None:
        for path in paths:
            if path not in known:
                raise InputError("the data set lacks this file", file=f"{repo_id}/{path}")
        hub.fetch(repo_id, commit, folder, paths, progress)

    return repo_id, download


def _check(folder: Path, publication: Manifest, paths: list[str], found: str) -> None:
    for path in paths:
        if file_digest(folder / path) != publication.files[path]["sha256"]:
            raise InputError(
                "the file is not as it was published",
                file=f"{found}/{path}",
                remedy="Ask its publisher, or pull an earlier revision",
            )


def _rebuild(draft: Draft, manifest: Manifest, publication: Manifest, source: str | Path, progress: Progress) -> None:
    """Make the withheld tables again from the user's copy of the corpus."""
    from qbench.benchmark.tables import read_parquet

    folder = draft.folder / ".fetched" / WITHHELD
    places = read_parquet(folder / PLACES, place_schema())
    reading = (publication.params.get("corpus") or {}).get("reading")
    texts, titles = rebuild(places, source_documents(source, reading), source, progress)
    if manifest.kind == BENCHMARK:
        _rebuild_benchmark(draft.folder, folder, manifest, publication, places, texts, titles)
    else:
        by_id = dict(zip(places["doc_id"], texts, strict=True))
        table = rebuilt_descriptions(_read(folder / DESCRIPTIONS), by_id)
        _write_descriptions(table, draft.folder / DESCRIPTIONS, publication.params.get("row_groups"))


def _write_descriptions(table: pl.DataFrame, path: Path, groups: list[int] | None) -> None:
    """Write the table as it was written: by polars, or by pyarrow in groups of so many rows."""
    if groups is None:
        table.write_parquet(path, compression="zstd")
        return
    schema = arrow_schema(description_schema())
    rows = table.to_arrow().cast(schema)
    start = 0
    with table_writer(path, schema) as writer:
        for size in groups:
            writer.write_table(rows.slice(start, size), row_group_size=size)
            start += size


def _rebuild_benchmark(
    folder: Path,
    withheld: Path,
    manifest: Manifest,
    publication: Manifest,
    places: pl.DataFrame,
    texts: list[str],
    titles: list[str],
) -> None:
    import polars as pl

    from qbench.benchmark.card import card
    from qbench.benchmark.tables import read_table, write_table
    from qbench.benchmark.types import Query

    corpus = pl.DataFrame(
        {"doc_id": places["doc_id"], "text": texts, "title": titles, "source_id": places["source_id"]}
    )
    write_table(corpus, "corpus", folder)
    samples = unchanged(_read(withheld / "samples.parquet"), corpus)
    write_table(samples, "samples", folder)
    queries = [Query.from_row(row) for row in read_table(folder / "queries.parquet", "queries").iter_rows(named=True)]
    quantities = folder / "quantities.parquet"
    made = Benchmark(
        name=str(publication.params.get("name")),
        corpus=corpus,
        queries=queries,
        qrels=read_table(folder / "qrels.parquet", "qrels"),
        quantities=read_table(quantities, "quantities") if quantities.is_file() else None,
        samples=read_table(folder / "samples.parquet", "samples"),
        triples=read_table(folder / "triples.parquet", "triples"),
        params={**manifest.params, "counts": manifest.counts.get("made", {})},
        digest=manifest.digest,
    )
    text = card(made, made.name, manifest.digest)
    (folder / CARD).write_text(text, encoding="utf-8", newline="\n")


def _read(path: Path) -> pl.DataFrame:
    import polars as pl

    try:
        return pl.read_parquet(path, glob=False)
    except (pl.exceptions.PolarsError, OSError) as fault:
        raise InputError(f"not a readable Parquet file: {fault}", file=path) from None


def _open(folder: Path, kind: str) -> None:
    """Open what was pulled, as its first reader will."""
    _OPENERS[kind](folder)


_OPENERS: Mapping[str, Callable[[Path], Any]] = {
    BENCHMARK: open_benchmark,
    PAIRS_KIND: Pairs.open,
    DESCRIPTIONS_KIND: Descriptions.open,
}
