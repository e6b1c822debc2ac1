"""Other names of an index's concepts, by a chat model or from a table (*Numbers Matter* 3.3.2, B.5).

Writes a TSV file for `qbench gen-queries --expansions`, with its provenance in comment lines.
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
from qbench.generation.gate import usable_pairs
from qbench.generation.languages import answer_rules
from qbench.generation.mentions import load_mentions
from qbench.generation.options import ExpansionOptions, GenerationOptions
from qbench.generation.pairs import pair_table
from qbench.generation.vocabulary import known_words
from qbench.index.disk import Index
from qbench.llm.asking import Asking, ask_until, forecast
from qbench.llm.chat_answers import texts_of
from qbench.llm.client import Estimate
from qbench.llm.prompts import Slots
from qbench.locks import locked
from qbench.progress import Progress, silent
from qbench.quantities.extractors import get_extractor
from qbench.quantities.languages import ENGLISH
from qbench.store import digest, file_digest, read_text, write_text

UNITS_SHOWN = 3
SYNTH_TABLE = "expansions.tsv"
"""The table that `qbench synth` writes into a corpus."""


@dataclass(frozen=True)
class Wanted:
    """A concept to name, with the units of its numbers, most frequent first."""

    concept: str
    units: tuple[str, ...]

    def slots(self, names: int, language: str = ENGLISH) -> Slots:
        """The slots of the prompt."""
        units = ", ".join(map(answer_rules(language).unit_name, self.units))
        return {"concept": self.concept, "units": units, "count": str(names)}


@dataclass
class Expanded:
    """Result of an expansion.

    Attributes:
        provenance: the record in the file.
        rejected: (concept, name, reason), in the order of the concepts.
        new: whether the file was written by this call; False if it existed.
    """

    provenance: dict[str, Any]
    rejected: list[tuple[str, str, str]] = field(default_factory=list)
    new: bool = True


def wanted_concepts(index: Index, options: ExpansionOptions = ExpansionOptions()) -> list[Wanted]:
    """The concepts to name, ordered.

    Raises:
        InputError: no concept of the index can be asked about, or the file names one that the index lacks.
    """
    if options.concepts is not None:
        table = index.collected(index.pairs().select("concept", "unit", "sentences"))
        usable = _listed(options.concepts, set(table["concept"].to_list()))
    else:
        language = index.extractor_options().language
        sentences, quantities = index.collected(index.sentences()), index.collected(index.quantities())
        mentions = load_mentions(sentences, quantities, language, given=index.given)
        table = pair_table(mentions)
        pairs, _ = usable_pairs(mentions, GenerationOptions(min_sentences=options.min_sentences))
        # A line that starts with # is a comment, so such a concept could not be written.
        usable = {" ".join(pair.concept) for pair in pairs if not pair.concept[0].startswith("#")}
    rows = table.filter(pl.col("concept").is_in(sorted(usable))).sort(
        "concept", "sentences", "unit", descending=[False, True, False]
    )
    units: dict[str, list[str]] = {}
    weight: Counter[str] = Counter()
    for concept, unit, sentences in rows.select("concept", "unit", "sentences").iter_rows():
        if unit not in units.setdefault(concept, []):
            units[concept].append(unit)
        weight[concept] += sentences
    chosen = sorted(units, key=lambda concept: (-weight[concept], concept))[: options.max_concepts]
    return [Wanted(concept, tuple(units[concept][:UNITS_SHOWN])) for concept in sorted(chosen)]


def _listed(path: Path, concepts: Iterable[str]) -> set[str]:
    """The concepts in the first column of a user's file; case does not matter."""
    by_lower: dict[str, list[str]] = {}
    for concept in concepts:
        by_lower.setdefault(concept.lower(), []).append(concept)
    listed: set[str] = set()
    for number, line in enumerate(read_text(path, "concepts").splitlines(), start=1):
        concept = " ".join(line.split("\t")[0].lower().split())
        if not concept or line.startswith("#"):
            continue
        if concept not in by_lower:
            remedy = "`qbench index show` lists the concepts of an index"
            raise InputError("the index has no such concept", file=path, line=number, value=concept, remedy=remedy)
        listed.update(by_lower[concept])
    if not listed:
        raise InputError("no concept in this file", file=path, remedy="Write one a line")
    return listed


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
    """Name the concepts of an index by a chat model, check the names, and write them.

    Args:
        index: the index with the concepts.
        output: the TSV file; a file of the same index and options is reused.
        asking: the model, the recording, the budget.
        options: selection of concepts and number of names.
        command: the command line, for the file's record.
        overwrite: replace another or an edited file.
        progress: called with the number of answers.

    Raises:
        OptionError: the output holds something else.
        BusyError: another process is writing it.
        InputError, ServerError, BudgetError: as in `qbench.llm.asking.ask_until`; no file is written then, and all
            answers are recorded.
    """
    key = keys.key("expansion", index=index.manifest.digest, asking=asking.key, **_key(options))
    with locked(output):  # without the lock, two processes would both pay
        record = _existing_record(output, key, overwrite)
        if record is not None and not record.get("without an answer"):
            return Expanded(record, new=False)
        return _ask_for_names(index, output, asking, options, {"by": "model", "key": key, "command": command}, progress)


def _ask_for_names(
    index: Index, output: Path, asking: Asking, options: ExpansionOptions, record: dict[str, Any], progress: Progress
) -> Expanded:
    """Ask the model, check the names, and write the file."""
    wanted = wanted_concepts(index, options)
    most, shared = options.of_model
    language = index.extractor_options().language
    judge = _judge(index, asking)
    names: dict[str, list[str]] = {}
    rejected: list[tuple[int, str, str]] = []

    def accept(i: int, answer: Any, attempt: int) -> bool:
        texts, problems = texts_of(answer, asking.server.prompt.answer)
        accepted, refused = judge.judge(wanted[i].concept, texts, most)
        rejected.extend((i, name, reason) for name, reason in (*refused, *problems))
        names[wanted[i].concept] = accepted
        return bool(accepted)

    answers = ask_until(asking, [concept.slots(most, language) for concept in wanted], accept, progress)
    general = _too_general(names, shared)
    for i, concept in enumerate(wanted):
        rejected += [(i, name, GENERAL) for name in names.get(concept.concept, ()) if name in general]
    rows = _rows(wanted, names, general)
    full_record = {
        **record,
        **asking.key,
        "index": index.manifest.digest,
        **_counts(wanted, rows),
        **answers.counts,
        "rejected": dict(sorted(Counter(reason for _, _, reason in rejected).items())),
    }
    write_text(output, expansions_text(rows, full_record))
    ordered = sorted(rejected, key=lambda row: row[0])
    return Expanded(full_record, [(wanted[i].concept, name, reason) for i, name, reason in ordered])


def expansion_forecast(index: Index, asking: Asking, options: ExpansionOptions = ExpansionOptions()) -> Estimate:
    """Forecast the calls of `expand_concepts` that are not recorded yet; errors as there."""
    most, _ = options.of_model
    language = index.extractor_options().language
    return forecast(asking, [wanted.slots(most, language) for wanted in wanted_concepts(index, options)])


def expand_from_table(
    index: Index,
    output: Path,
    table: Path,
    options: ExpansionOptions = ExpansionOptions(),
    *,
    command: str | None = None,
    overwrite: bool = False,
) -> Expanded:
    """Name the concepts of an index from a table, without a model.

    Args:
        index: the index with the concepts.
        output: the TSV file.
        table: concept, tab, name on each line (or JSON, as for `gen-queries`); or the folder of a corpus that
            `qbench synth` made, which holds one. The names are not checked.
        options: selection of concepts and number of names.
        command: the command line, for the file's record.
        overwrite: replace another or an edited file.

    Raises:
        InputError: the table cannot be read, or names none of the concepts.
        OptionError: the output holds something else.
    """
    source = table / SYNTH_TABLE if table.is_dir() else table
    if source.resolve() == output.resolve():
        raise OptionError("the table would be overwritten", file=output, remedy="Choose another output")
    expansions = Expansions.load(source)
    key = digest({"by": "table", "index": index.manifest.digest, "table": file_digest(source), **_key(options)})
    record = _existing_record(output, key, overwrite)
    if record is not None:
        return Expanded(record, new=False)
    wanted = wanted_concepts(index, options)
    names = {entry.concept: list(expansions.lookup(entry.concept)) for entry in wanted}
    chosen = {concept: of_concept[: options.names] for concept, of_concept in names.items()}
    rejected = Counter({"beyond the number of names": sum(map(len, names.values())) - sum(map(len, chosen.values()))})
    general = set() if options.shared is None else _too_general(chosen, options.shared)
    rejected[GENERAL] = sum(name in general for of_concept in chosen.values() for name in of_concept)
    rows = _rows(wanted, chosen, general)
    if not rows:
        raise InputError(
            "the table names no concept of this index",
            file=source,
            value=next(iter(expansions.pairs()), None),
            remedy="Write the concepts as `qbench index show` does, or lower --min-sentences",
        )
    full_record = {
        "by": "table",
        "key": key,
        "command": command,
        "table": source.name,
        "table digest": file_digest(source),
        **({"from": {**expansions.provenance, "edited since": expansions.edited}} if expansions.provenance else {}),
        "index": index.manifest.digest,
        **_counts(wanted, rows),
        "rejected": dict(sorted((+rejected).items())),
    }
    write_text(output, expansions_text(rows, full_record))
    return Expanded(full_record)


def write_rejected(path: Path, rejected: Sequence[tuple[str, str, str]]) -> None:
    """Write the rejected names with concept and reason as TSV; long names are cut."""
    lines = ["# concept, tab, what the model wrote, tab, why it is not used\n"]
    lines += [f"{concept}\t{printable(plain(name))[:80]}\t{reason}\n" for concept, name, reason in rejected]
    write_text(path, "".join(lines))


def _judge(index: Index, asking: Asking) -> Judge:
    options = index.extractor_options()
    extractor = get_extractor(options)
    return Judge(
        asking.server.prompt,
        known_words(index),
        lambda text: bool(extractor.parse_query(text).conditions),
        options.language,
    )


def _key(options: ExpansionOptions) -> dict[str, Any]:
    listed = None if options.concepts is None else digest(read_text(options.concepts, "concepts"))
    return {
        "names": options.names,
        "min_sentences": options.min_sentences,
        "max_concepts": options.max_concepts,
        "concepts": listed,
        "shared": options.shared,
    }


def _existing_record(output: Path, key: str, overwrite: bool) -> dict[str, Any] | None:
    """The record of an existing file with the same key; None if the file has to be written."""
    if not output.exists():
        return None
    if output.is_dir():
        raise OptionError("a folder, and a file is needed", file=output, remedy="Choose a name such as names.tsv")
    try:
        expansions = Expansions.load(output)
    except InputError:
        expansions = Expansions()
    intact = bool(expansions.provenance) and not expansions.edited
    if intact and expansions.provenance.get("key") == key:
        return dict(expansions.provenance)
    if overwrite:
        return None
    if expansions.provenance and expansions.edited:
        problem = "the output was edited since it was made"
    else:
        problem = "the output is another file"
        if intact:
            problem = "the output was made from other input or with other options"
    raise OptionError(problem, file=output, remedy="Choose another file, or replace it with --overwrite")


def _too_general(names: Mapping[str, Sequence[str]], most: int) -> set[str]:
    counts = Counter(name for of_concept in names.values() for name in of_concept)
    return {name for name, count in counts.items() if count > most}


def _rows(wanted: Sequence[Wanted], names: Mapping[str, Sequence[str]], general: set[str]) -> list[tuple[str, str]]:
    """(concept, name) as read back from the file: concepts that differ only in case are merged."""
    table: dict[str, list[str]] = {}
    for entry in wanted:
        specific = [name for name in names.get(entry.concept, ()) if name not in general]
        table.setdefault(entry.concept.lower(), []).extend(specific)
    return Expansions(table).pairs()


def _counts(wanted: Sequence[Wanted], rows: Sequence[tuple[str, str]]) -> dict[str, Any]:
    return {
        "concepts": len(wanted),
        "concepts with names": len({concept for concept, _ in rows}),
        "names": len(rows),
        "rows": rows_digest(rows),
    }
