"""The buckets of *DeepQuant*'s figures 6 and 12: queries by alpha, the weight that DeepQuant gives their words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import polars as pl

from qbench.benchmark.types import Query
from qbench.errors import InputError, MissingPackageError
from qbench.evaluation.buckets import ALPHA, UNKNOWN, quarter
from qbench.models.encoders import require_neural
from qbench.quantities.written import asked_numbers
from qbench.retrieval.systems import System


def alpha_buckets(systems: Iterable[System], queries: Sequence[Query]) -> tuple[pl.DataFrame, list[str]]:
    """The bucket of each query, by the first DeepQuant among some systems; nothing without one.

    Args:
        systems: with runs.
        queries: with their conditions; one without a number in its text has no alpha.

    Returns:
        columns query_id, dimension, bucket; and notes: whose alpha it is, or why there is none.
    """
    frame = pl.DataFrame(schema={"query_id": pl.String, "dimension": pl.String, "bucket": pl.String})
    stage = next((stage for system in systems for stage in system.stages if stage.model.name == "DeepQuant"), None)
    if stage is None:
        return frame, []
    try:
        require_neural()  # its modules import torch
        from qbench.models.deepquant_encoder import load_deepquant_encoder

        encoder = load_deepquant_encoder(stage.options().model)
    except (InputError, MissingPackageError) as error:
        # The runs are there all the same.
        return frame, [f"Buckets: without DeepQuant's alpha: {error}"]
    numbers = [asked_numbers(query.text, query.conditions) for query in queries]
    found = encoder.queries([query.text for query in queries], numbers)
    rows = [
        (query.query_id, ALPHA, quarter(one.alpha) if len(one.operators) else UNKNOWN)
        for query, one in zip(queries, found, strict=True)
    ]
    note = f"Buckets: alpha is that of {System((stage,)).shown()}."
    return pl.DataFrame(rows, schema=frame.schema, orient="row"), [note]
