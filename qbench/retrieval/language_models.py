"""Rerankers that ask a chat model: a score for each document, an order of several, or comparisons of pairs.

Documents of equal scores keep the order of the ranking before. One that the model gives no usable answer about stays in
the ranking. All answers are recorded; counts of calls, tokens, refusals and malformed answers go with the scores.
Source: *DeepQuant* 4.2 and appendix F.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qbench.errors import OptionError
from qbench.keys import revision
from qbench.llm.asking import ask_each
from qbench.llm.client import Access
from qbench.llm.openai_chat import OpenAIChat, chat_server
from qbench.llm.plain_answers import choice_in, has_chances, is_refusal, permutation_in, shown_answer
from qbench.llm.prompts import Slots, load_prompt
from qbench.progress import Progress, silent
from qbench.quantities.languages import ENGLISH
from qbench.retrieval.ranker_options import (
    ItemwiseOptions,
    LanguageModelOptions,
    ListwiseOptions,
)
from qbench.retrieval.rankers import Candidates, Counts, OpenedRanker, RankerContext, Search
from qbench.retrieval.shown_texts import ShownTexts, query_slots
from qbench.retrieval.systems import Stage
from qbench.scoring.listwise import shares_won, windows

SHORT = 16
"""Tokens of an answer that is one number."""
PER_TEXT = 8
"""Tokens of an answer for each text that it puts in order: its number in brackets, and a sign."""

PLACE = 1e-9
"""What a document's score loses for each place in the ranking before: equal scores keep its order."""

UNUSABLE = 0.0
"""The score of a document without a usable answer: below the scale."""

Scores = list[NDArray[np.float64]]

Asker = Callable[[OpenAIChat, Sequence[Slots], Access, Progress], tuple[list[Any], Counter[str]]]
"""Answers to items, and their counts: `ask_each`, or a forecast in its place."""


def language_model(options: LanguageModelOptions, language: str) -> OpenAIChat:
    """The chat model that a reranker's options name.

    Args:
        options: the model, and what it is shown.
        language: code of the texts' language; qbench's own prompts are taken in it.

    Raises:
        OptionError: the address is not valid, there is no such prompt, or it has no place for what is to be shown.
        InputError: the prompt cannot be read.
    """
    name = Path(options.prompt) if options.prompt.endswith(".toml") else options.prompt
    prompt = load_prompt(options.task, name, language)
    wanted = {"condition": options.condition == "stated"}
    wanted["quantities"] = options.quantities == "listed" and "quantities" in prompt.answer.slots
    for slot, needed in wanted.items():
        if needed and not prompt.has(slot):
            remedy = f"Add {{{slot}}} to its `user`"
            raise OptionError(f"this prompt has no {{{slot}}}", value=options.prompt, remedy=remedy)
    most = options.max_tokens or SHORT + (PER_TEXT * options.window if isinstance(options, ListwiseOptions) else 0)
    return chat_server(
        options.model, prompt, base_url=options.base_url, temperature=options.temperature, max_tokens=most
    )


def language_model_identity(options: LanguageModelOptions, language: str) -> dict[str, Any]:
    """What of a reranker's options can change its scores on texts of a language: for the keys of runs.

    Raises:
        OptionError, InputError: as in `language_model`.
    """
    list_options = {"window": options.window, "stride": options.stride} if isinstance(options, ListwiseOptions) else {}
    shown = {name: getattr(options, name) for name in ("condition", "quantities", "max_length")}
    made = {"revision": revision("language model ranking"), "call": language_model(options, language).call.text}
    return {**made, **shown, **list_options}


def questions(options: LanguageModelOptions, count: int) -> int:
    """The number of questions that a ranking of `count` documents takes: n, about n / stride, or n (n - 1)."""
    if isinstance(options, ItemwiseOptions):
        return count
    if isinstance(options, ListwiseOptions):
        return len(windows(count, options.window, options.stride))
    return count * (count - 1)


@dataclass(frozen=True)
class LanguageModelRanker(ABC):
    """A reranker that asks a chat model; the kinds differ in `rerank_counted`.

    Attributes:
        server: the model and its prompt.
        access: recording, budget, patience.
        shown: the documents.
        stated: whether the model is told the conditions.
        progress: called with the number of answers.
        asker: asks.
    """

    server: OpenAIChat
    access: Access
    shown: ShownTexts
    stated: bool = False
    progress: Progress = silent
    asker: Asker = ask_each

    def encoded(self, searches: Sequence[Search]) -> list[Search]:
        """The searches as they are."""
        return list(searches)

    def prepared(self, searches: Sequence[Search]) -> list[Search]:
        """The searches as they are."""
        return list(searches)

    def search(self, search: Search) -> Candidates:
        """Not possible.

        Raises:
            OptionError: always; the grammar has it nowhere but behind a first stage.
        """
        raise OptionError("a language model ranks what another system found", value=self.server.model)

    def rerank(self, searches: Sequence[Search], candidates: Sequence[Candidates]) -> Scores:
        """The scores of each search's candidates."""
        return self.rerank_counted(searches, candidates)[0]

    @abstractmethod
    def rerank_counted(self, searches: Sequence[Search], candidates: Sequence[Candidates]) -> tuple[Scores, Counts]:
        """The scores of each search's candidates, and what is counted of the answers."""

    @abstractmethod
    def slots(self, search: Search, docs: Sequence[int]) -> list[Slots]:
        """The prompt's slots of each question about these documents, all at once where several are put in order."""

    def ask(self, items: Sequence[Slots], read: Callable[[int, Any], bool], unusable: list[str]) -> Counter[str]:
        """Ask about each item, and read the answers.

        Args:
            items: the prompt's slots for each.
            read: called with the position of an item and its answer, unless it is a refusal; whether it has the form
                that was asked for.
            unusable: the first refusal or answer without that form is added, for people.

        Returns:
            the counts of `ask_each`, malformed, and with_probabilities where the answer is one of several numbers.
        """
        answers, counts = self.asker(self.server, items, self.access, self._progress)
        counts["malformed"] = 0
        choices = self.server.prompt.answer.choices
        if choices:
            counts["with_probabilities"] = 0
        for i, answer in enumerate(answers):
            declined = is_refusal(answer)
            usable = not declined and read(i, answer)
            counts["malformed"] += not (usable or declined)
            if choices and not declined:
                counts["with_probabilities"] += has_chances(answer, choices)
            if not (usable or unusable):
                unusable.append(shown_answer(answer))
        return counts

    def _progress(self, done: float, total: float | None = None, what: str = "") -> None:
        self.progress(done, total, ", ".join(filter(None, (f"asking {self.server.model}", what))))


class Itemwise(LanguageModelRanker):
    """A score from 1 to 5 for each document; 0 without a usable answer."""

    def rerank_counted(self, searches: Sequence[Search], candidates: Sequence[Candidates]) -> tuple[Scores, Counts]:
        """The scores of each search's candidates, and what is counted of the answers."""
        asked = zip(searches, candidates, strict=True)
        items = [item for search, some in asked for item in self.slots(search, some.docs.tolist())]
        given = np.full(len(items), UNUSABLE)

        def read(i: int, answer: Any) -> bool:
            score = choice_in(answer, self.server.prompt.answer.choices)
            if score is not None:
                given[i] = score
            return score is not None

        unusable: list[str] = []
        counts = self.ask(items, read, unusable)
        ends = np.cumsum([len(some.docs) for some in candidates])[:-1]
        return [scores - PLACE * np.arange(len(scores)) for scores in np.split(given, ends)], _told(counts, unusable)

    def slots(self, search: Search, docs: Sequence[int]) -> list[Slots]:
        """The slots of one question about each document."""
        asked = query_slots(search, self.stated, self.shown.language)
        return [{**asked, "text": self.shown.fenced(doc), "quantities": self.shown.quantities(doc)} for doc in docs]


@dataclass(frozen=True)
class Listwise(LanguageModelRanker):
    """An order of a window of documents at once; the window slides from the end of the ranking to its start.

    Attributes:
        window, stride: as in `qbench.scoring.listwise.windows`.
    """

    window: int = 20
    stride: int = 10

    def rerank_counted(self, searches: Sequence[Search], candidates: Sequence[Candidates]) -> tuple[Scores, Counts]:
        """The scores of each search's candidates, n for the best of n, and what is counted of the answers.

        A window whose answer names no text, or is refused, stays as it is; texts that an answer leaves out follow those
        that it names, as they stood.
        """
        orders = [np.arange(len(some.docs)) for some in candidates]
        spans = [windows(len(order), self.window, self.stride) for order in orders]
        counts = Counter(dict.fromkeys(("missing_texts", "repeated_texts", "unknown_texts"), 0))
        unusable: list[str] = []
        # The windows of one query follow each other; those of different queries go together.
        for step in range(max(map(len, spans), default=0)):
            now = [number for number, each in enumerate(spans) if step < len(each)]
            at = {n: (searches[n], candidates[n], orders[n], spans[n][step]) for n in now}
            counts.update(self._step(at, unusable))
        scores = []
        for order in orders:
            places = np.empty(len(order))
            places[order] = np.arange(len(order))
            scores.append(len(order) - places)
        return scores, _told(counts, unusable)

    def _step(
        self, at: Mapping[int, tuple[Search, Candidates, NDArray[np.intp], tuple[int, int]]], unusable: list[str]
    ) -> Counter[str]:
        """Put one window of each query in order, in place."""
        items = [
            item
            for search, some, order, (start, end) in at.values()
            for item in self.slots(search, some.docs[order[start:end]].tolist())
        ]
        places, found = list(at.values()), Counter[str]()

        def read(i: int, answer: Any) -> bool:
            _, _, order, (start, end) = places[i]
            said = permutation_in(answer, end - start)
            order[start:end] = order[start:end][list(said.order)]
            found.update(missing_texts=said.missing, repeated_texts=said.repeated, unknown_texts=said.unknown)
            return said.is_whole

        counts = self.ask(items, read, unusable)
        counts.update(found)
        return counts

    def slots(self, search: Search, docs: Sequence[int]) -> list[Slots]:
        """The slots of one question about all documents."""
        shown = [
            self.shown.with_quantities(doc, self.shown.numbered(doc, number)) for number, doc in enumerate(docs, 1)
        ]
        asked = query_slots(search, self.stated, self.shown.language)
        return [{**asked, "texts": "\n".join(shown), "count": str(len(shown))}]


class Pairwise(LanguageModelRanker):
    """Every two documents in both orders: n (n - 1) questions, since models prefer a place; the mean share won ranks.

    An answer counts as a probability where the server gives some, and as a draw where it is not usable.
    """

    def rerank_counted(self, searches: Sequence[Search], candidates: Sequence[Candidates]) -> tuple[Scores, Counts]:
        """The share of its comparisons that each candidate won, and what is counted of the answers."""
        asked = zip(searches, candidates, strict=True)
        items = [item for search, some in asked for item in self.slots(search, some.docs.tolist())]
        pairs = [list(permutations(range(len(some.docs)), 2)) for some in candidates]
        shares = np.full(len(items), 0.5)

        def read(i: int, answer: Any) -> bool:
            number = choice_in(answer, self.server.prompt.answer.choices)
            if number is not None:
                shares[i] = 2 - number
            return number is not None

        unusable: list[str] = []
        counts = self.ask(items, read, unusable)
        ends = np.cumsum([len(some) for some in pairs])[:-1]
        return [
            shares_won(len(some.docs), [(a, b, share) for (a, b), share in zip(of, won.tolist(), strict=True)])
            - PLACE * np.arange(len(some.docs))
            for some, of, won in zip(candidates, pairs, np.split(shares, ends), strict=True)
        ], _told(counts, unusable)

    def slots(self, search: Search, docs: Sequence[int]) -> list[Slots]:
        """The slots of two questions about each pair of documents, one in each order."""
        asked = query_slots(search, self.stated, self.shown.language)
        shown = [self.shown.with_quantities(doc, self.shown.fenced(doc)) for doc in docs]
        return [{**asked, "first": a, "second": b} for a, b in permutations(shown, 2)]


def _told(counts: Counter[str], unusable: Sequence[str]) -> Counts:
    return {**counts, **({"unusable_answer": unusable[0]} if unusable else {})}


def language_model_ranker(
    options: LanguageModelOptions,
    shown: ShownTexts,
    access: Access,
    progress: Progress = silent,
    language: str = ENGLISH,
) -> LanguageModelRanker:
    """The ranker of a kind of options, for texts of a language.

    Raises:
        OptionError, InputError: as in `language_model`.
    """
    server = language_model(options, language)
    how: dict[str, Any] = {
        "server": server,
        "access": access,
        "shown": replace(shown, language=server.prompt.language),
        "stated": options.condition == "stated",
        "progress": progress,
    }
    if isinstance(options, ListwiseOptions):
        return Listwise(**how, window=options.window, stride=options.stride)
    return Itemwise(**how) if isinstance(options, ItemwiseOptions) else Pairwise(**how)


def open_language_model(stage: Stage, options: LanguageModelOptions, context: RankerContext) -> OpenedRanker:
    """A language model ready to rank; its answers are recorded.

    Raises:
        OptionError, InputError: as in `language_model`.
    """
    mentions = context.quantities() if options.quantities == "listed" else None
    shown = ShownTexts(context.corpus["passage"], options.max_length, mentions)
    access = context.access.recording_in(context.root)
    ranker = language_model_ranker(options, shown, access, context.progress, context.language)
    meta: dict[str, int | float | str] = {"documents_cut": shown.cut}
    if shown.suspect:
        what = "hold delimiters of prompts, which the model is shown spaced, or characters that are not printed"
        meta["note"] = f"{shown.suspect} documents {what}"
    return OpenedRanker(ranker, 0.0, 0, meta)
