"""The card of a benchmark (README.md): description, provenance, content, limits.

Its header is what `datasets` reads: one configuration a table, so that `load_dataset(folder, "queries")` works offline.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import polars as pl

from qbench.benchmark.audits import ALL, UNJUDGED, Audit, audit_of, figure_cells, percent, shown, who
from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.parquet import SCHEMAS
from qbench.benchmark.relax import is_relaxed
from qbench.benchmark.types import KINDS, SPLITS, Query
from qbench.quantities.languages import language_package
from qbench.quantities.scripts import told, unread
from qbench.quantities.types import Condition
from qbench.quantities.units import load_units

ABOUT = (
    "A benchmark for quantity-aware retrieval, made by qbench: sentences, queries that ask for "
    "quantities, each query's conditions as data, and graded judgments."
)
"""What a benchmark is that does not say so itself."""

AUDIT_TITLE = "## Audit of the labels"
NOT_AUDITED = "Labels not audited: nobody has said which of them hold (`qbench benchmark audit`)."

EXAMPLES = 5
"""How many queries the card shows."""

LONGEST = 300
"""How many characters of a text the card shows."""


def summary(benchmark: Benchmark) -> dict[str, Any]:
    """Counts of documents, queries, judgments and samples, as nested dicts for JSON."""
    queries = benchmark.queries
    families = _families(benchmark)
    grades = benchmark.judgments.group_by("grade").len().sort("grade").collect(engine="streaming")
    content: dict[str, Any] = {
        "documents": benchmark.corpus.height,
        "queries": len(queries),
        "judgments": int(grades["len"].sum()),
        "quantities": None if benchmark.quantities is None else benchmark.quantities.height,
        **({} if benchmark.facts is None else {"facts": benchmark.facts.height}),
        "samples": benchmark.samples.height,
        "triples": benchmark.triples.height,
        "queries_by_split": _counted((q.split for q in queries), SPLITS),
        "queries_by_kind": _counted((q.kind for q in queries), KINDS),
        "queries_by_comparator": _counted(_comparator(q) for q in queries),
        "queries_by_constraints": _counted(str(len(q.conditions)) for q in queries),
        "queries_by_unit_family": _counted(_family(q, families) for q in queries),
        "judgments_by_grade": dict(grades.select(pl.col("grade").cast(pl.String), "len").iter_rows()),
    }
    topics = {query.topic for query in queries} - {""}
    if topics:
        content["topics"] = len(topics)
    if benchmark.samples.height:
        rows = benchmark.samples.select("method", "label").iter_rows()
        content["samples_by_method"] = _counted(
            f"{method}, {'positive' if label else 'negative'}" for method, label in rows
        )
    return content


def card(benchmark: Benchmark, name: str, digest: str) -> str:
    """The text of the card.

    Args:
        benchmark: the benchmark.
        name: the benchmark's name for people.
        digest: its key.
    """
    content = summary(benchmark)
    licence = str(benchmark.params.get("licence") or "unknown")
    sections = [
        _header(benchmark, name, licence),
        f"# {markdown(name)}",
        str(benchmark.params.get("about") or ABOUT),
        "## What is in it",
        _tables(content),
        *breakdowns(content),
        "## How it was made",
        provenance(benchmark.params, digest),
        "## Left out, and worth knowing",
        left_out(benchmark.params.get("counts") or {}),
        *examples(benchmark),
        "## How to read it",
        _reading(benchmark),
        *audit_section(audit_of(benchmark.audit, digest)),
        "## Limits",
        limits(benchmark),
        "## Licence",
        f"{markdown(licence)}. The texts keep the licence of their source; say it here before you share them."
        if licence == "unknown"
        else f"{markdown(licence)}, as its maker stated. The texts keep the licence of their source.",
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def markdown(text: str, width: int = LONGEST) -> str:
    """Any text as one harmless line of Markdown: no markup, no HTML, no control characters, at most `width` long."""
    line = printable(text)
    line = line if len(line) <= width else line[: width - 1] + "…"
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_{}\[\]()#+!|~$:@-])", r"\\\1", line)


def printable(text: str) -> str:
    """One line without control characters, which terminals obey, and without marks that turn the writing direction."""
    line = " ".join(text.split())
    return "".join(c if c.isprintable() or c in "\u00a0\u202f" else "�" for c in line)


def describe(condition: Condition, between: tuple[str, str] = ("between", "and")) -> str:
    """A condition as a person would write it: `fuel economy > 30 mile per gallon`, `revenue down > 5 percentage`.

    Args:
        condition: what a query asks.
        between: the words before and between the ends of a range.
    """
    value, comparator = f"{condition.value:.15g}", str(condition.comparator)
    if comparator == "between":
        comparator, value = between[0], f"{value} {between[1]} {condition.high:.15g}"
    elif condition.high != condition.value:  # anything but a range
        value = f"{value} to {condition.high:.15g}"
    parts = (*condition.concept, condition.change, comparator, value, condition.unit)
    return " ".join(part for part in parts if part)


def _header(benchmark: Benchmark, name: str, licence: str) -> str:
    """YAML; every string in it is JSON, which YAML reads."""
    lines = ["---", f"pretty_name: {json.dumps(name)}"]
    if re.fullmatch(r"[a-z0-9][a-z0-9.-]*", licence):
        lines.append(f"license: {json.dumps(licence)}")
    else:
        lines += ["license: other", f"license_name: {json.dumps(printable(licence))}"]
    lines += ["task_categories:", "- text-retrieval", "tags:", "- qbench", "- quantities", "configs:"]
    for table in _present(benchmark):
        lines += [f"- config_name: {table}", "  data_files:", f"  - split: {table}", f"    path: {table}.parquet"]
    return "\n".join([*lines, "---"])


def _present(benchmark: Benchmark) -> list[str]:
    """The tables that hold rows; `datasets` cannot load one without."""
    return [table for table in SCHEMAS if benchmark.holds(table)]


def _tables(content: Mapping[str, Any]) -> str:
    rows = [("corpus", "documents"), ("queries", "queries"), ("qrels", "judgments"), ("quantities", "quantities")]
    rows += [("facts", "facts"), ("samples", "samples"), ("triples", "triples")]
    lines = [f"| `{table}.parquet` | {content[key]:,} |" for table, key in rows if content.get(key) is not None]
    return "\n".join(["| table | rows |", "|---|---:|", *lines])


def breakdowns(content: Mapping[str, Any]) -> list[str]:
    """The nested counts, one line of Markdown each."""
    blocks = []
    for key, counts in content.items():
        if isinstance(counts, Mapping) and counts:
            title = key.replace("_", " ")
            listed = ", ".join(f"{markdown(name)}: {count:,}" for name, count in counts.items())
            blocks.append(f"- {title.capitalize()} - {listed}.")
    return ["\n".join(blocks)] if blocks else []


def provenance(params: Mapping[str, Any], digest: str) -> str:
    """How an artefact was made: its digest, the command where it is known, and the parameters."""
    elsewhere = ("about", "counts", "notes", "command")
    commands = [printable(command) for command in steps(params)]
    params = {name: value for name, value in params.items() if name not in elsewhere}
    lines = [f"Digest: `{digest}`.", *_models(params)]
    if commands:
        lines.append("\n".join([f"Command{'s' * (len(commands) > 1)}:\n", *(f"    {command}" for command in commands)]))
    block = json.dumps(params, indent=2, ensure_ascii=True, sort_keys=True, default=str)
    # Indented code: no text in it can end the block, as a run of backticks could.
    return "\n\n".join([*lines, "Parameters:", "\n".join("    " + line for line in block.splitlines())])


def steps(params: Mapping[str, Any]) -> list[str]:
    """The known commands that made an artefact: those of its concept names first, its own last."""
    records = [*[*name_records(params)][::-1], *_before(params), params]
    return [command for record in records if isinstance(command := record.get("command"), str)]


def _before(params: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Parameters of a benchmark before it was judged or relaxed, oldest first."""
    if isinstance(judged := params.get("judged"), Mapping):
        yield from _before(judged)
        yield judged
    if isinstance(relaxed := params.get("relaxed"), Mapping):
        yield relaxed


def name_records(params: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Provenance of the concept names in a benchmark's queries, last step first."""
    record = params.get("expansions")
    while isinstance(record, Mapping):
        yield record
        record = record.get("from")


def _models(params: Mapping[str, Any]) -> list[str]:
    """The models that wrote parts of the benchmark, with their prompts."""
    lines = []
    named = [*name_records(params)]
    edited = any(record.get("edited since") for record in named)
    parts: list[tuple[str, Any]] = [("Other names of concepts", {**each, "edited since": edited}) for each in named]
    parts.append(("The words of rewritten queries", params.get("rewriting")))
    for part, record in parts:
        if isinstance(record, Mapping) and record.get("model"):
            prompt = f"{record.get('prompt')} version {record.get('prompt version')}"
            lines.append(
                f"{part}: written by the model {markdown(str(record['model']))}, told by the prompt {markdown(prompt)} "
                f"(digest {markdown(str(record.get('prompt digest')))}), and checked by rules, not by people."
                + (" The file of names was edited since." if record.get("edited since") else "")
            )
    return lines


def left_out(counts: Mapping[str, Any]) -> str:
    """A table of counts, nested ones by their path."""
    rows = list(_flat(counts))
    if not rows:
        return "Nothing was counted."
    return "\n".join(
        ["| reason | number |", "|---|---:|", *(f"| {markdown(name)} | {count} |" for name, count in rows)]
    )


def _flat(counts: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, str]]:
    for name, value in counts.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}: ")
        else:
            yield f"{prefix}{name}", f"{value:,}" if isinstance(value, int) else markdown(str(value))


def examples(benchmark: Benchmark) -> list[str]:
    """A few queries, spread over the benchmark, each with one relevant document."""
    chosen = spread(benchmark.queries, EXAMPLES)
    if not chosen:
        return []
    relevant = benchmark.judgments.filter(
        pl.col("grade") > 0, pl.col("query_id").is_in([query.query_id for query in chosen])
    ).collect()
    best = relevant.sort("grade", descending=True, maintain_order=True).unique("query_id", keep="first")
    documents = dict(zip(best["query_id"], best["doc_id"], strict=True))
    texts = benchmark.corpus.filter(pl.col("doc_id").is_in(best["doc_id"].to_list()))
    by_id = dict(zip(texts["doc_id"], texts["text"], strict=True))
    lines = []
    for query in chosen:
        conditions = "; ".join(markdown(describe(condition)) for condition in query.conditions)
        details = f" ({query.kind}; {conditions})" if conditions else ""
        lines.append(f"- {markdown(query.text)}{details}")
        if query.query_id in documents:
            lines.append(f"  - relevant: {markdown(by_id[documents[query.query_id]])}")
    return ["## Examples", "\n".join(lines)]


def _reading(benchmark: Benchmark) -> str:
    loads = ", ".join(f'"{table}"' for table in _present(benchmark))
    return (
        '    from qbench import open_benchmark\n    benchmark = open_benchmark("FOLDER")\n\n'
        f'or table by table with `datasets.load_dataset("FOLDER", NAME)`, where NAME is one of {loads}.'
    )


def limits(benchmark: Benchmark) -> str:
    """Limits of a benchmark's labels."""
    lines = []
    source = benchmark.params.get("quantities")
    if benchmark.manual:
        lines.append("- People judged the candidates of each query; what they were not shown has no judgment.")
    elif "importer" in benchmark.params:
        lines.append("- The judgments are those of the original data; qbench did not make them.")
    elif benchmark.factual:
        lines.append(
            "- The labels follow from a table of facts about the documents: 2 where the text states them, 1 where only "
            "the table does. What the table does not say, and what text and table say differently, has no label."
        )
    elif source == "gold":
        lines.append("- The labels follow from facts that are known exactly; the sentences are generated.")
    else:
        lines.append("- The labels follow from extracted quantities: where the extractor errs, so may a label.")
    if benchmark.quantities is None:
        lines.append("- No quantities are stored: a system that needs them extracts its own.")
    if counts := unread(benchmark.corpus["text"], language_package(benchmark.language).SCRIPTS):
        lines.append(
            f"- {sum(counts.values()):,} documents are not in the script of the benchmark's language, "
            f"{benchmark.language}, and their quantities were not read ({told(counts)})."
        )
    if any(query.conditions for query in benchmark.queries):
        lines.append(
            '- A mention that leaves open whether it meets a condition ("more than 500" against "> 600") makes its '
            "document neither relevant nor a negative sample."
        )
    if is_relaxed(benchmark):
        lines.append("- Grade 1 is for values near the one asked for; strict grades are doubled. Samples are strict.")
    lines.append("- A document without a judgment counts as not relevant.")
    return "\n".join(lines)


def audit_section(audit: Audit | None) -> list[str]:
    """The paragraphs of a card, title first."""
    if audit is None:
        return [AUDIT_TITLE, NOT_AUDITED]
    paragraphs = [AUDIT_TITLE, _audited_how(audit), "\n".join(audit_table(audit))]
    if audit.causes:
        rows = [f"| {c.labels} | {markdown(c.kind)} | {c.verdict} | {markdown(c.cause)} |" for c in audit.causes]
        paragraphs.append("\n".join(["| labels | of the kind | are | because |", "|---:|---|---|---|", *rows]))
    return paragraphs


def audit_table(audit: Audit) -> list[str]:
    """The figures as lines of a Markdown table."""
    lines = [
        "| labels | right | 95 % interval | read | wrong | nonsense | cannot tell |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for figure in shown(audit):
        cells = figure_cells(figure)
        lines.append(f"| {' | '.join([markdown(cells[0]), *cells[1:]])} |")
    return lines


def _audited_how(audit: Audit) -> str:
    drawn = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in audit.drawn.items())
    read, size = (
        sum(number) for number in zip(*((f.read, f.drawn) for f in audit.figures if f.by == ALL), strict=True)
    )
    lines = [
        f"{markdown(who(audit))[0].upper()}{markdown(who(audit))[1:]} read {read:,} of {size:,} labels that were drawn "
        f"at random, in proportion to the kinds of queries and one of each query in turn ({markdown(drawn)}; sample "
        f"`{audit.sheet}`), and said which are right, wrong, or nonsense that nobody would ask or write."
    ]
    if any(figure.kind == UNJUDGED for figure in audit.figures):
        lines.append(
            "Unjudged are documents that somebody may have missed: their numbers meet the condition, and they hold "
            "words of the query."
        )
    for name, row in audit.auditors.items():
        if asked := row.get("asked"):
            prompt = f"{asked.get('prompt')} version {asked.get('prompt version')}"
            lines.append(
                f"{markdown(name)} is a chat model, told by the prompt {markdown(prompt)} (digest "
                f"{markdown(str(asked.get('prompt digest')))})."
            )
    for pair, row in audit.agreement.items():
        kappa = "undefined" if row.get("kappa") is None else f"{row['kappa']:.2f}"
        equal = percent(row.get("equal"))
        lines.append(
            f"{markdown(pair)}: {row.get('judged_by_both')} read by both, {equal} alike, Cohen's kappa {kappa}."
        )
    return " ".join(lines)


def spread(queries: list[Query], n: int) -> list[Query]:
    """At most n queries at even distances."""
    n = min(n, len(queries))
    return [queries[index * len(queries) // n] for index in range(n)]


def _counted(values: Iterable[str], order: Iterable[str] = ()) -> dict[str, int]:
    counts = Counter(values)
    ordered = [name for name in order if name in counts]
    return {name: counts[name] for name in [*ordered, *sorted(counts.keys() - set(ordered))]}


def _comparator(query: Query) -> str:
    kinds = [condition.comparator for condition in query.conditions]
    return "unknown" if not kinds else kinds[0] if len(kinds) == 1 else "several"


def _families(benchmark: Benchmark) -> dict[str, str]:
    """Base unit -> family, for the units that the queries ask for."""
    base_units = {condition.base_unit for query in benchmark.queries for condition in query.conditions}
    if not base_units:
        return {}

    units = load_units()
    families = {name: units.get(name).family for name in base_units}
    if benchmark.quantities is not None:
        # The table knows units of the user's own as well.
        rows = benchmark.quantities.select("base_unit", "family").unique().sort("base_unit", "family").iter_rows()
        families.update((base, family) for base, family in rows if base in base_units)
    return families


def _family(query: Query, families: Mapping[str, str]) -> str:
    names = sorted({families[condition.base_unit] or "no unit" for condition in query.conditions})
    return " + ".join(names) or "unknown"
