"""Do the labels of training samples hold? Their own value and unit, and what else is in the sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.findings import Finding, report
from qbench.benchmark.matching import Matcher
from qbench.benchmark.types import Query
from qbench.quantities.codes import CHANGE_SIGNS, change_signs, comparator_codes
from qbench.quantities.concept_match import concept_grade, stated_concepts
from qbench.quantities.conditions import BROKEN, MET, verdicts
from qbench.quantities.types import Condition
from qbench.quantities.units import load_units

ORIGINAL = "original"
"""The method of a sample that is a sentence of the corpus as it is."""


def sample_rules(benchmark: Benchmark, matcher: Matcher, grades: Mapping[str, dict[str, int]]) -> Iterator[Finding]:
    """The rules about training samples.

    Args:
        benchmark: with quantities.
        matcher: made from them.
        grades: query id -> what `Matcher.grades` gives for its conditions.
    """
    if not benchmark.samples.height or benchmark.quantities is None:
        return
    texts = benchmark.corpus.select("doc_id", _original="text").unique("doc_id", keep="first")
    samples = benchmark.samples.join(texts, on="doc_id", how="inner", maintain_order="left").with_row_index("row")
    changed = samples.filter((pl.col("method") == ORIGINAL) & (pl.col("text") != pl.col("_original")))
    message = "{n} original samples are not the text of their document"
    yield from report("sample-text", "error", "samples", message, changed["sample_id"])
    inside = (pl.col("value_start") >= 0) & (pl.col("value_start") < pl.col("value_end"))
    outside = samples.filter(~(inside & (pl.col("value_end") <= pl.col("text").str.len_chars())))
    message = "{n} samples have a value span outside their text"
    yield from report("sample-span", "error", "samples", message, outside["sample_id"])

    readings, strange = _readings(samples, benchmark.quantities)
    checker = _Checker(samples, readings, benchmark.quantities, matcher)
    wrong: dict[int, list[str]] = {0: [], 1: []}
    queries = {query.query_id: query for query in benchmark.queries if query.conditions}
    for query_id, part in checker.parts():
        if query_id in queries:
            for label, sample_id in checker.faulty(queries[query_id], part, grades[query_id]):
                wrong[label].append(sample_id)
    message = "{n} positive samples do not meet the query's conditions"
    yield from report("sample-positive", "error", "samples", message, wrong[1])
    message = "{n} negative samples meet, or may meet, the query's conditions"
    yield from report("sample-negative", "error", "samples", message, wrong[0])
    if strange:
        message = "{n} units of samples are not known here, so samples in them were not checked"
        yield from report("sample-units", "skipped", "samples", message, strange)


def _readings(samples: pl.DataFrame, quantities: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """What a sample's quantity may say: rows of `samples` with base_unit, low, high, comparator and change.

    A sample keeps the words around its value ("more than"), so it has the comparator of the original mention:
    the one at its place in the document, or, where permutation moved it, any of the document's (a row for each).

    Returns:
        the readings, and the units that cannot be converted because only the extractor's own units file knew them.
    """
    units = load_units()
    base_units = dict(quantities.select("unit", "base_unit").unique("unit", keep="first").iter_rows())
    names = samples["unit"].unique().sort().to_list()
    strange = [name for name in names if base_units.get(name, units.get(name).base_unit) != units.get(name).base_unit]
    table = pl.DataFrame(
        [(name, units.get(name).base_unit, units.get(name).factor, units.get(name).offset) for name in names],
        schema={"unit": pl.String, "base_unit": pl.String, "_factor": pl.Float64, "_offset": pl.Float64},
        orient="row",
    )
    rows = samples.filter(~pl.col("unit").is_in(strange)).join(table, on="unit", maintain_order="left")
    rows = rows.with_columns(low=pl.col("value") * pl.col("_factor") + pl.col("_offset")).drop("_factor", "_offset")
    columns = {"_low": "base_value", "_high": "base_high", "_unit": "unit"}
    mentions = quantities.select("doc_id", "value_start", "comparator", "change", **columns)
    mentions = mentions.unique(["doc_id", "value_start"], keep="first")
    rows = rows.join(mentions, on=["doc_id", "value_start"], how="left", maintain_order="left")
    # A range keeps its upper end in an original sample; a permuted one has a single value.
    range_kept = (pl.col("method") == ORIGINAL) & (pl.col("_unit") == pl.col("unit"))
    rows = rows.with_columns(
        low=pl.when(range_kept).then("_low").otherwise("low"),
        high=pl.when(range_kept).then("_high").otherwise("low"),
        in_place=pl.col("comparator").is_not_null(),
    ).drop("_low", "_high", "_unit")
    anywhere = quantities.group_by("doc_id").agg(_any=pl.col("comparator").unique().sort())
    rows = rows.join(anywhere, on="doc_id", how="left", maintain_order="left")
    choice = pl.when(pl.col("in_place")).then(pl.concat_list("comparator")).otherwise(pl.col("_any"))
    rows = rows.with_columns(comparator=choice.fill_null(["="])).drop("_any").explode("comparator")
    return rows.select("row", "query_id", "base_unit", "low", "high", "comparator", "change", "in_place"), strange


class _Checker:
    """Samples and their readings as arrays: most queries have a dozen samples, too few for a table operation each."""

    def __init__(
        self, samples: pl.DataFrame, readings: pl.DataFrame, quantities: pl.DataFrame, matcher: Matcher
    ) -> None:
        ordered = readings.sort("query_id", "row", maintain_order=True)
        self._readings = ordered
        self._row = ordered["row"].to_numpy()
        self._unit = ordered["base_unit"].to_numpy().astype(object)
        self._low = ordered["low"].to_numpy()
        self._high = ordered["high"].to_numpy()
        self._comparator = comparator_codes(ordered["comparator"])
        self._change = change_signs(ordered["change"].fill_null(""))
        self._change_known = ordered["change"].is_not_null().to_numpy()
        self._in_place = dict(ordered.select("row", "in_place").iter_rows())
        self._samples = samples.select("sample_id", "doc_id", "label", "method", "value_start").rows()
        self._positive = (samples["label"] == 1).to_numpy()
        self._concepts = _concepts_of(quantities, samples["doc_id"], matcher)
        self._matcher = matcher

    def parts(self) -> Iterator[tuple[str, slice]]:
        """Each query id with the rows of its readings."""
        start = 0
        sizes = self._readings.group_by("query_id", maintain_order=True).agg(pl.len())
        for query_id, size in sizes.iter_rows():
            yield query_id, slice(start, start + size)
            start += size

    def faulty(self, query: Query, part: slice, grades: Mapping[str, int]) -> Iterator[tuple[int, str]]:
        """Label and id of each sample of one query whose label does not hold.

        Args:
            query: with conditions.
            part: the rows of its samples' readings.
            grades: what `Matcher.grades` gives for its conditions.
        """
        holds = self._values_hold(query, part)
        # With several constraints a sample shows the quantity of one of them, and which is not recorded.
        single = query.conditions[0] if len(query.conditions) == 1 else None
        met: dict[str, list[int]] | None = None
        for row, hold in holds.items():
            sample_id, doc_id, label, method, value_start = self._samples[row]
            if method == ORIGINAL:
                grade = grades.get(doc_id)
                right = (grade or 0) > 0 if label == 1 else grade is None
            elif label == 1:
                concepts = self._concepts.get(doc_id, [])
                right = not self._matcher.knows_concepts or _about(query, concepts, self._matcher.language)
            else:
                if met is None:
                    met = self._matcher.met(single, {self._samples[r][1] for r in holds}) if single else {}
                starts = met.get(doc_id, [])
                # Permutation broke one mention; any further one that meets the condition still answers the query.
                others = [start for start in starts if start != value_start] if self._in_place[row] else starts[1:]
                right = not others
            if not (right and hold):
                yield label, sample_id

    def _values_hold(self, query: Query, part: slice) -> dict[int, bool]:
        """Row of each sample -> whether one of its readings gives its label."""
        met = np.zeros(part.stop - part.start, dtype=bool)
        broken = np.zeros_like(met)
        for condition in query.conditions:
            codes = self._codes(part, condition)
            met |= codes == MET
            broken |= codes == BROKEN
        rows = self._row[part]
        fits = np.where(self._positive[rows], met, broken | (len(query.conditions) > 1))
        holds = dict.fromkeys(rows.tolist(), False)
        holds.update(dict.fromkeys(rows[fits].tolist(), True))
        return holds

    def _codes(self, part: slice, condition: Condition) -> NDArray[np.int8]:
        same = self._unit[part] == condition.base_unit
        low, high, comparator = self._low[part][same], self._high[part][same], self._comparator[part][same]
        # Where a mention cannot be told, it is taken to change what is asked for.
        change = np.where(self._change_known[part], self._change[part], CHANGE_SIGNS[condition.change])[same]
        codes = np.full(same.shape, BROKEN, dtype=np.int8)
        codes[same] = verdicts(low, high, comparator, condition, change)
        return codes


def _concepts_of(quantities: pl.DataFrame, documents: pl.Series, matcher: Matcher) -> dict[str, list[tuple[str, ...]]]:
    rows = quantities.filter(pl.col("doc_id").is_in(documents.unique().to_list()))
    rows = rows.select("doc_id", concept=stated_concepts(rows, matcher.language, given=matcher.given)).unique()
    concepts: dict[str, list[tuple[str, ...]]] = {}
    for doc_id, concept in rows.sort("doc_id", "concept").iter_rows():
        concepts.setdefault(doc_id, []).append(tuple(concept.split()))
    return concepts


def _about(query: Query, concepts: list[tuple[str, ...]], language: str) -> bool:
    """Whether a sentence speaks of what the query asks for."""
    return any(concept_grade(c.concept, concept, language) > 0 for c in query.conditions for concept in concepts)
