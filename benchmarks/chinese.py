"""The extractor of Chinese against gold: Recognizers-Text specifications, and the amounts among DuEE-fin's arguments.

    python benchmarks/chinese.py DATA [-o OUT] [--part kept|read] [--errors N]

DATA holds `extraction/recognizers_text/` and `chinese/duee_fin_dev.json`. OUT gets chinese.md, figures without a text.

Recognizers: each specification is a text with its gold values (and units). `Number` asks for every number, also those
of dates and bare digits in words ("一" in "一只"), which are no quantities to us. A mention counts where it overlaps a
gold span; value and unit are right where both are the same in the unit's base unit. Mentions of other kinds (a bare
number in the set of currencies) are left out, as the gold has one kind alone.

DuEE-fin annotates the arguments of events: (role, argument) pairs. Those of the roles in `ROLES` that begin with a
number are amounts; their value and unit are read here by a few lines of their own, not by the extractor. An amount is
found where the sentence in which it is written has a mention on its span, of that value and, where the argument says
one, that unit. Nothing is known of other amounts in the texts, so there is no precision. The rules were written by
reading documents whose id begins with four digits of an even number, and the errors of documents whose id has an even
digest; the figure is of the rest, a quarter.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

from qbench.quantities.extractors import ExtractorOptions, get_extractor
from qbench.quantities.languages import CHINESE, Extractor, language_package
from qbench.quantities.types import Quantity

SPECS = {
    "Number": "Number/Chinese/NumberModel.json",
    "Percent": "Number/Chinese/PercentModel.json",
    "NumberRange": "Number/Chinese/NumberRangeModel.json",
    "Age": "NumberWithUnit/Chinese/AgeModel.json",
    "Currency": "NumberWithUnit/Chinese/CurrencyModel.json",
    "Dimension": "NumberWithUnit/Chinese/DimensionModel.json",
    "Temperature": "NumberWithUnit/Chinese/TemperatureModel.json",
}
FAMILIES = {"Percent": ("ratio",), "Age": ("age",), "Currency": ("currency",), "Temperature": ("temperature", "angle")}
NAMES = {
    "Chinese yuan": "yuan", "United States dollar": "dollar", "Dollar": "dollar", "Japanese yen": "yen",
    "New Taiwan dollar": "taiwan dollar", "C": "celsius", "F": "fahrenheit", "Degree": "celsius",
    "Meter": "metre", "Kilometer": "kilometre", "Centimeter": "centimetre", "Ton": "tonne",
}  # fmt: skip
PARTS = {"Mu": (1 / 15, "hectare"), "Jin": (0.5, "kilogram"), "Liang": (0.05, "kilogram")}
AGES = {"Year": "year of age", "Month": "month of age", "Week": "week of age", "Day": "day of age"}
ROLES = frozenset(
    "每股交易价格 回购股份数量 交易金额 净亏损 质押股票/股份数量 占公司总股本比例 质押物占持股比 质押物占总股比 "
    "中标金额 减持部分占总股本比例 交易股票/股份数量 融资金额 增持部分占总股本比例 发行价格 募资金额 债务规模 市值 "
    "减持部分占所持比例".split()
)
NUMBER = re.compile(
    r"(?P<number>\d[\d,，]*(?:\.\d+)?) ?(?P<scale>万亿|[百千万亿]{0,2}) ?"
    r"(?P<unit>%|％|‰|股|元|人民币|[港美欧日加澳]元|港币|美金|英镑)?"
)
SCALES = {"": 1, "百": 100, "千": 1e3, "万": 1e4, "百万": 1e6, "千万": 1e7, "亿": 1e8, "十亿": 1e9, "万亿": 1e12}
SIGNS = {
    "%": "percentage", "％": "percentage", "‰": "permille", "股": "share", "元": "yuan", "人民币": "yuan",
    "港元": "hong kong dollar", "港币": "hong kong dollar", "美元": "dollar", "美金": "dollar", "欧元": "euro",
    "日元": "yen", "加元": "canadian dollar", "澳元": "australian dollar", "英镑": "pound sterling",
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--part", choices=("kept", "read"), default="kept")
    parser.add_argument(
        "--errors", type=int, default=0, help="print so many errors of each set (DuEE-fin: of what was read)"
    )
    options = parser.parse_args()
    extractor = get_extractor(ExtractorOptions(language=CHINESE))
    lines = ["# Chinese quantities", "", "| Recognizers-Text | gold | value | value and unit |", "|---|---:|---:|---:|"]
    for name, path in SPECS.items():
        lines.append(
            recognizers(name, options.data / "extraction/recognizers_text/Specs" / path, extractor, options.errors)
        )
    lines += ["", f"| DuEE-fin, {options.part} documents | amounts | value | value and unit |", "|---|---:|---:|---:|"]
    errors = options.errors if options.part == "read" else 0
    lines += duee(options.data / "chinese/duee_fin_dev.json", extractor, options.part == "kept", errors)
    text = "\n".join(lines) + "\n"
    print(text)
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
        (options.output / "chinese.md").write_text(text, encoding="utf-8")


def recognizers(name: str, path: Path, extractor: Extractor, errors: int) -> str:
    """A row: F1 of values, and of values with units."""
    right = {"value": 0, "unit": 0}
    golds = predictions = 0
    for spec in json.loads(path.read_text(encoding="utf-8-sig")):
        gold = [item for result in spec.get("Results", ()) if (item := gold_of(result, name, extractor)) is not None]
        every = extractor.extract(spec["Input"])
        mentions = [q for q in every if of_kind(q, name) or any(overlaps(q, item["span"]) for item in gold)]
        golds, predictions = golds + len(gold), predictions + len(mentions)
        left = list(mentions)
        for item in gold:
            near = [q for q in left if overlaps(q, item["span"])]
            valued = next((q for q in near if same_value(q, item, name)), None)
            if valued is not None:
                left.remove(valued)
                right["value"] += 1
                right["unit"] += item["unit"] is None or same_unit(valued, item, extractor)
            if errors and (valued is None or not (item["unit"] is None or same_unit(valued, item, extractor))):
                errors -= 1
                print(name, "|", spec["Input"][:60], "|", item["text"], item["value"], item["unit"],
                      "|", [(q.value, q.high, q.unit, q.comparator) for q in near])  # fmt: skip
        for q in left if errors else ():
            errors -= 1
            print(name, "| too much |", spec["Input"][:60], "|", (q.value, q.unit))
    value, unit = (200 * right[kind] / (golds + predictions) for kind in ("value", "unit"))
    return (
        f"| {name} | {golds} | {value:.1f} | {unit:.1f} |" if name in NAMED else f"| {name} | {golds} | {value:.1f} | |"
    )


NAMED = ("Age", "Currency", "Dimension", "Temperature")


def gold_of(result: dict[str, Any], name: str, extractor: Extractor) -> dict[str, Any] | None:
    """Span, value (or ends) and unit of a gold item; None for a unit without a number."""
    resolution = result.get("Resolution") or {}
    value = resolution.get("value")
    if value is None:
        return None
    item: dict[str, Any] = {"text": result["Text"], "span": (result["Start"], result["End"] + 1), "unit": None}
    if name == "NumberRange":
        low, high = re.findall(r"-?[\d.]+(?:E[+-]?\d+)?|(?<=[\[(,])(?=[,\])])", value)[:2]
        item["value"] = (float(low or "nan"), float(high or "nan"))
        return item
    item["value"] = float(str(value).rstrip("%"))
    unit = resolution.get("unit")
    if unit is not None and name != "Percent":
        table = AGES if name == "Age" else NAMES
        factor, known = PARTS.get(unit, (1.0, table.get(unit)))
        found = None if known else extractor.units.lookup(unit)
        item["unit"] = known or (found.name if found else unit)
        item["value"] *= factor
    return item


def of_kind(quantity: Quantity, name: str) -> bool:
    """Whether a mention is of the kind that a set annotates."""
    if name in FAMILIES:
        return quantity.family in FAMILIES[name]
    if name == "Dimension":
        return quantity.family not in (
            "",
            "count",
            "currency",
            "ratio",
            "time",
            "age",
            "temperature",
            "ratio difference",
        )
    if name == "NumberRange":
        return quantity.comparator not in ("=", "~")
    return True


def overlaps(quantity: Quantity, span: tuple[int, int]) -> bool:
    """Whether the value's span has a character in common with another."""
    return quantity.value_span[0] < span[1] and span[0] < quantity.value_span[1]


def close(a: float, b: float) -> bool:
    """Whether two numbers are the same but for rounding."""
    return math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-12)


def same_value(quantity: Quantity, item: dict[str, Any], name: str) -> bool:
    """Whether a mention has a gold value; of a number in a unit, either in its own unit or in the base unit."""
    if name == "NumberRange":
        low, high = item["value"]
        if quantity.comparator == "between":
            return close(quantity.value, low) and close(quantity.high, high)
        bound = low if quantity.comparator in (">", ">=") else high if quantity.comparator in ("<", "<=") else math.nan
        if quantity.comparator == "~":
            bound = low
        return close(quantity.value, bound)
    value = item["value"]
    factors = (1, 0.5, 0.05, 15, 1 / 15) if name == "Number" else (1,)
    if item["unit"] is not None:
        return close(quantity.value, value) or close(quantity.base_value, in_base(item))
    return any(close(quantity.value, value * factor) for factor in factors)


def in_base(item: dict[str, Any]) -> float:
    """A gold value in the base unit of its unit."""
    from qbench.quantities.units import load_units

    return load_units().to_base(item["value"], item["unit"])


def same_unit(quantity: Quantity, item: dict[str, Any], extractor: Extractor) -> bool:
    """Whether a mention compares with the gold unit, and is the same amount."""
    same = quantity.base_unit == extractor.units.get(item["unit"]).base_unit
    return same and close(quantity.base_value, in_base(item))


def duee(path: Path, extractor: Extractor, kept: bool, errors: int) -> list[str]:
    """A row for each role, and one for all."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    splitter = language_package(CHINESE).sentence_splitter()
    for line in path.read_text(encoding="utf-8").splitlines():
        document = json.loads(line)
        digest = hashlib.sha256(document["id"].encode()).hexdigest()
        if (int(digest, 16) % 2 == 1 and int(document["id"][:4], 16) % 2 == 1) != kept:
            continue
        arguments = {
            (argument["role"], argument["argument"])
            for event in document.get("event_list", ())
            for argument in event["arguments"]
            if argument["role"] in ROLES
        }
        if not arguments:
            continue
        text = document["text"]
        spans = splitter.spans(text)
        mentions = [
            (start + q.value_span[0], start + q.value_span[1], q)
            for (start, _), row in zip(spans, extractor.extract_many([text[a:b] for a, b in spans]), strict=True)
            for q in row
        ]
        for role, argument in sorted(arguments):
            gold = amount(argument)
            places = [match.start() for match in re.finditer(re.escape(argument), text)]
            if gold is None or not places:
                continue
            within = [q for a, b, q in mentions if any(a < at + len(argument) and at < b for at in places)]
            valued = [q for q in within if ends(q, gold[0])]
            united = [q for q in valued if gold[1] is None or q.unit.partition(" per ")[0] == gold[1]]
            for row in (counts[role], counts["all"]):
                row[0] += 1
                row[1] += bool(valued)
                row[2] += bool(united)
            if errors > 0 and not united:
                errors -= 1
                at = places[0]
                print(role, "|", argument, "|", text[max(0, at - 15) : at + 30].replace("\n", " "), "|",
                      [(q.value, q.high, q.unit) for q in within][:3])  # fmt: skip
    order = sorted(counts, key=lambda role: (role == "all", -counts[role][0]))
    return [
        f"| {role} | {total} | {100 * valued / total:.1f} | {100 * united / total:.1f} |"
        for role, (total, valued, united) in ((role, counts[role]) for role in order)
    ]


def amount(argument: str) -> tuple[list[float], str | None] | None:
    """The values in an argument (one, or the ends of a range), and the unit of the last.

    None where it is no amount: what stands before the first number may be no more than a few words that bound it.
    """
    found = list(NUMBER.finditer(argument))
    if not found or len(found) > 2 or found[0].start() > 12 or found[-1].end() < len(argument) - 3:
        return None
    unit = SIGNS.get(found[-1]["unit"] or "")
    if found[-1]["unit"] == "元" and "港币" in argument[: found[0].start()]:
        unit = "hong kong dollar"
    values = []
    for match in found:
        scale = match["scale"] or (found[-1]["scale"] if match["unit"] is None and match is not found[-1] else "")
        if scale not in SCALES:
            return None
        values.append(float(re.sub("[,，]", "", match["number"])) * SCALES[scale])
    return values, unit


def ends(quantity: Quantity, values: list[float]) -> bool:
    """Whether a mention has the value, or the ends of the range."""
    low, high = abs(values[0]), abs(values[-1])
    return close(abs(quantity.value), low) and close(abs(quantity.high), high)


if __name__ == "__main__":
    main()
