"""What can be chosen when a benchmark is generated; each switch changes only what its name says."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from qbench.benchmark.commands import command_line
from qbench.errors import OptionError
from qbench.quantities.types import Comparator

TestKind = Literal["seen", "unseen", "expansion", "wo_surface"]
CorpusChoice = Literal["quantities", "all"]

TEST_KINDS: tuple[TestKind, ...] = get_args(TestKind)
CORPUS_CHOICES: tuple[CorpusChoice, ...] = get_args(CorpusChoice)


@dataclass(frozen=True)
class GenerationOptions:
    """All that decides what `generate` makes of an index.

    Attributes:
        seed: of every random choice.
        corpus: "quantities" keeps the sentences with a quantity (as FinQuant does), "all" keeps every sentence.
        min_sentences: a (concept, unit) pair with fewer sentences gets no query.
        max_pairs: at most so many pairs, a seeded choice; None for all.
        max_train, max_dev, max_test: at most so many queries in each part, balanced over kinds and comparators.
        dev_share, test_share: share of the pairs whose concepts go into these parts.
        kinds: kinds of test queries (*Numbers Matter* C.2).
        random_set: also ask for random observed values (section 3.3.2, the second set).
        inclusive, ranges, negation: also ask with <= and >=, between, and !=; beyond the paper.
        multi: also ask with two and three constraints; beyond the paper.
        expansion: ask through concept expansions in train and dev too.
        original, unit_permutation, value_permutation: the sampling methods (section 3.3.3).
        samples: n, positives and negatives per query and method.
        other_unit: probability that a query asks in another unit of the same family.
        judged: at most so many hard negatives (same concept, condition broken) per query get a judgment of 0.
        templates, expansions: files; None for the templates that come with qbench, and for no expansions.
    """

    seed: int = 13
    corpus: CorpusChoice = "quantities"
    min_sentences: int = 5
    max_pairs: int | None = None
    max_train: int = 20_000
    max_dev: int = 1_000
    max_test: int = 2_000
    dev_share: float = 0.1
    test_share: float = 0.2
    kinds: tuple[TestKind, ...] = TEST_KINDS
    random_set: bool = True
    inclusive: bool = True
    ranges: bool = True
    negation: bool = True
    multi: bool = True
    expansion: bool = True
    original: bool = True
    unit_permutation: bool = True
    value_permutation: bool = False
    samples: int = 2
    other_unit: float = 0.1
    judged: int = 10
    templates: Path | None = None
    expansions: Path | None = None

    def __post_init__(self) -> None:
        if self.corpus not in CORPUS_CHOICES:
            raise OptionError("unknown choice of corpus", value=self.corpus, remedy="Use quantities or all")
        for kind in self.kinds:
            if kind not in TEST_KINDS:
                raise OptionError("unknown kind of query", value=kind, remedy=f"Known: {', '.join(TEST_KINDS)}")
        for name, least in (
            ("min_sentences", 2),
            ("max_pairs", 1),
            ("max_train", 0),
            ("max_dev", 0),
            ("max_test", 0),
            ("samples", 1),
            ("judged", 0),
        ):
            value = getattr(self, name)
            if value is not None and value < least:
                raise OptionError(f"{name.replace('_', ' ')} must be at least {least}", value=value)
        for name in ("dev_share", "test_share", "other_unit"):
            if not 0 <= getattr(self, name) <= 1:
                raise OptionError(f"{name.replace('_', ' ')} must lie between 0 and 1", value=getattr(self, name))
        if not (self.original or self.unit_permutation or self.value_permutation) and (self.max_train or self.max_dev):
            raise OptionError(
                "without any sampling method there are no training queries",
                remedy="Leave one on, or ask for none with --max-train 0 --max-dev 0",
            )
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

    def command(self, *more: str) -> str:
        """The command line with these options and more words, for cards; files by their name alone."""
        return command_line(["qbench", "gen-queries", "INDEX", "-o", "BENCH"], self, more)

    def key(self) -> dict[str, Any]:
        """For digests and manifests: files by their content, never by their path."""
        from qbench.store import file_digest

        files = {"templates": self.templates, "expansions": self.expansions}
        digests = {name: None if path is None else file_digest(path) for name, path in files.items()}
        return {**asdict(self), "kinds": list(self.kinds), **digests}
