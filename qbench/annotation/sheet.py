"""The sheets that annotators fill in, as an artefact: what is judged, a CSV file and a page for each annotator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from qbench import keys
from qbench.annotation.form import Item, write_csv
from qbench.annotation.options import Scale, SheetOptions
from qbench.annotation.page import page, read_guideline
from qbench.annotation.pooling import choose, gather, look_up, pooled, with_conditions
from qbench.annotation.query_form import QueryForm, with_tolerance
from qbench.annotation.sheet_files import GUIDELINE, ITEMS, edited, read_items, refuse_filled, write_items
from qbench.artefacts import require_entries
from qbench.benchmark.benchmark import Benchmark, benchmark_key
from qbench.benchmark.relax import Tolerances, unit_families, widened
from qbench.benchmark.types import Query
from qbench.errors import InputError, OptionError
from qbench.generation.expansions import Expansions
from qbench.progress import Progress, silent
from qbench.quantities.types import Condition
from qbench.store import MANIFEST, digest, drafting, finished, read_manifest, refuse_foreign, write_text

KIND = "sheet"


@dataclass(frozen=True)
class Sheet:
    """Sheets on disk.

    Attributes:
        folder: of the sheets.
        items: what is judged, in order.
        scale: of the grades.
        source: key of the benchmark.
        digest: of this sheet.
        counts: sizes of the sheet, and what was left out.
    """

    folder: Path
    items: list[Item]
    scale: Scale
    source: str
    digest: str
    counts: dict[str, Any]


def export_sheet(
    benchmark: Benchmark,
    output: str | Path,
    options: SheetOptions | None = None,
    *,
    runs: Mapping[str, pl.DataFrame] | None = None,
    expansions: Expansions | None = None,
    guideline: Path | None = None,
    command: str | None = None,
    overwrite: bool = False,
    progress: Progress = silent,
) -> Sheet:
    """Write the sheets of a benchmark: for each query the documents that the index and the runs propose, shuffled.

    Args:
        benchmark: its queries are judged.
        output: the folder to write.
        options: of the sheets.
        runs: name -> `run_schema`; their first documents are candidates too.
        expansions: synonyms of concepts.
        guideline: file of instructions for annotators; None for the default guideline.
        command: the command line, for the manifest.
        overwrite: replace a sheet made from something else, unless it has been filled in.
        progress: receives the number of queries looked up, then of sheets written.

    Raises:
        OptionError: nothing can propose documents, or `output` holds something else or a sheet that has been filled in.
        InputError: a run is of another benchmark, the guideline cannot be read, or no query has a candidate.
        BusyError: another process is writing there.
    """
    options, runs, expansions = options or SheetOptions(), runs or {}, expansions or Expansions()
    output = Path(output)
    if benchmark.quantities is None and not runs:
        remedy = "Give runs, or import it with --quantities ours"
        raise OptionError("this benchmark has no quantities to look up, and no run is given", remedy=remedy)
    instructions = with_tolerance(read_guideline(guideline), options.tolerance, options.scale)
    key = keys.key(
        "annotation sheet",
        benchmark=benchmark_key(benchmark),
        options=asdict(options),
        runs={name: _run_digest(run) for name, run in runs.items()},
        expansions=expansions.pairs(),
        guideline=instructions,
    )
    if finished(output, KIND, key) and not edited(output):
        return open_sheet(output)
    refuse_filled(output, KIND)
    refuse_foreign(output, KIND, overwrite=overwrite or _has_key(output, key))
    queries = choose(benchmark, options.split, options.number, options.queries, options.seed)
    queries = with_conditions(benchmark, queries)
    tolerances, families = Tolerances(options.tolerance), unit_families(benchmark)
    near = {query.query_id: widened(query, tolerances, families) for query in queries}
    items, dropped = _items(benchmark, queries, near, runs, expansions, options, progress)
    if not items:
        raise InputError("no query has a candidate", value=benchmark.name, remedy="Give runs, or expansions")
    params = {
        "command": command,
        "benchmark": benchmark_key(benchmark),
        "runs": sorted(runs),
        **{name: value for name, value in asdict(options).items() if name != "queries"},
    }
    with drafting(output, KIND, key, params, overwrite=overwrite) as draft:
        if draft is None:
            return open_sheet(output)
        write_items(items, draft.folder / ITEMS)
        write_text(draft.folder / GUIDELINE, instructions)
        form = QueryForm(benchmark, items, key=key, scale=options.scale, queries=queries, near=near)
        _write_sheets(draft.folder, form, items, instructions, options.annotators, progress)
        draft.counts = _counts(queries, items, dropped, options.annotators)
    return open_sheet(output)


def _write_sheets(
    folder: Path, form: QueryForm, items: Sequence[Item], instructions: str, annotators: int, progress: Progress
) -> None:
    """The table and the page of each annotator."""
    for number in range(1, annotators + 1):
        own = [item for item in items if item.sheet in (0, number)]
        name = "sheet" if annotators == 1 else f"sheet-{number}"
        write_csv(form, own, folder / f"{name}.csv")
        write_text(folder / f"{name}.html", page(form, own, instructions, name=name))
        progress(number, annotators, "sheets")


def open_sheet(folder: str | Path) -> Sheet:
    """Open what `export_sheet` wrote.

    Raises:
        InputError: the folder is no finished sheet, or its table of items is damaged.
    """
    folder = Path(folder)
    manifest = read_manifest(folder, KIND)
    require_entries(folder, manifest, "params", {"scale": str, "benchmark": str})
    return Sheet(
        folder,
        read_items(folder, manifest),
        manifest.params["scale"],
        manifest.params["benchmark"],
        manifest.digest,
        manifest.counts,
    )


def _items(
    benchmark: Benchmark,
    queries: Sequence[Query],
    wanted: Mapping[str, tuple[Condition, ...]],
    runs: Mapping[str, pl.DataFrame],
    expansions: Expansions,
    options: SheetOptions,
    progress: Progress,
) -> tuple[list[Item], int]:
    looked_up, dropped = look_up(benchmark, wanted, expansions.lookup, options.most, options.seed, progress)
    pool = pooled(runs, benchmark, options.depth)
    items = gather(queries, looked_up, pool, annotators=options.annotators, shared=options.shared, seed=options.seed)
    return items, dropped


def _counts(queries: Sequence[Query], items: Sequence[Item], dropped: int, annotators: int) -> dict[str, Any]:
    with_candidates = {item.query_id for item in items}
    sources = Counter(source for item in items for source in item.sources)
    counts: dict[str, Any] = {
        "queries": len(with_candidates),
        "queries_without_a_candidate": len(queries) - len(with_candidates),
        "items": len(items),
        "items_by_source": dict(sorted(sources.items())),
        "looked_up_and_left_out": dropped,
    }
    if annotators > 1:
        counts["queries_for_all_annotators"] = len({item.query_id for item in items if not item.sheet})
        counts["items_by_sheet"] = {
            f"sheet-{number}": sum(item.sheet in (0, number) for item in items) for number in range(1, annotators + 1)
        }
    return counts


def _run_digest(run: pl.DataFrame) -> str:
    return digest(run.select("query_id", "doc_id", "rank").rows())


def _has_key(folder: Path, key: str) -> bool:
    """Whether the folder holds a sheet of this key, complete or not."""
    return (folder / MANIFEST).is_file() and read_manifest(folder).digest == key
