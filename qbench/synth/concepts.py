"""The concepts of a synthetic corpus: their other names, and pairs that could be taken for one another."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from pathlib import Path

from qbench.store import write_text
from qbench.synth.facts import Thing
from qbench.synth.mapping import TableMapping, concept_words
from qbench.synth.sentences import Sentence

Words = tuple[str, ...]

MAX_WORDS = 8
"""Concepts with more words are not looked through for overlap: their subsets are too many."""


class Concepts:
    """Collects the concepts that sentences use.

    Args:
        mapping: of the table; it knows the synonyms.
    """

    def __init__(self, mapping: TableMapping) -> None:
        self._mapping = mapping
        # concept -> (qualifier words, the thing that first had it, attribute number)
        self._found: dict[Words, tuple[Words, Thing, int]] = {}
        self._other_names = {names[0]: names[1:] for names in mapping.categories.values() if names}

    def __len__(self) -> int:
        return len(self._found)

    def add(self, sentence: Sentence) -> None:
        """Take the concepts of one sentence."""
        for mention in sentence.mentions:
            concept, thing = mention.quantity.concept, mention.thing
            if concept not in self._found:
                self._found[concept] = (_qualifier(concept, thing), thing, mention.fact.attribute)

    def expansions(self) -> Iterator[tuple[str, str]]:
        """(concept, another name of it): synonyms of the attribute and of the kind, and a broader word for the kind.

        A name shared by several concepts stands for all of them, as the superset does in *Numbers Matter* C.2; so no
        name is offered that is a concept itself.
        """
        for concept, (qualifier, thing, number) in sorted(self._found.items()):
            attribute = self._mapping.attributes[number]
            kinds = (thing.kind, *self._other_names.get(thing.kind, ()), *filter(None, (thing.broader,)))
            for kind_name, attribute_name in product(kinds, (attribute.name, *attribute.synonyms)):
                words = (*qualifier, *concept_words(kind_name), *concept_words(attribute_name))
                if words not in self._found:
                    yield " ".join(concept), " ".join(words)

    def write_expansions(self, path: Path) -> None:
        """Write `concept<TAB>expansion` lines, as `qbench gen-queries --expansions` reads them."""
        lines = [f"{concept}\t{expansion}\n" for concept, expansion in dict.fromkeys(self.expansions())]
        write_text(path, "# concept, tab, another name or a broader concept\n" + "".join(lines))

    def overlapping(self) -> list[str]:
        """Concepts that answer a query for another attribute because they hold all its words; the first ten."""
        attribute_of = {frozenset(words): number for words, (_, _, number) in self._found.items()}
        pairs = []
        for words, (_, _, number) in sorted(self._found.items()):
            if len(words) > MAX_WORDS:
                continue
            for size in range(1, len(words) + 1):
                for part in combinations(words, size):
                    overlapped = attribute_of.get(frozenset(part))
                    if overlapped is not None and overlapped != number:
                        pairs.append(f"{' '.join(part)} / {' '.join(words)}")
        return pairs[:10]


def _qualifier(concept: Words, thing: Thing) -> Words:
    size = len(thing.qualifier_words)
    return thing.qualifier_words if size and concept[:size] == thing.qualifier_words else ()
