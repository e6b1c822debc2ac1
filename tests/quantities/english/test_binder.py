"""The binder: what it sees of a mention, what its weights say, and the concepts that come of it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.errors import OptionError
from qbench.quantities.english.binder.concepts import BINDER, Inside, _unit_of, arranged, bind, by_rules, chosen
from qbench.quantities.english.binder.features import (
    CHANGES,
    MENTION_COLUMNS,
    WINDOW,
    WORD_COLUMNS,
    Labels,
    Pivot,
    Sentence,
    pivots,
)
from qbench.quantities.english.binder.model import OUTPUTS, Binder, load_binder
from qbench.quantities.english.binder.sure import compared_with
from qbench.quantities.english.concepts import NONE, Concept, MentionTokens, find_concepts
from qbench.quantities.english.parse import Parse
from qbench.quantities.english.parsers.dense import kernel
from qbench.quantities.english.tokens import tokenize
from qbench.quantities.extractors import ExtractorOptions, get_extractor

LABELS = Labels.of(["NN", "CD"], ["nsubj", "obj", "root"], ["mass", "currency"], ["of its noun"])
TOKENS = tokenize("The bag weighs 5 kg and costs 20 dollars")
MENTIONS = [MentionTokens(3, 5, 3, "mass"), MentionTokens(7, 9, 7, "currency of the USA", "down")]
HEADS = [1, 2, 2, 4, 2, 6, 2, 8, 6]
RELATIONS = ["det", "nsubj", "root", "nummod", "obj", "cc", "conj", "nummod", "obj"]
TAGS = ["DT", "NN", "VBZ", "CD", "NNS", "CC", "VBZ", "CD", "NNS"]


def parse(**changes):
    given = {"tags": TAGS, "heads": HEADS, "relations": RELATIONS, "stretches": [0] * 9}
    return Parse(**{**given, **changes})


def column(view, name):
    return view.words[:, list(WORD_COLUMNS).index(name)].tolist()


def test_words_are_seen_from_the_mention():
    concepts = [Concept((1,), "of its noun"), Concept((1,), "nearest noun", (0,))]
    first, second = pivots(MENTIONS, concepts, parse(), LABELS)
    assert (first.start, first.number, first.anchor) == (0, 3, 4)
    assert column(first, "mention") == [0, 0, 0, 1, 1, 0, 0, 3, 3]
    assert column(second, "mention") == [0, 0, 0, 2, 2, 0, 0, 1, 1]
    assert column(first, "rule") == [0, 1, 0, 0, 0, 0, 0, 0, 0]
    assert column(second, "rule") == [2, 1, 0, 0, 0, 0, 0, 0, 0]
    assert column(first, "other rule") == [1, 1, 0, 0, 0, 0, 0, 0, 0]
    distances = column(first, "distance")
    assert distances[3] == distances[4]
    assert distances[2] < distances[3] < distances[5] < distances[6]
    assert column(first, "crowd") == [0] * 7 + [0, 1]
    # up one to the verb; up one and down one to the subject
    assert column(first, "path")[2] != column(first, "path")[1] == column(first, "path")[6]
    assert first.mention.tolist()[:4] == [LABELS.families["mass"], 1, LABELS.relations["obj"], LABELS.relations["root"]]
    assert second.mention.tolist()[:2] == [LABELS.families["currency"], 0]
    assert [view.mention[-1] for view in (first, second)] == [0, CHANGES.index("down")]


def test_the_window_stays_in_the_stretch_that_was_parsed():
    stretches = [0, 0, 0, 0, 0, 1, 1, 1, 1]
    first, second = pivots(MENTIONS, [NONE, NONE], parse(stretches=stretches), LABELS)
    assert (first.start, len(first.words)) == (0, 5)
    assert (second.start, len(second.words)) == (5, 4)
    long = Parse(["NN"] * 500, list(range(500)), [""] * 500, stretches=[0] * 500)
    (view,) = pivots([MentionTokens(250, 251, 250)], [NONE], long, LABELS)
    assert (view.start, len(view.words)) == (250 - WINDOW, 2 * WINDOW + 1)


@given(st.lists(st.integers(0, 8), min_size=9, max_size=9), st.data())
def test_features_of_any_tree_are_rows_of_their_tables(steps, data):
    heads = [max(0, k - step) for k, step in enumerate(steps)]
    concept = Concept(tuple(data.draw(st.sets(st.integers(0, 8)))), "odd", tuple(data.draw(st.sets(st.integers(0, 8)))))
    for view in pivots(MENTIONS, [concept, NONE], parse(heads=heads), LABELS):
        assert (view.words >= 0).all()
        assert (view.words < np.array(list(WORD_COLUMNS.values()))).all()
        assert (view.mention < np.array(list(MENTION_COLUMNS.values()))).all()


def test_mentions_that_are_read_together_are_read_as_they_are_alone():
    rng = np.random.default_rng(0)
    binder = load_binder()
    vectors = rng.normal(size=(9, 128)).astype(np.float16)
    views = pivots(MENTIONS, [NONE, NONE], parse(), binder.labels)
    sentence = Sentence(TOKENS, MENTIONS, parse(vectors=vectors))
    together = binder.probabilities([(view, sentence) for view in views])
    for view, scores in zip(views, together, strict=True):
        (alone,) = binder.probabilities([(view, sentence)])
        assert scores.shape == (9, len(OUTPUTS))
        if kernel() is None:
            np.testing.assert_allclose(scores, alone, atol=1e-5)
        else:
            np.testing.assert_array_equal(scores, alone)
        assert ((scores >= 0) & (scores <= 1)).all()


def test_weights_that_are_none_are_said(tmp_path):
    with pytest.raises(OptionError, match=r"scripts/train_binder\.py"):
        Binder(tmp_path)
    (tmp_path / "weights.npz").write_bytes(b"PK\x03\x04 torn")
    with pytest.raises(OptionError, match="no weights of a binder"):
        Binder(tmp_path)


def test_without_vectors_the_rules_decide():
    sentence = Sentence(TOKENS, MENTIONS, parse())
    assert bind([sentence]) == [by_rules(sentence)]
    assert [b.concept for b in by_rules(sentence)] == find_concepts(*sentence)
    assert bind([]) == []


def test_words_apart_from_the_surest_are_the_subject():
    view = Pivot(0, np.zeros((9, len(WORD_COLUMNS)), dtype=np.int64), np.zeros(4, dtype=np.int64), 3, 4)
    scores = np.zeros((9, len(OUTPUTS)))
    scores[1, 1], scores[8, 1] = 0.5, 0.9
    assert arranged({0, 1, 8}, view, scores, Sentence(TOKENS, MENTIONS, parse())) == Concept((8,), BINDER, (0, 1))
    assert arranged(set(), view, scores, Sentence(TOKENS, MENTIONS, parse())) == NONE


def test_a_bare_number_shares_the_unit_of_the_likeliest_mention():
    view = Pivot(0, np.zeros((9, len(WORD_COLUMNS)), dtype=np.int64), np.zeros(5, dtype=np.int64), 5, 5)
    scores = np.zeros((9, len(OUTPUTS)))
    bare = MentionTokens(5, 6, 5)
    mentions = [MENTIONS[0], bare, MENTIONS[1]]
    assert _unit_of(1, view, scores, mentions) is None
    scores[[3, 7], OUTPUTS.index("unit")] = 0.6, 0.7
    assert _unit_of(1, view, scores, mentions) == 2
    assert _unit_of(0, view, scores, mentions) is None  # it has its own
    assert _unit_of(1, view, scores, [bare, bare, bare]) is None


@pytest.mark.parametrize(
    ("text", "concepts"),
    [
        ("Net sales of the Harbour unit rose 4 % to $12.5 million.", [{"sales"}, {"sales"}]),
        ("Expenses include severance charges of $41 million.", [{"severance", "charges"}]),
        ("Wheat output rose to 3.2 mln tonnes and barley output fell to 1.1 mln.", [{"wheat"}, {"barley"}]),
        ("The tablet has a 10.4-inch screen and a battery of 7040 mAh.", [{"screen"}, {"battery"}]),
    ],
)
def test_each_number_has_its_own_concept(text, concepts):
    found = get_extractor(ExtractorOptions()).extract(text)
    assert len(found) == len(concepts)
    for quantity, words in zip(found, concepts, strict=True):
        assert words <= {*quantity.concept, *quantity.subject}, quantity


def test_units_pass_on_and_falls_are_told_from_levels():
    extractor = get_extractor(ExtractorOptions())
    homes = extractor.extract("The builder finished 435 homes last year, up from 187 a year earlier.")
    assert [(q.value, q.unit) for q in homes] == [(435, "home"), (187, "home")]
    sold = extractor.extract("It is owned by 300 members, or almost half of the village.")
    assert [(q.value, q.unit) for q in sold] == [(300, "member"), (0.5, "")]
    scores = extractor.extract("A total of 90 patients with a Coma Score ≤ 8 were enrolled.")
    assert [(q.value, q.unit) for q in scores] == [(90, "patient"), (8, "")]
    sales = extractor.extract("Net sales fell by $3 million to $41 million.")
    assert [q.change for q in sales] == ["down", ""]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Mean HbA1c was 7.1% at the clinic.", "hba1c"),
        ("CO2 emissions fell by 5 percent.", "co2"),
        ("The IL-6 level was 12 pg/mL.", "il-6"),
        ("AT&T services revenue was $5 million.", "at&t"),
        ("Principal payments on long-term debt were $40 million in May.", "long-term"),
    ],
)
def test_words_of_several_pieces_are_taken_whole(text, word):
    quantity = get_extractor(ExtractorOptions()).extract(text)[0]
    assert word in (*quantity.concept, *quantity.subject)


def test_the_stop_of_an_abbreviation_at_the_end_of_what_is_seen_is_left_out():
    tokens = tokenize("It sold 5 kg to Acme Inc. of Delaware")
    inc = next(k for k, token in enumerate(tokens) if token.text == "Inc")
    assert tokens[inc + 1].text == "."
    sentence = Sentence(tokens, [MentionTokens(2, 4, 2, "mass")], parse())
    for seen in (inc + 1, inc + 2):
        view = Pivot(0, np.zeros((seen, len(WORD_COLUMNS)), dtype=np.int64), np.zeros(5, dtype=np.int64), 2, 3)
        words = chosen(view, sentence, np.ones(seen, dtype=np.bool_), Inside.of(sentence.mentions))
        assert inc in words
        assert (inc + 1 in words) == (seen == inc + 2)


@pytest.mark.parametrize(
    ("text", "concepts"),
    [
        (
            "Features 6.1-inch OLED display, 12 MP rear camera, 4 GB RAM and 64 GB storage.",
            [{"display"}, {"rear", "camera"}, {"ram"}, {"storage"}],
        ),
        (
            "Features 6.1-inch OLED display, 12 MP (wide) + 8 MP (f/2, far) + 2 MP rear camera, 4 GB RAM.",
            [{"display"}, {"rear", "camera"}, {"rear", "camera"}, {"rear", "camera"}, {"ram"}],
        ),
        (
            "It had federal and foreign operating loss carryforwards of $24 million and $6 million, respectively.",
            [{"federal", "operating", "loss", "carryforwards"}, {"foreign", "operating", "loss", "carryforwards"}],
        ),
        (
            "In the years ended June 30, 2014 and 2013, it spent $3 million and $2 million on repairs, respectively.",
            [{"repairs"}, {"repairs"}],
        ),
    ],
)
def test_what_lists_say_for_sure_is_kept(text, concepts):
    found = get_extractor(ExtractorOptions()).extract(text)
    assert [words <= {*q.concept, *q.subject} for q, words in zip(found, concepts, strict=True)] == [True] * len(found)
    assert not {"june", "30", "2014", "2013"} & {w for q in found for w in (*q.concept, *q.subject)}
    cameras = [q for q in found if q.unit == "megapixel"]
    assert all("display" not in (*q.concept, *q.subject) for q in cameras)


@pytest.mark.parametrize(
    ("text", "n", "other"),
    [
        ("less bleeding (317 mL vs. 615 mL)", 1, 0),
        ("gain was 3.9 kg (SD 3.1 kg) versus 2.7 kg", 2, 0),
        ("bleeding of 317 mL in the tourniquet group, and 615 mL", 1, None),
        ("bleeding (317 mL) was 20 mL", 1, None),
    ],
)
def test_amounts_are_compared_where_nothing_but_a_link_stands_between(text, n, other):
    tokens = tokenize(text)
    numbers = [k for k, token in enumerate(tokens) if token.kind == "number"]
    mentions = [MentionTokens(k, k + 2, k, "volume" if "mL" in text else "mass") for k in numbers]
    assert compared_with(tokens, mentions, n) == other
