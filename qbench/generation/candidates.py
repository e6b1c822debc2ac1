"""Which texts of a model can be another name of a concept, and why the others cannot (*Numbers Matter* B.5)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from qbench.generation.pairs import MAX_LETTERS, MAX_WORDS, sane
from qbench.llm.chat_answers import EMPTY
from qbench.llm.prompts import Prompt
from qbench.quantities.concept_match import ALTERNATIVE, folded
from qbench.quantities.english.lexicon import FUNCTION_WORDS

TOO_LONG = "too long"
ONE_WORD = "less than two words"
REUSES = "reuses a word of the concept"
TWICE = "repeats a name that the concept has"
INSTRUCTION = "speaks of the task"
ECHO = "repeats the prompt"
PARROT = "repeats an example of the prompt"
SCRIPT = "in another script"
LANGUAGE = "in another language"
NUMBER = "states a quantity"
NOTHING = "no word that can be searched for"
SIGNS = "signs that do not belong there"
GENERAL = "shared by too many concepts"

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
_EDGES = " \t\"'“”‘’`.,;:!?*•-–—"
_TAG = re.compile(r"</?[a-zA-Z!]|&[a-z]+;|&#")
_STRANGE = re.compile(r"[^\w\s'’.&/()+-]|_")


@dataclass(frozen=True)
class Judge:
    """Judges names. All rules are about the text alone: whether a name is true of its concept, no rule can tell.

    Attributes:
        prompt: the instruction given to the model.
        is_word: whether a word (lower case) belongs to the corpus' language.
        measured: whether a text states a quantity.
    """

    prompt: Prompt
    is_word: Callable[[str], bool]
    measured: Callable[[str], bool]

    def judge(self, concept: str, names: Sequence[str], most: int) -> tuple[list[str], list[tuple[str, str]]]:
        """At most `most` of the names, plain, in the model's order; and (name, reason) of each that is rejected."""
        accepted: list[str] = []
        rejected: list[tuple[str, str]] = []
        parrot = any(list(example.answer) == list(names) for example in self.prompt.examples) and not any(
            dict(example.slots).get("concept") == concept for example in self.prompt.examples
        )
        for name in names:
            said = plain(name)
            reason = PARROT if parrot else next(self._problems(concept, said, accepted), None)
            if reason is not None:
                rejected.append((said, reason))
            elif len(accepted) < most:
                accepted.append(said)
        return accepted, rejected

    def _problems(self, concept: str, name: str, accepted: Sequence[str]) -> Iterator[str]:
        words = name.split()
        if not name:
            yield EMPTY
        # First what is cheap and makes the rest pointless: a text may be a page long.
        if len(words) > MAX_WORDS or len(name) > MAX_LETTERS:
            yield INSTRUCTION if of_task(name) else TOO_LONG
        if of_task(name):
            yield INSTRUCTION
        if ALTERNATIVE in name or _STRANGE.search(name):
            yield SIGNS if in_script_of(name, concept) else SCRIPT
        if not in_script_of(name, concept):
            yield SCRIPT
        if len(words) < 2:
            yield ONE_WORD
        if content_words(name) & content_words(concept) or self._glued(name, concept):
            yield REUSES
        if self._echoes(name):
            yield ECHO
        if _only_of_naming(name):
            yield INSTRUCTION
        if any(folded(name.split()) == folded(earlier.split()) for earlier in accepted):
            yield TWICE
        if not sane(name):
            yield NOTHING
        if not self._is_language(name):
            yield LANGUAGE
        if any(sign.isdigit() for sign in name) or self.measured(name):
            yield NUMBER

    def _glued(self, name: str, concept: str) -> bool:
        """Whether a word of the concept is the beginning or end of a compound: "notebookprice" for "notebook price"."""
        parts = [part for part in content_words(concept) if len(part) > 3]
        rests = [
            word[len(part) :] if word.startswith(part) else word[: -len(part)]
            for word in content_words(name)
            for part in parts
            if word.startswith(part) or word.endswith(part)
        ]
        return any(len(rest) > 2 and self.is_word(rest) for rest in rests)

    def _echoes(self, name: str) -> bool:
        """Whether a name is a stretch of the instruction itself."""
        said = " ".join(_WORD.findall(name))
        return f" {said} " in self._instruction

    @cached_property
    def _instruction(self) -> str:
        """The words of the instruction."""
        return f" {' '.join(_WORD.findall(f'{self.prompt.system} {self.prompt.user}'.lower()))} "

    def _is_language(self, name: str) -> bool:
        """Whether at least half of the words that carry meaning are known."""
        words = [word for word in _PART.findall(name) if word not in FUNCTION_WORDS]
        return 2 * sum(map(self.is_word, words)) >= len(words)


def of_task(text: str) -> bool:
    """Whether a text speaks of the task, as a model does that explains itself or refuses."""
    return _TASK.search(text.lower()) is not None


def strange(text: str) -> bool:
    """Whether a text has signs that nobody types into a search box: control and format characters, markup.

    >>> strange("weight < 2 kg"), strange("<b>weight</b>"), strange("weight" + chr(8238))
    (False, True, True)
    """
    return _TAG.search(text) is not None or any(unicodedata.category(sign).startswith("C") for sign in text)


def plain(text: str) -> str:
    """A name as it is kept: composed signs, lower case, single spaces, without quotes and marks around it.

    >>> plain(' "Money  taken in." ')
    'money taken in'
    """
    return " ".join(unicodedata.normalize("NFKC", text).lower().split()).strip(_EDGES)


def content_words(text: str) -> frozenset[str]:
    """The words that carry meaning, parts of compounds too, in the singular."""
    words = [part for word in _WORD.findall(text.lower()) for part in (word, *re.split(r"['’.-]", word)) if part]
    return frozenset(
        folded([word for word in words if word not in FUNCTION_WORDS and (len(word) > 1 or word.isdigit())])
    )


_NAMING = content_words(
    "alternative answer best broad broader case category concept description example expression first general generic "
    "given good instruction kind label list lower name noun option output phrase prompt question query rule same "
    "several similar some such suggested suitable synonym task term text thing type various wanted word wording"
)
"""A name of such words alone says what was asked for, and nothing of its concept: "the words of the task", "a general
term". One other word makes a name of it ("prison term", "word count")."""


def _only_of_naming(name: str) -> bool:
    words = content_words(name)
    return bool(words) and words <= _NAMING


def in_script_of(text: str, other: str) -> bool:
    """Whether all letters are Latin, or of a script that the other text has."""
    return scripts(text) <= scripts(other) | {"LATIN"}


def scripts(text: str) -> set[str]:
    """The scripts of a text's letters, as the first words of their names.

    >>> sorted(scripts("5 кг of flour"))
    ['CYRILLIC', 'LATIN']
    """
    return {unicodedata.name(sign, "UNKNOWN").split()[0] for sign in set(text) if sign.isalpha()}
