"""Pages in one file: hostile text stays text."""

import json
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.pages import json_for_script, static_page


class Elements(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.data, self.inside = [], "", False

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.inside = dict(attrs).get("id") == "data"

    def handle_data(self, data):
        if self.inside:
            self.data += data

    def handle_endtag(self, tag):
        self.inside = False


def read(page):
    elements = Elements()
    elements.feed(page)
    return elements


PLAIN = read(static_page("t", "p {}", "1")).tags


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_comes_back_as_it_was_and_makes_no_element(text):
    page = static_page(text, "p {}", "1", {text: [text]})
    found = read(page)
    assert found.tags == PLAIN
    assert json.loads(found.data) == {text: [text]}


@pytest.mark.parametrize("text", ["</script><script>alert(1)</script>", "<!-- <script>", "\u2028", "]]>", "&lt;"])
def test_texts_that_would_end_the_script_stay_data(text):
    found = read(static_page("t", "", "1", {"a": text}))
    assert found.tags == PLAIN
    assert json.loads(found.data)["a"] == text
    assert not re.search("[<>&\u2028]", json_for_script(text))


def test_half_a_character_is_replaced():
    assert json.loads(json_for_script("a\ud800b")) == "a?b"


def test_nothing_may_be_loaded_from_elsewhere():
    assert "default-src 'none'" in static_page("t", "", "")


def test_a_script_cannot_end_itself():
    with pytest.raises(ValueError, match="</"):
        static_page("t", "", "'</script>'")


def test_nan_is_refused():
    with pytest.raises(ValueError, match="JSON"):
        static_page("t", "", "", {"a": float("nan")})
