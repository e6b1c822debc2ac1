"""English as a language of qbench: see `qbench.quantities.languages.LanguagePackage`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from qbench.quantities.english.inflection import singular
from qbench.quantities.languages import EMBEDDED, NO_PARSER
from qbench.quantities.scripts import LATIN
from qbench.store import digest, file_digest

if TYPE_CHECKING:
    import polars as pl

    from qbench.quantities.english.sentences import EnglishSplitter
    from qbench.quantities.languages import Extractor
    from qbench.quantities.units import Units

EXTRACTORS: Mapping[str, str] = {
    "rules": "numbers, units and comparators by our own grammar, counted nouns and concepts from a parse (default)",
    "neural": "as `rules`, but a trained BERT says which words name what a number measures (needs --model)",
    "quantulum3": "numbers and units by quantulum3, the rest as in `rules`",
}

WITH_MODEL = ("neural",)

SCRIPTS = (LATIN,)

TOKEN = r"\d+(?:[.,]\d+)*|\p{L}\w*|[%‰\p{Sc}]"  # noqa: S105  a pattern, not a secret

_SAME = {"people": "person"}
"""Another plural of a word that `singular` leaves as it is, since units are named by it ("900 people")."""


def extractor(
    name: str, units: Units, *, years: bool, p_values: bool, spacy_model: str, model: Path | None
) -> Extractor:
    """The extractor of a name in `EXTRACTORS`.

    Raises:
        MissingPackageError: it needs an extra that is not installed.
        InputError: the model cannot be opened.
        OptionError: there is no such parser.
    """
    if model is not None:
        from qbench.quantities.english.neural import NeuralExtractor

        return NeuralExtractor(units, model, years=years, p_values=p_values, spacy_model=spacy_model)
    if name == "quantulum3":
        from qbench.quantities.english.quantulum import QuantulumExtractor

        return QuantulumExtractor(units, years=years, p_values=p_values, spacy_model=spacy_model)
    from qbench.quantities.english.rules import RulesExtractor

    return RulesExtractor(units, years=years, p_values=p_values, spacy_model=spacy_model)


@lru_cache
def parser_digest(name: str) -> str:
    """Digest of the files of a parser's folder, or an installed pipeline's name and version.

    The embedded parser's is of the binder's weights, too, which read its word vectors.
    """
    if name == NO_PARSER:
        return name
    if name == EMBEDDED:
        from qbench.quantities.english.binder import model
        from qbench.quantities.english.parsers import embedded

        files = [embedded.FOLDER / embedded.WEIGHTS, embedded.FOLDER / embedded.VOCABULARY]
        return digest([file_digest(path) for path in (*files, model.FOLDER / model.WEIGHTS)])
    folder = Path(name)
    if folder.is_dir():
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        return digest([[path.relative_to(folder).as_posix(), file_digest(path)] for path in files])
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return name


def model_digest(folder: Path) -> str:
    """Digest of a model of `qbench train extractor`.

    Raises:
        InputError: the folder holds no finished one.
    """
    from qbench.quantities.english.neural import checkpoint_digest

    return checkpoint_digest(folder)


def sentence_splitter() -> EnglishSplitter:
    """The splitter by rules for abbreviations."""
    from qbench.quantities.english.sentences import EnglishSplitter

    return EnglishSplitter()


def tokenized(texts: pl.Series) -> pl.Series:
    """Lower-case tokens; no stop words are dropped and nothing is stemmed.

    A token is a number as it is written, with its points and commas ("3.5", "10,000"); a word: a letter and all
    letters, digits and underscores that follow it ("covid19"; "5kg" is "5" and "kg"); or a currency sign, "%" or "‰".
    White space, hyphens, apostrophes and other signs only separate.
    """
    return texts.str.to_lowercase().str.extract_all(TOKEN)


def fold(word: str) -> str:
    """A word without case and number.

    >>> fold("Companies"), fold("people")
    ('company', 'person')
    """
    singular_form = singular(word.lower())
    return _SAME.get(singular_form, singular_form)


_PREFIXES = frozenset(("anti", "co", "ex", "non", "off", "on", "post", "pre", "re", "sub", "un"))
"""First parts of compounds that make them something else: a time post-treatment is none of treatment."""


def parts(word: str) -> list[str]:
    """The words of a compound; a prefix stays with what follows.

    >>> parts("follow-up"), parts("pre-tax")
    (['follow', 'up'], ['pretax'])
    """
    words = word.replace("-", " ").split()
    return ["".join(words)] if words and words[0].lower() in _PREFIXES else words


_OTHERS = frozenset(
    "unrecognized unrecognised unamortized unamortised unearned unbilled unused undrawn unfunded unrealized unrealised "
    "after before non pre post deferred hypothetical potential forgone foregone constant excess "
    "sd sem ci iqr interquartile deviation".split()
)
"""Among them the spreads: the standard deviation of a weight is no weight."""


def denies(before: Sequence[str]) -> bool:
    """Whether words before a concept make it another thing: unrecognized expense, constant currency revenue, SD age.

    >>> denies(["deferred"]), denies(["net"])
    (True, False)
    """
    return not _OTHERS.isdisjoint(before)


_ENDINGS = ("ing", "ed", "er", "ly")


def stem(word: str) -> str:
    """A word without case, number and the commonest endings.

    >>> stem("Grossed"), stem("grossing"), stem("ratings"), stem("rated")
    ('gross', 'gross', 'rating', 'rated')
    """
    word = fold(word)
    ending = next((ending for ending in _ENDINGS if word.endswith(ending) and len(word) - len(ending) >= _LEAST), "")
    if ending:
        word = word.removesuffix(ending)
        if word[-1] == word[-2] and word[-1] not in "sl":
            word = word[:-1]  # "stopped"
    return word[:-1] if word.endswith("e") and len(word) > _LEAST else word


_LEAST = 4
"""Letters that a stem has at least."""
