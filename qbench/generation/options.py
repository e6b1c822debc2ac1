"""What can be chosen when a benchmark is generated; each switch changes only what its name says."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from qbench.errors import OptionError
from qbench.options import check, option
from qbench.quantities.types import Comparator
from qbench.store import file_digest

TestKind = Literal["seen", "unseen", "expansion", "wo_surface"]
CorpusChoice = Literal["quantities", "all"]
Domain = Literal["products", "finance", "medicine"]
"""What things are about; each has a file of wordings, templates/DOMAIN.toml."""

OF_PAIRS = (
    "kinds",
    "expansion",
    "original",
    "unit_permutation",
    "value_permutation",
    "min_sentences",
    "gate",
    "alike",
    "document_share",
    "max_pairs",
    "dev_share",
    "test_share",
    "corpus",
)
OF_FACTS = ("domain", "table_only")
"""Options that mean something for pairs of concept and unit alone, and for documents with facts alone."""

TEST_KINDS: tuple[TestKind, ...] = get_args(TestKind)


@dataclass(frozen=True)
class GenerationOptions:
    """All that decides what `generate` makes of an index; *Numbers Matter*, sections 3.3.2, 3.3.3 and C.2."""

    expansions: Path | None = option(
        None, help="Concept expansions: TSV (concept, tab, expansion) or JSON ({concept: [expansion, ...]})."
    )
    templates: Path | None = option(None, help="Query templates, TOML. [default: those of qbench]")
    domain: Domain = option("products", help="Wording of queries on an index of `qbench ground`.")
    table_only: bool = option(True, help="On an index of `qbench ground`: judge 1 what only the table says.")
    kinds: tuple[TestKind, ...] = option(TEST_KINDS, help="Kinds of test queries.", comma=True)
    random_sets: int = option(
        1,
        help="Sets of queries with random observed values, beside the first one; more than one are of training "
        "queries alone.",
        low=0,
    )
    inclusive: bool = option(True, help="Queries with >= and <=.")
    ranges: bool = option(True, help='Queries such as "between 5 and 8".')
    negation: bool = option(True, help='Queries such as "not 5".')
    single: bool = option(True, help="Queries with one constraint.")
    multi: bool = option(True, help="Queries with two and three constraints.")
    joint_sets: int = option(
        1, help="Queries with several constraints on each combination of concepts, with values of their own.", low=1
    )
    expansion: bool = option(True, help="Queries through expanded concepts in train and dev too.")
    original: bool = option(True, help="Training samples: sentences as they are.")
    unit_permutation: bool = option(True, help="Training samples with another unit.")
    value_permutation: bool = option(False, help="Training samples with another value.", negatable=True)
    samples: int = option(2, help="Positives and negatives per query and method (the paper's n).", low=1)
    other_unit: float = option(0.1, help="Share of queries in another unit of the same family.", low=0, high=1)
    judged: int = option(10, help="Maximum number of hard negatives per query that are judged 0.", low=0)
    min_sentences: int = option(5, help="Minimum number of sentences of a (concept, unit) pair.", low=2)
    gate: bool = option(True, help="Ask only about pairs that make a sensible question (reasons are counted).")
    alike: int = option(5, help="Maximum number of judged sentences per query that differ in numbers only.", low=1)
    document_share: float = option(
        0.5, help="Maximum share of one document in the relevant sentences of a query, from 4 on.", low=0, high=1
    )
    max_pairs: int | None = option(None, help="Maximum number of pairs, drawn at random. [default: all]", low=1)
    max_train: int = option(20_000, help="Maximum number of training queries.", low=0)
    max_dev: int = option(1_000, help="Maximum number of development queries.", low=0)
    max_test: int = option(2_000, help="Maximum number of test queries.", low=0)
    per_topic: int = option(
        10, help="Maximum number of development queries, and of test queries, per topic (group of concepts).", low=1
    )
    dev_share: float = option(0.1, help="Share of the pairs held out for development.", low=0, high=1)
    test_share: float = option(0.2, help="Share of the pairs held out for testing.", low=0, high=1)
    corpus: CorpusChoice = option("quantities", help="Documents: sentences with a quantity, or all sentences.")
    seed: int = option(13, help="Seed of every random choice.")

    def __post_init__(self) -> None:
        check(self)
        if not (self.original or self.unit_permutation or self.value_permutation) and (self.max_train or self.max_dev):
            raise OptionError(
                "without any sampling method there are no training queries",
                remedy="Leave one on, or ask for none with --max-train 0 --max-dev 0",
            )
        if not (self.single or self.multi):
            raise OptionError("neither queries of one constraint nor of several are left", remedy="Leave one kind on")
        if self.dev_share + self.test_share >= 1:
            raise OptionError(
                "dev and test leave nothing to train on",
                value=(self.dev_share, self.test_share),
                remedy="Their shares must sum to less than 1",
            )

    @property
    def comparators(self) -> tuple[Comparator, ...]:
        """What queries of one constraint ask, the paper's three first."""
        chosen: list[Comparator] = ["=", "<", ">"]
        chosen += ["<=", ">="] if self.inclusive else []
        chosen += ["between"] if self.ranges else []
        chosen += ["!="] if self.negation else []
        return tuple(chosen)

    def refuse_unused(self, *, grounded: bool) -> None:
        """Refuse options that would do nothing on an index.

        Args:
            grounded: whether the index is one of `qbench ground`.

        Raises:
            OptionError: an option that it does not use has another value than the default.
        """
        usual = type(self)()
        for name in OF_PAIRS if grounded else OF_FACTS:
            if getattr(self, name) != getattr(usual, name):
                raise OptionError(
                    "this option does nothing on an index " + ("with facts" if grounded else "without facts"),
                    value="--" + name.replace("_", "-"),
                    remedy="Omit it" + ("" if grounded else ", or make the index with `qbench ground`"),
                )

    def key(self) -> dict[str, Any]:
        """For digests and manifests: files by their content, never by their path."""
        files = {"templates": self.templates, "expansions": self.expansions}
        digests = {name: None if path is None else file_digest(path) for name, path in files.items()}
        return {**asdict(self), "kinds": list(self.kinds), **digests}


NAMES, SHARED = 1, 20
"""Names of a concept, and concepts that may share one, where a model gives them and the options do not say."""


@dataclass(frozen=True)
class ExpansionOptions:
    """Which concepts get other names, and how many."""

    names: int | None = option(
        None, help="Maximum number of names of each concept. [default: 1 of a model, all of a table]", low=1
    )
    min_sentences: int = option(5, help="Minimum number of sentences of a concept, as in `qbench gen-queries`.", low=2)
    max_concepts: int | None = option(
        None, help="Maximum number of concepts; those with the most sentences. [default: all]", low=1
    )
    concepts: Path | None = option(None, help="Name only the concepts in this file, one per line.")
    shared: int | None = option(
        None,
        help="Drop names shared by more concepts than this as too general. [default: 20 with a model, else no limit]",
        low=1,
    )

    def __post_init__(self) -> None:
        check(self)

    @property
    def of_model(self) -> tuple[int, int]:
        """Names, and how many concepts may share one, where a model gives them."""
        return self.names or NAMES, self.shared or SHARED
