"""The parsers of descriptions that are known by name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from qbench.errors import OptionError, UnknownNameError
from qbench.mining.types import DescriptionParser
from qbench.quantities.english.parse import EMBEDDED

PARSERS: Mapping[str, str] = {
    "rules": "from the extractor's parse: concept, subject, verb, places and times (default)",
    "tagger": "the BERT + BiLSTM tagger of *Quantity Retrieval*, trained by `qbench train description-parser`",
}


def get_parser(name: str, *, folder: Path | None = None, spacy_model: str = EMBEDDED) -> DescriptionParser:
    """The parser of a name.

    Args:
        name: a key of `PARSERS`.
        folder: the tagger's checkpoint.
        spacy_model: what parses sentences for the rules.

    Raises:
        UnknownNameError: there is no such parser.
        OptionError: the tagger's folder is missing, or given to another parser.
        InputError: the folder holds no tagger.
        MissingPackageError: the tagger needs the extra `neural`.
    """
    if name not in PARSERS:
        raise UnknownNameError("unknown description parser", value=name, remedy=f"Known: {', '.join(PARSERS)}")
    if (folder is not None) != (name == "tagger"):
        raise OptionError(
            "the tagger needs the folder of its checkpoint, and no other parser does",
            value=name,
            remedy="Give both --parser tagger and --checkpoint FOLDER",
        )
    if folder is not None:
        from qbench.mining.tagger_parser import TaggerParser

        return TaggerParser(folder)
    from qbench.mining.rules_parser import RulesParser

    return RulesParser(spacy_model)
