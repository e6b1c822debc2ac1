"""What every importer does last: our quantities where they are wanted, and where the data comes from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from qbench.benchmark.benchmark import Benchmark
from qbench.keys import key
from qbench.licences import normalised
from qbench.progress import Progress, silent
from qbench.quantities.extractors import ExtractorOptions, extract_table, get_extractor
from qbench.quantities.languages import AUTO, language_package
from qbench.store import digest

EVERY = 1_000
"""Texts between two reports of progress."""


def in_language(benchmark: Benchmark, language: str) -> Benchmark:
    """The same benchmark with texts of a language; `AUTO` leaves what the script of its documents says.

    Raises:
        UnknownNameError: no package knows the language.
    """
    if language in (AUTO, benchmark.language):
        return benchmark
    language_package(language)
    made = digest({"benchmark": benchmark.digest, "language": language})
    return replace(benchmark, params={**benchmark.params, "language": language}, digest=made)


def with_our_quantities(benchmark: Benchmark, options: ExtractorOptions, progress: Progress = silent) -> Benchmark:
    """The same benchmark with quantities from qbench's extractor, extracted on first access.

    Where the options leave the language to the texts, it is the benchmark's.

    Raises:
        UnknownNameError: no extractor has the name in `options`.
    """
    if options.language == AUTO:
        options = replace(options, language=benchmark.language)
    extractor = get_extractor(options)

    def texts() -> Iterator[str]:
        for number, text in enumerate(benchmark.corpus["text"]):
            if number % EVERY == 0:
                progress(number, benchmark.corpus.height, "quantities")
            yield text

    def extract() -> pl.DataFrame:
        return extract_table(benchmark.corpus["doc_id"], texts(), extractor)

    provenance = {"quantities": "extracted", "extractor": options.key()}
    return replace(
        benchmark,
        quantities=extract,
        params={**benchmark.params, **provenance},
        digest=key("benchmark quantities", benchmark=benchmark.digest, **provenance),
    )


def with_source(benchmark: Benchmark, licence: str, command: str | None = None) -> Benchmark:
    """The same benchmark, its card saying under which licence it came and by which command it was made."""
    said = normalised(licence)
    params = {**benchmark.params, "licence": said, "command": command}
    return replace(benchmark, params=params, digest=digest({"benchmark": benchmark.digest, "licence": said}))
