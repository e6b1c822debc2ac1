"""Which field is the id, which the text: given by name, or recognised by the names that corpora use."""

from __future__ import annotations

from collections.abc import Sequence

from qbench.corpora.types import Fields, ReadOptions
from qbench.errors import InputError

IDS = ("doc_id", "_id", "id", "docno", "docid", "pmcid", "pmid", "pid", "uid")
TEXTS = ("text", "abstract", "body", "contents", "content", "passage", "paragraph", "sentence", "description")
TITLES = ("title", "headline")
"""Names that are recognised, the first that is there wins, upper and lower case alike."""


def choose(names: Sequence[str], options: ReadOptions, file: str, line: int | None = None) -> Fields:
    """The fields of a record that has these names.

    Raises:
        InputError: a field that the options name is missing, or no text field is recognised.
    """
    for wanted in (options.id_field, *options.text_fields, options.title_field):
        if wanted is not None and wanted not in names:
            raise InputError(f"no field {wanted!r}", file=file, line=line, value=_listed(names))
    texts = options.text_fields or _first(names, TEXTS)
    if not texts:
        raise InputError(
            "no field is recognised as the text",
            file=file,
            line=line,
            value=_listed(names),
            remedy="Name it with --text-field",
        )
    doc_id = options.id_field or next(iter(_first(names, IDS)), None)
    title = options.title_field or next(iter(_first(names, TITLES)), None)
    return Fields(doc_id, texts, None if title in texts else title)


def _first(names: Sequence[str], usual: Sequence[str]) -> tuple[str, ...]:
    lower = {name.lower(): name for name in reversed(names)}
    return next(((lower[name],) for name in usual if name in lower), ())


class _Listed(str):
    """Names printed as they are, without quotes around the whole."""

    def __repr__(self) -> str:
        return str(self)


def _listed(names: Sequence[str]) -> str:
    return _Listed(", ".join(map(str, names)) or "no fields")
