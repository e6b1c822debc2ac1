"""The rooms of the package and what each imports, read from the code: the drawing in docs/reference/rooms.md."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "qbench"

ORDER = """
errors extras lazy digests options locks swaps store keys artefacts toml_files work sheets randomness progress resources
pages licences ranges number_sets compiling llm models quantities corpora index benchmark generation synth grounding
scoring compression retrieval evaluation annotation mining training leaderboard publishing cli
""".split()
"""From the ground up; a room imports only rooms that stand before it."""

HEAD = """# Rooms

Which room imports which, read from the code by `scripts/reference_pages.py`. A row imports the columns that are
marked with an x. Rows and columns have one order, the ground first, so an import upwards would stand right of the
diagonal (`\\`). Imports inside functions and for type checkers count, too. There is none upwards, and no circle among
the modules (`tests/test_house.py`).
"""


def imported(path: Path) -> Iterator[str]:
    """The modules and names that a file imports, wherever it does."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)


def module_name(path: Path) -> str:
    """The dotted name of a file of the package."""
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")


def modules() -> dict[str, Path]:
    """All modules of the package."""
    return {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def graph() -> dict[str, set[str]]:
    """For each module the other modules that it imports."""
    known = modules()
    return {name: {other for other in imported(path) if other in known} - {name} for name, path in known.items()}


def circles(edges: dict[str, set[str]]) -> list[str]:
    """The modules that import themselves by way of others; none where there is no circle."""
    left = {name: set(others) for name, others in edges.items()}
    while True:
        wanted = {other for others in left.values() for other in others}
        ends = {name for name, others in left.items() if name not in wanted or not others}
        if not ends:
            return sorted(left)
        left = {name: others - ends for name, others in left.items() if name not in ends}


def room_of(module: str) -> str:
    """The room in which a module stands: a folder of the package, or a module beside the folders."""
    return module.split(".")[1] if "." in module else ""


def rooms() -> dict[str, set[str]]:
    """For each room the other rooms that it imports."""
    found: dict[str, set[str]] = {}
    for name, others in graph().items():
        found.setdefault(room_of(name), set()).update(room_of(other) for other in others)
    return {room: others - {room, ""} for room, others in found.items() if room and room != "__main__"}


def drawing() -> str:
    """The page."""
    edges = rooms()
    order = [room for room in ORDER if room in edges]
    width = max(map(len, order))
    lines = []
    for row, room in enumerate(order):
        marks = ["\\" if column == row else "x" if other in edges[room] else "." for column, other in enumerate(order)]
        lines.append(f"    {room:>{width}}  {' '.join(marks)}")
    counts = {room: sum(room_of(name) == room for name in modules()) for room in order}
    table = [f"| {room} | {counts[room]} | {', '.join(sorted(edges[room])) or '-'} |" for room in order]
    return "\n".join([HEAD, *lines, "", "| room | modules | imports |", "|---|---:|---|", *table, ""])
