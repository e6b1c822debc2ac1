"""Everyday queries with the reading that a person gives them, and how many the parser reads so.

`python -m tests.quantities.english.everyday FILE` prints how many of a file are right, and with `--faults` what is not.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from qbench.quantities.extractors import Extractor, ExtractorOptions, get_extractor
from qbench.quantities.types import Condition

FOLDER = Path(__file__).parent / "everyday_queries"
FILES = (
    "developed.txt", "unseen.txt", "later.txt", "last.txt", "fifth.txt", "sixth.txt", "seventh.txt",
    "eighth.txt", "ninth.txt", "tenth.txt", "eleventh.txt", "twelfth.txt", "thirteenth.txt", "fourteenth.txt",
    "fifteenth.txt", "sixteenth.txt", "seventeenth.txt", "eighteenth.txt", "nineteenth.txt", "twentieth.txt",
    "twentyfirst.txt", "twentysecond.txt", "twentythird.txt", "twentyfourth.txt", "twentyfifth.txt",
    "twentysixth.txt", "twentyseventh.txt", "twentyeighth.txt", "twentyninth.txt", "thirtieth.txt",
    "thirtyfirst.txt", "thirtysecond.txt", "thirtythird.txt", "thirtyfourth.txt", "thirtyfifth.txt",
    "thirtysixth.txt", "thirtyseventh.txt", "thirtyeighth.txt", "thirtyninth.txt", "fortieth.txt",
    "fortyfirst.txt", "fortysecond.txt", "fortythird.txt", "fortyfourth.txt", "fortyfifth.txt",
    "fortysixth.txt", "fortyseventh.txt", "fortyeighth.txt", "fortyninth.txt", "fiftieth.txt", "fiftyfirst.txt",
    "fiftysecond.txt", "fiftythird.txt", "fiftyfourth.txt", "fiftyfifth.txt", "fiftysixth.txt", "fiftyseventh.txt",
    "fiftyeighth.txt", "fiftyninth.txt", "sixtieth.txt", "sixtyfirst.txt", "sixtysecond.txt", "sixtythird.txt",
    "sixtyfourth.txt", "sixtyfifth.txt", "sixtysixth.txt",
)  # fmt: skip
"""Queries in the order in which they were written: the first and the fifth were worked on, the others read first."""
SMALL = frozenset("a an the of in on at for with and or to by from is are that than per s".split())
"""Words that neither make nor break a search."""
_WORD = re.compile(r"[^\s,\"“”()]+")
_CONDITION = re.compile(
    r"(?P<optional>\? )?(?P<comparator>\S+) (?P<low>-?[\d.]+?)(?:\.\.(?P<high>[\d.]+))? (?P<units>[^\[]+?)"
    r"(?: (?P<change>up|down))?(?: \[(?P<concept>[^\]]+)\])?"
)


@dataclass(frozen=True)
class Asked:
    """A condition as a person reads it: its unit is one of `units`, its concept holds the words of `concept`.

    `change` is "up" or "down" where it asks for a rise or a fall.
    """

    comparator: str
    low: float
    high: float
    units: tuple[str, ...]
    concept: frozenset[str]
    optional: bool
    change: str


@dataclass(frozen=True)
class Case:
    """A query and its reading; `loose` search words may be there or not."""

    query: str
    words: frozenset[str]
    loose: frozenset[str]
    conditions: tuple[Asked, ...]

    @property
    def years(self) -> bool:
        """Whether it asks for a calendar year."""
        return any("calendar year" in asked.units for asked in self.conditions)


def load(name: str) -> list[Case]:
    """The cases of a file of lines "query | words (loose word) | comparator value unit change [concept] ; ..."."""
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    return [_case(line) for line in lines if line and not line.startswith("#")]


def _case(line: str) -> Case:
    query, words, conditions = (part.strip() for part in line.split("|"))
    loose = frozenset(re.findall(r"\(([^)]+)\)", words))
    asked = tuple(_asked(each.strip()) for each in conditions.split(";") if each.strip())
    return Case(query, _words(re.sub(r"\([^)]+\)", "", words)), loose, asked)


def _asked(text: str) -> Asked:
    match = _CONDITION.fullmatch(text)
    if match is None:
        raise ValueError(f"no condition: {text!r}")
    low = float(match["low"])
    units = tuple("" if unit == "none" else unit for unit in match["units"].split(" or "))
    high = float(match["high"] or low)
    return Asked(
        match["comparator"],
        low,
        high,
        units,
        _words(match["concept"] or ""),
        bool(match["optional"]),
        match["change"] or "",
    )


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower())) - SMALL


@cache
def _extractor(years: bool) -> Extractor:
    return get_extractor(ExtractorOptions(years=years))


def faults(case: Case) -> list[str]:
    """What the parser reads otherwise than a person; [] where all is right."""
    parsed = _extractor(case.years).parse_query(case.query)
    # What is counted may be searched for as well: "teams with 80 points".
    counted = _words(" ".join(unit for asked in case.conditions for unit in asked.units))
    found = _words(parsed.terms)
    loose = case.loose | counted | {f"{word}s" for word in counted}
    wrong = [f"search word {w!r} missing" for w in sorted(case.words - found)]
    wrong += [f"search word {w!r} too many" for w in sorted(found - case.words - loose)]
    rest = list(parsed.conditions)
    for asked in case.conditions:
        match = next((c for c in rest if _same(asked, c)), None)
        if match is not None:
            rest.remove(match)
            wrong += _concept_faults(case, asked, match)
        elif not asked.optional:
            wrong.append(f"condition missing: {asked.comparator} {asked.low} {' or '.join(asked.units)}")
    wrong += [f"condition too many: {c.comparator} {c.value} .. {c.high} {c.unit}" for c in rest]
    return wrong


def _same(asked: Asked, condition: Condition) -> bool:
    ends = abs(asked.low - condition.value) < 1e-9 * abs(asked.low) + 1e-12, abs(asked.high - condition.high) < 1e-6
    return asked.comparator == condition.comparator and all(ends) and condition.unit in asked.units


def _concept_faults(case: Case, asked: Asked, condition: Condition) -> Iterator[str]:
    """A concept has the label's words, and none of another condition's label; a year is of whatever else is asked."""
    if condition.change != asked.change:
        yield f"{condition.value_text}: change {condition.change!r} instead of {asked.change!r}"
    words = frozenset(condition.concept)
    others = frozenset().union(*(each.concept for each in case.conditions)) - asked.concept
    for word in sorted(asked.concept - words):
        yield f"{condition.value_text}: concept word {word!r} missing"
    for word in sorted(words & others) if asked.units != ("calendar year",) and not asked.optional else ():
        yield f"{condition.value_text}: concept word {word!r} is another condition's"


def main() -> None:
    """Print how many queries of the named files are wholly right; with `--faults` what is wrong with the others."""
    for name in (word for word in sys.argv[1:] if word in FILES):
        cases = load(name)
        wrong = {case.query: found for case in cases if (found := faults(case))}
        sys.stdout.write(f"{name}: {len(cases) - len(wrong)} of {len(cases)} wholly right\n")
        for query, found in wrong.items() if "--faults" in sys.argv else ():
            sys.stdout.write(f"  {query}\n    " + "\n    ".join(found) + "\n")


if __name__ == "__main__":
    main()
