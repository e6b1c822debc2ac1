"""From the answers of several annotators to one grade per item: agreement, disagreements, and who resolves them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qbench.annotation.answers import Answers, read_answers
from qbench.annotation.form import UNSURE, Form, Pair, write_csv
from qbench.annotation.options import ImportOptions
from qbench.annotation.page import page
from qbench.benchmark.reading import Problems
from qbench.errors import InputError, OptionError
from qbench.evaluation.agreement import Resolve, agreements, settled
from qbench.store import digest, write_text

_EXAMPLES = 5
"""Number of disagreements that an error lists."""


@dataclass(frozen=True)
class Judgments:
    """The grades of some filled sheets.

    Attributes:
        grades: pair -> the grade on which annotators agree, or that resolves their disagreement.
        answers: of each annotator, in the order of the files.
        graded_differently: number of pairs with different grades.
        files: the disagreements that nobody adjudicated, as a CSV file and a page; () if there are none.
        problems: answers that were left out, and why.
        adjudicated: the answers that resolve disagreements, if there are some.
    """

    grades: dict[Pair, int]
    answers: list[Answers]
    graded_differently: int
    files: tuple[Path, ...]
    problems: Problems
    adjudicated: Answers | None = None

    def names(self, *, real: bool) -> list[str]:
        """The annotators' names, or numbered ones, in the order of the files."""
        return [
            annotator.name if real else f"annotator {number}" for number, annotator in enumerate(self.answers, start=1)
        ]

    def agreement(self, names: Sequence[str]) -> dict[str, dict[str, float | None]]:
        """`qbench.evaluation.agreement.agreements` under some names."""
        return agreements([(name, annotator.grades) for name, annotator in zip(names, self.answers, strict=True)])


def settle(form: Form, files: Sequence[str | Path], output: Path, options: ImportOptions, guideline: str) -> Judgments:
    """Read filled sheets and settle their disagreements.

    Items that are graded differently, and not adjudicated, are written to OUTPUT.disagreements-NAME.csv and .html, to
    be filled in and given back as `options.adjudicated`.

    Args:
        form: of the sheets.
        files: one per annotator: CSV, or what the page saved.
        output: what is made of the judgments; the disagreements are written beside it.
        options: see `ImportOptions`.
        guideline: for the page of disagreements.

    Raises:
        InputError: a file cannot be read or used, or annotators disagree and nothing resolves it.
        OptionError: there is no file, one is named twice, or two have the same annotator.
    """
    paths = [Path(file) for file in files]
    _check_files(paths)
    problems = Problems(options.on_error)
    answers = [read_answers(path, form, problems) for path in paths]
    _check_names(answers)
    last = options.adjudicated
    final = None if last is None else read_answers(last, form, problems)
    grades, disputed = _resolved(answers, final, options.resolve)
    open_pairs = disputed if final is None else [pair for pair in disputed if pair not in final.grades]
    written = _write_disagreements(form, answers, open_pairs, output, guideline) if open_pairs else ()
    unsettled = [pair for pair in disputed if pair not in grades]
    result = Judgments(grades, answers, len(disputed), written, problems, final)
    if unsettled:
        raise _unsettled(result, unsettled, final)
    return result


def _check_files(paths: Sequence[Path]) -> None:
    if not paths:
        raise OptionError("no file of answers named")
    seen: set[Path] = set()
    for path in paths:
        if path.resolve() in seen:
            raise OptionError("this file is named twice", value=str(path), remedy="Name each annotator's file once")
        seen.add(path.resolve())


def _check_names(answers: Sequence[Answers]) -> None:
    seen: set[str] = set()
    for annotator in answers:
        if annotator.name in seen:
            remedy = "Name the files after their annotators; put the answers of one person into one file"
            raise OptionError("two annotators of one name", file=annotator.path, value=annotator.name, remedy=remedy)
        seen.add(annotator.name)


def _resolved(
    answers: Sequence[Answers], final: Answers | None, resolve: Resolve
) -> tuple[dict[Pair, int], list[Pair]]:
    """The grade of each pair that has one, and the pairs with different grades."""
    by_pair: dict[Pair, list[int]] = {}
    for annotator in answers:
        for pair, grade in annotator.grades.items():
            by_pair.setdefault(pair, []).append(grade)
    disputed = [pair for pair, grades in by_pair.items() if len(set(grades)) > 1]
    unresolved = set(disputed) if resolve == "fail" else set()
    grades = {pair: settled(grades, resolve) for pair, grades in by_pair.items() if pair not in unresolved}
    return grades | ({} if final is None else final.grades), disputed


def _write_disagreements(
    form: Form, answers: Sequence[Answers], disputed: Sequence[Pair], output: Path, guideline: str
) -> tuple[Path, Path]:
    """Write a CSV file and a page of what is graded differently; existing files are never replaced."""
    items = form.items(set(disputed))
    pairs = [item.pair for item in items]
    given = {annotator.name: [_answer(annotator, pair) for pair in pairs] for annotator in answers}
    # Other disagreements get other files: an existing one may be filled in.
    name = f"disagreements-{digest([pairs, given])[:6]}"
    table, screen = (output.with_name(f"{output.name}.{name}.{kind}") for kind in ("csv", "html"))
    if not table.exists():
        write_csv(form, items, table, {f"by {who}": cells for who, cells in given.items()})
    if not screen.exists():
        lines = {
            pair: [f"{who}: {cells[number]}" for who, cells in given.items() if cells[number]]
            for number, pair in enumerate(pairs)
        }
        write_text(screen, page(form, items, guideline, name=name, answers=lines))
    return table, screen


def _answer(annotator: Answers, pair: Pair) -> str:
    grade = str(annotator.grades.get(pair, UNSURE if pair in annotator.unsure else ""))
    return " ".join(filter(None, (grade, annotator.comments.get(pair, ""))))


def _unsettled(judgments: Judgments, pairs: Sequence[Pair], final: Answers | None) -> InputError:
    def grades(pair: Pair) -> str:
        graded = [annotator for annotator in judgments.answers if pair in annotator.grades]
        positions = [
            f"{annotator.path.name}:{annotator.lines[pair]}" if pair in annotator.lines else annotator.path.name
            for annotator in graded
        ]
        return " against ".join(
            f"{annotator.grades[pair]} ({at})" for annotator, at in zip(graded, positions, strict=True)
        )

    examples = [f"{pair[0]}, {pair[1]}: {grades(pair)}" for pair in pairs[:_EXAMPLES]]
    agreement = judgments.agreement(judgments.names(real=True))
    kappas = ", ".join(f"{names}: {_kappa(figures)}" for names, figures in agreement.items())
    rest = "; ..." if len(pairs) > _EXAMPLES else ""
    unresolved = "" if final is None else f" and not settled in {final.path.name}"
    table, screen = judgments.files
    return InputError(
        f"{len(pairs)} items are graded differently{unresolved}: {'; '.join(examples)}{rest}. "
        f"Cohen's kappa of {kappas}",
        remedy=f"Settle them in {table} or {screen.name} and give it with --adjudicated, "
        "or use --resolve first, lowest or highest",
    )


def _kappa(figures: Mapping[str, Any]) -> str:
    return "undefined" if figures["kappa"] is None else str(figures["kappa"])
