"""qbench makes and runs benchmarks for quantity-aware retrieval.

What the command line does is a few lines of Python too: the names below load what they need when first used. Functions
that take `progress` show a bar on a terminal and in a notebook; `progress=qbench.silent` shows none.
"""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"

_PUBLIC: dict[str, str] = {
    "Benchmark": "qbench.benchmark.benchmark",
    "Condition": "qbench.quantities.types",
    "Quantity": "qbench.quantities.types",
    "ExtractorOptions": "qbench.quantities.extractors",
    "GenerationOptions": "qbench.generation.options",
    "Query": "qbench.benchmark.types",
    "MiningOptions": "qbench.mining.options",
    "build_index": "qbench.index.build",
    "describe": "qbench.mining.describe",
    "evaluate": "qbench.leaderboard.external",
    "extract": "qbench.quantities.mentions",
    "generate": "qbench.generation.generate",
    "ground": "qbench.grounding.ground",
    "import_descriptions": "qbench.mining.description_table",
    "make_test_set": "qbench.mining.test_set",
    "mine_paraphrases": "qbench.mining.paraphrases",
    "open_benchmark": "qbench.benchmark.disk",
    "open_index": "qbench.index.disk",
    "open_test_set": "qbench.mining.test_set",
    "parse_system": "qbench.retrieval.grammar",
    "publish": "qbench.publishing.publish",
    "PublishOptions": "qbench.publishing.options",
    "pull": "qbench.publishing.pull",
    "register": "qbench.retrieval.registration",
    "silent": "qbench.progress",
    "retrieve_quantity": "qbench.mining.retrieve",
    "run_leaderboard": "qbench.leaderboard.run",
    "search": "qbench.retrieval.searching",
    "synthesize": "qbench.synth.make",
}

__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _PUBLIC:
        raise AttributeError(f"module 'qbench' has no attribute {name!r}")
    found = getattr(import_module(_PUBLIC[name]), name)
    code = getattr(found, "__code__", None)
    if code is not None and "progress" in code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]:
        from qbench.progress import shows_progress

        found = shows_progress(found)
    # Found once: the next time it is an attribute as any other.
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
