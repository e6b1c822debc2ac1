"""The languages of texts: what depends on one is in its package, and asked for by the language's code.

A further language is a package beside `english`, whose module `language` satisfies `LanguagePackage`, and a row of
`LANGUAGES`. Nothing of a package is imported before a text of its language is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from qbench.errors import UnknownNameError
from qbench.quantities.scripts import script_of, told

if TYPE_CHECKING:
    from types import ModuleType

    import polars as pl

    from qbench.quantities.types import ParsedQuery, Quantity
    from qbench.quantities.units import Units

ENGLISH, CHINESE = "en", "zh"

AUTO = "auto"
"""In place of a language's code: the one whose script a text is written in."""

LANGUAGE_HELP = (
    "Language of the texts: en (English), zh (Chinese), or auto, which decides by their script: once for a corpus, for "
    "each text where there is none."
)
"""Help of `--language`, the same for every verb that has it."""

SAMPLE, SAMPLE_CHARACTERS = 200, 2_000
"""How many documents of a corpus, and how much of each, decide what language it is in."""

LANGUAGES: dict[str, str] = {
    ENGLISH: "qbench.quantities.english.language",
    CHINESE: "qbench.quantities.chinese.language",
}
"""Module of each language's package, by the language's ISO 639-1 code. The first reads what none is known for."""


EMBEDDED, NO_PARSER = "embedded", "none"
"""Values of `spacy_model` beside pipelines' names: the parser that comes with qbench, and word lists."""


class Extractor(Protocol):
    """Finds the quantities of one text. Deterministic, and free of state between calls."""

    name: str
    units: Units

    def extract(self, text: str) -> list[Quantity]:
        """The mentions in `text`, ordered by value span; spans index into `text` as given."""
        ...

    def extract_query(self, text: str) -> list[Quantity]:
        """The mentions of a typed query, in order."""
        ...

    def parse_query(self, text: str) -> ParsedQuery:
        """The search words of a typed query, and what it asks of quantities."""
        ...

    def explain_many(self, texts: Iterable[str]) -> list[list[tuple[Quantity, tuple[str, ...]]]]:
        """As `extract_many`, each mention with the names of the rules that made it."""
        ...

    def extract_many(self, texts: Iterable[str]) -> list[list[Quantity]]:
        """The mentions of each text, as `extract` finds them; faster where a parser works on batches."""
        ...


class SentenceSplitter(Protocol):
    """Cuts texts into sentences. Deterministic."""

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Half-open character spans of the sentences of `text`, in order, without overlap."""
        ...


class LanguagePackage(Protocol):
    """What qbench asks of a language."""

    EXTRACTORS: Mapping[str, str]
    """The extractors of the language by name, each with a line of help; the first is the default."""

    WITH_MODEL: Collection[str]
    """Those of them that need a model (see `ExtractorOptions.model`); `extractor` gets one for no other."""

    SCRIPTS: Collection[str]
    """The writing systems of its texts, by their names in `qbench.quantities.scripts.SCRIPTS`."""

    def extractor(
        self, name: str, units: Units, *, years: bool, p_values: bool, spacy_model: str, model: Path | None
    ) -> Extractor:
        """The extractor of a name in `EXTRACTORS`."""
        ...

    def parser_digest(self, name: str) -> str:
        """Digest of the parser of this name (see `ExtractorOptions.spacy_model`), for keys."""
        ...

    def model_digest(self, folder: Path) -> str:
        """Digest of the model in a folder (see `ExtractorOptions.model`), for keys."""
        ...

    def sentence_splitter(self) -> SentenceSplitter:
        """The splitter of documents into sentences."""
        ...

    def tokenized(self, texts: pl.Series) -> pl.Series:
        """The tokens of lexical search: a series of lists of strings, as long as `texts`."""
        ...

    def fold(self, word: str) -> str:
        """The form of a concept's word that is compared: without case and, where the language has it, number."""
        ...

    def parts(self, word: str) -> list[str]:
        """The parts of a concept's word that are compared one by one, in order: those of a compound."""
        ...

    def denies(self, before: Sequence[str]) -> bool:
        """Whether words before those of a concept make it another thing, and none more specific."""
        ...

    def stem(self, word: str) -> str:
        """The form in which words of queries and texts are compared where inflection should not matter."""
        ...


def language_package(code: str) -> LanguagePackage:
    """The package of a language.

    Raises:
        UnknownNameError: no package knows the language.
    """
    return cast("LanguagePackage", language_module(code, LANGUAGES))


def language_module(code: str, modules: Mapping[str, str]) -> ModuleType:
    """What a room asks of a language: one of its modules, by the languages' codes.

    Raises:
        UnknownNameError: there is none for the language.
    """
    if code not in modules:
        raise UnknownNameError("unknown language", value=code, remedy=f"Known: {', '.join(modules)}")
    return _loaded(modules[code])


@cache
def _loaded(module: str) -> ModuleType:
    return import_module(module)


def readers(code: str, extractor: str) -> dict[str, LanguagePackage]:
    """The packages that read texts of a language by an extractor, by their codes: several where the language is `AUTO`.

    Where the language is `AUTO` and none has the extractor, it is the first one, which will say so.

    Raises:
        UnknownNameError: no package knows the language.
    """
    if code != AUTO:
        return {code: language_package(code)}
    packages = {known: language_package(known) for known in LANGUAGES}
    able = {known: package for known, package in packages.items() if extractor in package.EXTRACTORS}
    return able or {next(iter(LANGUAGES)): next(iter(packages.values()))}


def not_read(counts: dict[str, int], code: str, extractor: str, what: str) -> str:
    """What is said of texts in scripts that the extractor does not read, and what reads them, if anything does.

    Args:
        counts: of texts by script, most first.
        code: of the language in which they were read, or `AUTO`.
        extractor: its name.
        what: the texts are called.

    >>> not_read({"Latin": 3}, "zh", "rules", "sentences")
    'not read: 3 sentences, not in the script of the language, zh (Latin 3); --language en reads Latin'
    """
    able = {script: known for known, package in readers(AUTO, extractor).items() for script in package.SCRIPTS}
    remedies = [f"--language {able[script]} reads {script}" for script in counts if able.get(script, code) != code]
    own = "a language that is read" if code == AUTO else f"the language, {code}"
    said = f"not read: {sum(counts.values()):,} {what}, not in the script of {own} ({told(counts)})"
    return "; ".join((said, *remedies))


def language_of(texts: Iterable[str], extractor: str = "rules") -> str:
    """The code of the language whose script most of some texts are written in, among those that have an extractor.

    The first of `LANGUAGES` where no text is in a script that one of them is written in.

    >>> language_of(["Sales rose 5%."]), language_of(["净利润为3.5亿元。", "IPO"]), language_of([])
    ('en', 'zh', 'en')
    """
    packages = readers(AUTO, extractor)
    by_script = {script: code for code, package in packages.items() for script in package.SCRIPTS}
    counts = Counter(by_script[script] for text in texts if (script := script_of(text)) in by_script)
    return max(packages, key=lambda code: counts[code])


def data_files(code: str) -> list[Path]:
    """The text files of units and of a language's own rules, in order: what `ExtractorOptions.key` digests."""
    modules = LANGUAGES.values() if code == AUTO else [LANGUAGES[code]]
    packages = [Path(str(import_module(module).__file__)).parent for module in modules]
    folders = [Path(__file__).parent, *packages]
    return sorted({path for folder in folders for path in (folder / "data").glob("*.txt")})
