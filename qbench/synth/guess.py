"""A mapping for a table that came without one: columns with quantities, a name, a kind."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from qbench.errors import InputError
from qbench.quantities.chinese.lexicon import unit_written
from qbench.quantities.english.inflection import singular
from qbench.quantities.scripts import HAN, script_of
from qbench.quantities.units import Units
from qbench.synth.facts import EMPTY, clean, read_cell
from qbench.synth.mapping import Attribute, TableMapping, concept_words, spoken

SAMPLE_ROWS = 5_000
"""Rows that the guess looks at."""

_NAMES = (
    *("name", "title", "product", "model", "item", "label", "entity", "city", "company", "food", "drug"),
    *("名称", "品名", "标题", "产品", "型号", "商品", "城市", "公司", "药品"),
)
_KINDS = (
    *("type", "category", "kind", "class", "typename", "genre", "sector", "industry", "group", "family"),
    *("类型", "类别", "种类", "品类", "分类", "行业"),
)
_MAKERS = (
    *("brand", "company", "maker", "manufacturer", "country", "vendor", "producer"),
    *("品牌", "公司", "厂商", "厂家", "制造商", "国家", "产地"),
)
_NO_QUANTITY = frozenset(
    "id code barcode ean gtin upc sku zip postcode phone year date url link index number no nr rank version lat lon "
    "latitude longitude day month week hour minute second "
    "编号 序号 编码 条码 邮编 电话 年份 日期 网址 经度 纬度".split()
)
"""Words that make a column of numbers an identifier, a date or a place."""
_UNCOUNTABLE = frozenset(
    "fat fats sugar sugars salt sodium protein proteins fiber fibre carbohydrate carbohydrates alcohol caffeine "
    "cholesterol memory ram storage water iron calcium starch staff energy power".split()
)
_FILLERS = frozenset("amount value total content".split())
_MEASURED = {"length": "size", "mass": "weight", "currency": "price", "time": "duration"}
"""What to call a column that is named by its unit only; others by the unit's family."""


def guess_mapping(rows: Iterable[dict[str, Any]], units: Units, path: Path) -> TableMapping:
    """Guess which columns name the rows, say what kind they are, and hold quantities.

    A column holds quantities if nearly all of its cells are one number, with or without a unit. The unit is the
    commonest one in its cells, else the one in its name ("Weight (kg)", "price_euros"), else none.

    Args:
        rows: the first rows of the table, at most `SAMPLE_ROWS` of them are used.
        units: to read the cells.
        path: the table; a name such as laptops.csv says what its rows are.

    Raises:
        InputError: no column holds quantities.
    """
    columns: dict[str, list[Any]] = {}
    total = 0
    for _, row in zip(range(SAMPLE_ROWS), rows, strict=False):
        total += 1
        for column, cell in row.items():
            if not _is_empty(cell):
                columns.setdefault(column, []).append(cell)
    attributes_of = {c: a for c, cells in columns.items() if (a := _attribute(c, cells, units)) is not None}
    if not attributes_of:
        raise InputError(
            "no column of this table holds numbers" if total else "the table has no rows",
            file=path,
            value=", ".join(columns) or None,
            remedy="Name the columns, and a pattern that finds the number in a cell, in a file for --mapping",
        )
    texts = {c: [clean(x) for x in cells] for c, cells in columns.items() if c not in attributes_of and _is_text(cells)}
    name = _name_column(texts)
    others = {c: cells for c, cells in texts.items() if c != name}
    category = _category_column(others)
    words: tuple[str, ...] = ()
    attributes = _apart(list(attributes_of.values()))
    if not category and name:
        used_words = {word for attribute in attributes for word in attribute.words}
        words = tuple(word for word in _last_words(texts[name]) if word not in used_words)
        category = name if words else ""
    maker = next((c for c in others if c != category and set(_words(c)) & set(_MAKERS)), "")
    if maker and name and _repeats(columns[maker], columns[name]):
        maker = ""
    return TableMapping(
        name=(name,) if name else (),
        category=category,
        words=words,
        qualifier=maker,
        noun=_noun(path),
        attributes=attributes,
    )


def _is_empty(cell: Any) -> bool:
    return cell is None or cell != cell or (isinstance(cell, str) and cell.strip().lower() in EMPTY)


def _words(column: str) -> list[str]:
    return spoken(column).split()


def _attribute(column: str, cells: list[Any], units: Units) -> Attribute | None:
    words = _words(column)
    if set(words) & _NO_QUANTITY:
        return None
    plain = Attribute(column, "x")
    if sum(read_cell(cell, plain, units) is not None for cell in cells[:100]) < 0.5 * len(cells[:100]):
        return None
    read = [quantity for cell in cells if (quantity := read_cell(cell, plain, units)) is not None]
    if len(read) < 0.9 * len(cells) or len({value for value, _ in read}) < 2:
        return None
    values = [value for value, unit in read if not unit]
    if len(values) == len(read) > 20 and values[0].is_integer() and all(b == a + 1 for a, b in pairwise(values)):
        return None  # a running number
    unit, words_of_unit = _unit(column, words, Counter(unit for _, unit in read), units)
    per = "100 g" if re.search(r"(?:^|[_. ])(?:per_?)?100_?g(?:$|[_. ])", column.lower()) else ""
    if per and not unit and "energy" not in words:
        unit = "gram"  # what food tables give per 100 g
    name = [w for w in words if w not in words_of_unit and w not in _FILLERS and w not in ("100g", "per")]
    name = name or _MEASURED.get(units.get(unit).family, units.get(unit).family).split() or words
    return Attribute(column, " ".join(name), unit=unit, per=per, uncountable=name[-1] in _UNCOUNTABLE)


def _unit(column: str, words: list[str], seen: Counter[str], units: Units) -> tuple[str, set[str]]:
    """The unit of a column, and the words of its name that say so ("Weight (kg)", "price_euros", "inches")."""
    cells = seen.most_common(1)[0][0]
    bracket = re.search(r"[(\[（]([^)\]）]+)[)\]）]", column)
    for surface in [bracket[1].strip()] if bracket else [w for w in words if len(w) > 1]:
        unit = units.lookup(surface) or units.lookup(singular(surface)) or units.preceding(surface.upper())
        if unit is None and not surface.isascii() and (named := unit_written(surface)):
            unit = units.get(named)
        if unit is not None and unit.family not in ("", "count"):
            return cells or unit.name, set(_words(surface))
    return cells, set()


def _is_text(cells: list[Any]) -> bool:
    texts = [cell for cell in cells if isinstance(cell, str) and not cell.startswith(("http://", "https://"))]
    return len(texts) >= 0.9 * len(cells) and sum(any(c.isalpha() for c in cell) for cell in texts) >= 0.9 * len(texts)


def _name_column(texts: dict[str, list[str]]) -> str:
    """The text column that tells rows apart best; a telling name counts for much, long texts do not qualify."""

    def rank(column: str) -> tuple[bool, float]:
        cells = texts[column]
        hints = [_NAMES.index(w) for w in _words(column) if w in _NAMES]
        distinct = len(set(cells)) / len(cells)
        return distinct > 0.2 and bool(hints), distinct - 0.01 * min(hints, default=0)

    short = [c for c, cells in texts.items() if sum(map(len, cells)) / len(cells) <= 60]
    return max(short, key=rank, default="")


def _category_column(texts: dict[str, list[str]]) -> str:
    """A text column with few, short, repeated values; by its name where one tells."""
    fit = [
        column
        for column, cells in texts.items()
        if 1 < len(set(cells)) <= max(3, len(cells) // 8)
        and all(len(concept_words(c)) in range(1, 5) for c in set(cells))
    ]
    return next((c for c in fit if set(_words(c)) & set(_KINDS)), "")


def _last_words(names: list[str]) -> tuple[str, ...]:
    """The words that most often end a name ("Extra Sharp Cheddar Cheese"): kinds of things, as far as they repeat."""
    ends = (concept_words(name)[-1:] for name in names)
    seen = Counter(end[0] for end in ends if end and end[0].isalpha() and len(end[0]) > 2)
    counts: Counter[str] = Counter()
    for word, count in seen.items():
        single = next((w for w in (word[:-1], word[:-2]) if word.endswith("s") and seen[w]), word)
        counts[single] += count
    enough = max(5, len(names) // 200)
    words = [(word, count) for word, count in counts.most_common(40) if count >= enough]
    return tuple(word for word, _ in words) if sum(count for _, count in words) >= 0.3 * len(names) else ()


def _repeats(maker: list[Any], name: list[Any]) -> bool:
    """Whether the names mostly hold the maker already."""
    pairs = list(zip(maker, name, strict=False))
    return sum(str(m).lower() in str(n).lower() for m, n in pairs) > 0.5 * len(pairs)


def _noun(path: Path) -> str:
    """What the rows of laptops.csv are: "laptop"; "" if the file's name is no plural, where its script has plurals."""
    stem = path.name.partition(".")[0].lower()
    noun = singular(stem)
    return noun if stem.isalpha() and (noun != stem or script_of(stem) == HAN) else ""


def _apart(attributes: list[Attribute]) -> tuple[Attribute, ...]:
    """Attributes of which no name holds all words of another's: the longer one is written as one word."""
    distinct: list[Attribute] = []
    for attribute in sorted(attributes, key=lambda a: len(a.words)):
        name = attribute.name
        if any(set(earlier.words) <= set(concept_words(name)) for earlier in distinct):
            name = "-".join(concept_words(name))
        if all(name != earlier.name for earlier in distinct):
            distinct.append(replace(attribute, name=name))
    order = [a.column for a in attributes]
    return tuple(sorted(distinct, key=lambda a: order.index(a.column)))
