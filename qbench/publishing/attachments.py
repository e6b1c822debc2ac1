"""What a benchmark was made with, published beside it: recorded answers, names of concepts, templates, prompts.

Only files that the benchmark's manifest speaks of are taken, so that nothing else of a user's goes along: names and
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
"""The folder in the data set; `qbench pull` writes it beside the artefact, as NAME.made-with."""

MOST = 1 << 30
"""Bytes of a file, at most: an answer takes some hundred."""

_SQLITE = b"SQLite format 3\0"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True)
class Making:
    """A file that goes along.

    Attributes:
        path: where it is.
        what: it is, for a person.
        digest: of its content.
        answers: of a recording: call -> how many answers to it the file holds.
    """

    path: Path
    what: str
    digest: str
    answers: Mapping[str, int] = field(default_factory=dict)


def makings(files: Sequence[Path], params: Mapping[str, Any]) -> list[Making]:
    """Look at the files that should go along.

    Args:
        files: recordings, names, templates, prompts.
        params: of the manifest of the benchmark that was made with them.

    Raises:
        InputError: a file is missing, cannot be read, is too large, or holds what should not go along.
        OptionError: two have one name, a name will not do, or the benchmark was not made with it.
        BusyError: a recording is in use.
    """
    found: dict[str, Making] = {}
    for path in files:
        if not path.is_file():
            raise InputError("no such file to attach", file=path)
        if not _NAME.fullmatch(path.name):
            raise OptionError("this name will not do everywhere", file=path, remedy="Use letters, digits, . _ and -")
        name = path.name.lower()  # some systems take no two names that differ in case alone
        if name in found:
            raise OptionError("two files of one name", file=path, remedy="Attach one of them, or a copy of other name")
        if (size := path.stat().st_size) > MOST:
            raise InputError(f"a file of more than {MOST:,} bytes is not attached", file=path, value=f"{size:,}")
        found[name] = _recording(path, params) if _is_sqlite(path) else _text(path, params)
        refuse_keys(path)
    return list(found.values())


def refuse_keys(path: Path) -> None:
    """Refuse to publish a file with something secret in it.

    Raises:
        InputError: it holds a key.
    """
    if (key := find_key(path)) is not None:
        # Its value is not told.
        raise InputError(f"this file holds {key}, and is not published", file=path, remedy="Take it out")


def replays(found: Sequence[Making], params: Mapping[str, Any], folder: str) -> list[str]:
    """The commands that made a benchmark, with the files that go along in the places where they are taken from.

    Args:
        found: what goes along.
        params: of the benchmark's manifest.
        folder: where those files are, for the reader.
    """
    here = {making.path.name: f"{folder}/{making.path.name}" for making in found}
    by_digest = {making.digest: here[making.path.name] for making in found}
    tables = {made.get("command"): by_digest.get(made.get("table digest", "")) for made in name_records(params)}
    recorded = {_call(made): making.path.name for _, made in _models(params) for making in found
                if _call(made) in making.answers}  # fmt: skip
    asked = {made.get("command"): made for _, made in _models(params)}
    if "rewriting" in params:
        asked |= {command: params["rewriting"] for command in steps(params) if _generates(command)}
    commands = []
    for command in steps(params):
        words = [here.get(word, word) for word in shlex.split(command)]
        if (table := tables.get(command)) is not None:
            words[words.index("--table") + 1] = table  # it may have been named by the folder that it lay in
        if (made := asked.get(command)) is not None and (recording := recorded.get(_call(made))) is not None:
            words += [] if made.get("server", OPENAI_URL) == OPENAI_URL else ["--base-url", made["server"]]
            words += ["--recording", f"{folder}/{recording}", "--replay"]
        commands.append(shlex.join(words))
    return commands


def _generates(command: str) -> bool:
    return shlex.split(command)[:2] == ["qbench", "gen-queries"]


def told(found: Sequence[Making], params: Mapping[str, Any], repo_id: str) -> str:
    """Markdown for the card: what goes along, and how to use it."""
    rows = [f"| `{FOLDER}/{making.path.name}` | {markdown(making.what)} |" for making in found]
    commands = [f"qbench pull {repo_id} -o FOLDER", *replays(found, params, f"FOLDER.{FOLDER}")]
    block = "\n".join(f"    {printable(command)}" for command in commands)
    recorded = any(making.answers for making in found)
    asks_nobody = " With `--replay` no model is asked, and no key is needed." if recorded else ""
    index = f" INDEX is the index with the digest `{params.get('index')}`." if params.get("index") else ""
    return "\n\n".join(
        [
            "It goes with what it was made with:",
            "\n".join(["| file | what |", "|---|---|", *rows]),
            f"so that the same can be made again.{asks_nobody}{index}",
            block,
        ]
    )


def _is_sqlite(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(len(_SQLITE)) == _SQLITE


def _recording(path: Path, params: Mapping[str, Any]) -> Making:
    refuse_more_than_answers(path)
    with Recording(path).opened(read_only=True) as table:
        held = table.calls()
    said = [
        f"{held[_call(made)]:,} answers of {made['model']} ({part})"
        for part, made in _models(params)
        if held.get(_call(made))
    ]
    if not said:
        raise OptionError(
            "this recording holds no answer that the benchmark was made with",
            file=path,
            remedy="Attach that of `qbench expand-concepts`, or of `qbench gen-queries --rewrite`",
        )
    return Making(path, f"recording: {', '.join(said)}", file_digest(path), held)


def _text(path: Path, params: Mapping[str, Any]) -> Making:
    """Names, templates or a prompt: whatever the manifest knows the file as."""
    digest = file_digest(path)
    options = params.get("options") or {}
    known = {options.get("expansions"): "other names of concepts", options.get("templates"): "templates of queries"}
    for made in name_records(params):
        known.setdefault(made.get("table digest"), "the table that other names were taken from")
    if digest in known:
        return Making(path, known[digest], digest)
    prompts = {made.get("prompt digest"): part for part, made in _models(params)}
    for task in TASKS if prompts and path.suffix == ".toml" else ():
        try:
            part = prompts.get(load_prompt(task, path).digest)
        except QbenchError:
            continue  # no prompt, or one for another task
        if part is not None:
            return Making(path, f"what the model was told ({part})", digest)
    raise OptionError(
        "the benchmark does not say that it was made with this file",
        file=path,
        remedy="Attach recordings, names of concepts, templates and prompts, as they were when it was made",
    )


def _models(params: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The models that had a part in a benchmark, with the records of how they were asked."""
    parts = [("names of concepts", made) for made in name_records(params)]
    parts.append(("rewritten queries", params.get("rewriting") or {}))
    return ((part, made) for part, made in parts if made.get("model"))


def _call(made: Mapping[str, Any]) -> str:
    """The call that a record (`qbench.llm.asking.Asking.key`) speaks of, as recordings name it."""
    parameters = [(name, made.get(name, "")) for name in ("max_tokens", "seed", "server", "temperature")]
    return Call(KIND, str(made["model"]), (*parameters, ("prompt", made.get("prompt digest", "")))).text
