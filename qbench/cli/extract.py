"""`qbench extract`: the quantities of a text."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Literal

import typer

from qbench.cli.from_options import command
from qbench.quantities.extractors import ExtractorOptions

if TYPE_CHECKING:
    from qbench.quantities.extractors import Extractor
    from qbench.quantities.types import Quantity

app = typer.Typer(add_completion=False, rich_markup_mode=None)


BATCH = 256
"""Lines of a file that are read together: the parser works faster on many sentences at once."""


@command(app, "extract")
def extract(
    text: Annotated[str, typer.Argument(help="A text, a file with one text per line, or - for standard input.")],
    extractor: ExtractorOptions,
    output_format: Annotated[
        Literal["table", "jsonl"], typer.Option("--format", help="table, or jsonl: one object per text.")
    ] = "table",
    query: Annotated[
        bool, typer.Option("--query", help="Read each text as a query: search words and conditions.")
    ] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show the rules that made each mention.")] = False,
) -> None:
    """Print the quantities of each text: value, unit, comparator, concept.

    Example: qbench extract "revenue rose 5% to $3.5 million"
    """
    from qbench.errors import OptionError
    from qbench.quantities.extractors import get_extractor

    if query and explain:
        raise OptionError("--explain is about the mentions of a text", remedy="Leave out --query, or --explain")
    engine = get_extractor(extractor)
    for lines in _batches(_texts(text), 1 if text == "-" and sys.stdin.isatty() else BATCH):
        for record in [_query_record(line, engine) for line in lines] if query else _records(lines, engine, explain):
            if output_format == "jsonl":
                typer.echo(json.dumps(record, ensure_ascii=False))
            else:
                _print_table(record)


def _batches(lines: Iterator[str], size: int) -> Iterator[list[str]]:
    while batch := list(islice(lines, size)):
        yield batch


def _texts(source: str) -> Iterator[str]:
    if source == "-":
        yield from _lines(sys.stdin.buffer, "standard input")
    elif len(source) < 1024 and "\n" not in source and (Path(source).exists() or _looks_like_a_path(source)):
        yield from _file(Path(source))
    else:
        yield source


def _looks_like_a_path(source: str) -> bool:
    ends = source.lower().endswith((".txt", ".md", ".csv", ".tsv", ".json", ".jsonl", ".gz"))
    return " " not in source and (ends or source.startswith(("./", "../", "/", "~/")))


def _file(path: Path) -> Iterator[str]:
    from qbench.errors import InputError

    if path.is_dir() or not path.exists():
        fault = "a folder" if path.is_dir() else "no such file"
        raise InputError(fault, file=path, remedy="Give a text, a file with one text per line, or -")
    with path.open("rb") as stream:
        yield from _lines(stream, str(path))


def _lines(stream: BinaryIO, name: str) -> Iterator[str]:
    from qbench.errors import InputError

    for number, raw in enumerate(stream, start=1):
        try:
            # A byte order mark is no part of the first text.
            yield raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
        except UnicodeDecodeError as fault:
            remedy = "Decompress the file" if raw[:2] == b"\x1f\x8b" else "Convert the file to UTF-8, as with iconv"
            raise InputError(f"not UTF-8: {fault.reason}", file=name, line=number, remedy=remedy) from None


def _records(texts: list[str], engine: Extractor, explain: bool) -> Iterator[dict[str, Any]]:
    for text, mentions in zip(texts, engine.explain_many(texts), strict=True):
        yield {"text": text, "quantities": [_mention(q, how if explain else None) for q, how in mentions]}


def _mention(q: Quantity, how: tuple[str, ...] | None) -> dict[str, Any]:
    from qbench.quantities.types import change_symbol

    return {
        "value": _value(q),
        "unit": q.unit,
        "family": q.family,
        "change": change_symbol(q),
        "bound": q.comparator,
        "direction": q.change,
        "concept": [*q.concept, *q.subject],
        "subject": list(q.subject),
        "digits": q.digits,
        "span": q.value_span,
        "unit_span": q.unit_span,
        "bound_span": q.comparator_span,
        "concept_spans": q.concept_spans,
        **({} if how is None else {"rules": how}),
    }


def _value(quantity: Quantity) -> float | list[float]:
    if quantity.value == quantity.high:
        return quantity.value
    ends = [quantity.value, quantity.high]
    return ends[::-1] if quantity.falling else ends


def _query_record(text: str, engine: Extractor) -> dict[str, Any]:

    parsed = engine.parse_query(text)
    return {"text": text, "terms": parsed.terms, "conditions": [c.to_dict() for c in parsed.conditions]}


def _print_table(record: dict[str, Any]) -> None:
    from rich.markup import escape
    from rich.table import Table

    from qbench.cli.console import out

    is_query = "conditions" in record
    rows = record["conditions" if is_query else "quantities"]
    explained = not is_query and any("rules" in row for row in rows)
    table = Table(title=escape(record["text"]), title_justify="left", box=None, header_style="bold", pad_edge=False)
    headings = ["comparator", "value", "unit", "concept", "as written", *(["rules"] if explained else [])]
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        cells = _query_cells(row) if is_query else _mention_cells(row, record["text"])
        table.add_row(*map(escape, cells), *([escape(", ".join(row["rules"]))] if explained else []))
    console = out()
    console.print(table)
    if is_query:
        console.print(f"search words: {record['terms']}", markup=False)
    elif not rows:
        console.print("no quantities", markup=False)


def _query_cells(row: dict[str, Any]) -> list[str]:
    return [row["comparator"], _number([row["value"], row["high"]]), row["unit"], row["concept"], row["value_text"]]


def _mention_cells(row: dict[str, Any], text: str) -> list[str]:
    ends = row["value"] if isinstance(row["value"], list) else [row["value"]]
    moved = row["change"] if row["change"] in ("up", "down") else ""
    comparator = " ".join(filter(None, (moved, "" if moved and row["bound"] == "=" else row["bound"])))
    return [comparator, _number(ends), row["unit"], " ".join(row["concept"]), text[slice(*row["span"])]]


def _number(ends: list[float]) -> str:
    return " .. ".join(f"{x:,.10g}" for x in dict.fromkeys(ends))
