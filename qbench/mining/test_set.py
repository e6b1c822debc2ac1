"""Test sets for quantity retrieval: one set of queries, two corpora of the same evidence (*Quantity Retrieval*, 5.3).

A test set is a folder with two ordinary benchmarks, its *views*: in `sentences` (C_s) the documents are evidence
sentences, in `descriptions` (C_q) they are descriptions of single quantities. Queries are descriptions of the test
part; what agrees with a query's value is relevant, and a sentence is if any of its records is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench import keys
from qbench.artefacts import changed_files, open_artefact
from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.card import left_out, markdown, printable
from qbench.benchmark.disk import open_benchmark, write_benchmark
from qbench.benchmark.parquet import read_parquet
from qbench.benchmark.types import Query, qrels_schema
from qbench.errors import InputError
from qbench.mining.options import LEAST_DIGITS, TestSetOptions
from qbench.mining.paraphrases import Pairs
from qbench.mining.query_choice import choose_queries, evidence_groups, same_words
from qbench.mining.same_value import SAME, Values, agreeing, compare
from qbench.mining.types import DESCRIPTIONS, PAIRS, PAIRS_KIND, description_schema, pair_schema
from qbench.progress import Progress, silent
from qbench.quantities.languages import ENGLISH
from qbench.randomness import generator
from qbench.store import MANIFEST, digest, drafting, finished, read_manifest, refuse_foreign

KIND = "test set"

VIEWS: Mapping[str, str] = {"C_s": "sentences", "C_q": "descriptions"}
"""The paper's names of the two corpora, and the folders of the views."""

RECORDS, QUERIES = "records.parquet", "queries.parquet"
"""Tables of the searched records, and of the records that are the queries (`description_schema`)."""

DISAGREEING = "no paraphrase has an agreeing value"
"""A reason to reject a query; the others are those of `qbench.mining.query_choice`."""

_ABOUT = {
    "C_s": "A view of a test set for quantity retrieval: the documents are sentences (C_s), and a query is the "
    "description of a quantity. Its other view has the same queries and the descriptions of the same sentences.",
    "C_q": "A view of a test set for quantity retrieval: the documents are descriptions of single quantities (C_q), "
    "and so is a query. Its other view has the same queries and the sentences of the same descriptions.",
}


@dataclass(frozen=True, eq=False, repr=False)
class QuantityTestSet:
    """A test set on disk.

    Attributes:
        folder: of the test set.
        views: "C_s" and "C_q" -> benchmark, with the same queries; "C_q" alone where records have no sentences.
        params: its parameters; "judgments" is "values" (the same value is relevant) or "manual".
        counts: sizes, and what was left out and why.
        digest: names everything that can change its content.
    """

    folder: Path
    views: Mapping[str, Benchmark]
    params: Mapping[str, Any]
    counts: Mapping[str, Any]
    digest: str

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.folder.resolve().name

    @property
    def manual(self) -> bool:
        """Whether people judged it, so that documents without a judgment are unknown."""
        return bool(self.params["judgments"] == "manual")

    def records(self) -> pl.DataFrame:
        """The records that are searched (`description_schema`), in the order of the corpus.

        Raises:
            InputError: the table cannot be read.
        """
        return read_parquet(self.folder / RECORDS, description_schema())

    def queries(self) -> pl.DataFrame:
        """The records that are the queries: their `description_id` is the query's id.

        Raises:
            InputError: the table cannot be read.
        """
        return read_parquet(self.folder / QUERIES, description_schema())

    def __repr__(self) -> str:
        return f"QuantityTestSet({self.name!r}, {', '.join(map(repr, self.views.values()))})"


def is_test_set(folder: str | Path) -> bool:
    """Whether a folder is a test set (and no benchmark)."""
    folder = Path(folder)
    return (folder / MANIFEST).is_file() and read_manifest(folder).kind == KIND


def open_test_set(folder: str | Path) -> QuantityTestSet:
    """Open a test set.

    Raises:
        InputError: the folder is no test set, or a file in it cannot be read.
    """
    folder = Path(folder)
    manifest = read_manifest(folder, KIND)
    for name in {RECORDS, QUERIES}.intersection(changed_files(folder, manifest, again=False)):
        raise InputError("the file is not as it was written", file=folder / name, remedy="Make the test set again")
    views = {name: open_benchmark(folder / view) for name, view in VIEWS.items() if (folder / view).is_dir()}
    if "C_q" not in views:
        raise InputError("the test set has lost its descriptions", file=folder, remedy="Make it again")
    return QuantityTestSet(folder, views, manifest.params, manifest.counts, manifest.digest)


def make_test_set(
    pairs: str | Path | Pairs,
    output: str | Path,
    options: TestSetOptions = TestSetOptions(),
    *,
    command: str | None = None,
    overwrite: bool = False,
    progress: Progress = silent,
) -> QuantityTestSet:
    """Make the automatic test set of *Quantity Retrieval*, section 5.3.

    Queries are descriptions of the test split for which a paraphrase was mined. The evidence of each query leaves both
    views: its sentence, every sentence of the same words, and the sentences of records with the same words and value;
    else the answer would be the query itself. A query is dropped, and counted, if it, or a query taken before it, then
    has no mined paraphrase left.

    Args:
        pairs: mined pairs, or their folder.
        output: the folder to write.
        options: which queries are taken.
        overwrite: replace a test set that was made from something else.
        progress: receives the number of finished steps.

    Raises:
        InputError: the pairs cannot be read, name an unknown description, or leave no query.
        OptionError: `output` holds something else.
        BusyError: another process is writing there.
    """
    folder, output = Path(pairs) if isinstance(pairs, str | Path) else pairs.path, Path(output)
    mined = open_artefact(folder, PAIRS_KIND, (DESCRIPTIONS, PAIRS))
    rule = {
        "least": int(mined.params.get("min_digits", LEAST_DIGITS)),
        "rounded": int(mined.params.get("min_rounded_digits", LEAST_DIGITS)),
    }
    key = keys.key("test set", pairs=mined.digest, options=asdict(options), **rule)
    if finished(output, KIND, key):
        return open_test_set(output)
    refuse_foreign(output, KIND, overwrite)
    progress(0, 3, "reading pairs")
    records = read_parquet(folder / DESCRIPTIONS, description_schema())
    table = read_parquet(folder / PAIRS, pair_schema(), nullable=("shared", "p_paper", "p_fact"))
    _check_ids(records, table, folder)
    progress(1, 3, "choosing queries")
    language = str(mined.params.get("language", ENGLISH))
    queries, searched, relevant, counts = _choose(records, table, {**asdict(options), **rule}, folder, language)
    params: dict[str, Any] = {
        "judgments": "values",
        "pairs": mined.digest,
        "min_digits": rule["least"],
        "min_rounded_digits": rule["rounded"],
        **asdict(options),
        "command": command,
        **{name: mined.params[name] for name in ("licence", "extractor", "language") if name in mined.params},
    }
    progress(2, 3, "writing views")
    tables: dict[str, Any] = {"queries": queries, "records": searched, "qrels": relevant}
    return write_test_set(output, key, **tables, params=params, counts=counts, overwrite=overwrite)


def write_test_set(
    output: Path,
    key: str,
    *,
    queries: pl.DataFrame,
    records: pl.DataFrame,
    qrels: Mapping[str, pl.DataFrame],
    params: Mapping[str, Any],
    counts: Mapping[str, Any],
    overwrite: bool,
) -> QuantityTestSet:
    """Write a test set, and open it.

    Args:
        output: the folder to write.
        key: of the test set.
        queries: records that are the queries (`description_schema`).
        records: records to search (`description_schema`).
        qrels: view -> `qrels_schema`; a view without judgments is not written.
        params, counts: for manifests and cards.
        overwrite: replace a test set that was made from something else.

    Raises:
        InputError: a table is not valid in a benchmark.
        OptionError: `output` holds something else.
        BusyError: another process is writing there.
    """
    rows = queries.select("description_id", "description").rows()
    test_queries = [Query(query_id, text, split="test") for query_id, text in rows]
    with drafting(output, KIND, key, params, overwrite=overwrite) as draft:
        if draft is None:
            return open_test_set(output)
        for view, judged in qrels.items():
            benchmark = Benchmark(
                name=VIEWS[view],
                corpus=_corpus(records, view),
                queries=test_queries,
                qrels=judged,
                params={**params, "about": _ABOUT[view], "counts": dict(counts)},
                digest=digest({"test set": key, "view": view}),
            )
            write_benchmark(benchmark, draft.folder / VIEWS[view])
        for name, frame in ((RECORDS, records), (QUERIES, queries)):
            frame.rechunk().write_parquet(draft.folder / name, compression="zstd", statistics=True)
        draft.counts = dict(counts)
        text = _card(output.name, key, draft.params, draft.counts)
        (draft.folder / "README.md").write_text(text, encoding="utf-8", newline="\n")
    return open_test_set(output)


def sentence_qrels(qrels: pl.DataFrame, records: pl.DataFrame) -> pl.DataFrame:
    """Judgments of sentences: each has the best grade of its records.

    Args:
        qrels: `qrels_schema`, its doc_id a description_id.
        records: `description_schema`.

    Returns:
        `qrels_schema`, its doc_id that of a sentence, in the order of `qrels`.
    """
    sentence = records.select("description_id", sentence="doc_id")
    joined = qrels.join(sentence, left_on="doc_id", right_on="description_id", maintain_order="left")
    best = joined.group_by("query_id", "sentence", maintain_order=True).agg(pl.col("grade").max())
    return best.select("query_id", doc_id="sentence", grade="grade")


def _check_ids(records: pl.DataFrame, pairs: pl.DataFrame, folder: Path) -> None:
    ids = records["description_id"]
    if ids.is_duplicated().any():
        row = ids.is_duplicated().arg_max() or 0
        message = "two descriptions have one id"
        raise InputError(message, file=folder / DESCRIPTIONS, line=row + 1, value=ids[row])
    for column in ("query_id", "doc_id"):
        exists = pairs[column].is_in(ids.implode())
        if not exists.all():
            row = (~exists).arg_max() or 0
            raise InputError(
                f"the {column} of a pair is no description",
                file=folder / PAIRS,
                line=row + 1,
                value=pairs[column][row],
                remedy="Mine the pairs again",
            )


def _choose(
    records: pl.DataFrame, pairs: pl.DataFrame, options: Mapping[str, int], folder: Path, language: str
) -> tuple[pl.DataFrame, pl.DataFrame, dict[str, pl.DataFrame], dict[str, Any]]:
    """The queries' records, the searched records, the qrels of each view, and the counts."""
    groups = evidence_groups(records, language)
    candidates, paraphrases, disagreeing = _candidates(records, pairs, options)
    taken = choose_queries(
        candidates,
        paraphrases,
        same_words(records["description"], language),
        groups,
        lambda rows: agreeing(
            records, rows, least=options["least"], rounded=options["rounded"], most=options["max_relevant"]
        ),
        max_queries=options["max_queries"],
    )
    dropped = {**({DISAGREEING: disagreeing} if disagreeing else {}), **dict(sorted(taken.dropped.items()))}
    if not taken.queries:
        reasons = "; ".join(f"{number:,}: {reason}" for reason, number in dropped.items())
        raise InputError(
            f"no description of the test split can be a query: {reasons or 'no paraphrase has the split test'}",
            file=folder / PAIRS,
            remedy="Mine from more documents, or allow more with --max-relevant",
        )
    removed = np.isin(groups, np.fromiter(taken.removed, np.int64, len(taken.removed)))
    answers = sorted(zip(taken.queries, taken.relevant, strict=True), key=lambda pair: pair[0])
    qrels = _qrels(records["description_id"], [(row, docs[~removed[docs]]) for row, docs in answers])
    searched = records.filter(pl.Series(~removed))
    views = {"C_q": qrels}
    bare = int((searched["sentence"] == "").sum())
    if not bare:
        views = {"C_s": sentence_qrels(qrels, searched), **views}
    counts = {
        "queries": len(answers),
        "records": searched.height,
        "sentences": 0 if bare else searched["doc_id"].n_unique(),
        "relevant_records": qrels.height,
        "records_removed": records.height - searched.height,
        "records_without_a_sentence": bare,
        "candidates": len(candidates) + disagreeing,
        "candidates_not_needed": len(candidates) - len(answers) - taken.dropped.total(),
        "candidates_dropped": dropped,
    }
    return records[[row for row, _ in answers]], searched, views, counts


def _qrels(ids: pl.Series, answers: Sequence[tuple[int, NDArray[Any]]]) -> pl.DataFrame:
    """Grade 1 for the answers, all of them rows, of each query."""
    queries = np.repeat(np.array([row for row, _ in answers], np.int64), [docs.size for _, docs in answers])
    docs = np.concatenate([docs for _, docs in answers]).astype(np.int64)
    columns = {"query_id": ids.gather(queries), "doc_id": ids.gather(docs), "grade": np.ones(docs.size, np.int16)}
    return pl.DataFrame(columns, schema=qrels_schema())


def _candidates(
    records: pl.DataFrame, pairs: pl.DataFrame, options: Mapping[str, int]
) -> tuple[list[int], dict[int, list[int]], int]:
    """Candidates for queries: rows of descriptions in the order of the seed, and the rows of the paraphrases of each.

    Pairs whose values do not agree are ignored (tables of pairs may come from elsewhere); the last number is that of
    descriptions without other pairs.
    """
    row_of = records.select("description_id").with_row_index("row").with_columns(pl.col("row").cast(pl.Int64))
    mined = (
        pairs.filter((pl.col("label") == "paraphrase") & (pl.col("split") == "test"))
        .join(row_of, left_on="query_id", right_on="description_id")
        .join(row_of, left_on="doc_id", right_on="description_id", suffix="_doc")
    )
    queries, docs = mined["row"].to_numpy(), mined["row_doc"].to_numpy()
    result, _ = compare(Values.of(records), queries, docs, least=options["least"], rounded=options["rounded"])
    agreeing = mined.filter(pl.Series(result == SAME, dtype=pl.Boolean))
    rows = agreeing.group_by("query_id", "row").agg(pl.col("row_doc").sort()).sort("query_id")
    order = generator(options["seed"], "test queries").permutation(rows.height).tolist()
    names, documents = rows["row"].to_list(), rows["row_doc"].to_list()
    lost = mined["query_id"].n_unique() - rows.height
    return [names[i] for i in order], dict(zip(names, documents, strict=True)), lost


def _corpus(records: pl.DataFrame, view: str) -> pl.DataFrame:
    """The documents of a view (`corpus_schema`), in the order of the corpus."""
    if view == "C_q":
        return records.select(doc_id="description_id", text="description", title=pl.lit(""), source_id="source_id")
    once = records.unique("doc_id", keep="first", maintain_order=True)
    return once.select(doc_id="doc_id", text="sentence", title=pl.lit(""), source_id="source_id")


def _card(name: str, key: str, params: Mapping[str, Any], counts: Mapping[str, Any]) -> str:
    how = {
        "values": "A record is relevant if its value agrees with the query's by the rule of qbench.mining.same_value. "
        "No person has read these judgments: two facts may share a value by chance, and a fact told with another value "
        "counts as not relevant.",
        "manual": "People judged the records of a pool; a record that nobody judged counts as not relevant.",
    }
    sections = [
        f"# {markdown(name)}",
        "A test set for quantity retrieval, made by qbench after section 5.3 of *Quantity Retrieval*: each query is "
        "the description of a quantity, and what is sought is the quantity with its evidence. The same queries are "
        "asked of two corpora of the same evidence: `sentences` (C_s) and `descriptions` (C_q, a record per quantity). "
        "Each is a qbench benchmark with a card of its own.",
        how[params["judgments"]] + " A sentence is relevant if any of its records is.",
        "A query's own sentence, sentences of the same words, and the sentences of records with its very words and "
        "value are in neither corpus.",
        "\n".join(f"    {printable(line)}" for line in (params.get("command"), "qbench leaderboard TESTSET") if line),
        f"Digest: `{key}`.",
        "## What is in it, and what was left out",
        left_out(counts),
    ]
    return "\n\n".join(sections) + "\n"
