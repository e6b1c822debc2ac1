"""Files that a benchmark was made with, published beside it: recorded answers, names of concepts, templates, prompts.

Only files that the benchmark's manifest refers to are accepted, so that no other file is published: names and
templates by their digest, prompts by the digest of their words, recordings by the calls that they answer.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from qbench.benchmark.card import markdown, name_records, printable, steps
from qbench.errors import InputError, OptionError, QbenchError
from qbench.llm.api_keys import find_key
from qbench.llm.calls import Call
from qbench.llm.embeddings import OPENAI_URL
from qbench.llm.openai_chat import KIND
from qbench.llm.prompts import TASKS, load_prompt
from qbench.llm.recording import Recording, refuse_more_than_answers
from qbench.store import file_digest

FOLDER = "made-with"
"""Their folder in the data set; `qbench pull` writes it beside the artefact, as NAME.made-with."""

MOST = 1 << 30
"""Most bytes of a file; an answer takes some hundred."""

_SQLITE = b"SQLite format 3\0"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True)
class Attachment:
    """A file that is published with a benchmark.

    Attributes:
        path: path of the file.
        description: what the file is, for people.
        digest: digest of its content.
        answers: for a recording, call -> number of answers in the file.
    """

    path: Path
    description: str
    digest: str
    answers: Mapping[str, int] = field(default_factory=dict)


def read_attachments(files: Sequence[Path], params: Mapping[str, Any]) -> list[Attachment]:
    """Check the files to publish with a benchmark.

    Args:
        files: recordings, names, templates, prompts.
        params: from the manifest of the benchmark that was made with them.

    Raises:
        InputError: a file is missing, cannot be read, is too large, or holds a key or other tables.
        OptionError: two files have one name, a name is not portable, or the benchmark was not made with a file.
        BusyError: a recording is in use.
    """
    attachments: dict[str, Attachment] = {}
    for path in files:
        if not path.is_file():
            raise InputError("no such file to attach", file=path)
        if not _NAME.fullmatch(path.name):
            raise OptionError("this name is not portable", file=path, remedy="Use letters, digits, . _ and -")
        name = path.name.lower()  # some systems do not tell names apart that differ in case alone
        if name in attachments:
            raise OptionError("two files of one name", file=path, remedy="Attach one of them, or a copy of other name")
        if (size := path.stat().st_size) > MOST:
            raise InputError(f"a file of more than {MOST:,} bytes is not attached", file=path, value=f"{size:,}")
        attachments[name] = _recording(path, params) if _is_sqlite(path) else _text(path, params)
        refuse_keys(path)
    return list(attachments.values())


def refuse_keys(path: Path) -> None:
    """Refuse to publish a file that holds a key.

    Raises:
        InputError: it does; the message names the variable, not the key.
    """
    if (key := find_key(path)) is not None:
        raise InputError(f"this file holds {key}, and is not published", file=path, remedy="Take it out")


def replay_commands(attachments: Sequence[Attachment], params: Mapping[str, Any], folder: str) -> list[str]:
    """The commands that make a benchmark again, with the paths of the attached files.

    Args:
        attachments: the published files.
        params: from the benchmark's manifest.
        folder: their folder on the reader's machine.
    """
    paths = {file.path.name: f"{folder}/{file.path.name}" for file in attachments}
    by_digest = {file.digest: paths[file.path.name] for file in attachments}
    tables = {record.get("command"): by_digest.get(record.get("table digest", "")) for record in name_records(params)}
    recordings = {_call(record): file.path.name for _, record in _models(params) for file in attachments
                  if _call(record) in file.answers}  # fmt: skip
    models = {record.get("command"): record for _, record in _models(params)}
    if "rewriting" in params:
        models |= {command: params["rewriting"] for command in steps(params) if _generates(command)}
    commands = []
    for command in steps(params):
        words = [paths.get(word, word) for word in shlex.split(command)]
        if (table := tables.get(command)) is not None:
            words[words.index("--table") + 1] = table  # the command may name the folder of the table
        if (record := models.get(command)) is not None and (recording := recordings.get(_call(record))) is not None:
            words += [] if record.get("server", OPENAI_URL) == OPENAI_URL else ["--base-url", record["server"]]
            words += ["--recording", f"{folder}/{recording}", "--replay"]
        commands.append(shlex.join(words))
    return commands


def _generates(command: str) -> bool:
    return shlex.split(command)[:2] == ["qbench", "gen-queries"]


def attachments_section(attachments: Sequence[Attachment], params: Mapping[str, Any], repo_id: str) -> str:
    """Markdown for the card: the attached files, and how to use them."""
    rows = [f"| `{FOLDER}/{file.path.name}` | {markdown(file.description)} |" for file in attachments]
    commands = [f"qbench pull {repo_id} -o FOLDER", *replay_commands(attachments, params, f"FOLDER.{FOLDER}")]
    block = "\n".join(f"    {printable(command)}" for command in commands)
    recorded = any(file.answers for file in attachments)
    replay = " With `--replay` no model is asked, and no key is needed." if recorded else ""
    index = f" INDEX is the index with the digest `{params.get('index')}`." if params.get("index") else ""
    return "\n\n".join(
        [
            "It goes with what it was made with:",
            "\n".join(["| file | what |", "|---|---|", *rows]),
            f"so that the same can be made again.{replay}{index}",
            block,
        ]
    )


def _is_sqlite(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(len(_SQLITE)) == _SQLITE


def _recording(path: Path, params: Mapping[str, Any]) -> Attachment:
    refuse_more_than_answers(path)
    with Recording(path).opened(read_only=True) as table:
        answers = table.calls()
    counts = [
        f"{answers[_call(record)]:,} answers of {record['model']} ({role})"
        for role, record in _models(params)
        if answers.get(_call(record))
    ]
    if not counts:
        raise OptionError(
            "this recording holds no answer that the benchmark was made with",
            file=path,
            remedy="Attach that of `qbench expand-concepts`, or of `qbench gen-queries --rewrite`",
        )
    return Attachment(path, f"recording: {', '.join(counts)}", file_digest(path), answers)


def _text(path: Path, params: Mapping[str, Any]) -> Attachment:
    """Names, templates or a prompt, as the manifest says."""
    digest = file_digest(path)
    options = params.get("options") or {}
    files = {options.get("expansions"): "other names of concepts", options.get("templates"): "templates of queries"}
    for record in name_records(params):
        files.setdefault(record.get("table digest"), "the table that other names were taken from")
    if digest in files:
        return Attachment(path, files[digest], digest)
    prompts = {record.get("prompt digest"): role for role, record in _models(params)}
    for task in TASKS if prompts and path.suffix == ".toml" else ():
        try:
            role = prompts.get(load_prompt(task, path).digest)
        except QbenchError:
            continue  # no prompt, or one for another task
        if role is not None:
            return Attachment(path, f"the prompt of the model ({role})", digest)
    raise OptionError(
        "the benchmark does not say that it was made with this file",
        file=path,
        remedy="Attach recordings, names of concepts, templates and prompts, as they were when it was made",
    )


def _models(params: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The roles of models in a benchmark, with the records of how they were asked."""
    records = [("names of concepts", record) for record in name_records(params)]
    records.append(("rewritten queries", params.get("rewriting") or {}))
    return ((role, record) for role, record in records if record.get("model"))


def _call(record: Mapping[str, Any]) -> str:
    """The call of a record (`qbench.llm.asking.Asking.key`), in the form of `Recording`."""
    parameters = [(name, record.get(name, "")) for name in ("max_tokens", "seed", "server", "temperature")]
    return Call(KIND, str(record["model"]), (*parameters, ("prompt", record.get("prompt digest", "")))).text
