"""Generate a benchmark from an index, with counts of what was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from qbench import keys
from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.disk import KIND, write_benchmark
from qbench.benchmark.types import (
    FACTS,
    Query,
    corpus_schema,
)
from qbench.errors import OptionError
from qbench.generation.ahead import labelled_ahead
from qbench.generation.expansions import Expansions
from qbench.generation.gate import usable_pairs
from qbench.generation.grounded import GroundedQueries
from qbench.generation.languages import generation_package
from qbench.generation.mentions import load_mentions
from qbench.generation.options import GenerationOptions
from qbench.generation.outcomes import labeller
from qbench.generation.pairs import pair_table
from qbench.generation.queries import Plan
from qbench.generation.rewrite import Rewriter, Rewriting
from qbench.generation.selection import Selection
from qbench.generation.splits import split_concepts
from qbench.generation.templates import Templates, load_templates
from qbench.generation.vocabulary import known_words
from qbench.generation.wording import load_wording, wording_file
from qbench.index.disk import Index
from qbench.llm.client import Estimate
from qbench.progress import Progress, silent
from qbench.quantities.extractors import get_extractor
from qbench.quantities.units import load_units
from qbench.resources import resource
from qbench.store import MANIFEST, file_digest, read_manifest, refuse_foreign, unfinished
from qbench.work.tasks import Engine

ABOUT_THINGS = (
    "A benchmark for quantity-aware retrieval, made by qbench: documents, queries about the things that they describe, "
    "and graded judgments that follow from a table of facts about these things."
)


def generate(
    index: str | Path | Index,
    output: str | Path,
    options: GenerationOptions = GenerationOptions(),
    *,
    rewriting: Rewriting | None = None,
    engine: Engine | None = None,
    command: str | None = None,
    overwrite: bool = False,
    progress: Progress = silent,
) -> Path:
    """Generate a benchmark from a concept/unit index (*Numbers Matter*, algorithms 1 and 2).

    Args:
        index: a finished index, or its folder.
        output: the benchmark's folder; a benchmark of the same index and options is reused.
        options: options of the generation.
        rewriting: rewriting of test queries by a chat model; None to use templates only.
        engine: labels the queries, ahead of where they are taken; an interrupted run then resumes. Every node of it
            sees index and output under the same path. None for this process.
        command: the command line, for the card.
        overwrite: replace a benchmark of another index or other options.
        progress: called with the number of finished queries.

    Returns:
        the benchmark's folder.

    Raises:
        InputError: the index, the templates or the expansions cannot be used, or no pair of the index can be asked
            about.
        OptionError: the folder holds something else, or the options leave no query.
        BusyError: another process is writing there.
        ServerError, BudgetError, MissingPackageError: the chat model cannot be asked; its answers so far are recorded.
    """
    index = index if isinstance(index, Index) else Index.open(Path(index))
    output = Path(output)
    if index.grounded:
        if engine is not None:
            remedy = "Leave --engine and --workers out"
            raise OptionError("queries on a grounded index are labelled from its table, in this process", remedy=remedy)
        return _generate_grounded(index, output, options, rewriting, command, overwrite=overwrite, progress=progress)
    options.refuse_unused(grounded=False)
    loaded = load_templates(options.templates or resource(_templates_of(index))), Expansions.load(options.expansions)
    key = _key(index, options, rewriting)
    with unfinished(output, KIND, key) as wanted:
        if wanted:
            overwrite = overwrite or _is_partial(output, key)
            refuse_foreign(output, KIND, overwrite)
            made = _generated(index, output, options, loaded, rewriting, engine, command, key, progress)
            write_benchmark(made, output, overwrite=overwrite)
    return output


def _generated(
    index: Index,
    output: Path,
    options: GenerationOptions,
    loaded: tuple[Templates, Expansions],
    rewriting: Rewriting | None,
    engine: Engine | None,
    command: str | None,
    key: str,
    progress: Progress,
) -> Benchmark:
    """The benchmark of a key; its digest is another one as long as answers of the chat model are missing."""
    ahead = None if engine is None else _Ahead(engine, output.parent / f".{output.name}.labels", key)
    collection, corpus, counts = _make_queries(index, options, *loaded, ahead, progress)
    queries, params = collection.ordered(), _params(index, options, collection.plan.expansions, command)
    if rewriting is not None:
        _need_kinds(queries, rewriting)
        queries, report = _rewriter(index, rewriting).rewrite(queries, _with_name(progress, "rewriting"))
        rejected = report.pop("rejected").items()
        collection.rejected.update({f"rewriting: {reason}": number for reason, number in rejected})
        params["rewriting"] = rewriting.key
        counts["rewriting"] = report
        if report["without an answer"]:
            # Incomplete: the next call asks for the missing answers, so this state has its own key.
            params["part of"] = key
            key = keys.key("generation", whole=key, texts=[query.text for query in queries])
    return Benchmark(
        name=output.name,
        corpus=corpus,
        queries=queries,
        qrels=collection.qrels(collection.plan.mentions.doc_ids),
        quantities=collection.plan.mentions.table,
        samples=collection.samples(),
        triples=collection.triples(),
        params={**params, "counts": counts | {"rejected": dict(sorted(collection.rejected.items()))}},
        digest=key,
    )


def _generate_grounded(
    index: Index,
    output: Path,
    options: GenerationOptions,
    rewriting: Rewriting | None,
    command: str | None,
    *,
    overwrite: bool,
    progress: Progress,
) -> Path:
    """A benchmark of queries about the things of a grounded index, with labels from its facts."""
    if rewriting is not None or options.expansions is not None:
        raise OptionError(
            "queries on a grounded index are worded by a domain's file",
            value="a chat model" if rewriting is not None else options.expansions,
            remedy="Other names of attributes and kinds stand in the mapping; for other wordings give --templates",
        )
    options.refuse_unused(grounded=True)
    file = wording_file(options.domain, options.templates, index.extractor_options().language)
    wording = load_wording(file)
    made_of = {"index": index.manifest.digest, "options": options.key(), "templates": file_digest(file)}
    key = keys.key("grounded generation", **made_of)
    with unfinished(output, KIND, key) as wanted:
        if wanted:
            refuse_foreign(output, KIND, overwrite)
            queries = GroundedQueries(index, wording, options)
            queries.make(progress)
            params = _params(index, options, Expansions(), command)
            write_benchmark(_grounded(queries, output.name, params, index, key), output, overwrite=overwrite)
    return output


def _grounded(made: GroundedQueries, name: str, params: dict[str, Any], index: Index, key: str) -> Benchmark:
    params = params | {
        "quantities": "gold",
        "judgments": FACTS,
        "grounding": index.manifest.params["grounding"],
        "about": ABOUT_THINGS,
    }
    return Benchmark(
        name=name,
        corpus=made.corpus(),
        queries=made.ordered(),
        qrels=made.qrels(made.sentences["doc_id"]),
        quantities=made.quantities,
        samples=made.samples(),
        triples=made.triples(),
        facts=made.facts(),
        params={**params, "counts": made.counts()},
        digest=key,
    )


def _need_kinds(queries: Sequence[Query], rewriting: Rewriting) -> None:
    kinds = sorted({query.kind for query in queries if query.split == "test"})
    if not set(kinds) & set(rewriting.kinds):
        raise OptionError(
            "no test query is of a kind that is rewritten",
            value=",".join(rewriting.kinds),
            remedy=f"There are {', '.join(kinds) or 'none'}: name some with --rewrite-kinds, or give --expansions",
        )


def rewriting_forecast(
    index: str | Path | Index, options: GenerationOptions, rewriting: Rewriting, *, progress: Progress = silent
) -> Estimate:
    """Forecast the calls of a chat model by `generate` that are not recorded yet; errors as there.

    Generates the queries, but writes nothing.
    """
    index = index if isinstance(index, Index) else Index.open(Path(index))
    loaded = load_templates(options.templates or resource(_templates_of(index))), Expansions.load(options.expansions)
    collection, _, _ = _make_queries(index, options, *loaded, None, progress)
    queries = collection.ordered()
    _need_kinds(queries, rewriting)
    return _rewriter(index, rewriting).forecast(queries)


@dataclass(frozen=True)
class _Ahead:
    """What labels ahead, where it keeps what is done, and the key of the benchmark."""

    engine: Engine
    folder: Path
    key: str


def _make_queries(
    index: Index,
    options: GenerationOptions,
    templates: Templates,
    expansions: Expansions,
    ahead: _Ahead | None,
    progress: Progress,
) -> tuple[Selection, pl.DataFrame, dict[str, Any]]:
    """All queries with labels and samples, the benchmark's corpus, and counts of what was left out."""
    plan, corpus, counts = _plan(index, options, templates, expansions)
    selection = Selection(plan)
    made = labeller(index, plan.mentions, plan.splits.blocked, options)
    if ahead is None:
        selection.fill(made.outcome, progress)
    else:
        with labelled_ahead(ahead.engine, index, made, selection.ahead(), ahead.folder, ahead.key) as outcome:
            selection.fill(outcome, progress)
    if not selection.queries:
        raise OptionError("these options leave no query", remedy="Lower --min-sentences, or switch fewer kinds off")
    return selection, corpus, counts


def _rewriter(index: Index, rewriting: Rewriting) -> Rewriter:
    """A rewriter with the index's extractor, or the default one if the index has given quantities."""
    options = index.extractor_options()
    return Rewriter(rewriting, get_extractor(options), known_words(index), options.language)


def _is_partial(output: Path, key: str) -> bool:
    """Whether the folder holds a benchmark of this key without some of the model's answers."""
    return (output / MANIFEST).is_file() and read_manifest(output).params.get("part of") == key


def _with_name(progress: Progress, name: str) -> Progress:
    return lambda done, total=None, _="": progress(done, total, name)


def _key(index: Index, options: GenerationOptions, rewriting: Rewriting | None) -> str:
    templates = options.templates or resource(_templates_of(index))
    return keys.key(
        "generation",
        index=index.manifest.digest,
        options=options.key(),
        templates=file_digest(templates),
        rewriting=None if rewriting is None else rewriting.key,
    )


def _templates_of(index: Index) -> str:
    """The file of templates of the language of an index."""
    return generation_package(index.extractor_options().language).TEMPLATES


def _params(index: Index, options: GenerationOptions, expansions: Expansions, command: str | None) -> dict[str, Any]:
    params = {
        "generator": "gen-queries",
        "command": command,
        "index": index.manifest.digest,
        "quantities": "gold" if index.given else "extracted",
        "extractor": index.manifest.params["extractor"],
        "seed": options.seed,
        "options": options.key(),
        **{name: index.manifest.params[name] for name in ("licence",) if name in index.manifest.params},
        "corpus": {name: index.manifest.params.get(name) for name in ("source", "content", "reading")},
    }
    if expansions.provenance:
        params["expansions"] = {**expansions.provenance, "edited since": expansions.edited}
    return params


def _plan(
    index: Index, options: GenerationOptions, templates: Templates, expansions: Expansions
) -> tuple[Plan, pl.DataFrame, dict[str, Any]]:
    """The input of algorithm 1, the benchmark's corpus, and counts of what was left out."""
    quantities = index.collected(index.quantities())
    sentences = index.collected(index.sentences())
    if options.corpus == "quantities":
        sentences = sentences.join(quantities.select("doc_id").unique(), on="doc_id", how="semi", maintain_order="left")
    mentions = load_mentions(sentences, quantities, index.extractor_options().language, given=index.given)
    del quantities  # the mentions have a table of their own
    pairs, refused = usable_pairs(mentions, options)
    splits = split_concepts(pairs, mentions, expansions, options)
    units = load_units(index.extractor_options().units_file)
    counts: dict[str, Any] = {
        "pairs": {"in the index": pair_table(mentions).height, "asked about": len(pairs), "left out": refused},
        "groups of concepts": dict(splits.groups),
        "mentions": {
            "tied to their concept": int(mentions.sure.sum()),
            "undecided": dict(sorted(Counter(mentions.doubt[~mentions.sure].tolist()).items())),
        },
        "sentences held out": {f"of {split}": int(splits.blocked[split].sum()) for split in ("train", "dev")},
    }
    if options.expansions is not None:
        named = {concept for concept, _ in expansions.pairs()}
        usable = {" ".join(pair.concept) for pair in pairs}
        counts["concepts with expansions"] = {"in the file": len(named), "asked about": len(named & usable)}
    plan = Plan(pairs, mentions, splits, expansions, templates, units, options)
    return plan, sentences.select(list(corpus_schema())), counts
