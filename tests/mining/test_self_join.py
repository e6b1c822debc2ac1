"""The self-join against brute force, against rank-bm25, and on input of the awkward kinds."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qbench.errors import InputError, OptionError
from qbench.mining import join_layout, join_search, join_task
from qbench.mining.options import JoinOptions
from qbench.mining.self_join import read_neighbours, self_join
from qbench.mining.terms import term_matrix
from qbench.retrieval.analysis import token_ids, token_lists
from qbench.scoring import bm25
from qbench.store import read_json
from qbench.work.pool import in_processes
from qbench.work.tasks import in_this_process

WORDS = [
    "net",
    "profit",
    "of",
    "the",
    "company",
    "staff",
    "2019",
    "rate",
    "sales",
    "growth",
    "%",
    "loan",
    "tax",
    "risk",
]


@pytest.fixture
def join(tmp_path):
    """Join some texts in a fresh folder."""
    count = iter(range(10**6))

    def run(texts, queries=None, **options):
        series = pl.Series(texts, dtype=pl.String)
        return self_join(term_matrix(series), tmp_path / str(next(count)), JoinOptions(**options), queries=queries)

    return run


def brute_force(texts, queries, **parameters):
    """All scores of each query by `qbench.scoring.bm25`, minus infinity where nothing is shared; shared terms."""
    vocabulary, ids, lengths = token_ids(pl.Series(texts, dtype=pl.String))
    rows = np.split(ids, np.cumsum(lengths)[:-1]) if len(texts) else []
    held = [set(row.tolist()) for row in rows]
    postings = bm25.build(ids, lengths, len(vocabulary), **parameters)
    scores = np.full((len(queries), len(texts)), -np.inf)
    shared = np.zeros((len(queries), len(texts)), int)
    for row, query in enumerate(queries):
        found = bm25.score(postings, rows[query].tolist())
        for other in range(len(texts)):
            shared[row, other] = len(held[query] & held[other])
            if other != query and shared[row, other]:
                scores[row, other] = found[other]
    return scores, shared


def summands(texts):
    """Of which terms a score consists, so that equal lists mean equal scores to the last bit.

    Scores that are equal by chance alone (twice 0.2 and four times 0.1) may differ where weights are rounded.
    """
    counts = [Counter(words) for words in token_lists(texts)]
    df = Counter(word for words in counts for word in words)

    def of(query, other):
        both = counts[query].keys() & counts[other].keys()
        shared = sorted((df[word], counts[query][word], counts[other][word]) for word in both)
        return counts[other].total(), shared

    return of


def check(found, texts, queries, k, **parameters):
    """What was found is the brute-force result: sizes, scores, order, ties, and no better text left out."""
    scores, shared = brute_force(texts, queries, **parameters)
    parts = summands(texts)
    for row, query in enumerate(queries):
        docs = found.docs[row][found.docs[row] >= 0].tolist()
        assert len(docs) == len(set(docs)) == min(k, int(np.isfinite(scores[row]).sum()))
        assert (found.docs[row, len(docs) :] == -1).all()
        assert not found.scores[row, len(docs) :].any()
        assert not found.shared[row, len(docs) :].any()
        near = {"rtol": 1e-6, "atol": 1e-5}
        np.testing.assert_allclose(found.scores[row, : len(docs)], scores[row, docs], **near)
        np.testing.assert_allclose(found.scores[row, : len(docs)], np.sort(scores[row])[::-1][: len(docs)], **near)
        assert found.shared[row, : len(docs)].tolist() == shared[row, docs].tolist()
        # Equal scores go to the lower position, at the end of the list too.
        left = set(np.flatnonzero(np.isfinite(scores[row])).tolist()) - set(docs)
        for place, doc in enumerate(docs):
            following = [*docs[place + 1 :], *(left if len(docs) == k else [])]
            tied = [other for other in following if parts(query, other) == parts(query, doc)]
            assert all(other > doc for other in tied)


TIERS = [(512, 128, 8, 2), (6, 3, 2, 1), (4, 0, 0, 0), (0, 0, 0, 0), (12, 12, 12, 12), (14, 1, 1, 1)]

texts_of = st.lists(
    st.one_of(
        st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join),
        st.sampled_from(["", "net profit", "the", "of the company", "of the of the"]),
    ),
    max_size=40,
)


@given(texts=texts_of, k=st.integers(1, 12), block=st.integers(1, 50), seed=st.integers(0, 99))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.parametrize("size", [1, 3, 8192])
def test_results_are_those_of_brute_force(size, texts, k, block, seed, tmp_path_factory):
    queries = np.random.default_rng(seed).permutation(len(texts))[: max(1, len(texts) // 2)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(join_layout, "PIECE", size)
        patch.setattr(join_layout, "BLOCK", 2 * size)
        patch.setattr(join_layout, "FEWEST", 1 + seed % 3 * 20)
        patch.setattr(join_layout, "EVERY", 2 + seed % 4)
        patch.setattr(join_layout, "TIERS", TIERS[seed % len(TIERS)])
        patch.setattr(join_task, "QUERIES", 1 + seed % 5)
        patch.setattr(join_task, "ROOM", 1 + seed % 7)
        matrix = term_matrix(pl.Series(texts, dtype=pl.String))
        options = JoinOptions(k=k, block=block, threads=1 + seed % 2)
        found = self_join(matrix, tmp_path_factory.mktemp("join"), options)
        some = self_join(matrix, tmp_path_factory.mktemp("join"), options, queries=queries)
    check(found, texts, range(len(texts)), k)
    for mine, whole in zip(some, found, strict=True):
        np.testing.assert_array_equal(mine, whole[queries])


def test_texts_that_are_equal_by_chance_alone_are_no_ties(join):
    """Twice "of" and "the" in eight words weigh what "the" alone does; rounded to whole units they differ."""
    seven, five, twice = "net " * 7, "net " * 5, "of the of the"
    texts = ["", f"{seven}profit", "the", twice, twice, f"{seven}the", f"{five}profit of the"]
    texts += [f"{five}profit of company", "net of staff", "net net net net profit company", twice]
    scores, _ = brute_force(texts, [3])
    assert scores[0, 2] == pytest.approx(scores[0, 6], rel=1e-12)
    check(join(texts, k=3, block=1), texts, range(len(texts)), 3)


def long_tail(count, words, length, seed):
    """Texts of words drawn by Zipf's law."""
    rng = np.random.default_rng(seed)
    share = 1 / np.arange(1, words + 1)
    sizes = rng.integers(1, 2 * length, count)
    drawn = rng.choice(words, size=sizes.sum(), p=share / share.sum())
    return [" ".join(f"w{word}" for word in row) for row in np.split(drawn, np.cumsum(sizes)[:-1])]


@pytest.mark.parametrize(("words", "length", "size"), [(1500, 12, 64), (1500, 12, 8192), (300, 5, 100), (4000, 40, 50)])
def test_rare_and_frequent_terms_skipped_bags_and_carried_limits_change_nothing(words, length, size, join, monkeypatch):
    monkeypatch.setattr(join_layout, "PIECE", size)
    monkeypatch.setattr(join_layout, "BLOCK", size)
    monkeypatch.setattr(join_layout, "TIERS", (256, 40, 8, 2))
    texts = long_tail(400 if length < 40 else 200, words, length, seed=words + length)
    index = join_layout.build(term_matrix(pl.Series(texts)), k=10, k1=1.5, b=0.75, epsilon=0.25, drop_terms=0).index
    assert (index.rare.size > 0) == (words > 300)
    assert index.lows.size > 2 or size == 8192
    check(join(texts, k=10), texts, range(len(texts)), 10)


def test_parity_with_rank_bm25(join):
    from rank_bm25 import BM25Okapi

    texts = [*long_tail(200, 150, 10, seed=1), "w0 " * 30, "w1 w1 w140"]
    lists = token_lists(texts)
    model = BM25Okapi(lists)
    found = join(texts, k=201)
    for query in range(len(texts)):
        docs = found.docs[query][found.docs[query] >= 0]
        np.testing.assert_allclose(found.scores[query][: docs.size], model.get_scores(lists[query])[docs], atol=1e-5)
        holding = {i for i, row in enumerate(lists) if i != query and set(row) & set(lists[query])}
        assert set(docs.tolist()) == holding


@pytest.mark.parametrize("parameters", [{"k1": 0.9, "b": 0.4}, {"k1": 0.0, "b": 1.0}, {"epsilon": 0.0, "b": 0.0}])
def test_other_parameters(parameters, join):
    texts = long_tail(120, 60, 6, seed=5)
    check(join(texts, k=7, **parameters), texts, range(len(texts)), 7, **parameters)


def test_a_corpus_of_which_most_weights_are_negative(join):
    texts = ["net profit of the company"] * 2 + ["net profit of the company tax", "net profit of the company", "net"]
    check(join(texts, k=3), texts, range(len(texts)), 3)


def test_a_term_ten_thousand_times_in_a_text_where_weights_are_negative(join):
    texts = ["net " * 10_000 + "profit", "net profit", "net profit of"]
    check(join(texts, k=3), texts, range(3), 3)


def test_more_blocks_than_fifteen_bits_can_count(join, monkeypatch):
    for name, value in {"PIECE": 1, "BLOCK": 1, "TIERS": (2, 1, 0, 0)}.items():
        monkeypatch.setattr(join_layout, name, value)
    texts = [f"a{i % 3} b{i // 60} c{i}" for i in range(36_000)]
    queries = np.array([0, 17_999, 35_999])
    found = join(texts, k=19, queries=queries)
    for row, query in enumerate(queries.tolist()):
        alike = range(query // 60 * 60 + query % 3, query // 60 * 60 + 60, 3)
        assert found.docs[row].tolist() == [other for other in alike if other != query]


def test_the_order_of_equal_scores_is_that_of_positions(join):
    texts = [f"revenue n{i}" for i in range(300)]
    found = join(texts, k=5)
    assert found.docs[0].tolist() == [1, 2, 3, 4, 5]
    assert found.docs[3].tolist() == [0, 1, 2, 4, 5]
    assert found.docs[299].tolist() == [0, 1, 2, 3, 4]
    assert (found.shared == 1).all()


def test_a_hundred_thousand_equal_texts_are_searched_once(join, monkeypatch):
    searched = []
    search = join_search.search
    monkeypatch.setattr(
        join_search, "search", lambda index, rows, *rest: searched.append(rows.size) or search(index, rows, *rest)
    )
    found = join(["net profit of the company"] * 100_000, block=40_000)
    assert searched == [1, 1, 1]
    assert found.docs[0].tolist() == list(range(1, 65))
    assert found.docs[70].tolist() == list(range(64))
    assert (found.shared == 5).all()
    assert np.isfinite(found.scores).all()


def test_equal_texts_take_their_places_among_other_results(join):
    texts = ["net profit", "staff", "profit net", "net profit tax", "net profit", "net loan", "net loan", "", ""]
    check(join(texts, k=4), texts, range(len(texts)), 4)
    assert join(texts, k=4).docs[2].tolist() == [0, 4, 3, 5]


def test_texts_that_share_a_hash_but_no_words_are_kept_apart(join, monkeypatch):
    monkeypatch.setattr(join_layout, "MANY", np.uint64(0))
    texts = ["net profit", "staff", "net profit", "staff", "tax rate", ""]
    check(join(texts, k=3), texts, range(len(texts)), 3)


@pytest.mark.parametrize("texts", [[], [""], ["", "", ""], ["net"], ["net", "staff"], ["?", "--"]])
def test_texts_without_neighbours(texts, join):
    found = join(texts, k=3)
    assert found.docs.shape == (len(texts), 3)
    assert (found.docs == -1).all()
    assert not found.scores.any()


def test_a_null_is_a_text_without_words(join):
    assert join(["net profit", None, "net"], k=1).docs.tolist() == [[2], [-1], [0]]


def test_texts_of_thousands_of_words(join):
    words = [f"v{i}" for i in range(3000)]
    texts = [
        " ".join(words),
        " ".join(words[:1500] * 3),
        "v7",
        "v7 v8",
        " ".join(words[1000:2500]),
        *["tax", "risk"] * 5,
    ]
    check(join(texts, k=6), texts, range(len(texts)), 6)


def test_dropped_terms_match_nothing_and_change_no_other_weight(join):
    texts = ["the net profit", "the net", "the staff", "the tax", "profit rate", "rate of the loan"]
    found = join(texts, k=5, drop_terms=1)
    whole, _ = brute_force(texts, range(len(texts)))
    assert set(found.docs[0].tolist()) == {1, 4, -1}
    assert (found.docs[2:4] == -1).all()
    np.testing.assert_allclose(found.scores[0, list(found.docs[0]).index(4)], whole[0, 4], rtol=1e-6)
    assert found.shared[0].tolist() == [1, 1, 0, 0, 0]
    assert (join(texts, k=5, drop_terms=100).docs == -1).all()


def test_files_are_the_same_whatever_the_blocks_and_threads(tmp_path):
    matrix = term_matrix(pl.Series(long_tail(400, 300, 8, seed=3)))
    for name, options in {"a": JoinOptions(k=9, block=37, threads=2), "b": JoinOptions(k=9, threads=1)}.items():
        self_join(matrix, tmp_path / name, options)
    for file in sorted(path.name for path in (tmp_path / "a").iterdir()):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_a_run_that_was_stopped_goes_on_where_it_was(tmp_path):
    matrix = term_matrix(pl.Series(long_tail(300, 200, 8, seed=4)))
    whole = self_join(matrix, tmp_path / "whole", JoinOptions(k=5))
    heard = []

    def stop(done, total=None, what=""):
        heard.append((done, total))
        if done == 150:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        self_join(matrix, tmp_path / "cut", JoinOptions(k=5, block=50), progress=stop)
    assert heard == [(0, 300), (50, 300), (100, 300), (150, 300)]
    with pytest.raises(InputError, match="unfinished"):
        read_neighbours(tmp_path / "cut")
    heard.clear()
    found = self_join(matrix, tmp_path / "cut", JoinOptions(k=5, block=90), progress=lambda *now: heard.append(now[0]))
    assert heard == [150, 240, 300]
    for mine, other in zip(found, whole, strict=True):
        np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize(("seconds", "states"), [(0.0, [0, 50, 100, 150]), (1e6, [0, 0, 0, 150])])
def test_what_was_found_is_saved_by_the_clock(tmp_path, monkeypatch, seconds, states):
    monkeypatch.setattr("qbench.mining.self_join.SAVED_EVERY", seconds)
    matrix, seen = term_matrix(pl.Series(long_tail(150, 90, 8, seed=9))), []

    def look(*_):
        seen.append(read_json(tmp_path / "join.json")["state"]["done"])

    self_join(matrix, tmp_path, JoinOptions(k=5, block=50), progress=look)
    assert seen == states
    assert read_neighbours(tmp_path).docs.shape == (150, 5)


def test_all_is_saved_before_the_shards_of_an_engine_are_deleted(tmp_path, monkeypatch):
    matrix, seen, remove = term_matrix(pl.Series(long_tail(150, 90, 8, seed=9))), [], shutil.rmtree

    def rmtree(path, **options):
        if path.exists():
            seen.append(read_json(tmp_path / "join.json")["state"]["done"])
        remove(path, **options)

    monkeypatch.setattr("qbench.mining.self_join.shutil.rmtree", rmtree)
    self_join(matrix, tmp_path, JoinOptions(k=5, block=50), engine=in_this_process)
    assert seen == [150, 150]


def test_what_lies_there_from_other_input_or_in_pieces_is_replaced(tmp_path):
    texts = long_tail(60, 40, 6, seed=6)
    wanted = self_join(term_matrix(pl.Series(texts)), tmp_path / "fresh", JoinOptions(k=3)).docs.copy()
    self_join(term_matrix(pl.Series(texts[::-1])), tmp_path / "used", JoinOptions(k=3))
    np.testing.assert_array_equal(
        self_join(term_matrix(pl.Series(texts)), tmp_path / "used", JoinOptions(k=3)).docs, wanted
    )
    for damage in ("docs.npy", "join.json"):
        path = tmp_path / "used" / damage
        path.write_bytes(path.read_bytes()[:20])
        found = self_join(term_matrix(pl.Series(texts)), tmp_path / "used", JoinOptions(k=3))
        np.testing.assert_array_equal(found.docs, wanted)
    assert json.loads((tmp_path / "used" / "join.json").read_text())["state"]["done"] == 60


@pytest.mark.parametrize(
    "options",
    [{"k": 0}, {"b": 1.5}, {"b": -0.1}, {"k1": float("nan")}, {"drop_terms": -1}, {"block": 0}, {"threads": 0}],
)
def test_options_that_make_no_sense(options):
    with pytest.raises(OptionError, match=next(iter(options))):
        JoinOptions(**options)


@pytest.mark.parametrize("wrong", [-1, 2])
def test_a_query_that_is_no_position(wrong, join):
    with pytest.raises(OptionError, match="position from 0 to 1"):
        join(["net", "net"], queries=np.array([0, wrong]))


def test_no_place_for_compiled_code_is_no_obstacle(monkeypatch):
    import numba

    made = numba.njit

    def nowhere(*args, cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return made(*args, **options)

    monkeypatch.setattr(numba, "njit", nowhere)
    assert join_search.compiled(lambda number: number + 1)(2) == 3


def test_the_term_matrix_has_a_row_per_text():
    matrix = term_matrix(pl.Series(["Net profit, net of tax", "", "tax on profit"]))
    assert len(matrix) == 3
    rows = np.split(matrix.terms, matrix.starts[1:-1])
    assert [row.tolist() for row in rows] == [[0, 1, 2, 3], [], [1, 3, 4]]
    assert matrix.counts.tolist() == [2, 1, 1, 1, 1, 1, 1]
    assert matrix.df.tolist() == [1, 2, 1, 2, 1]


@pytest.mark.parametrize("engine", [in_this_process, in_processes(1)])
def test_an_engine_gives_the_same_bytes(tmp_path, engine):
    texts = pl.Series([f"{WORDS[i % 14]} {WORDS[i * i % 13]} {WORDS[i * 7 % 11]} {i % 5}" for i in range(300)])
    matrix, options = term_matrix(texts), JoinOptions(k=5, block=64)
    here = self_join(matrix, tmp_path / "here", options)
    shown, before = [], []

    def watched(task, chunks, /):
        for found in engine(task, chunks):
            yield found
            before.append(shown[-1])

    there = self_join(matrix, tmp_path / "there", options, engine=watched, progress=lambda done, *_: shown.append(done))
    # Blocks are told while others are searched, and not when all are written; in the order in which they come back.
    assert sorted(b - a for a, b in pairwise([0, *before])) == [44, 64, 64, 64, 64]
    for ours, theirs in zip(here, there, strict=True):
        assert ours.tobytes() == theirs.tobytes()
    left = [{path.name for path in (tmp_path / name).iterdir()} for name in ("here", "there")]
    assert left[0] == left[1]


def test_an_interrupted_engine_finds_its_shards_again(tmp_path):
    matrix = term_matrix(pl.Series([f"{WORDS[i % 14]} {WORDS[i % 9]} {i % 50}" for i in range(200)]))
    options, sent = JoinOptions(k=3, block=50), []

    def engine(fails):
        def run(task, chunks, /):
            for number, (chunk, shard) in enumerate(in_this_process(task, chunks)):
                if number == fails:
                    raise InputError("the node is gone")
                sent.append(chunk.name)
                yield chunk, shard

        return run

    with pytest.raises(InputError, match="the node is gone"):
        self_join(matrix, tmp_path / "join", options, engine=engine(2))
    found = self_join(matrix, tmp_path / "join", options, engine=engine(99))
    assert len(sent) == len(set(sent)) == 4
    for ours, theirs in zip(self_join(matrix, tmp_path / "here", options), found, strict=True):
        assert ours.tobytes() == theirs.tobytes()
