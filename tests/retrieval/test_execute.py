"""Running systems: what they rank, what is shared, what is kept."""

from __future__ import annotations

import math
from dataclasses import replace

import polars as pl
import pytest

from qbench.errors import BusyError, InputError, OptionError
from qbench.index import chunks
from qbench.models.single_vector import SingleVector
from qbench.quantities.extractors import ExtractorOptions
from qbench.retrieval import document_quantities
from qbench.retrieval import execute as module
from qbench.retrieval.analysis import tokens
from qbench.retrieval.bench import Bench
from qbench.retrieval.document_quantities import FILE, extract_documents, extractor_options
from qbench.retrieval.execute import execute
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.jobs import ExecuteOptions
from qbench.retrieval.lexical import BM25
from qbench.retrieval.passages import passages
from qbench.retrieval.pipeline import Pipeline
from qbench.retrieval.types import run_schema
from tests.encoder_factories import tiny_bert
from tests.factories import condition, tiny_benchmark
from tests.holding import held_by_another

BENCHMARK = tiny_benchmark()


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    words = [word for text in BENCHMARK.corpus["text"] for word in tokens(text)]
    return tiny_bert(tmp_path_factory.mktemp("models") / "tiny", words)


def ask(folder, *names, benchmark=BENCHMARK, on_result=None, **options):
    how = ExecuteOptions(**{"settings": ("given",), **options})
    return execute(benchmark, [parse_system(name) for name in names], folder, how, on_result=on_result)


def ranking(result, query_id):
    return result.run.filter(query_id=query_id)["doc_id"].to_list()


def scores(result, query_id):
    return dict(result.run.filter(query_id=query_id).select("doc_id", "score").iter_rows())


def rank_bm25(text):
    from rank_bm25 import BM25Okapi

    ids = BENCHMARK.corpus["doc_id"].to_list()
    model = BM25Okapi([tokens(text) for text in BENCHMARK.corpus["text"]])
    return dict(zip(ids, model.get_scores(tokens(text)).tolist(), strict=True))


def test_bm25_ranks_by_the_full_text(tmp_path):
    (result,) = ask(tmp_path, "BM25")
    assert (result.system, result.conditions, result.label) == ("BM25", "none", "BM25")
    for query in BENCHMARK.queries_of("test"):
        words = set(tokens(query.text))
        held = {doc for doc, text in BENCHMARK.corpus.select("doc_id", "text").iter_rows() if words & set(tokens(text))}
        expected = {doc: score for doc, score in rank_bm25(query.text).items() if doc in held}
        assert scores(result, query.query_id) == pytest.approx(expected)


def test_qbm25_is_equation_5_over_the_whole_ranking(tmp_path):
    (result,) = ask(tmp_path, "QBM25(alpha=0.7)")
    terms = rank_bm25("laptop weight")
    top = max(terms.values())
    # q4 asks for > 2 kg: of the documents with "laptop" or "weight" only d03 (2.4 kg, its one quantity) satisfies it.
    expected = {doc: score / top for doc, score in terms.items() if score}
    expected["d03"] += 0.7 * 2 / 2.4
    assert scores(result, "q4") == pytest.approx(expected)
    assert ranking(result, "q4")[0] == "d03"


def test_several_conditions_give_the_mean_of_their_scores(tmp_path):
    results = ask(tmp_path, "QBM25", "QBM25(norm=all)", "QBM25(norm=none)", settings=("given",))
    terms = rank_bm25("laptop")
    sums = 0.9 / 1 + 1000 / 1500  # d02: 900 g < 1 kg, $1500 > $1000; two quantities, one in each unit
    for result, qs in zip(results, (sums / 2, sums / 2 / 2, sums / 2), strict=True):
        assert scores(result, "q7")["d02"] == pytest.approx(terms["d02"] / max(terms.values()) + qs)


def test_terms_all_asks_for_every_search_word(tmp_path):
    some, every = ask(tmp_path, "QBM25", "QBM25(terms=all)")
    assert scores(some, "q4")["d03"] > scores(every, "q4")["d03"]  # d03 has "laptop", no sentence has "weight"
    assert scores(every, "q7") == scores(some, "q7")


def test_the_filter_keeps_the_order_and_what_meets_every_condition(tmp_path):
    plain, filtered = ask(tmp_path, "BM25", "BM25_filter")
    assert ranking(filtered, "q4") == ["d03"]
    assert ranking(filtered, "q7") == ["d02"]
    assert ranking(filtered, "q5") == []  # d09 satisfies it, and shares no word with the query
    for query in BENCHMARK.queries_of("test"):
        kept = ranking(filtered, query.query_id)
        assert [doc for doc in ranking(plain, query.query_id) if doc in kept] == kept


@pytest.mark.parametrize(
    ("comparator", "low", "high", "first"),
    [
        ("!=", 900, None, {"d09", "d11"}),
        ("between", 30, 100, {"d11"}),
        ("<=", 40, None, {"d11"}),
        (">=", 901, None, set()),
    ],
)
def test_negation_ranges_and_closed_bounds(tmp_path, comparator, low, high, first):
    query = replace(
        BENCHMARK.queries_of("test")[1],
        text="employees",
        terms="employees",
        conditions=(condition("staff", comparator, low, "employee", high),),
    )
    benchmark = replace(BENCHMARK, queries=[query])
    filtered, scored = ask(tmp_path, "BM25_filter", "QBM25", benchmark=benchmark)
    assert set(ranking(filtered, "q5")) == first
    assert set(ranking(scored, "q5")) == {"d09", "d11"}
    if len(first) == 1:
        assert ranking(scored, "q5")[0] in first


def test_conditions_are_parsed_from_the_text_when_asked_for(tmp_path):
    given, parsed = ask(tmp_path, "QBM25", settings=("given", "parsed"))
    assert (given.label, parsed.label) == ("QBM25 [given]", "QBM25 [parsed]")
    assert parsed.meta["queries_without_condition"] == 0
    assert ranking(parsed, "q4")[0] == "d03"


def test_a_query_without_a_condition_is_scored_by_its_full_text_alone(tmp_path):
    queries = [replace(query, text="heavy laptop") if query.query_id == "q4" else query for query in BENCHMARK.queries]
    plain, scored, filtered = ask(
        tmp_path, "BM25", "QBM25", "BM25_filter", benchmark=replace(BENCHMARK, queries=queries), settings=("parsed",)
    )
    assert scored.meta["queries_without_condition"] == filtered.meta["queries_without_condition"] == 1
    assert ranking(scored, "q4") == ranking(plain, "q4") == ranking(filtered, "q4")
    assert max(scores(scored, "q4").values()) == 1


def test_equal_scores_are_ordered_by_falling_document_id(tmp_path):
    rows = [(f"d{i}", "the same words" if i % 2 else "others", "", "page") for i in (3, 9, 1, 7, 5, 2, 4)]
    corpus = pl.DataFrame(rows, schema=BENCHMARK.corpus.schema, orient="row")
    query = replace(BENCHMARK.queries_of("test")[0], text="same words")
    benchmark = replace(BENCHMARK, corpus=corpus, queries=[query], quantities=None)
    ours, theirs = ask(tmp_path, "BM25", "BM25(engine=rank-bm25)", benchmark=benchmark)
    assert ranking(ours, "q4") == ranking(theirs, "q4") == ["d9", "d7", "d5", "d3", "d1"]
    (cut,) = ask(tmp_path, "BM25", benchmark=benchmark, depth=2)
    assert ranking(cut, "q4") == ["d9", "d7"]


def test_runs_keep_their_schema_and_ranks(tmp_path):
    for result in ask(tmp_path, "BM25", "QBM25", "BM25_filter"):
        assert dict(result.run.schema) == run_schema()
        for _, part in result.run.group_by("query_id"):
            assert part["rank"].to_list() == list(range(1, part.height + 1))
            assert part["score"].is_sorted(descending=True)
        assert result.cost.index_bytes > 0
        assert 0 < result.cost.ms_median <= result.cost.ms_p95
        assert result.cost.peak_bytes > 10_000_000
        assert result.meta["queries"] == 4


def test_a_shared_first_stage_is_asked_once_for_each_text(tmp_path, monkeypatch):
    asked = []
    search = BM25.search
    monkeypatch.setattr(BM25, "search", lambda self, s: asked.append((s.query_id, s.text)) or search(self, s))
    ask(tmp_path, "BM25", "BM25_filter", "QBM25", "QBM25(alpha=2)", "QBM25(phi=relative)")
    expected = {(q.query_id, text) for q in BENCHMARK.queries_of("test") for text in (q.text, q.terms)}
    assert sorted(asked) == sorted(expected)


def test_a_finished_run_is_not_made_again(tmp_path, monkeypatch):
    names = ("BM25", "QBM25")
    first = ask(tmp_path, *names)
    monkeypatch.setattr(module, "run_group", None)
    seen = []
    again = ask(tmp_path, *names, on_result=lambda result: seen.append(result.label))
    assert seen == ["BM25", "QBM25 [given]"]
    for a, b in zip(first, again, strict=True):
        assert a.run.equals(b.run)
        assert (a.cost, a.digest, a.meta) == (b.cost, b.digest, b.meta)


@pytest.mark.parametrize("damage", [lambda whole: b"PAR1", lambda whole: b"x" * len(whole)], ids=["cut", "other"])
def test_a_finished_run_that_was_damaged_is_made_again(tmp_path, damage):
    (first,) = ask(tmp_path, "BM25")
    (path,) = tmp_path.rglob("run.parquet")
    path.write_bytes(damage(path.read_bytes()))
    (again,) = ask(tmp_path, "BM25")
    assert again.run.equals(first.run)


def test_what_can_change_a_run_changes_its_digest(tmp_path):
    other = replace(BENCHMARK, queries=BENCHMARK.queries[:-1])
    results = [
        *ask(tmp_path, "BM25", "BM25(k1=1)", "QBM25", "QBM25(alpha=2)", "BM25_filter"),
        *ask(tmp_path, "BM25", depth=5),
        *ask(tmp_path, "BM25", split="dev"),
        *ask(tmp_path, "QBM25", settings=("parsed",)),
        *ask(tmp_path, "QBM25", document_quantities="stored"),
        *ask(tmp_path, "BM25", benchmark=other),
    ]
    assert len({result.digest for result in results}) == len(results)


def test_a_killed_run_goes_on_where_it_was(tmp_path, monkeypatch):
    whole = ask(tmp_path / "whole", "BM25", "QBM25")
    monkeypatch.setattr(module, "BATCH", 1)
    calls = []
    run = Pipeline.run

    def killed(self, job):
        calls.append((str(job.system), *(query.query_id for query in self.queries)))
        if len(calls) == 6:
            raise KeyboardInterrupt
        return run(self, job)

    monkeypatch.setattr(Pipeline, "run", killed)
    with pytest.raises(KeyboardInterrupt):
        ask(tmp_path / "cut", "BM25", "QBM25")
    again = ask(tmp_path / "cut", "BM25", "QBM25")
    asked = [(name, query) for query in ("q4", "q5", "q6") for name in ("BM25", "QBM25")]
    assert calls == [*asked, ("QBM25", "q6"), ("BM25", "q7"), ("QBM25", "q7")]
    for a, b in zip(whole, again, strict=True):
        assert a.run.equals(b.run)
        assert a.meta == b.meta


def test_the_same_input_gives_the_same_bytes(tmp_path):
    for name in "ab":
        ask(tmp_path / name, "BM25", "QBM25")
    one, two = ({p.relative_to(tmp_path / n): p.read_bytes() for p in (tmp_path / n).rglob("*.parquet")} for n in "ab")
    assert len(one) >= 4
    assert one == two


def test_nothing_in_the_folder_says_where_it_is(tmp_path):
    ask(tmp_path, "BM25", "QBM25")
    for path in tmp_path.rglob("*.json"):
        assert str(tmp_path) not in path.read_text()


def test_a_second_writer_is_told(tmp_path):
    (result,) = ask(tmp_path / "probe", "BM25")
    with held_by_another(tmp_path / "runs" / result.digest), pytest.raises(BusyError):
        ask(tmp_path, "BM25")


def test_given_conditions_need_some(tmp_path):
    bare = replace(BENCHMARK, queries=[replace(query, conditions=()) for query in BENCHMARK.queries])
    with pytest.raises(OptionError, match=r"no query of this split has any.*parsed"):
        ask(tmp_path, "BM25", "QBM25", benchmark=bare)
    assert [r.label for r in ask(tmp_path, "BM25", benchmark=bare)] == ["BM25"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"depth": 0}, "depth is at least 1"),
        ({"settings": ("gold",)}, "given, parsed"),
        ({"settings": ()}, "needs conditions"),
        ({"split": "validation"}, "no queries in this split"),
    ],
)
def test_options_that_make_no_sense(tmp_path, options, says):
    with pytest.raises(OptionError, match=says):
        ask(tmp_path, "QBM25", **options)


def test_a_run_of_another_tool_takes_a_quantity_score_and_a_filter(tmp_path):
    path = tmp_path / "theirs.run"
    path.write_text("q4 Q0 d01 1 8 x\nq4 Q0 d03 2 6 x\nq4 Q0 d12 3 2 x\nq9 Q0 d12 1 2 x\n")
    plain, scored, filtered = ask(tmp_path, *(f"{name}(path={path})" for name in ("Run", "QRun", "Run_filter")))
    assert scores(plain, "q4") == {"d01": 8, "d03": 6, "d12": 2}
    assert scores(scored, "q4") == pytest.approx({"d01": 1, "d03": 6 / 8 + 2 / 2.4, "d12": 2 / 8})
    assert ranking(scored, "q4") == ["d03", "d01", "d12"]
    assert ranking(filtered, "q4") == ["d03"]
    assert plain.meta["queries_without_results"] == 3


def test_runs_are_known_by_their_content(tmp_path):
    paths = [tmp_path / name for name in ("a.run", "b.run", "c.run")]
    for path, score in zip(paths, (1, 1, 2), strict=True):
        path.write_text(f"q4 Q0 d01 1 {score} x\n")
    a, b, c = ask(tmp_path, *(f"Run(path={path})" for path in paths))
    assert a.digest == b.digest != c.digest
    assert (a.system, b.system) == (f"Run(path={paths[0]})", f"Run(path={paths[1]})")
    with pytest.raises(InputError, match="no such run file"):
        ask(tmp_path, f"Run(path={tmp_path / 'd.run'})")


def test_dense_systems_share_vectors_take_quantities_and_run_again_as_they_were(tmp_path, tiny):
    names = [f"{name}(model={tiny})" for name in ("SBERT", "QSBERT", "SBERT_filter", "BERT-WS")]
    plain, scored, filtered, same = ask(tmp_path, *names, depth=5)
    assert all(len(ranking(plain, query.query_id)) == 5 for query in BENCHMARK.queries_of("test"))
    assert set(ranking(filtered, "q7")) <= {"d02"}
    best = next(iter(scores(scored, "q4")))
    assert scores(scored, "q4")[best] == max(scores(scored, "q4").values())
    assert same.run.equals(plain.run)
    assert same.digest != plain.digest
    assert plain.cost.index_bytes > BENCHMARK.corpus.height * 32 * 4
    assert len(list((tmp_path / "indexes").rglob("vectors.npy"))) == 1
    again = ask(tmp_path / "again", names[0], depth=5)[0]
    assert again.run.equals(plain.run)


def test_a_dense_stage_encodes_the_queries_of_a_part_together(tmp_path, tiny, monkeypatch):
    calls, encode = [], SingleVector.encode
    monkeypatch.setattr(
        SingleVector,
        "encode",
        lambda self, texts, role="document": calls.append((role, len(texts))) or encode(self, texts, role),
    )
    ask(tmp_path, f"SBERT(model={tiny})")
    assert calls == [("document", BENCHMARK.corpus.height), ("query", len(BENCHMARK.queries_of("test")))]


def test_a_missing_model_is_named(tmp_path):
    with pytest.raises(InputError, match="no such model folder"):
        ask(tmp_path, f"SBERT(model={tmp_path}/nope)")


def test_negative_scores_of_a_run_are_shifted_before_quantities_are_added(tmp_path):
    path = tmp_path / "logs.run"
    path.write_text("q4 Q0 d01 1 -1 x\nq4 Q0 d12 2 -3 x\n")
    (result,) = ask(tmp_path, f"QRun(path={path})")
    assert scores(result, "q4") == {"d01": 1, "d12": 0}


def test_gold_quantities_stay_out_of_a_retrievers_sight(tmp_path):
    wrong = BENCHMARK.quantities.with_columns(base_value=pl.lit(-1.0), base_high=pl.lit(-1.0))
    gold = replace(BENCHMARK, quantities=wrong, params={"quantities": "gold"})
    (auto,) = ask(tmp_path, "BM25_filter", benchmark=gold)
    assert ranking(auto, "q4") == ["d03"]
    assert auto.cost.extraction_seconds > 0
    (own,) = ask(tmp_path, "BM25_filter", benchmark=gold, document_quantities="stored")
    assert ranking(own, "q4") == []
    assert own.cost.extraction_seconds == 0


def test_a_run_that_is_there_reads_no_quantities(tmp_path):
    def read():
        raise AssertionError("read")

    extracted = replace(BENCHMARK, digest="digest", params={"quantities": "extracted"})
    (first,) = ask(tmp_path, "QBM25", benchmark=extracted)
    unread = replace(extracted, quantities=read)
    assert ask(tmp_path, "QBM25", benchmark=unread)[0].run.equals(first.run)
    with pytest.raises(AssertionError, match="read"):
        ask(tmp_path / "other", "QBM25", benchmark=unread)


def test_quantities_that_are_not_there_cannot_be_stored_ones(tmp_path):
    none = replace(BENCHMARK, quantities=None, params={"quantities": None})
    with pytest.raises(OptionError, match="holds no quantities"):
        ask(tmp_path, "QBM25", benchmark=none, document_quantities="stored")
    (result,) = ask(tmp_path, "QBM25", benchmark=none)
    assert ranking(result, "q4")[0] == "d03"
    assert extractor_options(none).years
    assert not extractor_options(BENCHMARK).years
    assert extractor_options(replace(none, params={"extractor": {"extractor": "quantulum3"}})).name == "quantulum3"


def extracted(folder, **options):
    found = extract_documents(passages(BENCHMARK.corpus), "key", ExtractorOptions(), folder, **options)
    return pl.read_parquet(found.folder / FILE)


@pytest.fixture
def small_chunks(monkeypatch):
    for place in (chunks, document_quantities):
        monkeypatch.setattr(place, "CHUNK", 120)


def test_extraction_gives_the_same_table_with_any_number_of_workers(tmp_path, small_chunks):
    one, two = (extracted(tmp_path / str(workers), workers=workers) for workers in (1, 2))
    assert set(one["doc_id"]) == {f"d{number:02}" for number in range(1, 12)}
    assert one.equals(two)


def test_extraction_resumes(tmp_path, small_chunks, monkeypatch):
    process, calls = chunks.process, []

    def counted(payload, *tools):
        if len(calls) == 1:
            calls.append(None)
            raise KeyboardInterrupt
        calls.append(payload)
        return process(payload, *tools)

    monkeypatch.setattr(chunks, "process", counted)
    with pytest.raises(KeyboardInterrupt):
        extracted(tmp_path / "cut", workers=1)
    seen = []
    again = extracted(tmp_path / "cut", workers=1, progress=lambda done, total, what: seen.append(done))
    assert len(calls) == len(seen) + 1
    assert len(set(calls)) == len(calls)
    assert seen[-1] == BENCHMARK.corpus.height
    assert again.equals(extracted(tmp_path / "whole", workers=1))


def test_whole_documents_are_searched_with_their_titles_and_sentences_without():
    rows = [("a", "text", "A title", "a"), ("b", "text", "A title", "page"), ("c", "text", "", "c")]
    corpus = pl.DataFrame(rows, schema=BENCHMARK.corpus.schema, orient="row")
    assert passages(corpus).rows() == [("c", "text"), ("b", "text"), ("a", "A title\ntext")]


def test_latency_counts_the_parsing(tmp_path, monkeypatch):
    parse = Bench.parsed

    def slow(self, query):
        found, seconds = parse(self, query)
        return found, seconds + 5.0

    monkeypatch.setattr(Bench, "parsed", slow)
    given, parsed = ask(tmp_path, "QBM25", settings=("given", "parsed"))
    assert parsed.cost.ms_median > 5000 > given.cost.ms_median
    assert math.isfinite(parsed.cost.ms_p95)


def test_seconds_of_the_extraction_count_once(tmp_path, monkeypatch):
    """A clock that only the extraction moves: the index over its quantities takes no time."""
    clock = [0.0]
    monkeypatch.setattr("qbench.retrieval.stored.time.perf_counter", lambda: clock[0])
    extract = extract_documents

    def slow(*arguments, **options):
        clock[0] += 1000.0
        return replace(extract(*arguments, **options), seconds=1000.0)

    monkeypatch.setattr("qbench.retrieval.bench.extract_documents", slow)
    for system in ("QBM25", "BM25_filter"):
        (result,) = ask(tmp_path / system, system, benchmark=replace(BENCHMARK, params={"quantities": "gold"}))
        assert result.cost.extraction_seconds == 1000.0
        assert result.cost.index_seconds == 1000.0
