"""The sheets that annotators fill in, as an artefact: what is judged, a CSV file and a page for each annotator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qbench import keys
from qbench.annotation.candidates import Item, choose, gather, look_up, pooled, texts, with_conditions
from qbench.annotation.options import HIGHEST, Scale, SheetOptions
from qbench.annotation.page import conditions, page, read_guideline, with_tolerance
from qbench.benchmark.commands import command_line
from qbench.benchmark.disk import benchmark_key
from qbench.benchmark.relax import Tolerances, unit_families, widened
from qbench.benchmark.tables import read_parquet
from qbench.errors import InputError, OptionError
from qbench.generation.expansions import Expansions
from qbench.progress import Progress, silent
from qbench.sheets import one_line, write_sheet
from qbench.store import MANIFEST, digest, drafting, file_digest, finished, read_manifest, refuse_foreign, write_text

if TYPE_CHECKING:
    import polars as pl

    from qbench.benchmark.disk import Benchmark
    from qbench.benchmark.types import Query, Schema
    from qbench.quantities.types import Condition

KIND = "sheet"
ITEMS = "items.parquet"
GUIDELINE = "guideline.md"

KEYS = ("query_id", "doc_id", "grade")
"""The columns that must come back."""

COLUMNS = ("query_id", "query", "condition", "doc_id", "title", "text", "grade", "comment")

_COMMAND = ("qbench", "annotate", "export", "BENCH", "-o", "SHEET")
_FLAGS = {"number": "queries", "queries": "query"}
"""Options of `qbench annotate export` that are called otherwise here."""

UNSURE = "?"
"""The answer of an annotator who cannot tell."""


@dataclass(frozen=True)
class Sheet:
    """Sheets on disk.

    Attributes:
        folder: where they lie.
        items: what is judged, in order.
        scale: the grades.
        source: the key of the benchmark.
        digest: of this sheet.
        counts: what is in it, and what was left out.
    """

    folder: Path
    items: list[Item]
    scale: Scale
    source: str
    digest: str
    counts: dict[str, Any]


def item_schema() -> Schema:
    """One row per item, in the order of the sheets; the fields of `Item`."""
    import polars as pl

    return {"query_id": pl.String, "doc_id": pl.String, "sources": pl.List(pl.String), "part": pl.Int32}


def export_sheet(
    benchmark: Benchmark,
    output: str | Path,
    options: SheetOptions | None = None,
    *,
    runs: Mapping[str, pl.DataFrame] | None = None,
    expansions: Expansions | None = None,
    guideline: Path | None = None,
    overwrite: bool = False,
    progress: Progress = silent,
) -> Sheet:
    """Write the sheets of a benchmark: for each query the documents that the index and the runs propose, shuffled.

    Args:
        benchmark: whose queries are judged.
        output: the folder to write.
        options: what is asked.
        runs: name -> `run_schema`, whose first documents are candidates too.
        expansions: synonyms of concepts.
        guideline: what annotators are told, instead of qbench's own guideline.
        overwrite: replace a sheet made from something else, unless it has been filled in.

    Raises:
        OptionError: an option makes no sense, nothing can propose documents, or `output` holds something else or a
            sheet that has been filled in.
        InputError: a run is of another benchmark, the guideline cannot be read, or no query has a candidate.
        BusyError: another process is writing there.
    """
    options, runs, expansions = options or SheetOptions(), runs or {}, expansions or Expansions()
    output = Path(output)
    if benchmark.quantities is None and not runs:
        remedy = "Give runs, or import it with --quantities ours"
        raise OptionError("this benchmark has no quantities to look up, and no run is given", remedy=remedy)
    told = with_tolerance(read_guideline(guideline), options.tolerance, HIGHEST[options.scale])
    key = keys.key(
        "annotation sheet",
        benchmark=benchmark_key(benchmark),
        options=asdict(options),
        runs={name: _run_digest(run) for name, run in runs.items()},
        expansions=expansions.pairs(),
        guideline=told,
    )
    if finished(output, KIND, key) and not _edited(output):
        return open_sheet(output)
    _refuse_filled(output)
    refuse_foreign(output, KIND, overwrite=overwrite or _is(output, key))
    queries = choose(benchmark, options.split, options.number, options.queries, options.seed)
    queries = with_conditions(benchmark, queries)
    tolerances, families = Tolerances(options.tolerance), unit_families(benchmark)
    near = {query.query_id: widened(query, tolerances, families) for query in queries}
    items, left = _items(benchmark, queries, near, runs, expansions, options, progress)
    if not items:
        raise InputError("no query has a candidate", value=benchmark.name, remedy="Give runs, or expansions")
    params = {
        "command": command_line(_COMMAND, options, _files(runs, expansions, guideline), names=_FLAGS, repeated=True),
        "benchmark": benchmark_key(benchmark),
        "runs": sorted(runs),
        **{name: value for name, value in asdict(options).items() if name != "queries"},
    }
    with drafting(output, KIND, key, params, overwrite=overwrite) as draft:
        _write_items(items, draft.folder / ITEMS)
        write_text(draft.folder / GUIDELINE, told)
        by_id = {query.query_id: query for query in queries}
        for part in range(1, options.annotators + 1):
            mine = [item for item in items if item.part in (0, part)]
            name = "sheet" if options.annotators == 1 else f"sheet-{part}"
            write_csv(benchmark, by_id, mine, draft.folder / f"{name}.csv", near=near)
            text = page(benchmark, by_id, mine, told, key=key, name=name, highest=HIGHEST[options.scale], near=near)
            write_text(draft.folder / f"{name}.html", text)
            progress(part, options.annotators, "sheets")
        draft.counts = _counts(queries, items, left, options.annotators)
    return open_sheet(output)


def _files(runs: Mapping[str, Any], expansions: Expansions, guideline: Path | None) -> list[str]:
    """The options that name files, whose names are not known here; a guideline lies in the sheet."""
    return [
        *(["--runs", "RUNS"] if runs else []),
        *(["--expansions", "FILE"] if expansions.pairs() else []),
        *([] if guideline is None else ["--guideline", f"SHEET/{GUIDELINE}"]),
    ]


def open_sheet(folder: str | Path) -> Sheet:
    """Open what `export_sheet` wrote.

    Raises:
        InputError: the folder is no finished sheet, or its table of items is damaged.
    """
    folder = Path(folder)
    manifest = read_manifest(folder, KIND)
    path = folder / ITEMS
    frame = read_parquet(path, item_schema())
    if file_digest(path) != manifest.files.get(ITEMS, {}).get("sha256"):
        raise InputError("the file has changed since the sheet was made", file=path, remedy="Make the sheet again")
    items = [Item(q, d, tuple(sources), part) for q, d, sources, part in frame.iter_rows()]
    return Sheet(
        folder, items, manifest.params["scale"], manifest.params["benchmark"], manifest.digest, manifest.counts
    )


def write_csv(
    benchmark: Benchmark,
    queries: Mapping[str, Query],
    items: Sequence[Item],
    path: Path,
    extra: Mapping[str, Sequence[str]] | None = None,
    *,
    near: Mapping[str, Sequence[Condition]] | None = None,
) -> None:
    """Write items as a sheet with empty grades.

    Args:
        benchmark: that the items are of.
        queries: by id.
        items: in order.
        path: where to.
        extra: further columns, a cell for each item.
        near: query -> its conditions as the tolerance widens them, where there is one.
    """
    told = texts(benchmark, items)
    extra = extra or {}
    rows = []
    for number, item in enumerate(items):
        asked = queries[item.query_id]
        title, text = told[item.doc_id]
        wanted = "; ".join(conditions(asked, (near or {}).get(item.query_id, ())))
        cells = [item.query_id, one_line(asked.text), wanted, item.doc_id, one_line(title), one_line(text)]
        rows.append([*cells, "", "", *(cells[number] for cells in extra.values())])
    write_sheet(path, [*COLUMNS, *extra], rows)


def _items(
    benchmark: Benchmark,
    queries: Sequence[Query],
    wanted: Mapping[str, tuple[Condition, ...]],
    runs: Mapping[str, pl.DataFrame],
    expansions: Expansions,
    options: SheetOptions,
    progress: Progress,
) -> tuple[list[Item], int]:
    found, left = look_up(benchmark, wanted, expansions.lookup, options.most, options.seed, progress)
    pool = pooled(runs, benchmark, options.depth)
    items = gather(queries, found, pool, annotators=options.annotators, shared=options.shared, seed=options.seed)
    return items, left


def _counts(queries: Sequence[Query], items: Sequence[Item], left: int, annotators: int) -> dict[str, Any]:
    asked = {item.query_id for item in items}
    sources: dict[str, int] = {}
    for item in items:
        for source in item.sources:
            sources[source] = sources.get(source, 0) + 1
    counts: dict[str, Any] = {
        "queries": len(asked),
        "queries_without_a_candidate": len(queries) - len(asked),
        "items": len(items),
        "items_by_source": dict(sorted(sources.items())),
        "looked_up_and_left_out": left,
    }
    if annotators > 1:
        counts["queries_for_all_annotators"] = len({item.query_id for item in items if not item.part})
        counts["items_by_sheet"] = {
            f"sheet-{part}": sum(item.part in (0, part) for item in items) for part in range(1, annotators + 1)
        }
    return counts


def _write_items(items: Sequence[Item], path: Path) -> None:
    import polars as pl

    rows = [(item.query_id, item.doc_id, list(item.sources), item.part) for item in items]
    pl.DataFrame(rows, schema=item_schema(), orient="row").write_parquet(path, compression="zstd")


def _run_digest(run: pl.DataFrame) -> str:
    return digest(run.select("query_id", "doc_id", "rank").rows())


def _edited(folder: Path) -> list[str]:
    """The files of a sheet that are no longer as they were written."""
    files = read_manifest(folder).files
    return [
        name
        for name, seen in files.items()
        if (folder / name).is_file() and file_digest(folder / name) != seen["sha256"]
    ]


def _is(folder: Path, key: str) -> bool:
    """Whether a sheet of this key is there, whole or not."""
    return (folder / MANIFEST).is_file() and read_manifest(folder).digest == key


def _refuse_filled(folder: Path) -> None:
    """Refuse to write over judgments, whatever else is allowed."""
    if not (folder / MANIFEST).is_file() or read_manifest(folder).kind != KIND:
        return
    edited = _edited(folder)
    if edited:
        remedy = "Move it elsewhere: `qbench annotate import` reads it from anywhere"
        raise OptionError("this file may hold judgments", file=folder / edited[0], remedy=remedy)
