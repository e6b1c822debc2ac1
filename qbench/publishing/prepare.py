"""Prepare the folder to upload: configurations, the artefact's own files, the card and the picture.

The folder is itself an artefact, of kind "publication": its manifest lists every file with its SHA-256, is uploaded
with them, and is read by `qbench pull` and by later uploads.
"""

from __future__ import annotations

import shutil
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq

from qbench import keys
from qbench.artefacts import CARD, open_artefact
from qbench.benchmark.disk import KIND as BENCHMARK
from qbench.benchmark.disk import open_benchmark
from qbench.corpora.streams import reading_parquet
from qbench.errors import OptionError
from qbench.licences import UNKNOWN, Licence, licence
from qbench.mining.describe import Descriptions
from qbench.mining.types import DESCRIPTIONS, PAIRS_KIND
from qbench.progress import Progress, silent
from qbench.publishing.attachments import FOLDER as MADE_WITH
from qbench.publishing.attachments import read_attachments, refuse_keys
from qbench.publishing.configs import write_configs
from qbench.publishing.contents import Contents, open_contents
from qbench.publishing.dataset_card import PICTURE, Config, Facts, numbers, published_card
from qbench.publishing.options import PublishOptions
from qbench.publishing.picture import draw
from qbench.publishing.withheld import changes, locate, source_documents, withheld_descriptions
from qbench.quantities.languages import ENGLISH
from qbench.store import (
    MANIFEST,
    Manifest,
    drafting,
    file_digest,
    finished,
    read_manifest,
    read_text,
    write_text,
)

KIND = "publication"
OWN = "qbench"
"""The folder of the artefact's own files."""
WITHHELD = "withheld"
"""The folder of the tables that replace texts that are not published."""
LOCATIONS = "places.parquet"


def prepare(artefact: Path, output: Path, options: PublishOptions, progress: Progress = silent) -> Manifest:
    """Write the folder to upload, unless it is complete already.

    Args:
        artefact: a benchmark, pairs or descriptions.
        output: the folder to write.
        options: licence, texts, picture.
        progress: called during checks and the search for texts.

    Returns:
        the publication's manifest.

    Raises:
        InputError: the artefact cannot be used, its texts are not in the source, or an attached file holds a key.
        OptionError: the licence forbids it, or is not known; or `output` holds something else.
        BusyError: another process is writing there, or uses an attached recording.
        MissingPackageError: the picture needs matplotlib.
    """
    manifest = open_artefact(artefact)
    own, texts = licences(manifest, options)
    citation = "" if options.citation is None else _citation(options.citation)
    name = artefact.resolve().name
    params: dict[str, Any] = {
        "artefact": manifest.kind,
        "artefact_digest": manifest.digest,
        "name": name,
        "repo_id": options.repo_id,
        "licence": own.name,
        "terms": own.terms,
        "text_licence": texts,
        "corpus": manifest.params.get("corpus"),
    }
    if texts is not None and manifest.kind != BENCHMARK:
        params["row_groups"] = row_groups(artefact / DESCRIPTIONS)
    attached = read_attachments(options.attach, manifest.params)
    if attached:
        params["made_with"] = {file.path.name: file.digest for file in attached}
    files = {path: file_digest(artefact / path) for path in manifest.files if (artefact / path).is_file()}
    languages = options.languages or (_language(manifest),)
    card = {"picture": _picture_key(options), "citation": citation, "languages": languages}
    key = keys.key("publication", **params, files=files, **card)
    if finished(output, KIND, key):
        return read_manifest(output)
    contents = open_contents(artefact, texts=texts is None, progress=progress)
    if contents.errors and not options.with_errors:
        raise OptionError(
            f"`qbench benchmark check` finds {contents.errors:,} kinds of errors in this benchmark",
            file=artefact,
            remedy="Mend it, or publish it with --with-errors: the card then lists them",
        )
    with drafting(output, KIND, key, params, overwrite=True) as draft:
        if draft is None:
            return read_manifest(output)
        _fresh(draft.folder)
        configs = _write_tables(artefact, contents, draft.folder, options, progress)
        if options.picture:
            (draft.folder / PICTURE).write_bytes(draw(contents.panels, name))
        for file in attached:
            (draft.folder / MADE_WITH).mkdir(exist_ok=True)
            shutil.copyfile(file.path, draft.folder / MADE_WITH / file.path.name)
        facts = Facts(name, options.repo_id, own, texts, configs, options.picture, citation, attached, languages)
        write_text(draft.folder / CARD, published_card(contents, facts))
        draft.counts = numbers(configs)
    return read_manifest(output)


def _language(manifest: Manifest) -> str:
    """Code of the language that the texts were read in; English where the artefact says none."""
    extractor = manifest.params.get("extractor") or {}
    return str(manifest.params.get("language") or extractor.get("language") or ENGLISH)


def _citation(path: Path) -> str:
    text = read_text(path, "citation").strip()
    refuse_keys(path)
    return text


def licences(manifest: Manifest, options: PublishOptions) -> tuple[Licence, str | None]:
    """The licence of the publication, and that of the texts if they are withheld.

    Raises:
        OptionError: there is none, or it forbids publishing.
    """
    own = str(manifest.params.get("licence") or UNKNOWN)
    if options.source is not None:
        return _of_labels(manifest, options), own
    if options.licence is not None and own not in (UNKNOWN, licence(options.licence).name):
        raise OptionError(
            f"the {manifest.kind} say that their licence is {own}"
            if manifest.kind != BENCHMARK
            else f"the benchmark says that its licence is {own}",
            value=options.licence,
            remedy="If that is wrong, correct it at its origin (`qbench build-index --licence`), and make it again",
        )
    stated = licence(options.licence or own, options.terms)
    if stated.refusal is None:
        return stated, None
    remedy = "Publish ids, offsets, labels and digests alone: --without-text --source CORPUS --licence ID"
    if stated.terms == "unknown":
        remedy = (
            "State it with --licence ID (with --terms, if the name is not a known one); or publish ids, offsets, "
            "labels and digests alone: --without-text --source CORPUS --licence ID"
        )
    raise OptionError(f"texts under this licence are not published: {stated.refusal}", value=stated.name, remedy=remedy)


def _of_labels(manifest: Manifest, options: PublishOptions) -> Licence:
    if "importer" in manifest.params:
        raise OptionError(
            "an imported benchmark cannot be published without its texts: its queries are text of others, too",
            remedy="Publish it with its texts, under a licence that allows it",
        )
    if options.licence is None:
        raise OptionError(
            "ids, labels and digests are published under a licence, too",
            remedy="State it with --licence, cc-by-4.0 for example",
        )
    stated = licence(options.licence, options.terms)
    if stated.refusal is not None:
        raise OptionError("nothing can be published under this licence", value=stated.name, remedy="Choose another one")
    return stated


def row_groups(table: Path) -> list[int] | None:
    """Rows per group of a Parquet file that pyarrow wrote, to write the same bytes again; None for a file of polars.

    Raises:
        InputError: it is missing, or is no Parquet.
    """
    with reading_parquet(table), pq.ParquetFile(table) as file:
        metadata = file.metadata
        by_arrow = "parquet-cpp-arrow" in (metadata.created_by or "")
        return [metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)] if by_arrow else None


def _picture_key(options: PublishOptions) -> str | None:
    """The version of matplotlib: another one may draw other bytes."""
    if not options.picture:
        return None
    try:
        return version("matplotlib")
    except PackageNotFoundError:
        return "missing"


def _fresh(folder: Path) -> None:
    """Remove the folders of an unfinished draft, which is quickly written again."""
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)


def _write_tables(
    artefact: Path, contents: Contents, folder: Path, options: PublishOptions, progress: Progress
) -> list[Config]:
    """Write the configurations, the artefact's own files, and the tables that replace withheld texts."""
    configs = [
        Config(config, files, {split: frame.height for split, frame in contents.configs[config].items()}, columns)
        for config, files in write_configs(contents.configs, folder).items()
        for columns in [next(iter(contents.configs[config].values())).columns]
    ]
    own = folder / OWN
    own.mkdir(exist_ok=True)
    gone = (
        set() if options.source is None else _withhold(artefact, contents, folder / WITHHELD, options.source, progress)
    )
    for name in contents.manifest.files:
        if name not in gone:
            shutil.copyfile(artefact / name, own / name)
    # Unchanged, so that `pull` gives back the same bytes; it has the digests of withheld files as well.
    shutil.copyfile(artefact / MANIFEST, own / MANIFEST)
    shown = {config: own / f"{table}.parquet" for config, table in contents.tables.items()}
    shown |= {path.stem: path for path in sorted((folder / WITHHELD).glob("*.parquet"))}
    for config, path in shown.items():
        scan = pl.scan_parquet(path, glob=False)
        columns = scan.collect_schema().names()
        rows = int(scan.select(pl.len()).collect().item())
        if rows:
            files = {config: [path.relative_to(folder).as_posix()]}
            configs.append(Config(config, files, {config: rows}, columns))
    return configs


def _withhold(artefact: Path, contents: Contents, folder: Path, source: str | Path, progress: Progress) -> set[str]:
    """Write the tables that replace the texts; returns the names of the files that are not published."""
    folder.mkdir(exist_ok=True)
    documents = source_documents(source, (contents.manifest.params.get("corpus") or {}).get("reading"))
    tables: dict[str, pl.DataFrame]
    if contents.kind == BENCHMARK:
        benchmark = open_benchmark(artefact)
        tables = {"samples": changes(benchmark.samples, benchmark.corpus)}
        sentences = benchmark.corpus
        gone = {"corpus.parquet", "samples.parquet", CARD}
    else:
        table, sentences = withheld_descriptions(Descriptions.open(artefact).read())
        tables = {"descriptions": table}
        gone = {DESCRIPTIONS} | ({"report.md"} if contents.kind == PAIRS_KIND else set())
    locations = locate(sentences, documents, source, progress)
    locations.write_parquet(folder / LOCATIONS, compression="zstd")
    for name, frame in tables.items():
        frame.write_parquet(folder / f"{name}.parquet", compression="zstd")
    return gone & set(contents.manifest.files)
