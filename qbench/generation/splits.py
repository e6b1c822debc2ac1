"""Which concepts go into train, dev and test, and which sentences are held out for that (*Numbers Matter* C.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qbench.benchmark.types import Split
from qbench.generation.expansions import Expansions
from qbench.generation.mentions import Mentions, folded
from qbench.generation.options import GenerationOptions
from qbench.generation.pairs import Pair
from qbench.quantities.concept_match import Concept
from qbench.quantities.languages import ENGLISH
from qbench.randomness import shuffled

Words = frozenset[str]


@dataclass(frozen=True, slots=True)
class Group:
    """Concepts that go into one split together.

    Attributes:
        name: of its smallest concept; unique.
        concepts: those that have a usable pair.
        held: folded words of all that the group can be called, expansions included.
        pairs: number of usable pairs.
    """

    name: str
    concepts: tuple[Concept, ...]
    held: tuple[Words, ...]
    pairs: int


@dataclass(frozen=True)
class Splits:
    """The split of each concept.

    Attributes:
        split_of: concept -> train, dev or test.
        group_of: concept -> the name of its group.
        groups: number of groups in each split.
        wordless: test concepts that are asked only through an expansion which shares no word with them.
        blocked: split -> shape (sentences,), those that no sample of the split may use.
    """

    split_of: dict[Concept, Split]
    group_of: dict[Concept, str]
    groups: dict[Split, int]
    wordless: frozenset[Concept]
    blocked: dict[Split, NDArray[np.bool_]]


def split_concepts(
    pairs: Sequence[Pair], mentions: Mentions, expansions: Expansions, options: GenerationOptions
) -> Splits:
    """Split the concepts of the usable (concept, unit) pairs.

    Concepts that are equal but for case, number and word order, and those that share an expansion, form a group. A
    group goes into one split as a whole, in an order that the seed decides; a split is full when it has its share of
    the pairs. A group that would hold more sentences out of training than the split's share of them goes to train:
    generic concepts ("rate") would leave nothing to train on.
    """
    groups = group_concepts(pairs, expansions, mentions.language)
    docs = {g.name: mentions.docs_of(mentions.rows_of_concepts(mentions.holders(g.held))) for g in groups}
    order = shuffled(groups, options.seed, "split", lambda group: group.name)
    test = _choose(order, options.test_share, docs, groups)
    rest = [group for group in order if group not in test]
    dev = _choose(rest, options.dev_share, docs, groups)
    train = [group for group in rest if group not in dev]
    members: dict[Split, list[Group]] = {"train": train, "dev": dev, "test": test}
    test_docs, dev_docs = (_flags(len(mentions.doc_ids), (docs[g.name] for g in groups)) for groups in (test, dev))
    return Splits(
        split_of={
            concept: split for split, groups in members.items() for group in groups for concept in group.concepts
        },
        group_of={concept: group.name for group in groups for concept in group.concepts},
        groups={split: len(groups) for split, groups in members.items()},
        wordless=_wordless(test, expansions, mentions, options.seed),
        blocked={"train": test_docs | dev_docs, "dev": test_docs, "test": np.zeros_like(test_docs)},
    )


def group_concepts(pairs: Sequence[Pair], expansions: Expansions, language: str = ENGLISH) -> list[Group]:
    """The groups of the pairs' concepts, ordered by name."""
    parent: dict[Words, Words] = {}

    def root(words: Words) -> Words:
        parent.setdefault(words, words)
        while parent[words] != words:
            parent[words] = words = parent[parent[words]]
        return words

    for concept, expansion in expansions.pairs():
        parent[root(folded(concept.split(), language))] = root(folded(expansion.split(), language))
    concepts: dict[Words, dict[Concept, int]] = {}
    for pair in pairs:
        members = concepts.setdefault(root(folded(pair.concept, language)), {})
        members[pair.concept] = members.get(pair.concept, 0) + 1
    held: dict[Words, list[Words]] = {}
    for words in list(parent):
        held.setdefault(root(words), []).append(words)
    groups = [
        Group(
            name=" ".join(min(members)),
            concepts=tuple(sorted(members)),
            held=tuple(sorted(held[top], key=sorted)),
            pairs=sum(members.values()),
        )
        for top, members in concepts.items()
    ]
    return sorted(groups, key=lambda group: group.name)


def _choose(
    order: Sequence[Group], share: float, docs: Mapping[str, NDArray[np.int64]], everything: Sequence[Group]
) -> list[Group]:
    """Take groups until their pairs are `share` of all, skipping those that hold out too many sentences."""
    most = share * sum(group.pairs for group in everything)
    size = 1 + max((int(docs[group.name].max(initial=0)) for group in everything), default=0)
    limit = share * int(_flags(size, (docs[group.name] for group in everything)).sum())
    covered = np.zeros(size, dtype=bool)
    chosen: list[Group] = []
    pairs = held = 0
    for group in order:
        if pairs >= most:
            break
        more = int((~covered[docs[group.name]]).sum())
        if held + more <= limit:
            covered[docs[group.name]] = True
            held, pairs = held + more, pairs + group.pairs
            chosen.append(group)
    if not chosen and share > 0 and len(order) > 1:
        # A handful of groups: better one large test group than no test split.
        chosen.append(min(order, key=lambda group: docs[group.name].size))
    return chosen


def _flags(size: int, docs: Iterable[NDArray[np.int64]]) -> NDArray[np.bool_]:
    flags = np.zeros(size, dtype=bool)
    for rows in docs:
        flags[rows] = True
    return flags


def _wordless(test: Sequence[Group], expansions: Expansions, mentions: Mentions, seed: int) -> frozenset[Concept]:
    """Half of the test groups that have an expansion which shares no word with them."""
    suited = [
        group
        for group in shuffled(test, seed, "wordless", lambda group: group.name)
        if any(shares_no_word(e, mentions, expansions) for c in group.concepts for e in expansions.lookup(" ".join(c)))
    ]
    return frozenset(concept for group in suited[: (len(suited) + 1) // 2] for concept in group.concepts)


def alternatives(expansion: str, mentions: Mentions, expansions: Expansions) -> tuple[Concept, ...]:
    """The index's concepts that an expansion stands for: its concepts, and itself where the corpus says it."""
    named = [tuple(name.split()) for name in (expansion, *sorted(expansions.concepts(expansion)))]
    return tuple(concept for concept in dict.fromkeys(named) if mentions.graded(concept)[0].size)


def shares_no_word(expansion: str, mentions: Mentions, expansions: Expansions) -> bool:
    """Whether an expansion has no word in common with any concept that it stands for (and none is itself)."""
    words = folded(expansion.split(), mentions.language)
    concepts = alternatives(expansion, mentions, expansions)
    return not any(words & folded(concept, mentions.language) for concept in concepts)
