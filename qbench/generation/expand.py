"""An index -> other names of its concepts, by a chat model or from a table (*Numbers Matter* 3.3.2, B.5).

The result is one TSV file that `qbench gen-queries --expansions` reads; its comment lines say what made it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from qbench import keys
from qbench.benchmark.card import printable
from qbench.errors import InputError, OptionError
from qbench.generation.candidates import GENERAL, Judge, plain
from qbench.generation.expansions import Expansions, expansions_text, rows_digest
from qbench.generation.options import ExpansionOptions, GenerationOptions
from qbench.generation.pairs import usable_pairs
from qbench.generation.vocabulary import known_words
from qbench.index.disk import Index
from qbench.llm.asking import Asking, ask_until, forecast
from qbench.llm.chat_answers import texts_of
from qbench.llm.client import Estimate
from qbench.llm.prompts import Slots
from qbench.progress import Progress, silent
from qbench.quantities.extractors import get_extractor
from qbench.store import digest, file_digest, locked, read_text, write_text

UNITS_SHOWN = 3
SYNTH_TABLE = "expansions.tsv"
"""The table that `qbench synth` writes into a corpus."""


@dataclass(frozen=True)
class Wanted:
    """A concept that needs names, and the units of its numbers, the most frequent first."""

    concept: str
    units: tuple[str, ...]

    def slots(self, names: int) -> Slots:
        """For the prompt."""
        return {"concept": self.concept, "units": ", ".join(self.units), "count": str(names)}


@dataclass
class Expanded:
    """What expanding gave.

    Attributes:
        made: the record that the file holds.
        rejected: (concept, name, reason), in the order of the concepts.
        new: whether the file was written now; False where it was there already.
    """

    made: dict[str, Any]
    rejected: list[tuple[str, str, str]] = field(default_factory=list)
    new: bool = True


def wanted_concepts(index: Index, options: ExpansionOptions = ExpansionOptions()) -> list[Wanted]:
    """The concepts that need names, ordered.

    Raises:
        InputError: no concept of the index can be asked about, or the file names one that the index lacks.
    """
    table = index.pairs().select("concept", "unit", "sentences", "values").collect()
    pairs = usable_pairs(table, GenerationOptions(min_sentences=options.min_sentences))
    # A line that starts with # is a comment, so such a concept could not be written.
    usable = {" ".join(concept) for concept, _ in pairs if not concept[0].startswith("#")}
    if options.concepts is not None:
        usable = _listed(options.concepts, set(table["concept"].to_list()))
    rows = table.filter(pl.col("concept").is_in(sorted(usable))).sort(
        "concept", "sentences", "unit", descending=[False, True, False]
    )
    units: dict[str, list[str]] = {}
    weight: Counter[str] = Counter()
    for concept, unit, sentences in rows.select("concept", "unit", "sentences").iter_rows():
        units.setdefault(concept, []).append(unit or "plain number")
        weight[concept] += sentences
    chosen = sorted(units, key=lambda concept: (-weight[concept], concept))[: options.max_concepts]
    return [Wanted(concept, tuple(units[concept][:UNITS_SHOWN])) for concept in sorted(chosen)]


def _listed(path: Path, concepts: Iterable[str]) -> set[str]:
    """The concepts in a user's file, whatever their case: the first cell of each line."""
    known: dict[str, list[str]] = {}
    for concept in concepts:
        known.setdefault(concept.lower(), []).append(concept)
    found: set[str] = set()
    for number, line in enumerate(read_text(path, "concepts").splitlines(), start=1):
        concept = " ".join(line.split("\t")[0].lower().split())
        if not concept or line.startswith("#"):
            continue
        if concept not in known:
            remedy = "`qbench index show` lists the concepts of an index"
            raise InputError("the index has no such concept", file=path, line=number, value=concept, remedy=remedy)
        found.update(known[concept])
    if not found:
        raise InputError("no concept in this file", file=path, remedy="Write one a line")
    return found


def expand_concepts(
    index: Index,
    output: Path,
    asking: Asking,
    options: ExpansionOptions = ExpansionOptions(),
    *,
    command: str | None = None,
    overwrite: bool = False,
    progress: Progress = silent,
) -> Expanded:
    """Let a chat model name the concepts of an index, check the names, and write them.

    Args:
        index: its concepts are named.
        output: the TSV file; one that was made from the same with the same options is left as it is.
        asking: the model, the recording, the budget.
        options: which concepts, how many names.
        command: the command line, for the file's record.
        overwrite: replace another file, or one that was edited.
        progress: called with the number of answers.

    Raises:
        OptionError: the output holds something else.
        BusyError: another process is writing it.
        InputError, ServerError, BudgetError: as in `qbench.llm.asking.ask_until`; nothing is written then, and all
            answers are recorded.
    """
    key = keys.key("expansion", index=index.manifest.digest, asking=asking.key, **_key(options))
    with locked(output):  # two at once would both pay
        there = _there(output, key, overwrite)
        if there is not None and not there.get("without an answer"):
            return Expanded(there, new=False)
        return _asked(index, output, asking, options, {"by": "model", "key": key, "command": command}, progress)


def _asked(
    index: Index, output: Path, asking: Asking, options: ExpansionOptions, record: dict[str, Any], progress: Progress
) -> Expanded:
    """Ask, check, write."""
    wanted = wanted_concepts(index, options)
    most, shared = options.of_model
    judge = _judge(index, asking)
    names: dict[str, list[str]] = {}
    rejected: list[tuple[int, str, str]] = []

    def good(i: int, answer: Any, attempt: int) -> bool:
        texts, problems = texts_of(answer, asking.server.prompt.answer)
        kept, others = judge.judge(wanted[i].concept, texts, most)
        rejected.extend((i, name, reason) for name, reason in (*others, *problems))
        names[wanted[i].concept] = kept
        return bool(kept)

    heard = ask_until(asking, [one.slots(most) for one in wanted], good, progress)
    general = _too_general(names, shared)
    for i, one in enumerate(wanted):
        rejected += [(i, name, GENERAL) for name in names.get(one.concept, ()) if name in general]
    rows = _rows(wanted, names, general)
    made = {
        **record,
        **asking.key,
        "index": index.manifest.digest,
        **_counts(wanted, rows),
        **heard.counts,
        "rejected": dict(sorted(Counter(reason for _, _, reason in rejected).items())),
    }
    write_text(output, expansions_text(rows, made))
    told = sorted(rejected, key=lambda row: row[0])
    return Expanded(made, [(wanted[i].concept, name, reason) for i, name, reason in told])


def expansion_forecast(index: Index, asking: Asking, options: ExpansionOptions = ExpansionOptions()) -> Estimate:
    """What `expand_concepts` would ask that the recording does not know yet; errors as there."""
    most, _ = options.of_model
    return forecast(asking, [one.slots(most) for one in wanted_concepts(index, options)])


def expand_from_table(
    index: Index,
    output: Path,
    table: Path,
    options: ExpansionOptions = ExpansionOptions(),
    *,
    command: str | None = None,
    overwrite: bool = False,
) -> Expanded:
    """Take the names of an index' concepts from a table, without any model.

    Args:
        index: its concepts are named.
        output: the TSV file.
        table: concept, tab, name on each line (or JSON, as for `gen-queries`); or the folder of a corpus that
            `qbench synth` made, which holds one. Whoever wrote it answers for the names.
        options: which concepts, how many names.
        command: the command line, for the file's record.
        overwrite: replace another file, or one that was edited.

    Raises:
        InputError: the table cannot be read, or names no concept that is wanted.
        OptionError: the output holds something else.
    """
    source = table / SYNTH_TABLE if table.is_dir() else table
    if source.resolve() == output.resolve():
        raise OptionError("the table would be overwritten", file=output, remedy="Choose another output")
    given = Expansions.load(source)
    key = digest({"by": "table", "index": index.manifest.digest, "table": file_digest(source), **_key(options)})
    there = _there(output, key, overwrite)
    if there is not None:
        return Expanded(there, new=False)
    wanted = wanted_concepts(index, options)
    names = {one.concept: list(given.lookup(one.concept)) for one in wanted}
    kept = {concept: found[: options.names] for concept, found in names.items()}
    rejected = Counter({"beyond the number of names": sum(map(len, names.values())) - sum(map(len, kept.values()))})
    general = set() if options.shared is None else _too_general(kept, options.shared)
    rejected[GENERAL] = sum(name in general for found in kept.values() for name in found)
    rows = _rows(wanted, kept, general)
    if not rows:
        raise InputError(
            "the table names no concept of this index",
            file=source,
            value=next(iter(given.pairs()), None),
            remedy="Write the concepts as `qbench index show` does, or lower --min-sentences",
        )
    made = {
        "by": "table",
        "key": key,
        "command": command,
        "table": source.name,
        "table digest": file_digest(source),
        **({"from": {**given.made, "edited since": given.edited}} if given.made else {}),
        "index": index.manifest.digest,
        **_counts(wanted, rows),
        "rejected": dict(sorted((+rejected).items())),
    }
    write_text(output, expansions_text(rows, made))
    return Expanded(made)


def write_rejected(path: Path, rejected: Sequence[tuple[str, str, str]]) -> None:
    """Write concept, name and reason of everything that was rejected, as TSV; names cut to one short line."""
    lines = ["# concept, tab, what the model wrote, tab, why it is not used\n"]
    lines += [f"{concept}\t{printable(plain(name))[:80]}\t{reason}\n" for concept, name, reason in rejected]
    write_text(path, "".join(lines))


def _judge(index: Index, asking: Asking) -> Judge:

    extractor = get_extractor(index.extractor_options())
    return Judge(asking.server.prompt, known_words(index), lambda text: bool(extractor.parse_query(text).conditions))


def _key(options: ExpansionOptions) -> dict[str, Any]:

    listed = None if options.concepts is None else digest(read_text(options.concepts, "concepts"))
    return {
        "names": options.names,
        "min_sentences": options.min_sentences,
        "max_concepts": options.max_concepts,
        "concepts": listed,
        "shared": options.shared,
    }


def _there(output: Path, key: str, overwrite: bool) -> dict[str, Any] | None:
    """The record of a file that is there already and was made by the same; None where it has to be made."""
    if not output.exists():
        return None
    if output.is_dir():
        raise OptionError("a folder, and a file is needed", file=output, remedy="Choose a name such as names.tsv")
    try:
        found = Expansions.load(output)
    except InputError:
        found = Expansions()
    intact = bool(found.made) and not found.edited
    if intact and found.made.get("key") == key:
        return dict(found.made)
    if overwrite:
        return None
    if found.made and found.edited:
        what = "the output was edited since it was made"
    else:
        what = "the output was made from other input or with other options" if intact else "the output is another file"
    raise OptionError(what, file=output, remedy="Choose another file, or replace it with --overwrite")


def _too_general(names: Mapping[str, Sequence[str]], most: int) -> set[str]:
    counts = Counter(name for found in names.values() for name in found)
    return {name for name, count in counts.items() if count > most}


def _rows(wanted: Sequence[Wanted], names: Mapping[str, Sequence[str]], general: set[str]) -> list[tuple[str, str]]:
    """(concept, name) as they are read back: concepts that differ in case alone are one."""
    table: dict[str, list[str]] = {}
    for one in wanted:
        found = [name for name in names.get(one.concept, ()) if name not in general]
        table.setdefault(one.concept.lower(), []).extend(found)
    return Expansions(table).pairs()


def _counts(wanted: Sequence[Wanted], rows: Sequence[tuple[str, str]]) -> dict[str, Any]:
    return {
        "concepts": len(wanted),
        "concepts with names": len({concept for concept, _ in rows}),
        "names": len(rows),
        "rows": rows_digest(rows),
    }
