"""Parsers by name."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from qbench.quantities.english.binder.model import load_binder
from qbench.quantities.english.parse import Parser
from qbench.quantities.english.parsers.embedded import FOLDER, WEIGHTS, EmbeddedParser
from qbench.quantities.languages import EMBEDDED, NO_PARSER


def require_parser(name: str) -> None:
    """Check that `load_parser` would find a parser, without loading it.

    Raises:
        OptionError: there is none of that name.
    """
    if name in (EMBEDDED, NO_PARSER) or Path(name).exists():
        return
    from importlib.util import find_spec

    if not name.isidentifier() or find_spec(name) is None:
        from qbench.quantities.english.parsers.pipelines import unknown

        raise unknown(name)


@lru_cache(maxsize=4)
def load_parser(name: str) -> Parser:
    """The parser of a name.

    Args:
        name: "embedded" for the one that comes with qbench; else a folder with weights like its own, a spaCy pipeline's
            name, or a folder with such a pipeline.

    Raises:
        OptionError: there is no such pipeline, or it has no tagger or no parser; or the weights can't be read.
    """
    if name == EMBEDDED:
        return Parser(EmbeddedParser(FOLDER, project=load_binder().project))
    if (Path(name) / WEIGHTS).is_file():
        return Parser(EmbeddedParser(Path(name)))
    from qbench.quantities.english.parsers.pipelines import load_pipeline

    return Parser(load_pipeline(name))
