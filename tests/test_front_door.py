"""`import qbench`: the calls of a notebook, what they show, and their progress."""

from __future__ import annotations

import sys
import types
from html.parser import HTMLParser

import pytest

import qbench
from qbench.benchmark.summary import sample_queries
from qbench.benchmark.types import Query
from qbench.index.build import build_index as quiet_build
from qbench.pages import highlighted
from qbench.progress import shown, shows_progress, silent
from qbench.quantities.mentions import Mentions
from tests.factories import tiny_benchmark
from tests.leaderboard.test_table import entry, leaderboard

BAD = "<script>alert(1)</script> & \"quoted\" 'it' 5 kg"


class Marked(HTMLParser):
    """The text of some HTML, what is marked in it, and its elements."""

    def __init__(self, html):
        super().__init__()
        self.text, self.marks, self.tags = "", [], set()
        self._inside = False
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self._inside = tag == "mark"

    def handle_endtag(self, tag):
        self._inside = False

    def handle_data(self, data):
        self.text += data
        if self._inside:
            self.marks.append(data)


def test_one_text_and_several_are_extracted():
    one = qbench.extract("The van weighs under 900 kg and costs $12,000.")
    assert isinstance(one, Mentions)
    assert [(q.comparator, q.value, q.unit) for q in one] == [("<", 900.0, "kilogram"), ("=", 12000.0, "dollar")]
    assert one[0] is one.quantities[0]
    assert one[:1] == one.quantities[:1]
    several = qbench.extract(["no number here", "5 km"])
    assert [len(mentions) for mentions in several] == [0, 1]
    assert several[1].text == "5 km"
    assert qbench.extract([]) == []


def test_a_notebook_shows_mentions_highlighted_and_text_as_text():
    html = qbench.extract(f"{BAD} for under $30")._repr_html_()
    shown_ = Marked(html)
    assert shown_.text.startswith(f"{BAD} for under $30")
    assert shown_.marks == ["5 kg", "under $30"]
    assert shown_.tags <= {"p", "mark", "table", "thead", "tbody", "tr", "th", "td", "bdi"}
    assert "5 kilogram" in shown_.text
    assert "no quantities" in qbench.extract("none")._repr_html_()


def test_spans_that_overlap_are_marked_once():
    assert highlighted("abcdef", [(2, 4, "x"), (0, 3, "y"), (4, 4, "z"), (3, 6, "w")]) == (
        '<mark title="y">abc</mark><mark title="w">def</mark>'
    )


def test_a_notebook_shows_an_index_a_benchmark_and_a_board(tmp_path):
    (tmp_path / "corpus.jsonl").write_text('{"id": "1", "text": "The <b>bridge</b> has a length of 40 km."}\n')
    quiet_build(tmp_path / "corpus.jsonl", tmp_path / "index")
    index = Marked(qbench.open_index(tmp_path / "index")._repr_html_())
    assert "1 documents, 1 sentences, 1 quantities" in index.text
    assert "kilometer" in index.text or "kilometre" in index.text
    bench = tiny_benchmark()
    bench.queries.append(Query("bad", BAD))
    found = Marked(bench._repr_html_())
    assert BAD in found.text
    assert "script" not in found.tags
    assert "laptop weight > 2 kilogram" in found.text
    view = leaderboard(entry(BAD, 0.6), entry("other", 0.2, seed=1), notes=[BAD])
    board = Marked(view._repr_html_())
    assert board.text.count(BAD) >= 3, "the row, the sentence and the note"
    assert "script" not in board.tags
    assert f"{view.rows[0].cells['nDCG@10'].mean:.3f}" in board.text
    assert view.verdict in board.text


def test_sample_queries_are_of_many_kinds_and_do_not_depend_on_order():
    queries = tiny_benchmark().queries
    chosen = sample_queries(queries, 3)
    assert chosen == sample_queries(queries[::-1], 3)
    kinds = {tuple(condition.comparator for condition in query.conditions) for query in queries}
    assert len({tuple(c.comparator for c in query.conditions) for query in chosen}) == min(3, len(kinds))
    assert len(sample_queries(queries, 100)) == len(queries)


def test_functions_show_progress_by_default_and_hand_theirs_over(monkeypatch):
    calls = []

    def work(size, *, progress=silent):
        """Doc."""
        progress(1, size, "things")
        return size

    front = shows_progress(work)
    assert front(3, progress=lambda *state: calls.append(state)) == 3
    assert calls == [(1, 3, "things")]
    assert front(4) == 4
    assert front.__doc__ == "Doc."
    assert qbench.extract is qbench.extract
    assert qbench.extract.__wrapped__.__module__ == "qbench.quantities.mentions"
    assert not hasattr(qbench.open_index, "__wrapped__")


class Terminal:
    """Standard error that says it is a terminal."""

    def __init__(self):
        self.written = ""

    def write(self, text):
        self.written += text
        return len(text)

    def flush(self):
        pass

    def isatty(self):
        return True


@pytest.mark.parametrize("terminal", [True, False])
def test_a_bar_is_drawn_on_terminals_only(monkeypatch, terminal):
    stream = Terminal()
    stream.isatty = lambda: terminal
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    with shown("reading") as advance:
        advance(3, 7, "pages\x1b[2J")
    assert ("reading pages" in stream.written and "3/7" in stream.written) == terminal
    assert "pages\x1b[2J" not in stream.written


def test_a_notebook_has_a_bar_that_goes_away(monkeypatch):
    states = []

    class Place:
        def update(self, html):
            states.append(html)

    shell = types.SimpleNamespace(kernel=object())
    display = types.ModuleType("IPython.display")
    display.HTML = str
    display.display = lambda html, display_id: states.append(html) or Place()
    ipython = types.ModuleType("IPython")
    ipython.get_ipython = lambda: shell
    ipython.display = display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setattr("qbench.progress.EVERY", 0)
    with shown("<read>") as advance:
        advance(3, 7, "<pages>")
        advance(4)
    assert states[0] == "&lt;read&gt; <progress></progress> "
    assert states[1] == '&lt;read&gt; <progress value="3" max="7"></progress> 3 of 7 &lt;pages&gt;'
    assert states[2:] == ["&lt;read&gt; <progress></progress> 4 ", ""]


def test_publishing_and_pulling_are_there(tmp_path):
    assert qbench.publish.__wrapped__.__module__ == "qbench.publishing.publish"
    assert qbench.pull.__wrapped__.__module__ == "qbench.publishing.pull"
    assert isinstance(qbench.PublishOptions, type)
