"""Which descriptions become queries: nobody loses an answer, and no query finds itself."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from qbench.mining.query_choice import (
    ALONE,
    BLOCK,
    NEEDED,
    REPEATED,
    SHARED,
    choose_queries,
    evidence_groups,
    same_words,
)
from tests.mining.pairs_factory import Record, record_table


def choose(candidates, paraphrases, values, *, words=None, groups=None, max_queries=100, max_relevant=100):
    """Records with equal values agree; words and groups are all different unless given."""
    n = len(values)
    values = np.array(values)

    def agreeing(rows):
        found = [(int(q), d) for q in rows for d in range(n) if values[q] == values[d] and d != q]
        found = [(q, d) for q, d in found if sum(q == other for other, _ in found) <= max_relevant]
        return pl.DataFrame(found, schema={"query_row": pl.Int64, "doc_row": pl.Int64}, orient="row")

    return choose_queries(
        candidates,
        paraphrases,
        np.arange(n) if words is None else np.array(words),
        np.arange(n) if groups is None else np.array(groups),
        agreeing,
        max_queries=max_queries,
    )


def test_the_only_answer_of_a_query_is_no_query():
    taken = choose([0, 1], {0: [1], 1: [0]}, [7, 7])
    assert taken.queries == [0]
    assert taken.removed == {0}
    assert taken.relevant[0].tolist() == [1]
    # 1's paraphrase has gone with query 0.
    assert taken.dropped == {ALONE: 1}


def test_an_answer_that_is_needed_elsewhere_stays():
    # 1 answers 0 alone, and has another paraphrase of its own.
    taken = choose([0, 1], {0: [1], 1: [2]}, [7, 7, 7])
    assert taken.queries == [0]
    assert taken.dropped == {NEEDED: 1}
    # With a second answer for 0, 1 may go.
    taken = choose([0, 1], {0: [1, 2], 1: [2]}, [7, 7, 7])
    assert taken.queries == [0, 1]
    assert taken.removed == {0, 1}


def test_evidence_that_repeats_the_query_leaves_with_it():
    # 1 has the query's words and value; 2 stands in 1's sentence; 3 has the words and another value.
    taken = choose([0], {0: [4]}, [7, 7, 9, 8, 7], words=[0, 0, 2, 0, 4], groups=[0, 1, 1, 3, 4])
    assert taken.removed == {0, 1}
    taken = choose([0], {0: [1]}, [7, 7], words=[0, 0])
    assert taken.dropped == {ALONE: 1}


def test_a_value_of_too_many_records_is_no_query():
    assert choose([0], {0: [1]}, [7, 7, 7, 7], max_relevant=2).dropped == {SHARED: 1}
    assert choose([0], {0: [1]}, [7, 7, 7, 7], max_relevant=3).queries == [0]


def test_the_same_words_are_asked_once():
    taken = choose([0, 1], {0: [2], 1: [3]}, [7, 8, 7, 8], words=[0, 0, 2, 3])
    assert taken.queries == [0]
    assert taken.dropped == {REPEATED: 1}


def test_candidates_are_looked_at_in_order_and_only_as_long_as_needed():
    n = 3 * BLOCK
    asked = []

    def agreeing(rows):
        asked.append(len(rows))
        return pl.DataFrame({"query_row": rows, "doc_row": rows + n})

    rows = list(range(n))[::-1]
    taken = choose_queries(
        rows,
        {row: [row + n] for row in rows},
        np.arange(2 * n),
        np.arange(2 * n),
        agreeing,
        max_queries=BLOCK + 1,
    )
    assert taken.queries == rows[: BLOCK + 1]
    assert asked == [BLOCK, BLOCK]


@given(st.data())
def test_every_query_keeps_an_answer_and_loses_itself(data):
    n = data.draw(st.integers(2, 25))
    values, words, groups = (data.draw(st.lists(st.integers(0, top), min_size=n, max_size=n)) for top in (3, n, n))
    paraphrases = {
        row: data.draw(st.lists(st.integers(0, n - 1).filter(lambda d, row=row: d != row), min_size=1, max_size=4))
        for row in data.draw(st.lists(st.integers(0, n - 1), unique=True, max_size=n))
    }
    limit = data.draw(st.integers(1, 5))
    taken = choose(list(paraphrases), paraphrases, values, words=words, groups=groups, max_queries=limit)
    assert len(taken.queries) <= limit
    if len(taken.queries) < limit:
        assert len(taken.queries) + taken.dropped.total() == len(paraphrases)
    assert len({words[row] for row in taken.queries}) == len(taken.queries)
    needed = set()
    for row, docs in zip(taken.queries, taken.relevant, strict=True):
        left = {doc for doc in docs.tolist() if groups[doc] not in taken.removed}
        assert left & set(paraphrases[row])
        assert all(values[doc] == values[row] for doc in left)
        assert groups[row] in taken.removed
        assert not any(words[doc] == words[row] for doc in left)
        needed |= {groups[row], *(groups[d] for d in docs.tolist() if words[d] == words[row])}
    # Nothing leaves that no query asks to leave.
    assert taken.removed == needed


def test_sentences_of_the_same_words_are_one_evidence():
    table = record_table(
        [
            Record("a::0#0", "x", 1, "Sales were $5."),
            Record("a::0#1", "y", 2, "Sales were $5."),
            Record("b::0#0", "x", 1, "sales  were $5"),
            Record("c::0#0", "x", 1, "Sales were $6."),
            Record("d::0#0", "x", 1, ""),
            Record("d::0#1", "y", 1, ""),
            Record("e::0#0", "x", 1, ""),
            Record("f::0#0", "x", 1, "??"),
            Record("g::0#0", "x", 1, "??"),
        ]
    )
    groups = evidence_groups(table).tolist()
    assert groups[0] == groups[1] == groups[2]
    assert groups[4] == groups[5]
    assert len(set(groups)) == 6


def test_words_of_any_script_count():
    assert same_words(pl.Series(["營業收入", "營業收入。", "營業成本"])).tolist() == [0, 0, 2]
