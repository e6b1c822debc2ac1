"""Audits: a sample of an artefact's labels to read, and the precision of the labels by what people or models say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from qbench import keys
from qbench.annotation.answers import Answers
from qbench.annotation.audit_subject import NONSENSE, RIGHT, VERDICTS, WRONG, Subject
from qbench.annotation.form import Item, Pair, write_csv
from qbench.annotation.options import AuditOptions, ImportOptions
from qbench.annotation.page import page
from qbench.annotation.settling import Judgments, settle
from qbench.annotation.sheet_files import GUIDELINE, ITEMS, edited, read_items, refuse_filled, write_items
from qbench.artefacts import AUDIT
from qbench.benchmark.audits import ALL, QUERIES, Audit, Cause, Figure
from qbench.errors import OptionError
from qbench.evaluation.agreement import agreements
from qbench.evaluation.proportions import wilson
from qbench.randomness import shuffled
from qbench.store import MANIFEST, drafting, read_manifest, read_text, refuse_foreign, write_json, write_text

KIND = "audit"
TABLE, SCREEN = "audit.csv", "audit.html"


@dataclass(frozen=True)
class AuditSheet:
    """A sample of labels on disk, as a table and a page to fill in.

    Attributes:
        folder: of the sheet.
        items: what is read, in order; the source of each is its kind.
        digest: of the sheet.
        drawn: the options that it was drawn with.
        counts: "labels" and "drawn": number by kind.
    """

    folder: Path
    items: list[Item]
    digest: str
    drawn: Mapping[str, Any]
    counts: Mapping[str, Any]

    @property
    def filled(self) -> list[Path]:
        """The table, if somebody has written into it."""
        return [self.folder / name for name in edited(self.folder) if name == TABLE]


@dataclass(frozen=True)
class AuditResult:
    """The result of reading filled sheets.

    Attributes:
        audit: the record, with the names that are published.
        judgments: the verdicts, with the auditors' own names.
        agreement: of each two auditors under their own names, right against the rest.
    """

    audit: Audit
    judgments: Judgments
    agreement: Mapping[str, Mapping[str, float | None]]


def draw_audit(
    subject: Subject,
    output: str | Path,
    options: AuditOptions = AuditOptions(),
    *,
    command: str | None = None,
    overwrite: bool = False,
) -> AuditSheet:
    """Draw the sample and write its sheet, unless it is there: a sheet that may be filled in is never replaced.

    Args:
        subject: what is audited.
        output: folder of the sheet.
        options: of the sample; the defaults also stand for whatever a sheet of the same labels was drawn with.
        command: the command line, for the manifest.
        overwrite: replace a sheet of other labels or options, unless it has been filled in.

    Raises:
        OptionError: there is nothing to draw, or `output` holds something else: a sheet of labels that have changed
            since, or that was drawn with other options.
        InputError: the sheet there is damaged.
        BusyError: another process is writing there.
    """
    output = Path(output)
    key = keys.key("audit sheet", artefact=subject.key, options=asdict(options), guideline=subject.guideline)
    if _is_audit(output):
        there = read_manifest(output, KIND)
        same = there.params["artefact"] == subject.key
        if there.digest == key or (same and options == AuditOptions()):
            return open_audit(output)
        if not overwrite:
            raise _other(output, subject, stale=not same, old=there.params["artefact"])
        refuse_filled(output, KIND)
    refuse_foreign(output, KIND, overwrite=overwrite)
    items, counts = _items(subject, options)
    if not items:
        raise OptionError("there is no label to draw", value=subject.name, remedy="Are all numbers 0?")
    params = {"command": command, "artefact": subject.key, "name": subject.name, **asdict(options)}
    with drafting(output, KIND, key, params, overwrite=overwrite) as draft:
        if draft is None:
            return open_audit(output)
        form = subject.form(items, key)
        write_items(items, draft.folder / ITEMS)
        write_text(draft.folder / GUIDELINE, subject.guideline)
        write_csv(form, items, draft.folder / TABLE)
        name = SCREEN.partition(".")[0]
        write_text(draft.folder / SCREEN, page(form, items, subject.guideline, name=name))
        draft.counts = counts
    return open_audit(output)


def open_audit(folder: str | Path) -> AuditSheet:
    """Open what `draw_audit` wrote.

    Raises:
        InputError: the folder is no finished sheet, or its table of items is damaged.
    """
    folder = Path(folder)
    manifest = read_manifest(folder, KIND)
    drawn = {name: value for name, value in manifest.params.items() if name not in ("command", "artefact", "name")}
    return AuditSheet(folder, read_items(folder, manifest), manifest.digest, drawn, manifest.counts)


def _is_audit(folder: Path) -> bool:
    return (folder / MANIFEST).is_file() and read_manifest(folder).kind == KIND


def _other(folder: Path, subject: Subject, *, stale: bool, old: str) -> OptionError:
    if stale:
        message = f"the labels of {subject.name} have changed since this audit was drawn, so that it no longer holds"
        remedy = "Draw another one: -o FOLDER, or --overwrite if nothing is filled in"
        return OptionError(message, file=folder, value=f"{old}, now {subject.key}", remedy=remedy)
    message = "this audit was drawn with other options"
    remedy = "Leave the options away to go on with it, or draw another one: -o FOLDER"
    return OptionError(message, file=folder, remedy=remedy)


def _items(subject: Subject, options: AuditOptions) -> tuple[list[Item], dict[str, Any]]:
    """The sample: queries in random order, each by itself first and its labels in random order after it."""
    offered = subject.kinds(subject)
    kinds = [kind for kind in offered if kind.number and kind.size]
    drawn: dict[Pair, str] = {}
    for kind in kinds:
        for pair in subject.draw(kind.labels, kind.number, options.seed, kind.name, kind.texts):
            drawn.setdefault(pair, kind.name)
    labels: dict[str, list[str]] = {}
    for query, labelled in drawn:
        labels.setdefault(query, []).append(labelled)
    items = []
    for query in shuffled(labels, options.seed, "order of an audit", str):
        ordered = shuffled(labels[query], options.seed, f"order of the labels of {query}", str)
        items += [Item(query, one, (drawn[query, one],)) for one in sorted(ordered, key=lambda one: one != "")]
    numbers = Counter(drawn.values())
    by_query = {
        kind.name: {"name": kind.by_query, "queries": len(kind.labels)}
        for kind in offered
        if kind.by_query and kind.labels
    }
    counts = {
        "items": len(items),
        "labels": {kind.name: kind.size for kind in kinds},
        "drawn": {kind.name: numbers[kind.name] for kind in kinds},
        **({"by query": by_query} if by_query else {}),
    }
    return items, counts


def read_audit(
    subject: Subject, sheet: AuditSheet, files: Sequence[str | Path], options: ImportOptions = ImportOptions()
) -> AuditResult:
    """Read filled sheets, half-filled ones too, and count what they say.

    Args:
        subject: what is audited.
        sheet: that was filled in.
        files: one per auditor: CSV, or what the page saved.
        options: what becomes of disagreements and of unusable answers. With `names` the record has the names of
            people; without, they are numbered in the order of the files. Models keep their names.

    Raises:
        InputError: a file cannot be read or used, or auditors disagree (unless resolved).
        OptionError: no file, or two of one name.
    """
    form = subject.form(sheet.items, sheet.digest)
    judgments = settle(form, files, sheet.folder, options, read_text(sheet.folder / GUIDELINE, "guideline"))
    names = [
        answers.name if options.names or answers.asking else numbered
        for answers, numbered in zip(judgments.answers, judgments.names(real=False), strict=True)
    ]
    audit = Audit(
        artefact=subject.key,
        sheet=sheet.digest,
        drawn={name: sheet.drawn[name] for name in subject.recorded},
        auditors={name: _of_auditor(answers) for name, answers in zip(names, judgments.answers, strict=True)},
        agreement=_agreement(names, judgments),
        figures=tuple(_figures(subject, sheet, judgments)),
        causes=tuple(_causes(sheet, judgments)),
    )
    write_json(sheet.folder / AUDIT, audit.to_json())
    return AuditResult(audit, judgments, _agreement(judgments.names(real=True), judgments))


def _of_auditor(answers: Answers) -> dict[str, Any]:
    counts: dict[str, Any] = {"verdicts": len(answers.grades), "cannot tell": len(answers.unsure)}
    return {**counts, "asked": dict(answers.asking)} if answers.asking else counts


def _agreement(names: Sequence[str], judgments: Judgments) -> dict[str, dict[str, float | None]]:
    verdicts = [{pair: int(grade == RIGHT) for pair, grade in each.grades.items()} for each in judgments.answers]
    return agreements(list(zip(names, verdicts, strict=True)))


def _figures(subject: Subject, sheet: AuditSheet, judgments: Judgments) -> Iterable[Figure]:
    """Figures of each kind, and by each dimension of its queries, in the order of the sheet's counts."""
    unsure = {pair for answers in judgments.answers for pair in answers.unsure} - judgments.grades.keys()
    tallies: dict[tuple[str, str, str], Counter[object]] = {}
    for item in sheet.items:
        said = judgments.grades.get(item.pair, "unsure" if item.pair in unsure else None)
        for by, group in [(ALL, ""), *subject.groups[item.query_id].items()]:
            tallies.setdefault((item.sources[0], by, group), Counter())[said] += 1
    counted_by_query = sheet.counts.get("by query", {})
    for kind, size in sheet.counts["labels"].items():
        own = [(key, tally) for key, tally in tallies.items() if key[0] == kind]
        dimensions = list(dict.fromkeys(by for (_, by, _), _ in own))
        for (_, by, group), tally in sorted(own, key=lambda row: (dimensions.index(row[0][1]), row[0][2])):
            yield _figure(kind, by, group, size if by == ALL else 0, tally, shared=kind in counted_by_query)
    for kind, counted in counted_by_query.items():
        queries = _by_query(sheet, kind, judgments, unsure)
        without = counted["queries"] - len({item.query_id for item in sheet.items if item.sources[0] == kind})
        whole: Counter[object] = Counter() if queries is None else queries + Counter({RIGHT: without})
        yield _figure(counted["name"], QUERIES, "", 0, whole)
        yield _figure(f"{counted['name']}, with candidates", QUERIES, "", 0, queries or Counter())


def _by_query(sheet: AuditSheet, kind: str, judgments: Judgments, unsure: Collection[Pair]) -> Counter[object] | None:
    """What is said of queries with labels of this kind: wrong if one of these is, else right; None until all are read.

    Of nonsense nothing is said.
    """
    said: dict[str, set[object]] = {}
    for item in sheet.items:
        if item.sources[0] == kind:
            verdict = "unsure" if item.pair in unsure else judgments.grades.get(item.pair)
            said.setdefault(item.query_id, set()).add(verdict)
    if any(None in verdicts for verdicts in said.values()):
        return None
    tally: Counter[object] = Counter()
    for verdicts in said.values():
        tally[next((one for one in (WRONG, "unsure", RIGHT) if one in verdicts), None)] += 1
    return tally


def _figure(kind: str, by: str, group: str, labels: int, tally: Counter[object], *, shared: bool = False) -> Figure:
    """One row; where labels are `shared` by a query, its five candidates are no five errors if it is nonsense."""
    right, wrong, nonsense = tally[RIGHT], tally[WRONG], tally[NONSENSE]
    read = right + wrong + (0 if shared else nonsense)
    low, high = wilson(right, read)
    return Figure(
        kind=kind,
        by=by,
        group=group,
        labels=labels,
        drawn=tally.total(),
        right=right,
        wrong=wrong,
        nonsense=nonsense,
        unsure=tally["unsure"],
        share=round(right / read, 6) if read else None,
        low=round(low, 6),
        high=round(high, 6),
    )


def _causes(sheet: AuditSheet, judgments: Judgments) -> list[Cause]:
    """How often each cause was given, most frequent first within a kind."""
    given = [answers for answers in (judgments.adjudicated, *judgments.answers) if answers is not None]

    def cause(pair: Pair, grade: int) -> str:
        said = (answers.causes.get(pair, "") for answers in given if answers.grades.get(pair) == grade)
        return next(filter(None, said), "")

    kinds = {item.pair: item.sources[0] for item in sheet.items}
    counts = Counter(
        (kinds[pair], VERDICTS[grade], cause(pair, grade)) for pair, grade in judgments.grades.items() if grade != RIGHT
    )
    order = list(sheet.counts["labels"])
    rows = sorted(counts.items(), key=lambda row: (order.index(row[0][0]), -row[1], row[0]))
    return [Cause(kind, verdict, why, number) for (kind, verdict, why), number in rows]
