"""`qbench benchmark`: check, import, export and show benchmarks."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from qbench.annotation.options import AuditOptions, ImportOptions
from qbench.cli.audit import AuditChatOptions
from qbench.cli.chat_options import ChatServerOptions
from qbench.cli.console import count_lines, note, out, progress
from qbench.cli.from_options import UNRECORDED, CommandLine, command
from qbench.cli.options import Language, Overwrite
from qbench.cli.records import FormatOption, print_records, print_table
from qbench.corpora.types import OnError
from qbench.quantities.languages import AUTO

if TYPE_CHECKING:
    from rich.text import Text

    from qbench.benchmark.benchmark import Benchmark
    from qbench.benchmark.examples import Example
    from qbench.benchmark.findings import Finding
    from qbench.benchmark.types import Query

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Check, audit, import, export and look into benchmarks.",
)


Target = Literal["beir", "trec", "sentence-transformers", "ir_datasets"]
Folder = Annotated[Path, typer.Argument(metavar="BENCH", help="A benchmark, or a BEIR folder as it is.")]
Qrels = Annotated[
    str | None, typer.Option(metavar="NAME", help="For a BEIR folder: which qrels/NAME.tsv to use, if it has several.")
]


@command(app, "benchmark check")
def check(
    bench: Folder,
    qrels: Qrels = None,
    output_format: FormatOption = "text",
) -> None:
    """Find duplicates, leaks between splits, dangling ids, labels that do not hold, queries without positives.

    Exit code 1 if there is an error, 0 if there are only warnings.

    Example: qbench benchmark check bench/
    """
    from qbench.benchmark.check import check as run_checks
    from qbench.benchmark.check import check_files
    from qbench.benchmark.disk import open_benchmark
    from qbench.store import MANIFEST

    findings = check_files(bench) if (bench / MANIFEST).is_file() else []
    if not findings:  # a benchmark whose tables were changed is not opened
        benchmark = open_benchmark(bench, qrels=qrels)
        with progress("checking") as advance:
            findings = run_checks(benchmark, progress=advance)
    if output_format != "text":
        print_records(map(asdict, findings), output_format)
    else:
        _print_findings(findings)
    if any(finding.severity == "error" for finding in findings):
        raise typer.Exit(1)


@command(app, "benchmark import")
def import_(
    layout: Annotated[Literal["beir", "quant"], typer.Argument(help="beir, or quant for FinQuant and MedQuant.")],
    folder: Annotated[Path, typer.Argument(help="The folder to read.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="BENCH", help="The benchmark folder to write.")],
    line: CommandLine,
    quantities: Annotated[
        Literal["given", "ours", "none"] | None,
        typer.Option(
            help="Store the quantities given with the data, ours, or none. [default: given for quant, else none]"
        ),
    ] = None,
    qrels: Qrels = None,
    on_error: Annotated[OnError, typer.Option(help="Stop at a bad row, or skip it and count it.")] = "fail",
    extractor: Annotated[str, typer.Option(help="For --quantities ours: the extractor.")] = "rules",
    model: Annotated[Path | None, typer.Option(help="For --extractor neural: the folder of its model.")] = None,
    language: Language = AUTO,
    licence: Annotated[str, typer.Option(help="The data's licence, for the card.")] = "unknown",
    overwrite: Overwrite = False,
    output_format: FormatOption = "text",
) -> None:
    """Import a benchmark from the layout of BEIR, FinQuant or MedQuant.

    Example: qbench benchmark import quant finquant/ -o bench/ --quantities given
    """
    from qbench.benchmark.disk import write_benchmark
    from qbench.benchmark.importers.beir import read_beir
    from qbench.benchmark.importers.finish import in_language, with_our_quantities, with_source
    from qbench.benchmark.importers.quant import read_quant
    from qbench.errors import OptionError
    from qbench.quantities.extractors import ExtractorOptions

    source = quantities or ("given" if layout == "quant" else "none")
    if layout == "beir" and source == "given":
        raise OptionError("a BEIR folder gives no quantities", value="given", remedy="Use --quantities ours or none")
    if layout == "quant" and qrels is not None:
        raise OptionError("--qrels is for BEIR folders", value=qrels)
    with progress("importing") as advance:
        if layout == "beir":
            benchmark = read_beir(folder, qrels=qrels, on_error=on_error)
        else:
            benchmark = read_quant(folder, given=source == "given", on_error=on_error, progress=advance)
        benchmark = in_language(with_source(benchmark, licence, line), language)
        if source == "ours":
            # Last: they are extracted on first use, so not at all if the benchmark exists already.
            options = ExtractorOptions(extractor, model=model)
            benchmark = with_our_quantities(benchmark, options, progress=advance)
        written = write_benchmark(benchmark, output, overwrite=overwrite)
    for message in written.params["notes"]:
        note(message)
    lines = count_lines(written.params["counts"])
    lines.append(f"{output}: {written.corpus.height:,} documents, {len(written.queries):,} queries")
    print_table(lines, [written.params["counts"]], output_format)


@command(app, "benchmark audit")
def audit(
    bench: Annotated[
        Path, typer.Argument(metavar="BENCH", help="A benchmark, a BEIR folder as it is, or mined pairs.")
    ],
    options: AuditOptions,
    reading: ImportOptions,
    chat: AuditChatOptions,
    server: ChatServerOptions,
    line: CommandLine,
    answers: Annotated[
        list[Path] | None,
        typer.Argument(metavar="ANSWERS", help="For each auditor the file saved by the page, or the CSV file."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="AUDIT", help="Folder of the sheet. [default: BENCH.audit]"),
        UNRECORDED,
    ] = None,
    qrels: Qrels = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a sheet of other labels; never one filled in."), UNRECORDED
    ] = False,
    output_format: FormatOption = "text",
) -> None:
    """Draw a sample of labels, have it read by a person or a model, and say how many of them are right.

    Without ANSWERS and --model it draws the sample and writes a page and a table to fill in; a table that is filled in
    is read. The figures go onto the card, and to the foot of leaderboards.

    Example: qbench benchmark audit bench/ anna.json
    """
    from qbench.cli.audit import Call, run_audit, subject_of

    folder = bench if bench.name not in ("", "..") else bench.resolve()
    call = Call(bench, answers or [], output or folder.with_name(f"{folder.name}.audit"), line, output_format)
    run_audit(call, subject_of(bench, qrels, options), options, reading, chat, server, overwrite=overwrite)


@command(app, "benchmark mask")
def mask(
    bench: Folder,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="MASKED", help="The benchmark folder to write.")],
    line: CommandLine,
    what: Annotated[Literal["values", "units"], typer.Option(help="Spans of the documents to mask.")] = "values",
    sign: Annotated[str, typer.Option("--mask", help="Text of the mask; [MASK] is that of BERT.")] = "[MASK]",
    overwrite: Overwrite = False,
    output_format: FormatOption = "text",
) -> None:
    """Make a benchmark whose documents have their values or units masked, to see what a retriever relies on.

    Queries and judgments stay; compare a system's figures with those on the original (Numbers Matter, C.4).

    Example: qbench benchmark mask bench/ --what units -o bench-without-units/
    """
    from qbench.benchmark.disk import open_benchmark, write_benchmark
    from qbench.benchmark.mask import mask_benchmark

    masked = mask_benchmark(open_benchmark(bench), what, mask=sign, command=line)
    result = write_benchmark(masked, output, overwrite=overwrite)
    count = result.params["counts"]["masked"]
    print_table([f"{count['spans']:,} {what} masked in {count['documents']:,} documents"], [count], output_format)
    note(f"Written to {output}")


@command(app, "benchmark relax")
def relax(
    bench: Folder,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="RELAXED", help="The benchmark folder to write.")],
    line: CommandLine,
    tolerance: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Tolerance of values, as a share of the value. [default: 0.01]"),
    ] = None,
    tolerances: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="TOML: default, and tables family and query of names and tolerances."),
    ] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Write the strict benchmark that BENCH was made from.")] = False,
    overwrite: Overwrite = False,
    output_format: FormatOption = "text",
) -> None:
    """Make a benchmark in which values near the one of the query count, by a grade of their own (DeepQuant, H).

    Grades 2 and 1 become 4 and 2; a document that is near, and not equal, gets 1. Only queries with "=" change.

    Example: qbench benchmark relax bench/ --tolerance 0.02 -o bench-relaxed/
    """
    from qbench.benchmark.disk import open_benchmark, write_benchmark
    from qbench.benchmark.relax import TOLERANCE, Tolerances, relax_benchmark, strict_benchmark
    from qbench.errors import OptionError

    benchmark = open_benchmark(bench)
    if undo:
        if tolerance is not None or tolerances is not None:
            raise OptionError("--undo takes no tolerance")
        write_benchmark(strict_benchmark(benchmark), output, overwrite=overwrite)
    else:
        if tolerances is None:
            rule = Tolerances(TOLERANCE if tolerance is None else tolerance)
        else:
            rule = Tolerances.load(tolerances, tolerance)
        result = write_benchmark(relax_benchmark(benchmark, rule, command=line), output, overwrite=overwrite)
        counts = result.params["counts"]["relaxed"]
        print_table(count_lines(counts), [counts], output_format)
    note(f"Written to {output}")


@command(app, "benchmark export")
def export(
    bench: Folder,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="A new or empty folder.")],
    target: Annotated[Target, typer.Option("--format", help="Format of the output.")] = "beir",
    qrels: Qrels = None,
    runs: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="For trec: write the runs that a leaderboard keeps here (its folder runs/)."
        ),
    ] = None,
) -> None:
    """Write a benchmark in a layout of other tools.

    beir: corpus, queries and judgments. trec: topics, judgments and runs. sentence-transformers: training triples.
    ir_datasets: documents, queries, judgments and document pairs. `qbench publish` writes Parquet for the hub.

    Example: qbench benchmark export bench/ --format trec -o out/
    """
    from qbench.benchmark import export as to
    from qbench.benchmark.disk import open_benchmark
    from qbench.errors import OptionError

    if target != "trec" and runs is not None:
        raise OptionError(f"the format {target} holds no runs", value=str(runs), remedy="Use --format trec")
    benchmark = open_benchmark(bench, qrels=qrels)
    if target == "trec":
        files = to.export_trec(benchmark, output, None if runs is None else to.stored_runs(runs, benchmark))
    else:
        write = {
            "beir": to.export_beir,
            "sentence-transformers": to.export_sentence_transformers,
            "ir_datasets": to.export_ir_datasets,
        }
        files = write[target](benchmark, output)
    for path in files:
        out().print(str(path), markup=False)


@command(app, "benchmark show")
def show(
    bench: Folder,
    query: Annotated[str | None, typer.Option(metavar="ID", help="Show this query only.")] = None,
    n: Annotated[int, typer.Option("--n", min=1, help="Number of queries, and of documents of each.")] = 5,
    qrels: Qrels = None,
    output_format: FormatOption = "text",
) -> None:
    """Show what is in a benchmark: counts, and some queries with conditions, positives and negatives.

    With --format the queries are printed, with their conditions.

    Example: qbench benchmark show bench/ --query q12 --n 10
    """
    from qbench.benchmark.card import spread, summary
    from qbench.benchmark.disk import open_benchmark
    from qbench.errors import UnknownNameError

    benchmark = open_benchmark(bench, qrels=qrels)
    if query is None:
        if output_format == "text":
            print_table(count_lines(summary(benchmark)), (), output_format)
        chosen = spread(benchmark.queries, n)
    else:
        chosen = [q for q in benchmark.queries if q.query_id == query]
        if not chosen:
            raise UnknownNameError("no such query", file=bench, value=query)
    if output_format != "text":
        print_records(map(asdict, chosen), output_format)
        return
    for shown in chosen:
        _print_query(benchmark, shown, n)


def _print_findings(findings: list[Finding]) -> None:
    from rich.text import Text

    from qbench.benchmark.card import printable

    styles = {"error": "bold red", "warning": "yellow", "skipped": "dim"}
    console = out()
    for finding in findings:
        line = Text(f"{finding.severity:8}", style=styles[finding.severity])
        line.append(f"{finding.where}: {finding.message} [{finding.rule}]", style="default not bold")
        console.print(line)
        for example in finding.examples:
            console.print(f"          {printable(example)}", markup=False, style="dim")
        if finding.count > len(finding.examples) > 0:
            console.print(f"          and {finding.count - len(finding.examples):,} more", style="dim")
    errors, warnings = (sum(f.severity == level for f in findings) for level in ("error", "warning"))
    console.print(f"errors: {errors:,}, warnings: {warnings:,}")


def _print_query(benchmark: Benchmark, query: Query, n: int) -> None:
    from rich.text import Text

    from qbench.benchmark.card import describe, printable
    from qbench.benchmark.examples import examples

    console = out()
    console.print()
    console.print(Text(f"{printable(query.query_id)}  {printable(query.text)}", style="bold"))
    origin = f", template {printable(query.template)}, seed {query.seed}" if query.template else ""
    topic = f", topic {printable(query.topic)}" if query.topic else ""
    console.print(f"  {query.split}, {query.kind}{topic}{origin}", markup=False)
    for condition in query.conditions:
        console.print(f"  asks for: {printable(describe(condition))}", markup=False)
    for sign, group in zip("+-", examples(benchmark, query, n), strict=True):
        for example in group:
            console.print(_example_line(sign, example, marks=("", "") if console.is_terminal else ("«", "»")))


def _example_line(sign: str, example: Example, marks: tuple[str, str]) -> Text:
    """One line; what it points at is coloured on a terminal, and between marks elsewhere."""
    from rich.text import Text

    from qbench.benchmark.card import printable

    line = Text(f"  {sign} {printable(example.name)} ({example.label}) ")
    at = 0
    for start, end in example.spans:
        if at <= start < end <= len(example.text):
            line.append(_keep_edges(example.text[at:start]))
            pointed = marks[0] + _keep_edges(example.text[start:end]) + marks[1]
            line.append(pointed, style="bold green" if sign == "+" else "bold red")
            at = end
    line.append(_keep_edges(example.text[at:]))
    return line


def _keep_edges(text: str) -> str:
    """`printable`, with the white space at both ends that separates the pieces of a line."""
    from qbench.benchmark.card import printable

    body = printable(text)
    left = " " if text[:1].isspace() else ""
    right = " " if body and text[-1:].isspace() else ""
    return left + body + right
