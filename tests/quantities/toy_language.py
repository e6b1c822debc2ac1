"""A toy language, whole: a sentence ends with a bar, each letter is a word, capitals are plurals, weights are "7k"."""

from __future__ import annotations

import re

from qbench.quantities.types import ParsedQuery, Quantity

EXTRACTORS = {"rules": "numbers before k", "other": "the same"}
WITH_MODEL = ()
SCRIPTS = ("Latin",)


class ToyExtractor:
    def __init__(self, name, units):
        self.name, self.units = name, units

    def extract(self, text):
        return [
            Quantity(
                float(m[1]), float(m[1]), "=", "kilogram", "mass", "kilogram", float(m[1]), float(m[1]),
                (text[m.start() - 1],) if m.start() else (), len(m[1]), m.span(1), m.span(2),
            )
            for m in re.finditer(r"(\d+)(k)", text)
        ]  # fmt: skip

    extract_query = extract

    def extract_many(self, texts):
        return [self.extract(text) for text in texts]

    def explain_many(self, texts):
        return [[(quantity, ("toy",)) for quantity in self.extract(text)] for text in texts]

    def parse_query(self, text):
        return ParsedQuery(text, ())


class ToySplitter:
    def spans(self, text):
        return [m.span() for m in re.finditer(r"[^|]+", text)]


def extractor(name, units, *, years, p_values, spacy_model, model):
    return ToyExtractor(name, units)


def parser_digest(name):
    return name


def model_digest(folder):
    return folder.name


def sentence_splitter():
    return ToySplitter()


def tokenized(texts):
    return texts.str.split("")


def fold(word):
    return word.lower()


def parts(word):
    return [word]


def denies(before):
    return False


def stem(word):
    return word.lower()
