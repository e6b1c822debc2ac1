"""What a chat model may write in English: see `qbench.generation.languages.AnswerRules`."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

from qbench.generation.pairs import sane
from qbench.quantities.concept_match import folded
from qbench.quantities.english.lexicon import FUNCTION_WORDS
from qbench.quantities.english.parsers.embedded import FOLDER, VOCABULARY

__all__ = [
    "MOST_OF_NAME",
    "MOST_OF_QUERY",
    "SCRIPTS",
    "WORD",
    "content_words",
    "of_language",
    "of_task",
    "only_of_naming",
    "sane",
    "turned",
    "unit_name",
    "vocabulary",
    "words",
]

MOST_OF_NAME, MOST_OF_QUERY = 6, 40

SCRIPTS = frozenset(("LATIN",))

WORD = r"\p{L}{3,}"

_TASK = re.compile(
    r"\bsuper[ -]?sets?\b|\bsyn(?:onym|set)s?\b|\bhyp[eo]r?nyms?\b|\bas an ai\b|\blanguage model\b|\bai assistant\b"
    r"|\bi (?:cannot|can't|can not|am unable|apologi[sz]e)\b|\bsorry\b|\bjson\b|\bplaceholder\b|\bnames wanted\b"
    r"|\b(?:the|this|given|unknown) concept\b|\bother names?\b|\bn/a\b|\b(?:ignore|disregard) (?:\w+ )?previous\b"
    r"|\bi (?:do not|don[’']?t) know\b|\bplease provide more\b|\bmore (?:context|information) (?:needed|required)\b"
    r"|\b(?:unable to|cannot|can[’']?t) (?:help|comply|assist|answer)\b|^(?:sure|certainly|here (?:is|are))\b"
    r"|^(?:none|not|nothing|no \w+) (?:available|applicable|known|found|suitable)\b",
)
_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_PART = re.compile(r"[^\W\d_]{3,}")
_SAID = re.compile(r"[a-z]+(?:'[a-z]+)?")
_TURNING = frozenset(
    "never without except excluding exclude avoid avoiding don't dont doesn't isn't aren't wasn't won't neither nor "
    "unless hardly barely nearly almost roughly approximately twice thrice half double triple rose fell rises falls "
    "rising falling increased decreased instead".split()
)
_OR_MORE = re.compile(r"\bor (?:more|less|fewer|above|over|under|below|higher|lower|greater|smaller)\b")
_DENIED = re.compile(
    r"\bno (?!(?:more|less|fewer|over|under|above|below|later|earlier|\w+er)\b)"
    r"|\bnot (?:a|an|any|the|want|wanted|need|looking|interested)\b"
)


def vocabulary() -> Collection[str]:
    """Common words: what the vocabulary of the parser that comes with qbench holds whole."""
    return (FOLDER / VOCABULARY).read_text(encoding="utf-8").split("\n")


def words(text: str) -> Sequence[str]:
    """The words of a text, with their punctuation."""
    return text.split()


def content_words(text: str) -> frozenset[str]:
    """The words that carry meaning, parts of compounds too, in the singular."""
    found = [part for word in _WORD.findall(text.lower()) for part in (word, *re.split(r"['’.-]", word)) if part]
    return frozenset(
        folded([word for word in found if word not in FUNCTION_WORDS and (len(word) > 1 or word.isdigit())])
    )


def of_task(text: str) -> bool:
    """Whether a text speaks of the task, as a model does that explains itself or refuses."""
    return _TASK.search(text.lower()) is not None


_NAMING = content_words(
    "alternative answer best broad broader case category concept description example expression first general generic "
    "given good instruction kind label list lower name noun option output phrase prompt question query rule same "
    "several similar some such suggested suitable synonym task term text thing type various wanted word wording"
)
"""A name of such words alone says what was asked for, and nothing of its concept: "the words of the task", "a general
term". One other word makes a name of it ("prison term", "word count")."""


def only_of_naming(name: str) -> bool:
    """Whether a name has words of naming alone."""
    found = content_words(name)
    return bool(found) and found <= _NAMING


def of_language(text: str, is_word: Callable[[str], bool]) -> bool:
    """Whether at least half of the words that carry meaning are known."""
    found = [word for word in _PART.findall(text.lower()) if word not in FUNCTION_WORDS]
    return 2 * sum(map(is_word, found)) >= len(found)


def turned(text: str, own: str, comparators: Collection[str]) -> bool:
    """Whether new words negate, blur or multiply a condition: "never", "hardly", "twice".

    Comparators ("no more than", "not above", "5 or more") are left to the parser.
    """
    said, known = (set(_SAID.findall(version.lower().replace("’", "'"))) for version in (text, own))
    new = said - known
    if new & _TURNING or ("exactly" in new and not set(comparators) <= {"=", "between"}):
        return True
    if not set(comparators) & {"<=", ">="} and _OR_MORE.search(text.lower()):
        return _OR_MORE.search(own.lower()) is None
    return _DENIED.search(text.lower()) is not None and _DENIED.search(own.lower()) is None


def unit_name(unit: str) -> str:
    """A unit as the model is told it: by its canonical name."""
    return unit or "plain number"
