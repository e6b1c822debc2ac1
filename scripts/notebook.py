"""Execute docs/notebook.ipynb again: `python scripts/notebook.py`.

The cells are below. They run in order, in an empty folder, and what they print and show is kept, as in Jupyter.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).parent.parent / "docs" / "notebook.ipynb"

CELLS = """
# qbench in a notebook

From a table to a leaderboard, in the folder of this notebook, without a model and without the network.
---
import qbench

qbench.extract("The van carries at most 900 kg, costs about $31,500 and charges to 80 % in half an hour.")
---
Spans are highlighted; a mention is a `Quantity` with value, unit, comparator and concept. Several texts give a list:
---
for mentions in qbench.extract(["a range of 300 to 420 km", "sales fell by 5 %"]):
    print(mentions.text, "->", [(q.change, q.comparator, q.value, q.high, q.unit) for q in mentions])
---
## A corpus

Here it is made of a table of invented bicycles; `build_index` reads files of your own as well (JSON lines, CSV,
Parquet, text, folders).
---
import random

dice = random.Random(1)
columns = {
    "price": (900, 6000, "$"), "weight": (12, 42, "kg"), "range": (30, 160, "km"), "top speed": (20, 45, "km/h"),
    "battery capacity": (250, 900, "Wh"), "motor torque": (30, 95, "Nm"), "charging time": (2, 9, "hours"),
    "maximum load": (90, 250, "kg"), "wheel diameter": (16, 29, "inches"), "warranty": (12, 72, "months"),
    "frame height": (42, 62, "cm"), "brake disc diameter": (140, 220, "mm"), "assembly time": (15, 90, "minutes"),
    "delivery time": (2, 30, "days"),
}
systems = ["BM25", "QBM25", "BindBM25"]
with open("bikes.csv", "w") as file:
    print("name", "kind", *columns, sep=",", file=file)
    for number in range(100):
        kind = dice.choice(["city bike", "cargo bike", "folding bike", "mountain bike", "racing bike"])
        values = [f"{dice.randint(low, high)} {unit}" for low, high, unit in columns.values()]
        print(f"Velo {number:02d}", kind, *values, sep=",", file=file)

corpus = qbench.synthesize("bikes.csv", "corpus", sentences_per_row=4)
qbench.build_index(corpus, "index", workers=1)
qbench.open_index("index")
---
## A benchmark

Queries are generated from the index, and their labels are verified before they are written.
---
options = qbench.GenerationOptions(max_train=50, max_dev=20, max_test=80, per_topic=6)
qbench.generate("index", "bikes", options)
qbench.open_benchmark("bikes")
---
## A leaderboard

Every difference is tested; the sentence below the table says what holds.
---
board = qbench.run_leaderboard("bikes", systems, output="board", resamples=1000, workers=1)
board
---
The pairs behind it are a polars frame, and `to_html()` gives the page with charts, queries and documents:
---
board.pairs.filter(measure="nDCG@10").select("a", "b", "difference", "p_holm").head(3)
---
from pathlib import Path

again = qbench.run_leaderboard("bikes", systems, output="board", resamples=1000, workers=1, evidence=True)
Path("board.html").write_text(again.to_html())
again.verdict
---
Nothing was run again for the page: finished runs are reused. `qbench.publish` and `qbench.pull` bring a benchmark to
the hub and back ([how](how-to/publish.md)).
"""


def cells() -> Iterator[tuple[str, str]]:
    """The kind and the source of each cell: one that Python can read is code."""
    for source in CELLS.strip().split("\n---\n"):
        try:
            ast.parse(source)
        except SyntaxError:
            yield "markdown", source
        else:
            yield "markdown" if source.startswith("#") else "code", source


def executed(folder: Path) -> dict[str, Any]:
    """The notebook with the outputs of all cells, which run in a folder.

    Raises:
        Exception: whatever a cell raises.
    """
    names: dict[str, Any] = {"__name__": "__main__"}
    made = []
    number = 0
    with contextlib.chdir(folder):
        for place, (kind, source) in enumerate(cells()):
            cell: dict[str, Any] = {"cell_type": kind, "id": f"cell-{place}", "metadata": {}, "source": _lines(source)}
            if kind == "code":
                number += 1
                cell |= {"execution_count": number, "outputs": _run(source, names, number)}
            made.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def _run(source: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
    body = ast.parse(source).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    printed = io.StringIO()
    value = None
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), "<cell>", "exec"), names)  # noqa: S102  our own cells
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)  # noqa: S307
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": _lines(printed.getvalue())})
    if value is not None:
        shown = {"text/plain": _lines(_plain(repr(value)))}
        if hasattr(value, "_repr_html_"):
            shown["text/html"] = _lines(_plain(value._repr_html_()))
        outputs.append({"data": shown, "execution_count": number, "metadata": {}, "output_type": "execute_result"})
    return outputs


def _plain(text: str) -> str:
    """A representation without places of this machine in it."""
    return re.sub(r" object at 0x[0-9a-f]+", "", text).replace(str(Path.cwd()), ".")


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def main() -> None:
    """Write the executed notebook."""
    with tempfile.TemporaryDirectory() as folder:
        text = json.dumps(executed(Path(folder)), indent=1, ensure_ascii=False) + "\n"
    NOTEBOOK.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
