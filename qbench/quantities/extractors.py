"""The extractor's role, and the extractors that are known by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qbench.errors import OptionError, UnknownNameError
from qbench.keys import revision
from qbench.options import option
from qbench.quantities.auto import AutoExtractor
from qbench.quantities.languages import AUTO, EMBEDDED, ENGLISH, LANGUAGE_HELP, data_files, language_of, readers
from qbench.quantities.languages import Extractor as Extractor
from qbench.quantities.types import quantity_schema, to_row
from qbench.quantities.units import load_units
from qbench.store import digest, file_digest

if TYPE_CHECKING:
    import polars as pl

BATCH = 1_000
"""Texts that are read together for a table: the parser works faster on many, and memory is to stay bounded."""


@dataclass(frozen=True)
class ExtractorOptions:
    """What can change an extractor's output; part of every digest that depends on extraction."""

    name: str = option(
        "rules",
        help="Extractor: rules, neural or quantulum3; given takes the quantities that come with a corpus of "
        "`qbench synth`.",
        flag="extractor",
    )
    years: bool = option(False, help='Report calendar years too (unit "calendar year", family "date").', negatable=True)
    p_values: bool = option(
        True, help="Report p-values too, as bare numbers of concept p. [default: report them]", negatable=True
    )
    units_file: Path | None = option(None, help="A file of units, added to the built-in ones.", flag="units")
    spacy_model: str = option(
        EMBEDDED,
        help="Parser of sentences for counted nouns and concepts: embedded, an installed spaCy pipeline "
        "(en_core_web_sm), a folder with one, or none (word lists alone: several times faster, worse concepts).",
    )
    language: str = option(AUTO, help=LANGUAGE_HELP, metavar="CODE")
    model: Path | None = option(None, help="For --extractor neural: a folder that `qbench train extractor` made.")

    @classmethod
    def from_key(
        cls, key: Mapping[str, Any], units_file: Path | None = None, model: Path | None = None
    ) -> ExtractorOptions:
        """The options of which a manifest keeps the `key`; the defaults for what it lacks or no extractor made.

        Args:
            key: what `key` gave.
            units_file: where the user's units are kept now; a key holds only their digest.
            model: where the extractor's model is kept now. Without it the default extractor takes the place of one that
                needs it: it reads queries in the same way.
        """
        plain = cls(language=str(key.get("language", ENGLISH)))
        name = str(key.get("extractor"))
        known = any(name in package.EXTRACTORS for package in readers(plain.language, name).values())
        needed = key.get("model") is not None
        return cls(
            name=name if known and (model is not None or not needed) else plain.name,
            years=bool(key.get("years", plain.years)),
            p_values=bool(key.get("p_values", plain.p_values)),
            units_file=units_file,
            spacy_model=str(key.get("spacy_model", plain.spacy_model)),
            language=plain.language,
            model=model if known and needed else None,
        )

    def key(self) -> dict[str, object]:
        """For digests: the options, the content of the units file and of the model, and the rules themselves.

        Raises:
            InputError: the model cannot be opened.
        """
        package, *others = readers(self.language, self.name).values()
        model = {} if self.model is None else {"model": package.model_digest(self.model)}
        parsers = [known.parser_digest(self.spacy_model) for known in (package, *others)]
        return {
            **model,
            "extractor": self.name,
            "language": self.language,
            "years": self.years,
            "p_values": self.p_values,
            "units_file": None if self.units_file is None else file_digest(self.units_file),
            "spacy_model": self.spacy_model,
            "parser": " ".join(dict.fromkeys(filter(None, parsers))),
            "rules": revision("extraction"),
            "data": _data_digest(self.language),
        }


@cache
def _data_digest(language: str) -> str:
    """Digest of the files of units and senses: an edit of them makes every index stale."""
    return digest([file_digest(path) for path in data_files(language)])


def check_extractor(options: ExtractorOptions, *others: str) -> None:
    """Refuse an unknown name, and a model that is missing or not used, without opening anything.

    Args:
        options: name the extractor.
        others: names that the caller knows too, which stand for no extractor and use no model.

    Raises:
        UnknownNameError: there is no such language, or it has no extractor of that name.
        OptionError: a model is missing, or given where none is used.
    """
    packages = readers(options.language, options.name)
    package = next(iter(packages.values()))
    name, known = options.name, (*package.EXTRACTORS, *others)
    if name not in known:
        raise _no_extractor(options, known)
    if name in package.WITH_MODEL and options.model is None:
        remedy = "Give its folder with --model; `qbench train extractor` makes one"
        raise OptionError(f"the extractor {name} needs a model", remedy=remedy)
    if name not in package.WITH_MODEL and options.model is not None:
        remedy = "Leave --model out" + "".join(f", or choose --extractor {other}" for other in package.WITH_MODEL)
        raise OptionError(f"the extractor {name} uses no model", value=str(options.model), remedy=remedy)


def _no_extractor(options: ExtractorOptions, known: Iterable[str]) -> UnknownNameError:
    """The error about an extractor that a language has not: what it has, and which language has this one."""
    remedy, name = f"Known: {', '.join(known)}", options.name
    others = [code for code, package in readers(AUTO, name).items() if name in package.EXTRACTORS]
    if options.language in (AUTO, *others) or not others:
        return UnknownNameError("unknown extractor", value=name, remedy=remedy)
    return UnknownNameError(
        f"there is no such extractor for --language {options.language}",
        value=name,
        remedy=f"{remedy}; {name} reads --language {' or '.join(others)}",
    )


def get_extractor(options: ExtractorOptions = ExtractorOptions()) -> Extractor:
    """The extractor that `options` name.

    Raises:
        UnknownNameError: there is no such language, or it has no extractor of that name.
        MissingPackageError: it needs an extra that is not installed.
        InputError: its model cannot be opened.
        OptionError: there is no such parser; or a model is missing, or given where none is used.
    """
    check_extractor(options)
    packages = readers(options.language, options.name)
    units = load_units(options.units_file)
    chosen = {"years": options.years, "p_values": options.p_values}

    def opened(code: str) -> Extractor:
        package = packages[code]
        return package.extractor(options.name, units, **chosen, spacy_model=options.spacy_model, model=options.model)

    if len(packages) == 1:
        return opened(next(iter(packages)))
    # The first is opened at once, for its errors: a parser that is not there.
    return AutoExtractor(options.name, units, {code: opened(code) for code in list(packages)[:1]}, opened)


def for_texts(options: ExtractorOptions, texts: Iterable[str]) -> ExtractorOptions:
    """The options with the language that a sample of the texts is in, where they leave it to the texts."""
    return replace(options, language=language_of(texts, options.name)) if options.language == AUTO else options


def extract_table(doc_ids: Iterable[str], texts: Iterable[str], extractor: Extractor) -> pl.DataFrame:
    """The quantity table of some texts (schema `quantity_schema`), in the order given."""
    import polars as pl

    pairs = zip(doc_ids, texts, strict=True)
    rows = []
    while batch := list(islice(pairs, BATCH)):
        extracted = extractor.extract_many([text for _, text in batch])
        rows += [to_row(doc_id, q) for (doc_id, _), mentions in zip(batch, extracted, strict=True) for q in mentions]
    return pl.DataFrame(rows, schema=quantity_schema())
