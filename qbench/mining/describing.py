"""The work of a worker of `qbench.mining.describe`: the descriptions of a chunk of sentences, as a shard."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

from qbench.index.schemas import frame_of
from qbench.mining.languages import REASONS, mining_package
from qbench.mining.parsers import get_parser
from qbench.mining.types import Description, DescriptionParser, description_schema
from qbench.quantities.types import Quantity, from_row
from qbench.work.tasks import Shard

TABLE, COUNTS = ".parquet", ".json"
"""Endings of a chunk's shard files; the counts are written last, so that they exist only if both do."""

OUTCOMES = ("mentions", "no fact", "no words", "too long", *REASONS)
"""Counts: all mentions, and those without a description by the reason."""
LONGEST = 1_000
"""Maximum number of words in a description; a longer one is a list or a table, and describes nothing."""


def tools(options: dict[str, Any]) -> tuple[DescriptionParser, str]:
    """The arguments of `process` that a worker makes once: the parser that `options` name, and the language."""
    checkpoint = options["checkpoint"]
    folder = None if checkpoint is None else Path(checkpoint)
    language = options["language"]
    return get_parser(options["parser"], folder=folder, spacy_model=options["spacy_model"], language=language), language


def process(payload: str, parser: DescriptionParser, language: str) -> Shard:
    """Describe the mentions of a chunk.

    Args:
        payload: JSON list of [doc_id, source_id, sentence, rows of its quantities].
        parser: writes the descriptions.
        language: code of the sentences' language.

    Returns:
        the descriptions as Parquet, and as JSON the counts of `OUTCOMES`.
    """
    sentences = [(*ids, [from_row(row) for row in rows]) for *ids, rows in json.loads(payload)]
    lack = mining_package(language).lack
    parsed = parser.parse_many([(text, mentions) for _, _, text, mentions in sentences])
    counts = dict.fromkeys(OUTCOMES, 0)
    rows: list[dict[str, Any]] = []
    for (doc_id, source_id, text, mentions), descriptions in zip(sentences, parsed, strict=True):
        for n, (mention, description) in enumerate(zip(mentions, descriptions, strict=True)):
            counts["mentions"] += 1
            words = description.words(text)
            if not description.factual:
                counts["no fact"] += 1
            elif not words:
                counts["no words"] += 1
            elif words.count(" ") >= LONGEST:
                counts["too long"] += 1
            elif reason := lack(words, text, mention, description.segments):
                counts[reason] += 1
            else:
                rows.append(description_row(f"{doc_id}#{n}", words, (doc_id, source_id, text), description, mention))
    table = io.BytesIO()
    frame_of(rows, description_schema(), "segments").write_parquet(table, compression="zstd")
    return Shard({TABLE: table.getvalue(), COUNTS: json.dumps(counts).encode()}, counts["mentions"])


def description_row(
    name: str, words: str, sentence: tuple[str, str, str], description: Description, mention: Quantity
) -> dict[str, Any]:
    """One row of `description_schema`.

    Args:
        name: id of the description.
        words: text of the description.
        sentence: id of the sentence, id of its document, and its text.
        description: the segments.
        mention: the quantity.
    """
    unit = mention.unit_span or (-1, -1)
    same = ("value", "high", "comparator", "change", "unit", "family", "base_unit", "base_value", "base_high", "digits")
    return {
        "description_id": name,
        "description": words,
        "doc_id": sentence[0],
        "source_id": sentence[1],
        "sentence": sentence[2],
        "segments": [list(span) for span in description.segments],
        **{column: getattr(mention, column) for column in same},
        "value_start": mention.value_span[0],
        "value_end": mention.value_span[1],
        "unit_start": unit[0],
        "unit_end": unit[1],
    }
