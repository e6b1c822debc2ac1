"""`qbench extract`: the quantities of a text."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Literal

import typer

from qbench.cli.from_options import command
from qbench.cli.records import FORMAT_HELP, print_records
from qbench.corpora.types import OnError, Problems, ReadOptions
from qbench.quantities.extractors import ExtractorOptions

if TYPE_CHECKING:
    from qbench.errors import InputError
    from qbench.quantities.extractors import Extractor
    from qbench.quantities.types import Quantity

app = typer.Typer(add_completion=False, rich_markup_mode=None)


BATCH = 256
"""Lines of a file that are read together: the parser works faster on many sentences at once."""
_REMEDY = "Give a text, a file with one text per line, or -"
NAMED_LINES = 20
"""Lines left out whose numbers are shown; more are only counted."""


@command(app, "extract", without=("id_field", "text_fields", "title_field"))
def extract(
    texts: Annotated[
        list[str],
        typer.Argument(metavar="TEXT...", help="Texts, files with one text per line, or - for standard input."),
    ],
    extractor: ExtractorOptions,
    reading: ReadOptions,
    output_format: Annotated[
        Literal["text", "table", "json", "jsonl", "csv"],
        typer.Option("--format", help=f"{FORMAT_HELP} JSON has an object per text, CSV a row per quantity."),
    ] = "text",
    query: Annotated[
        bool, typer.Option("--query", help="Read each text as a query: search words and conditions.")
    ] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show the rules that made each mention.")] = False,
    on_error: Annotated[
        OnError,
        typer.Option(help="Lines in none of the encodings: skip omits and counts them, fail stops at the first."),
    ] = "fail",
) -> None:
    """Print the quantities of each text: value, unit, comparator, concept.

    Example: qbench extract "revenue rose 5% to $3.5 million"
    """
    from qbench.cli import console
    from qbench.errors import OptionError
    from qbench.quantities.extractors import get_extractor
    from qbench.quantities.languages import not_read, readers
    from qbench.quantities.scripts import unread

    if query and explain:
        raise OptionError("--explain is about the mentions of a text", remedy="Leave out --query, or --explain")
    engine = get_extractor(extractor)
    rows: list[dict[str, Any]] = []
    others: Counter[str] = Counter()
    known = {script for package in readers(extractor.language, extractor.name).values() for script in package.SCRIPTS}
    for text in texts:
        source = _Source(text, on_error, reading.encodings)
        for lines in _batches(source.texts(), 1 if text == "-" and sys.stdin.isatty() else BATCH):
            others.update(unread(lines, known))
            queries = [_query_record(line, engine) for line in lines] if query else None
            for record in _records(lines, engine, explain) if queries is None else queries:
                if output_format == "jsonl":
                    console.print_json(record)
                elif output_format in ("json", "csv"):
                    rows += [record] if output_format == "json" else _flat(record)
                else:
                    _print_table(record)
        source.report()
    if output_format in ("json", "csv"):
        print_records(rows, "csv" if output_format == "csv" else "json")
    if others:
        console.note(not_read(dict(others.most_common()), extractor.language, extractor.name, "texts"))


def _flat(record: dict[str, Any]) -> list[dict[str, Any]]:
    """A row for each quantity or condition of a text, with the text."""
    return [{"text": record["text"], **row} for row in record.get("quantities", record.get("conditions", ()))]


def _batches(lines: Iterator[str], size: int) -> Iterator[list[str]]:
    """Lists of lines; those before a line that cannot be read come before its error."""
    from qbench.errors import InputError

    fault: InputError | None = None
    while fault is None:
        batch: list[str] = []
        try:
            batch.extend(islice(lines, size))  # keeps what came before an error
        except InputError as error:
            fault = error
        if not batch and fault is None:
            return
        yield batch
    raise fault


class _Source:
    """Where the texts come from: the argument itself, a file or standard input; and which lines were left out.

    Args:
        argument: the text, the name of a file, or "-".
        on_error: what is done with lines in none of the encodings.
        encodings: which are tried in turn.
    """

    def __init__(self, argument: str, on_error: OnError, encodings: tuple[str, ...] = ("utf-8",)) -> None:
        self._argument = argument
        self._encodings = encodings
        self._wrong = "not UTF-8" if encodings == ("utf-8",) else f"not valid {' or '.join(encodings)}"
        self._name = "standard input" if argument == "-" else argument
        self._problems = Problems(on_error)
        self._left_out: list[int] = []

    def texts(self) -> Iterator[str]:
        """The texts in order.

        Raises:
            InputError: the text is empty; there is no such file; a line is in none of the encodings, and bad lines are
                fatal; or no line is in one.
        """
        from qbench.errors import InputError

        source = self._argument
        if not source.strip():
            raise InputError("the text is empty", remedy=_REMEDY)
        if source == "-":
            yield from self._lines(sys.stdin.buffer)
        elif "\n" not in source and (_exists(source) or _looks_like_a_path(source)):
            with _opened(Path(source)) as stream:
                yield from self._lines(stream)
        else:
            yield source

    def report(self) -> None:
        """Say on standard error which lines were left out."""
        from qbench.cli import console

        count = self._problems.total
        if not count:
            return
        numbers = ", ".join(f"{number:,}" for number in self._left_out)
        more = f" and {count - len(self._left_out):,} more" if count > len(self._left_out) else ""
        lines, which = f"{count + self._problems.used:,} lines", "line" if count == 1 else "lines"
        console.note(f"{self._name}: left out {count:,} of {lines}, {self._wrong}: {which} {numbers}{more}")

    def _lines(self, stream: BinaryIO) -> Iterator[str]:
        from qbench.corpora.streams import cut_lines, decode
        from qbench.errors import InputError

        remedy = "Name its encoding with --encoding (gbk, cp1252, ...)"
        for number, raw in cut_lines(stream, self._name, self._problems):
            line = decode(raw, self._encodings)
            if number == 1 and raw[:2] == b"\x1f\x8b":
                raise InputError("a compressed file", file=self._name, remedy="Decompress the file")
            if line is None:
                skipping = "; or leave such lines out with --on-error skip" if self._problems.on_error == "fail" else ""
                error = InputError(self._wrong, file=self._name, line=number, value=raw[:40], remedy=remedy + skipping)
                self._leave_out(number, error)
                continue
            self._problems.used += 1
            yield line
        if self._left_out and not self._problems.used:
            raise InputError(f"no line can be used: {self._wrong}", file=self._name, remedy=remedy)

    def _leave_out(self, number: int, error: InputError) -> None:
        self._problems.bad("bad encoding", error)
        if len(self._left_out) < NAMED_LINES:
            self._left_out.append(number)


def _exists(source: str) -> bool:
    try:
        return Path(source).exists()
    except (OSError, ValueError):
        return False  # a text too long to be a name


def _looks_like_a_path(source: str) -> bool:
    ends = source.lower().endswith((".txt", ".md", ".csv", ".tsv", ".json", ".jsonl", ".gz"))
    return " " not in source and (ends or source.startswith(("./", "../", "/", "~/")))


def _opened(path: Path) -> BinaryIO:
    from qbench.errors import InputError

    if path.is_dir() or not path.exists():
        fault = "a folder" if path.is_dir() else "no such file"
        raise InputError(fault, file=path, remedy=_REMEDY)
    return path.open("rb")


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
    return [quantity.value, quantity.high]


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
    comparator = _comparator(row["change"], row["comparator"])
    return [comparator, _number([row["value"], row["high"]]), row["unit"], row["concept"], row["value_text"]]


def _mention_cells(row: dict[str, Any], text: str) -> list[str]:
    ends = row["value"] if isinstance(row["value"], list) else [row["value"]]
    comparator = _comparator(row["direction"] if row["change"] in ("up", "down") else "", row["bound"])
    return [comparator, _number(ends), row["unit"], " ".join(row["concept"]), text[slice(*row["span"])]]


def _comparator(change: str, bound: str) -> str:
    return " ".join(filter(None, (change, "" if change and bound == "=" else bound)))


def _number(ends: list[float]) -> str:
    return " .. ".join(f"{x:,.10g}" for x in dict.fromkeys(ends))
