"""From a table to a corpus: the order of the steps, and the counts of what was left out."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from qbench.corpora.tables import Row, Table
from qbench.corpora.types import OnError, Problems
from qbench.errors import InputError, OptionError
from qbench.keys import key
from qbench.licences import normalised
from qbench.progress import Progress, silent
from qbench.quantities.units import UNITS_FILE, Units, load_units
from qbench.resources import resource
from qbench.store import Draft, drafting, file_digest, write_text
from qbench.synth.concepts import Concepts
from qbench.synth.corpus import CorpusFiles
from qbench.synth.dice import Dice
from qbench.synth.facts import MAX_CELL, Thing, ThingReader
from qbench.synth.guess import SAMPLE_ROWS, guess_mapping
from qbench.synth.mapping import TableMapping, load_mapping, mapping_toml
from qbench.synth.sentences import Grammar, Sentence, Writer

KIND = "corpus"
SENTENCES_PER_ROW = 2
TEMPLATES = "templates/sentences.toml"

FACTS_PER_SENTENCE = (1, 1, 1, 2, 2, 2, 2, 3, 3, 4)
"""How many facts of its row a sentence states: one of these, equally likely."""

_LONGEST_CELL = 4 * MAX_CELL + 1

_TRIES = 4
"""Maximum number of times that a sentence is rewritten because the corpus has it already."""


def synthesize(
    table: str | Path,
    output: str | Path,
    *,
    mapping: str | Path | None = None,
    seed: int = 13,
    sentences_per_row: int = SENTENCES_PER_ROW,
    on_error: OnError = "skip",
    licence: str | None = None,
    comparisons: bool = True,
    overwrite: bool = False,
    progress: Progress = silent,
) -> Path:
    """Turn a table of facts into a corpus of sentences whose quantities are known exactly.

    The corpus is a folder with corpus.jsonl (one sentence a line: doc_id, text, title, source_id), quantities.parquet
    (every quantity that a sentence states, with spans and concept), facts.parquet (the cell behind each of them),
    expansions.tsv (other names of the concepts) and mapping.toml (the mapping that was used). Rows with the same facts
    give sentences once. Memory grows by about 100 bytes a sentence.

    Args:
        table: CSV, TSV, JSON lines (also .gz, .zst) or Parquet.
        output: the corpus' folder; one made from the same table with the same options is left as it is.
        mapping: a TOML file that says what the columns are; guessed if there is none.
        seed: of every choice.
        sentences_per_row: how many sentences each row gives, at most.
        on_error: skip lines that cannot be read, and count them, or fail at the first.
        licence: of the sentences, for the cards of what is made of them.
        comparisons: whether some sentences compare with another row. Several constraints can be met in such a sentence
            by two things together, which a query about one thing does not ask for.
        overwrite: replace a corpus that was made otherwise.
        progress: called with the number of rows read.

    Returns:
        the corpus' folder.

    Raises:
        InputError: the table or the mapping cannot be used, or no row states a quantity.
        OptionError: the folder holds something else, or an option makes no sense.
        BusyError: another process is writing there.
    """
    if sentences_per_row < 1:
        raise OptionError("at least one sentence a row", value=sentences_per_row)
    units, templates, output = load_units(), resource(TEMPLATES), Path(output)
    source = Table(Path(table), Problems(on_error))
    sample = [shortened(row) for _, row in islice(source.rows(Problems("skip")), SAMPLE_ROWS)]
    used = choose_mapping(source.path, mapping, sample, units)
    params = {
        "table": source.path.name,
        "guessed": mapping is None,
        "mapping": mapping_toml(used),
        "seed": seed,
        "sentences_per_row": sentences_per_row,
        "on_error": on_error,
    }
    if licence is not None:
        params["licence"] = normalised(licence)
    if not comparisons:
        params["comparisons"] = False
    key = _key(params, source.path, templates)
    with drafting(output, KIND, key, params, overwrite=overwrite) as draft:
        if draft is None:
            return output
        run = _Run(used, Grammar.load(templates), units, seed, sentences_per_row)
        run.others = run.sample_things(sample) if comparisons else []
        write_text(draft.folder / "mapping.toml", mapping_toml(used))
        run.write(source, draft, progress)
    return output


def shortened(row: Row) -> Row:
    """A row whose long cells do not fill the memory; what is cut off is never looked at."""
    return {
        column: cell[:_LONGEST_CELL] if isinstance(cell, str) and len(cell) > _LONGEST_CELL else cell
        for column, cell in row.items()
    }


def choose_mapping(table: Path, mapping: str | Path | None, sample: Sequence[Row], units: Units) -> TableMapping:
    """The mapping in a file, or a guess from some rows if there is none.

    Raises:
        InputError: the file cannot be used, or no column holds quantities.
    """
    if mapping is None:
        return guess_mapping(sample, units, table)
    return load_mapping(Path(mapping), {column for row in sample for column in row}, units)


def _key(params: dict[str, Any], table: Path, templates: Path) -> str:
    files = {"table": table, "templates": templates, "units": UNITS_FILE}
    return key("synthesis", params=params, files={name: file_digest(path) for name, path in files.items()})


@dataclass
class _Run:
    """One pass over a table."""

    mapping: TableMapping
    grammar: Grammar
    units: Units
    seed: int
    sentences_per_row: int
    others: list[Thing] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._writer = Writer(self.mapping, self.grammar, self.units)
        self._reader = ThingReader(self.mapping, self.units)
        self._concepts = Concepts(self.mapping)
        self._things: set[int] = set()
        self._texts: set[int] = set()

    def sample_things(self, rows: Sequence[Row]) -> list[Thing]:
        """The things of some rows, for sentences about other rows to compare with."""
        reader = ThingReader(self.mapping, self.units)
        return [thing for number, row in enumerate(rows, start=1) if (thing := reader.read(number, row)) is not None]

    def write(self, source: Table, draft: Draft, progress: Progress) -> None:
        """Read the table, and write the corpus' files and counts into the draft."""
        rows = 0
        with CorpusFiles(draft.folder) as files:
            for rows, row in source.rows():
                thing = self._reader.read(rows, row)
                if thing is not None:
                    for number, sentence in enumerate(self._sentences(thing), start=1):
                        self._concepts.add(sentence)
                        files.add(f"{thing.row}-{number}", thing, sentence, self.mapping)
                if rows % 500 == 0:
                    progress(source.meter.done, source.meter.total)
        if not files.sentences:
            columns = ", ".join(
                f"{a.column}: {c.examples}" for a, c in zip(self.mapping.attributes, self._reader.cells, strict=True)
            )
            raise InputError(
                "no row of the table states a quantity that can be read",
                file=source.path,
                value=columns,
                remedy="Check the mapping: its columns, units and patterns",
            )
        self._concepts.write_expansions(draft.folder / "expansions.tsv")
        draft.counts.update(self._counts(rows, files, source.problems))

    def _sentences(self, thing: Thing) -> Iterator[Sentence]:
        """The sentences of one thing; its facts take turns."""
        if not _is_new(thing.key, self._things):
            self.skipped["same facts as another row"] += 1
            return
        dice = Dice(self.seed, "synth", thing.key)
        facts = dice.shuffled(thing.facts)
        at = 0
        for _ in range(self.sentences_per_row):
            for _ in range(_TRIES):
                size = min(dice.choice(FACTS_PER_SENTENCE), len(facts), self._writer.most_facts)
                stated = [facts[(at + i) % len(facts)] for i in range(size)]
                sentence = self._writer.write(thing, stated, self.others, dice)
                if _is_new(sentence.text, self._texts):
                    at += size
                    yield sentence
                    break
            else:
                self.skipped["sentence that the corpus has already"] += 1

    def _counts(self, rows: int, files: CorpusFiles, problems: Problems) -> dict[str, Any]:
        return {
            "rows": rows,
            "sentences": files.sentences,
            "quantities": files.quantities,
            "concepts": len(self._concepts),
            "skipped": {**dict(sorted((self._reader.skipped + self.skipped).items())), **problems.counts},
            "examples": problems.examples,
            "columns": {
                (f"{attribute.column} ({attribute.name})" if attribute.pattern else attribute.column): cells.to_dict()
                for attribute, cells in zip(self.mapping.attributes, self._reader.cells, strict=True)
            },
            "overlapping": self._concepts.overlapping(),
        }


def _is_new(text: str, seen: set[int]) -> bool:
    """Whether a text was not seen before; 8 bytes of a hash stand for it."""
    short = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
    if short in seen:
        return False
    seen.add(short)
    return True
