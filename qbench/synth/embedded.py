"""The default benchmark, which qbench makes itself from a table of invented facts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from qbench.generation.generate import generate
from qbench.generation.options import GenerationOptions
from qbench.index.build import build_index
from qbench.progress import Progress, silent
from qbench.quantities.extractors import ExtractorOptions
from qbench.store import write_text
from qbench.synth.dice import Dice
from qbench.synth.make import synthesize
from qbench.toml_files import read_toml

DATA = Path(__file__).parent / "data"
WORLD, MAPPING = DATA / "world.toml", DATA / "mapping.toml"

SEED = 13
SENTENCES_PER_ROW = 4
FILLED = 0.9
"""Share of the cells that hold a value; the others are missing, as in any table."""


def embedded_benchmark(folder: str | Path, progress: Progress = silent) -> Path:
    """Make the default benchmark: facts -> corpus -> index -> queries and labels, each a folder of its own.

    What is finished is not made again.

    Args:
        folder: gets facts.jsonl and the artefacts corpus, index and benchmark.
        progress: called after each step.

    Returns:
        the benchmark's folder.

    Raises:
        OptionError: one of the folders holds something else.
        BusyError: another process is writing there.
    """
    folder = Path(folder)
    table = folder / "facts.jsonl"
    write_text(table, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in invented_facts()))
    corpus = synthesize(
        table,
        folder / "corpus",
        mapping=MAPPING,
        seed=SEED,
        sentences_per_row=SENTENCES_PER_ROW,
        overwrite=True,
        progress=progress,
    )
    index = build_index(
        corpus,
        folder / "index",
        extractor=ExtractorOptions(name="given"),
        workers=1,
        overwrite=True,
        progress=progress,
    )
    options = GenerationOptions(
        seed=SEED, max_train=500, max_dev=100, max_test=300, expansions=corpus / "expansions.tsv"
    )
    return generate(index, folder / "embedded", options, overwrite=True, progress=progress)


def invented_facts(seed: int = SEED) -> list[dict[str, Any]]:
    """The rows of the invented table: name, kind, broader kind, maker, and the values of the kind's columns."""
    world = read_toml(WORLD, "facts", dict[str, Any])
    rows: list[dict[str, Any]] = []
    used: set[str] = set()
    for kind in world["kinds"]:
        for number in range(world["rows"]):
            dice = Dice(seed, "invented facts", f"{kind['kind']} {number}")
            row = {
                "name": _name(world["names"], kind["last"], used, dice),
                "kind": kind["kind"],
                "broader": kind["broader"],
                "maker": dice.choice(kind["makers"]),
            }
            values = {column: _value(scale, dice) for column, scale in kind["values"].items() if dice.chance(FILLED)}
            rows.append({**row, **values})
    return rows


def _name(names: dict[str, Any], last: str, used: set[str], dice: Dice) -> str:
    while True:
        name: str = dice.choice(names["starts"]) + dice.choice(names["ends"]) + dice.choice(names["last"][last])
        if name not in used:
            used.add(name)
            return name


def _value(scale: tuple[float, float, float], dice: Dice) -> float:
    """A value between the ends, the middle more likely than the ends, a whole number of steps."""
    low, high, step = scale
    share = (dice.roll() + dice.roll()) / 2
    decimals = len(f"{step:g}".partition(".")[2])
    value = round(low + round((high - low) * share / step) * step, decimals)
    return int(value) if decimals == 0 else value
