"""Tables for programs: every verb that prints a table has `--format`, and prints records instead."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

import typer

from qbench.cli.from_options import UNRECORDED

Format = Literal["text", "json", "jsonl", "csv"]
"""How a table is printed: for people, or as records: one array, an object per line, or comma-separated values."""

FORMAT_HELP = "text, for people; for programs json, jsonl (one object per line) or csv."

FormatOption = Annotated[Format, typer.Option("--format", help=FORMAT_HELP), UNRECORDED]


def print_table(lines: Iterable[str], records: Iterable[Mapping[str, Any]], how: Format) -> None:
    """Print a table on standard output.

    Args:
        lines: the table for people.
        records: the same for programs, as in `print_records`.
        how: which of both is printed.
    """
    from qbench.cli.console import out

    if how != "text":
        print_records(records, how)
        return
    console = out()
    for line in lines:
        console.print(line, markup=False, soft_wrap=True)


def print_records(records: Iterable[Mapping[str, Any]], how: Format) -> None:
    """Print records on standard output.

    Values that CSV has no place for (lists, objects) stand in it as JSON; what is missing is empty. Figures that are
    undefined are null.

    Args:
        records: the rows of a table.
        how: json, jsonl or csv.
    """
    from qbench.cli.console import print_json
    from qbench.errors import visible

    rows = [{name: _plain(value) for name, value in record.items()} for record in records]
    if how == "json":
        print_json(rows, indent=2)
    elif how == "jsonl":
        for row in rows:
            print_json(row)
    else:
        typer.echo(visible(_csv(rows)), nl=False)


def _csv(rows: Sequence[Mapping[str, Any]]) -> str:
    import csv
    import io

    columns = list(dict.fromkeys(name for row in rows for name in row))
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_cell(row.get(name)) for name in columns])
    return stream.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _plain(value: Any) -> Any:
    """A value of JSON."""
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return value if value is None or isinstance(value, (str, int)) else str(value)
