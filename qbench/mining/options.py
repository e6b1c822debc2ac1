"""Options of describing, mining, and making test sets; light to import, since the command line is made from them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from qbench.options import again, check, option

MAX_CANDIDATES = 1_000
"""Upper limit of `MiningOptions.k`."""
LEAST_DIGITS = 3
"""Significant digits that two values need by default before their equality counts."""
BLOCK = 32 * 1024
"""Texts that the self-join searches at a time."""


@dataclass(frozen=True)
class ParserOptions:
    """Which parser writes the descriptions, see `qbench.mining.parsers`."""

    parser: str = option("rules", help="Description parser: rules or tagger.")
    checkpoint: Path | None = option(
        None, help="Checkpoint of the tagger, made by `qbench train description-parser`.", metavar="FOLDER"
    )
    spacy_model: str | None = option(
        None, help="Dependency parser of the rules. [default: the one that the index was made with]"
    )


@dataclass(frozen=True)
class JoinOptions:
    """Options of the self-join; `k1`, `b` and `epsilon` as in `qbench.scoring.bm25`."""

    k: int = option(64, help="Number of results per text.", low=1)
    k1: float = option(1.5, help="Parameter k1 of BM25.", low=0)
    b: float = option(0.75, help="Parameter b of BM25.", low=0, high=1)
    epsilon: float = option(0.25, help="Floor of negative idf values, as a share of the mean idf.", low=0)
    # Document lengths and the weights of other terms stay as they are.
    drop_terms: int = option(0, help="Number of most frequent terms that are ignored in matching.", low=0)
    block: int = option(
        BLOCK,
        help="Texts searched at a time; an interrupted run loses those, a killed one half a minute besides.",
        low=1,
    )
    threads: int | None = option(None, help="Number of threads. [default: number of cores]", low=1)

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True)
class MiningOptions:
    """How paraphrase pairs are mined (*Quantity Retrieval*, section 3.2)."""

    k: int = option(64, help="Candidates per description: its nearest neighbours by BM25.", low=1, high=MAX_CANDIDATES)
    k1: float = again(JoinOptions, "k1")
    b: float = again(JoinOptions, "b")
    min_digits: int = option(LEAST_DIGITS, help="Significant digits that a value needs to agree with another.", low=1)
    # In a sample of real pairs, none of four that agreed on 2 digits after rounding was one fact.
    min_rounded_digits: int = option(
        LEAST_DIGITS,
        help="Significant digits that a value needs where a more precise one rounds to it; with 2, 4.6 billion agrees "
        "with 4,587 million.",
        low=1,
    )
    min_terms: int = option(3, help="Number of different words that two descriptions must share.", low=1)
    min_probability: float = option(
        0.99, help="Drop paraphrases with a lower p_fact: their values may agree by chance.", low=0, high=0.999999
    )
    confusing: int = option(
        10,
        help="Maximum number of confusing pairs per description, the hardest first: those with its unit, then by rank.",
        low=1,
    )
    all_confusing: bool = option(
        False, help="Keep confusing pairs of descriptions without a paraphrase too, as the paper does."
    )
    bare: bool = option(
        False, help="Search with numbers without a unit too (sections, versions, patents, ...).", negatable=True
    )
    same_sentence: bool = option(False, help="Allow pairs within a sentence.", negatable=True)
    same_document: bool = option(True, help="Allow pairs within a document.")
    test_share: float = option(0.3, help="Share of the documents in the test split.", low=0, high=0.99)
    seed: int = option(13, help="Seed of the split.")

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True)
class TestSetOptions:
    """Which queries an automatic test set gets (*Quantity Retrieval*, section 5.3)."""

    __test__ = False  # not a test class, whatever pytest makes of its name

    max_queries: int = option(1000, help="Maximum number of queries; chosen by the seed.", low=1)
    max_relevant: int = option(
        1000, help="Drop a query whose value agrees with more records than this: it means too little.", low=1
    )
    seed: int = option(0, help="Seed of the choice of queries.")

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True)
class PoolOptions:
    """What a sheet of a test set holds; 291 queries are those of *Quantity Retrieval*, section 5.3."""

    depth: int = option(10, help="Number of first documents of each run to judge.", low=1)
    queries: int = again(TestSetOptions, "max_queries", 291)
    irrelevant: int = option(
        5, help="Maximum number of records with another value per query; all records that agree are included.", low=0
    )
    seed: int = option(0, help="Seed of all choices and orders.")

    def __post_init__(self) -> None:
        check(self)
