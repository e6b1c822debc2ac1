"""Which texts of a model can be another name of a concept, and why the others cannot (*Numbers Matter* B.5)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from qbench.generation.languages import AnswerRules, answer_rules
from qbench.generation.pairs import MAX_LETTERS
from qbench.llm.chat_answers import EMPTY
from qbench.llm.prompts import Prompt
from qbench.quantities.concept_match import ALTERNATIVE, folded
from qbench.quantities.languages import ENGLISH

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

_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
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
        language: code of the corpus' language.
    """

    prompt: Prompt
    is_word: Callable[[str], bool]
    measured: Callable[[str], bool]
    language: str = ENGLISH

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
        rules = self._rules
        words = rules.words(name)
        if not name:
            yield EMPTY
        # First what is cheap and makes the rest pointless: a text may be a page long.
        if len(words) > rules.MOST_OF_NAME or len(name) > MAX_LETTERS:
            yield INSTRUCTION if rules.of_task(name) else TOO_LONG
        if rules.of_task(name):
            yield INSTRUCTION
        in_script = in_script_of(name, concept, rules.SCRIPTS)
        if ALTERNATIVE in name or _STRANGE.search(name):
            yield SIGNS if in_script else SCRIPT
        if not in_script:
            yield SCRIPT
        if len(words) < 2:
            yield ONE_WORD
        if rules.content_words(name) & rules.content_words(concept) or self._glued(name, concept):
            yield REUSES
        if self._echoes(name):
            yield ECHO
        if rules.only_of_naming(name):
            yield INSTRUCTION
        if any(self._folded(name) == self._folded(earlier) for earlier in accepted):
            yield TWICE
        if any(sign.isdigit() for sign in name) or self.measured(name):
            yield NUMBER
        if not rules.of_language(name, self.is_word):
            yield LANGUAGE
        if not rules.sane(name):
            yield NOTHING

    @cached_property
    def _rules(self) -> AnswerRules:
        return answer_rules(self.language)

    def _folded(self, name: str) -> frozenset[str]:
        return folded(name.split(), self.language)

    def _glued(self, name: str, concept: str) -> bool:
        """Whether a word of the concept is the beginning or end of a compound: "notebookprice" for "notebook price"."""
        parts = [part for part in self._rules.content_words(concept) if len(part) > 3]
        rests = [
            word[len(part) :] if word.startswith(part) else word[: -len(part)]
            for word in self._rules.content_words(name)
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


def in_script_of(text: str, other: str, own: Set[str] = frozenset(("LATIN",))) -> bool:
    """Whether all letters are of a script of the language's `own`, or of one that the other text has."""
    return scripts(text) <= scripts(other) | own


def scripts(text: str) -> set[str]:
    """The scripts of a text's letters, as the first words of their names.

    >>> sorted(scripts("5 кг of flour"))
    ['CYRILLIC', 'LATIN']
    """
    return {unicodedata.name(sign, "UNKNOWN").split()[0] for sign in set(text) if sign.isalpha()}
