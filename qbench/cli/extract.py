"""`qbench extract`: look at what the extractor makes of a text."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from qbench.quantities.extractors import Extractor

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def extract(
    text: Annotated[str, typer.Argument(help="A text, a file with one text a line, or - for standard input.")],
    extractor: Annotated[str, typer.Option(help="Extractor by name: rules or quantulum3.")] = "rules",
    output_format: Annotated[
        str, typer.Option("--format", help="table, or jsonl: one object for each text.")
    ] = "table",
    years: Annotated[bool, typer.Option("--years/--no-years", help="Report calendar years too.")] = False,
    units: Annotated[Path | None, typer.Option(help="A file with units of your own.")] = None,
    query: Annotated[
        bool, typer.Option("--query", help="Read each text as a query: search words and conditions.")
    ] = False,
) -> None:
    """Print the quantities of each text: value, unit, bound, concept.

    Example: qbench extract "revenue rose 5% to $3.5 million"
    """
    from qbench.errors import OptionError
    from qbench.quantities.extractors import ExtractorOptions, get_extractor

    if output_format not in ("table", "jsonl"):
        raise OptionError("unknown format", value=output_format, remedy="Use table or jsonl")
    engine = get_extractor(ExtractorOptions(extractor, years=years, units_file=units))
    for line in _texts(text):
        record = _query_record(line, engine) if query else _record(line, engine)
        if output_format == "jsonl":
            typer.echo(json.dumps(record, ensure_ascii=False))
        else:
            _print_table(record)


def _texts(source: str) -> Iterator[str]:
    if source == "-":
        yield from (line.rstrip("\r\n") for line in sys.stdin)
    elif len(source) < 1024 and "\n" not in source and (Path(source).is_file() or _looks_like_a_path(source)):
        yield from _lines(Path(source))
    else:
        yield source


def _looks_like_a_path(source: str) -> bool:
    return " " not in source and source.endswith((".txt", ".md", ".csv", ".tsv", ".jsonl"))


def _lines(path: Path) -> Iterator[str]:
    from qbench.errors import InputError

    number = 0
    if not path.is_file():
        raise InputError("no such file", file=path, remedy="Give a text, a file with one text a line, or -")
    try:
        with path.open(encoding="utf-8") as stream:
            for number, line in enumerate(stream, start=1):  # noqa: B007 - the number is for the error
                yield line.rstrip("\r\n")
    except UnicodeDecodeError as fault:
        raise InputError(f"not UTF-8: {fault.reason}", file=path, line=number + 1) from None


def _record(text: str, engine: Extractor) -> dict[str, Any]:
    return {
        "text": text,
        "quantities": [
            {
                "value": q.value if q.value == q.high else [q.value, q.high],
                "unit": q.unit,
                "family": q.family,
                "change": {"<=": "<", ">=": ">", "between": "="}.get(q.bound, q.bound),
                "bound": q.bound,
                "concept": list(q.concept),
                "digits": q.digits,
                "span": [q.value_span[0], q.value_span[1]],
                "unit_span": q.unit_span,
                "bound_span": q.bound_span,
                "concept_spans": q.concept_spans,
            }
            for q in engine.extract(text)
        ],
    }


def _query_record(text: str, engine: Extractor) -> dict[str, Any]:
    from qbench.quantities.queries import parse_query

    parsed = parse_query(text, engine)
    return {"text": text, "terms": parsed.terms, "conditions": [c.to_dict() for c in parsed.conditions]}


def _print_table(record: dict[str, Any]) -> None:
    from rich.markup import escape
    from rich.table import Table

    from qbench.cli.console import out

    is_query = "conditions" in record
    rows = record["conditions" if is_query else "quantities"]
    table = Table(title=escape(record["text"]), title_justify="left", box=None, header_style="bold", pad_edge=False)
    for heading in ("comparator" if is_query else "bound", "value", "unit", "concept", "as written"):
        table.add_column(heading, overflow="fold")
    for row in rows:
        ends = (
            (row["value"], row["high"])
            if is_query
            else (row["value"] if isinstance(row["value"], list) else [row["value"]])
        )
        value = " .. ".join(f"{x:,.10g}" for x in dict.fromkeys(ends))
        concept = row["concept"] if is_query else " ".join(row["concept"])
        written = row["value_text"] if is_query else record["text"][slice(*row["span"])]
        table.add_row(row["comparator" if is_query else "bound"], value, row["unit"], escape(concept), escape(written))
    console = out()
    console.print(table)
    if is_query:
        console.print(f"search words: {record['terms']}", markup=False)
    elif not rows:
        console.print("no quantities", markup=False)
