"""The loops of the self-join: sums of bytes, limits that are guessed, other processors."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qbench.compiling import lean
from qbench.mining import join_arrays, join_layout, join_search, join_task
from qbench.mining.join_sums import LANES, STEP, mark_sums
from qbench.mining.terms import term_matrix
from tests.mining.test_self_join import long_tail

OPTIONS = {"k1": 1.5, "b": 0.75, "epsilon": 0.25, "drop_terms": 0}


@lean
def marking(holders, block, rows, worths, words, least, sums, marked):
    return mark_sums(holders, block, rows, worths, rows.size, words, least, sums, marked)


@given(
    seed=st.integers(0, 10**6),
    groups=st.integers(1, 3),
    bags=st.integers(1, 3 * STEP * LANES),
    shares=st.lists(st.floats(0, 1), max_size=12),
    least=st.floats(0, 1),
)
@settings(max_examples=60, deadline=None)
@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
def test_marked_are_the_bags_whose_sum_of_rows_is_large_enough(kind, seed, groups, bags, shares, least):
    rng, most = np.random.default_rng(seed), np.iinfo(kind).max
    worths, least = (np.array(shares) * most).astype(kind), 1 + int(least * (most - 1))
    words, bags = groups * STEP, min(bags, groups * STEP * LANES)
    held = rng.random((2, 20, words * LANES)) < rng.random((1, 20, 1))
    held[..., bags:] = False
    holders = np.packbits(held, axis=2, bitorder="little").view(np.uint64)
    rows, block = rng.permutation(20)[: worths.size].astype(np.int64), int(rng.integers(2))
    before = np.where(rng.random(words * LANES) < 0.05, rng.integers(0, most + 1, words * LANES), 0).astype(kind)
    before[bags:] = 0
    sums, marked = before.copy(), np.full(words, 7, np.uint64)
    used = -(-bags // LANES)
    found = marking(holders, block, rows, worths, used, least, sums, marked)
    whole = -(-used // STEP) * STEP
    wanted = before + held[block, rows].T @ worths.astype(np.int64) >= least
    bits = np.unpackbits(marked.view(np.uint8), bitorder="little")[: whole * LANES]
    np.testing.assert_array_equal(bits.astype(bool), wanted[: whole * LANES])
    assert [found >> group & 1 for group in range(whole // STEP)] == [
        int(wanted[start : start + STEP * LANES].any()) for start in range(0, whole * LANES, STEP * LANES)
    ]
    assert not sums.any()


@dataclass
class Searched:
    """What all bags find, by their first texts, and how many limits were guessed and given up."""

    texts: list[list[int]]
    scores: list[list[int]]
    given_up: int
    sampled: int


def searched(texts, k, every, monkeypatch, **layout) -> Searched:
    """Search with all bags of some texts, of which each `every`th is in the sample (0 for none)."""
    with monkeypatch.context() as patch:
        patch.setattr(join_layout, "FEWEST", 1 if every else 10**9)
        patch.setattr(join_layout, "EVERY", every or 2)
        for name, value in layout.items():
            patch.setattr(join_layout, name, value)
        index = join_layout.build(term_matrix(pl.Series(texts)), k=k, **OPTIONS).index
    rows = np.arange(index.first.size, dtype=np.int32)
    best, scratch = join_task.empty(rows.size, k), join_arrays.scratch_for(index, rows, k)
    join_search.search(index, rows, scratch, best)
    order = np.argsort(index.first)
    return Searched(
        [index.first[best.bags[bag, : best.sizes[bag]]].tolist() for bag in order],
        [best.scores[bag, : best.sizes[bag]].tolist() for bag in order],
        int((scratch.guesses > join_arrays.NOTHING).sum()),
        int(index.sampled[0]),
    )


def by_position(matrix, labels, first):
    """The order of bags' first texts."""
    return np.argsort(first)


def test_limits_that_are_guessed_change_nothing(monkeypatch):
    texts = long_tail(700, 300, 9, seed=3)
    plain = searched(texts, 40, 0, monkeypatch, PIECE=64, BLOCK=128)
    guessed = searched(texts, 40, 8, monkeypatch, PIECE=64, BLOCK=128)
    assert (plain.sampled, plain.given_up) == (0, 0)
    assert guessed.sampled > 0
    assert 0 < guessed.given_up < 400
    assert (guessed.texts, guessed.scores) == (plain.texts, plain.scores)


def test_a_sample_that_has_the_best_ones_gives_limits_that_are_given_up(monkeypatch):
    # In the order of texts each fourth is sampled, from the third on.
    monkeypatch.setattr(join_layout, "_order", by_position)
    near = ["tax rate of the loan", "tax rate of the net", "tax rate of a loan", "tax rate of a net"]
    texts = [
        f"{near[i // 4 % 4]} n{i}" if i % 4 == 2 else f"w{i} x{i % 7} y{i % 5} z{i % 3} loan v{i % 11}"
        for i in range(400)
    ]
    plain = searched(texts, 20, 0, monkeypatch)
    guessed = searched(texts, 20, 4, monkeypatch)
    assert guessed.given_up >= 100
    assert (guessed.texts, guessed.scores) == (plain.texts, plain.scores)


def test_equal_scores_about_a_guess_keep_the_order_of_positions(monkeypatch):
    texts = [f"revenue n{i}" for i in range(600)]
    plain = searched(texts, 30, 0, monkeypatch)
    guessed = searched(texts, 30, 5, monkeypatch)
    assert plain.texts[0] == list(range(1, 31))
    assert guessed.given_up == 600
    assert (guessed.texts, guessed.scores) == (plain.texts, plain.scores)


def test_equal_scores_at_the_end_of_the_list_keep_the_order_of_positions(monkeypatch):
    monkeypatch.setattr(join_layout, "_order", by_position)
    texts = [f"w{i % 5} x{i % 7} v{i}" for i in range(200)]
    sampled = range(2, 200, 4)
    better = [*sampled[:10], *range(101, 137, 4)]
    for place in [100, *better]:
        texts[place] = f"tax rate n{place}"
    for place in [1, 3, 5, *sampled[40:45]]:
        texts[place] = f"tax p{place} q{place}"
    plain = searched(texts, 20, 0, monkeypatch)
    guessed = searched(texts, 20, 4, monkeypatch)
    # Of the 20, 19 are better than the guess, and many have the score of the last one.
    assert plain.texts[100] == [*better, 1]
    assert (guessed.texts, guessed.scores) == (plain.texts, plain.scores)


@pytest.mark.parametrize("waiting", [1, 3, 1000])
def test_however_many_results_wait_the_result_is_the_same(waiting, monkeypatch):
    texts = long_tail(300, 100, 7, seed=5)
    plain = searched(texts, 12, 0, monkeypatch)
    monkeypatch.setattr(join_arrays, "WAITING", waiting)
    found = searched(texts, 12, 0, monkeypatch)
    assert (found.texts, found.scores) == (plain.texts, plain.scores)


def test_a_bound_is_the_score_where_bags_of_a_block_have_one_length(monkeypatch):
    texts = [" ".join(f"w{(i * step) % 40}" for step in (1, 3, 5, 7)) for i in range(1, 400)]
    index = join_layout.build(term_matrix(pl.Series(texts)), k=5, **OPTIONS).index
    repeated = np.repeat(np.arange(index.first.size), np.diff(index.starts))[index.counts > 1]
    assert repeated.size
    assert not index.uneven.any()
    monkeypatch.setattr(join_layout, "TIERS", (40, 0, 0, 0))
    rough = join_layout.build(term_matrix(pl.Series(texts)), k=5, **OPTIONS).index
    assert rough.uneven.any()
    assert (rough.peaks.max(axis=0) >= index.peaks[:, :40].max(axis=0)).all()


def test_blocks_end_where_the_length_changes():
    lengths = np.repeat([3, 4, 5, 3, 4, 9], [300, 20, 700, 600, 5000, 3])
    sample, lows = join_layout._blocks(lengths, 1020)
    assert lows.tolist() == [0, 300, 1020, 1620, 5716, 6620, 6623]
    assert sample == 2
    assert join_layout._blocks(np.zeros(0, np.int64), 0)[1].tolist() == [0]


ELSEWHERE = """
import json, pathlib, sys, tempfile
import polars as pl
from qbench.mining.options import JoinOptions
from qbench.mining.self_join import self_join
from qbench.mining.terms import term_matrix
with tempfile.TemporaryDirectory() as folder:
    found = self_join(term_matrix(pl.Series(json.load(sys.stdin))), pathlib.Path(folder), JoinOptions(k=9, threads=1))
    print(json.dumps([array.tolist() for array in found]))
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="names a processor of this kind")
def test_a_processor_with_short_vectors_finds_the_same(tmp_path):
    texts = long_tail(300, 200, 8, seed=7)
    run = {"input": json.dumps(texts), "capture_output": True, "text": True, "check": True}
    plain = {**os.environ, "NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": str(tmp_path)}
    found = [
        json.loads(subprocess.run([sys.executable, "-c", ELSEWHERE], env=env, **run).stdout)
        for env in (dict(os.environ), plain)
    ]
    assert found[0] == found[1]
    assert any(path.suffix == ".nbc" for path in tmp_path.rglob("*"))
