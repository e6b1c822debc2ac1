"""Benchmarks with masked values or units, to measure how far a retriever depends on them.

Source: *Numbers Matter*, appendix C.4: "we mask all values in the collection with the [MASK] token", and the same for
units. Queries and judgments stay, so that a run on the masked benchmark is compared with one on the original.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Literal, get_args

import polars as pl

from qbench.benchmark.benchmark import Benchmark, benchmark_key
from qbench.errors import InputError, OptionError
from qbench.keys import key

Masked = Literal["values", "units"]

MASK = "[MASK]"
"""How a BERT's tokenizer writes its mask token."""

Span = tuple[int, int]


def mask_benchmark(benchmark: Benchmark, what: Masked, *, mask: str = MASK, command: str | None = None) -> Benchmark:
    """The benchmark with every value, or every unit, of its documents replaced by a mask.

    The masked benchmark has no quantities and no training samples: their spans and labels are those of the original.

    Args:
        benchmark: with quantities.
        what: "values" or "units"; a unit that is joined to its value ("5kg") is masked alone too.
        mask: the replacement.
        command: the command line, for the card.

    Raises:
        OptionError: `what` is neither, or the mask is empty.
        InputError: the benchmark has no quantities, or a span lies outside its text.

    Returns:
        a benchmark; its params say what it was made from, and how many spans were masked in how many documents.
    """
    if what not in get_args(Masked):
        raise OptionError("no such thing to mask", value=what, remedy="Use values or units")
    if not mask.strip():
        raise OptionError("the mask is empty", remedy=f"For example: {MASK}")
    spans = _spans(benchmark, what)
    texts = []
    for doc_id, text in benchmark.corpus.select("doc_id", "text").iter_rows():
        try:
            texts.append(masked(text, spans.get(doc_id, ()), mask))
        except ValueError as fault:
            raise InputError(f"a quantity does not lie in its document: {fault}", value=doc_id) from None
    source = benchmark_key(benchmark)
    params = {"source": source, "masked": what, "mask": mask}
    counts = {"documents": len(spans), "spans": sum(map(len, spans.values()))}
    inherited: dict[str, Any] = {n: benchmark.params[n] for n in ("licence", "judgments") if n in benchmark.params}
    return replace(
        benchmark,
        corpus=benchmark.corpus.with_columns(text=pl.Series(texts, dtype=pl.String)),
        quantities=None,
        samples=None,
        triples=None,
        params={"command": command, **params, **inherited, "quantities": None, "counts": {"masked": counts}},
        digest=key("mask", **params),
    )


def masked(text: str, spans: Iterable[Span], mask: str = MASK) -> str:
    """A text with a mask in the place of each span; spans that touch or overlap share one.

    Args:
        text: any.
        spans: half-open character spans, in any order.
        mask: the replacement, separated by a space from adjacent letters and digits.

    Raises:
        ValueError: a span lies outside the text.

    >>> masked("It weighs 5kg, not 5 to 6 kg.", [(10, 11), (19, 20), (24, 25)])
    'It weighs [MASK] kg, not [MASK] to [MASK] kg.'
    """
    parts, end_of_last = [], 0
    for start, end in _joined(spans):
        if not 0 <= start < end <= len(text):
            raise ValueError(f"span {start} to {end} of {len(text)} characters")
        before = " " if start and text[start - 1].isalnum() else ""
        after = " " if end < len(text) and text[end].isalnum() else ""
        parts += [text[end_of_last:start], before, mask, after]
        end_of_last = end
    return "".join([*parts, text[end_of_last:]])


def _joined(spans: Iterable[Span]) -> list[Span]:
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _spans(benchmark: Benchmark, what: Masked) -> dict[str, list[Span]]:
    if benchmark.quantities is None:
        raise InputError(
            "this benchmark has no quantities to mask",
            value=benchmark.name,
            remedy="Import it with --quantities ours, or generate it with `qbench gen-queries`",
        )
    start, end = (f"{what.removesuffix('s')}_{side}" for side in ("start", "end"))
    rows = benchmark.quantities.filter(pl.col(start) >= 0).select("doc_id", start, end)
    spans: dict[str, list[Span]] = {}
    for doc_id, first, last in rows.iter_rows():
        spans.setdefault(doc_id, []).append((first, last))
    return spans
