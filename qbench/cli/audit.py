"""What `qbench benchmark audit` does and prints."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from qbench.cli.chat_options import ChatOptions, ChatServerOptions, note_spent, print_forecast
from qbench.cli.console import aligned, count_lines, note, progress
from qbench.cli.recorded import file_name
from qbench.cli.records import Format, print_table
from qbench.errors import OptionError
from qbench.options import again, option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qbench.annotation.audit import AuditResult, AuditSheet
    from qbench.annotation.audit_subject import Subject
    from qbench.annotation.options import AuditOptions, ImportOptions
    from qbench.benchmark.audits import Audit


@dataclass(frozen=True)
class AuditChatOptions(ChatOptions):
    """The chat model that reads the labels; --seed is that of the sample."""

    temperature: float = again(ChatOptions, "temperature", 0.0)
    seed: int = again(ChatOptions, "seed", flag="model-seed")
    prompt: str | None = option(
        None,
        help="Prompt of the model: a TOML file. [default: qbench's own, in the language of the texts]",
        recorded=file_name,
    )


@dataclass(frozen=True)
class Call:
    """One call of the command.

    Attributes:
        target: folder of what is audited.
        answers: filled sheets.
        output: folder of the sheet.
        line: the command line.
        format: how tables are printed.
    """

    target: Path
    answers: Sequence[Path]
    output: Path
    line: str
    format: Format = "text"


def subject_of(target: Path, qrels: str | None, options: AuditOptions) -> Subject:
    """What a folder has to audit: mined pairs, else a benchmark.

    Raises:
        InputError: it is neither.
        OptionError: judgments are chosen for pairs, or a choice between those of a BEIR folder is missing.
    """
    from qbench.annotation.audit_form import benchmark_subject
    from qbench.benchmark.disk import open_benchmark
    from qbench.mining.types import PAIRS_KIND
    from qbench.store import MANIFEST, read_manifest

    if not (target / MANIFEST).is_file() or read_manifest(target).kind != PAIRS_KIND:
        return benchmark_subject(open_benchmark(target, qrels=qrels), options)
    from qbench.mining.pair_audit import pair_subject
    from qbench.mining.paraphrases import Pairs

    if qrels is not None:
        raise OptionError("only a BEIR folder has judgments to choose from", file=target, value=qrels)
    return pair_subject(Pairs.open(target), options)


def run_audit(
    call: Call,
    subject: Subject,
    options: AuditOptions,
    reading: ImportOptions,
    chat: AuditChatOptions,
    server: ChatServerOptions,
    *,
    overwrite: bool,
) -> None:
    """Draw the sample if need be, ask the model if one is named, and read what is filled in."""
    from qbench.annotation.audit import draw_audit, read_audit

    if chat.model is None and (server.dry_run or server.replay):
        raise OptionError("no model is named", remedy="Name one with --model, or omit the model's options")
    sheet = draw_audit(subject, call.output, options, command=call.line, overwrite=overwrite)
    files = list(call.answers) or ([] if chat.model is not None else sheet.filled)
    if chat.model is not None:
        if server.dry_run:
            _forecast(subject, sheet, chat, server)
            return
        files.append(_ask(subject, sheet, chat, server))
    if not files:
        _report_sheet(sheet, call)
        return
    result = read_audit(subject, sheet, files, reading)
    _record(result.audit, call)
    _report(result, sheet, call)


def _ask(subject: Subject, sheet: AuditSheet, chat: AuditChatOptions, server: ChatServerOptions) -> Path:
    from qbench.annotation.audit_model import ask_model

    asking = chat.asking("audit", chat.prompt or subject.prompt, sheet.folder, server, subject.language)
    with progress("audit") as advance:
        said = ask_model(subject, sheet, asking, advance)
    note_spent(asking, said.counts.counts["asked by"])
    for reason, count in sorted(said.rejected.items()):
        note(f"answers that cannot be used: {count:,} {reason}")
    note(f"The verdicts of {asking.server.model}: {said.path}")
    return said.path


def _forecast(subject: Subject, sheet: AuditSheet, chat: AuditChatOptions, server: ChatServerOptions) -> None:
    from qbench.annotation.audit_model import model_forecast

    asking = chat.asking("audit", chat.prompt or subject.prompt, sheet.folder, server, subject.language)
    print_forecast("labels", asking, model_forecast(subject, sheet, asking))


def _record(audit: Audit, call: Call) -> None:
    """Keep the figures with the artefact; a folder that qbench did not make is left as it is."""
    from qbench.benchmark.audit_disk import write_audit
    from qbench.store import MANIFEST

    if (call.target / MANIFEST).is_file():
        write_audit(call.target, audit)


def _report_sheet(sheet: AuditSheet, call: Call) -> None:
    from qbench.annotation.audit import SCREEN, TABLE

    print_table(count_lines(sheet.counts), [sheet.counts], call.format)
    note(f"Written to {call.output}. Read the page ({SCREEN}) or fill the table beside it ({TABLE}); then:")
    note(f"qbench benchmark audit {call.target} ANSWERS... -o {call.output}")


def _report(result: AuditResult, sheet: AuditSheet, call: Call) -> None:
    from qbench.artefacts import AUDIT, CARD
    from qbench.benchmark.audits import figure_cells, shown
    from qbench.store import MANIFEST

    audit, judgments = result.audit, result.judgments
    for example in judgments.problems.examples:
        note(example)
    header = ["labels", "right", "95 % interval", "read", "wrong", "nonsense", "cannot tell"]
    lines = aligned(header, [figure_cells(figure) for figure in shown(audit)], words=1)
    if audit.causes:
        rows = [[str(cause.labels), cause.kind, cause.verdict, cause.cause or "-"] for cause in audit.causes]
        lines += ["", *aligned(["labels", "kind", "verdict", "cause"], rows)]
    lines += ["", *count_lines({"agreement": dict(result.agreement), **judgments.problems.summary()})]
    print_table(lines, map(asdict, shown(audit)), call.format)
    unsure = {pair for answers in judgments.answers for pair in answers.unsure} - judgments.grades.keys()
    left = len(sheet.items) - len(judgments.grades) - len(unsure)
    if unsure:
        note(f"{len(unsure):,} of {len(sheet.items):,} labels were read and left open (cannot tell)")
    if left:
        note(f"{left:,} of {len(sheet.items):,} labels have not been read yet")
    if judgments.files:
        note(f"Said differently: {' and '.join(map(str, judgments.files))}")
    if (call.target / CARD).is_file() and (call.target / MANIFEST).is_file():
        note(f"The figures stand on the card of {call.target}")
    elif (call.target / MANIFEST).is_file():
        note(f"The figures stand in {call.target / AUDIT}, and go onto the card when it is published")
    else:
        note(f"{call.target} is no folder of qbench's: the figures stand in {sheet.folder} alone")
