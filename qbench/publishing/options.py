"""Options of publishing; quick to import, because the command line is made from them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from qbench.errors import OptionError
from qbench.options import option

_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*|multilingual")


@dataclass(frozen=True)
class PublishOptions:
    """How an artefact is published. Without `source` its texts are; with it, only ids, offsets and digests."""

    repo_id: str = option(help="The data set's name on the hub.", metavar="OWNER/NAME")
    licence: str | None = option(
        None,
        help="Licence of the publication (cc-by-4.0). [default: the artefact's own]",
        metavar="ID",
    )
    terms: str | None = option(
        None,
        help="Terms of a licence that qbench does not know: permissive, share-alike, non-commercial.",
        metavar="TERMS",
    )
    source: str | Path | None = option(
        None, help="For --without-text: the corpus that the index was built from.", metavar="CORPUS"
    )
    picture: bool = option(True, help="Draw the distributions (needs matplotlib).")
    citation: Path | None = option(
        None, help="Markdown for the card's section on citation, instead of qbench's.", metavar="FILE"
    )
    with_errors: bool = option(False, help="Publish a benchmark with errors in its labels; the card lists them.")
    attach: tuple[Path, ...] = option(
        (),
        help="Also publish a file that the benchmark was made with: a recording of answers, names of concepts, "
        "templates, a prompt; repeat it.",
        metavar="FILE",
    )
    languages: tuple[str, ...] = option(
        (),
        help="Language of the texts, for the card; repeat it. [default: the one that they were read in]",
        flag="language",
        metavar="CODE",
    )

    def __post_init__(self) -> None:
        for code in self.languages:
            if not _LANGUAGE.fullmatch(code):
                raise OptionError(
                    "not a code of a language", value=code, remedy="Write ISO 639: en, de, yue; or multilingual"
                )
