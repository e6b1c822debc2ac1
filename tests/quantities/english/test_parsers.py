"""Parsers behind one role; the embedded one against plain arithmetic and brute force."""

import itertools
import shutil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from qbench.errors import OptionError
from qbench.quantities.english.parsers.dense import kernel, packed, single
from qbench.quantities.english.parsers.embedded import FOLDER, EmbeddedParser
from qbench.quantities.english.parsers.encoder import PARTS, SHAPES, Encoder, WordPieces, shape
from qbench.quantities.english.parsers.load import load_parser
from qbench.quantities.english.parsers.pipelines import PipelineParser
from qbench.quantities.english.parsers.trees import best_tree

SENTENCE = ["The", "firm", "sold", "5", "cars", "."]


@pytest.fixture(scope="module")
def embedded():
    return EmbeddedParser()


@pytest.fixture(params=["embedded", "pipeline"])
def parser(request, small_pipeline, embedded):
    return embedded if request.param == "embedded" else PipelineParser(small_pipeline)


# One contract for every parser.


def test_words_are_cut_with_their_places(parser):
    text = "The firm sold 5 cars."
    cut = parser.cut(text)
    assert [word for word, _ in cut] == SENTENCE
    assert all(text[start : start + len(word)] == word for word, start in cut)


def test_a_plain_sentence(parser):
    (reading,) = parser.read([SENTENCE])
    assert list(reading.tags) == ["DT", "NN", "VBD", "CD", "NNS", "."]
    assert list(reading.heads) == [1, 2, 2, 4, 2, 2]
    assert list(reading.relations) == ["det", "nsubj", "root", "nummod", "obj", "punct"]


def test_sentences_come_back_in_order_and_whole(parser):
    sentences = [SENTENCE[:n] for n in (6, 1, 4, 2, 6, 3)]
    readings = parser.read(sentences)
    assert [len(r.tags) for r in readings] == [6, 1, 4, 2, 6, 3]
    assert readings[0] == readings[4]
    assert list(parser.read([])) == []


def test_every_word_leads_to_a_root(parser):
    odd = ["\ufffd", "e\u0301", "½", "...", "a" * 500, "日本", "x_y", "don", "'t", "_", "#5"]
    for reading in parser.read([odd, ["."], odd * 9]):
        for k in range(len(reading.heads)):
            for _ in range(len(reading.heads)):
                k = reading.heads[k]
            assert reading.heads[k] == k
            assert reading.relations[k] == "root"


# The embedded parser.


def test_what_is_read_together_changes_nothing(embedded):
    sentences = [
        SENTENCE,
        "Prices rose by 5 % in May , and the firm sold more cars than ever .".split(),
        "In London , shares of the bank that he had founded fell to $ 5 .".split(),
    ]
    together = embedded.read(sentences * 40)
    assert together[:3] == [embedded.read([sentence])[0] for sentence in sentences]
    assert together == together[:3] * 40


def test_beyond_the_encoders_reach_words_stand_alone(embedded):
    (reading,) = embedded.read([["cars"] * 700])
    assert len(reading.tags) == len(reading.heads) == len(reading.relations) == 700
    assert reading.tags[-1] == ""
    assert reading.heads[-1] == 699


def test_real_sentences(embedded):
    words = "The company that he founded raised the price of its shares by 5 % .".split()
    (reading,) = embedded.read([words])
    head = {word: words[h] for word, h in zip(words, reading.heads, strict=True)}
    relation = dict(zip(words, reading.relations, strict=True))
    assert (head["company"], relation["company"]) == ("raised", "nsubj")
    assert (head["founded"], relation["founded"]) == ("company", "acl:relcl")
    assert (head["price"], relation["price"]) == ("raised", "obj")
    assert (head["shares"], relation["shares"]) == ("price", "nmod")
    assert relation["raised"] == "root"


def test_weights_of_ones_own_lie_in_a_folder(tmp_path):
    shutil.copytree(FOLDER, tmp_path / "mine")
    assert load_parser(str(tmp_path / "mine"))._reader.read([SENTENCE])[0].heads == [1, 2, 2, 4, 2, 2]


@pytest.mark.parametrize("spoiled", ["empty", "cut", "other", "no vocabulary"])
def test_spoiled_weights_say_so(tmp_path, spoiled):
    shutil.copytree(FOLDER, tmp_path / "mine")
    weights = tmp_path / "mine" / "weights.npz"
    if spoiled == "empty":
        weights.write_bytes(b"")
    elif spoiled == "cut":
        weights.write_bytes(weights.read_bytes()[:9999])
    elif spoiled == "other":
        np.savez(weights, a=np.zeros(3))
    else:
        (tmp_path / "mine" / "vocab.txt").unlink()
    with pytest.raises(OptionError, match=r"no weights of a parser.*mine.*embedded"):
        load_parser(str(tmp_path / "mine"))


# Trees.


@settings(max_examples=200, deadline=None)
@given(hnp.arrays(np.float32, st.integers(1, 4).map(lambda n: (n, n + 1)), elements=st.floats(-5, 5, width=16)))
def test_no_tree_scores_higher(scores):
    n = len(scores)

    def is_tree(heads):
        for k in range(1, n + 1):
            for _ in range(n):
                k = heads[k - 1] if k else 0
            if k:
                return False
        return True

    for k in range(n):
        scores[k, k + 1] = -100
    total = {
        heads: sum(float(scores[k, h]) for k, h in enumerate(heads))
        for heads in itertools.product(range(n + 1), repeat=n)
        if is_tree(heads)
    }
    found = tuple(best_tree(scores).tolist())
    assert found in total
    assert total[found] == pytest.approx(max(total.values()), abs=1e-4)


def test_rings_within_rings():
    rng = np.random.default_rng(7)
    for n in (2, 5, 30, 120):
        heads = best_tree(rng.normal(size=(n, n + 1)).astype(np.float32))
        above = np.concatenate([[0], heads])
        for _ in range(n):
            above = above[above]
        assert not above.any()


# The encoder.

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "un", "##aff", "##able", "aff", "a", "##b", "$", "cafe", "-", "x"]


def test_word_pieces_are_the_longest_first():
    pieces = WordPieces(VOCABULARY)

    def names(word):
        return [VOCABULARY[i] for i in pieces.of(word)[0]]

    assert names("unaffable") == ["un", "##aff", "##able"]
    assert names("AB") == ["a", "##b"]
    assert names("Café") == ["cafe"]
    assert names("x-x") == ["x", "-", "x"]
    assert names("zebra") == ["[UNK]"]
    assert names("axe") == ["[UNK]"]
    assert names("\u0301") == ["[UNK]"]
    assert len(names("x-" * 50)) == 8


def test_shapes():
    assert [SHAPES[shape(w)] for w in ("e.g.", "Mr.", "U.S.", "I", "IPO", "COVID-19", "--")] == [
        "small", "Capital", "CAPITALS", "Capital", "CAPITALS", "digits", "mark",
    ]  # fmt: skip


def made_up_weights(width=8, inner=12, layers=2, rng=None):
    rng = rng or np.random.default_rng(3)
    weights = {"heads": np.array(2)}

    def bytes_of(name, rows, columns):
        matrix = rng.normal(size=(rows, columns)).astype(np.float32) / np.sqrt(rows / 2)
        weights[name], weights[f"{name}.scale"] = packed(matrix)

    table, scale = packed(rng.normal(size=(width, len(VOCABULARY))).astype(np.float32))
    weights["piece"], weights["piece.scale"] = table.T, scale
    weights["position"] = rng.normal(size=(20, width)).astype(np.float16)
    weights["shape"] = rng.normal(size=(len(SHAPES), width)).astype(np.float16)
    weights["norm"] = rng.normal(size=(2, width)).astype(np.float32)
    for i in range(layers):
        sizes = {"mix": (width, 3 * width), "out": (width, width), "up": (width, inner), "down": (inner, width)}
        for part in PARTS:
            bytes_of(f"layer.{i}.{part}", *sizes[part])
            weights[f"layer.{i}.{part}.bias"] = rng.normal(size=sizes[part][1]).astype(np.float32)
        weights[f"layer.{i}.norms"] = rng.normal(size=(4, width)).astype(np.float32)
    return weights


def plainly(weights, ids, shapes):
    """The encoder of one sentence, step by step in double precision, after Devlin et al. and Vaswani et al."""
    w = {name: array.astype(np.float64) for name, array in weights.items()}

    def norm(x, pair):
        centred = x - x.mean(-1, keepdims=True)
        return centred / np.sqrt(x.var(-1, keepdims=True) + 1e-12) * pair[0] + pair[1]

    def linear(x, name):
        return x @ (w[name] * w[f"{name}.scale"]) + w[f"{name}.bias"]

    h = w["piece"][ids] * w["piece.scale"][ids][:, None] + w["position"][: len(ids)] + w["shape"][shapes]
    h = norm(h, w["norm"])
    heads = int(weights["heads"])
    for i in range(2):
        q, k, v = np.split(linear(h, f"layer.{i}.mix"), 3, axis=1)
        mixed = []
        for a, b, c in zip(*(np.split(part, heads, axis=1) for part in (q, k, v)), strict=True):
            scores = np.exp(a @ b.T / np.sqrt(a.shape[1]))
            mixed.append(scores / scores.sum(1, keepdims=True) @ c)
        h = norm(h + linear(np.concatenate(mixed, axis=1), f"layer.{i}.out"), w[f"layer.{i}.norms"][:2])
        x = linear(h, f"layer.{i}.up")
        x = 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
        h = norm(h + linear(x, f"layer.{i}.down"), w[f"layer.{i}.norms"][2:])
    return h


@pytest.mark.parametrize(("width", "inner", "close"), [(8, 12, 1e-4), (64, 128, 1e-3)])  # in floats, in whole numbers
def test_sentences_read_together_are_as_each_alone(width, inner, close):
    weights, pieces = made_up_weights(width, inner), WordPieces(VOCABULARY)
    sentences = [["unaffable", "x"], ["Café"], ["a", "A", "$", "x", "-", "zebra", "aff"]]
    found, ends = Encoder(weights, pieces).vectors(sentences)
    for sentence, vectors in zip(sentences, np.split(found, ends[:-1]), strict=True):
        ids, shapes, first = [2], [4], []
        for word in sentence:
            first.append(len(ids))
            own, written = pieces.of(word)
            ids += own
            shapes += [written] * len(own)
        expected = plainly(weights, [*ids, 3], [*shapes, 4])[first]
        np.testing.assert_allclose(vectors, expected, rtol=close, atol=close)
        if width % 64 == 0 and kernel() is not None:
            np.testing.assert_array_equal(vectors, Encoder(weights, pieces).vectors([sentence])[0])


@given(
    hnp.arrays(
        np.float32, hnp.array_shapes(min_dims=2, max_dims=2, max_side=8), elements=st.floats(-1000, 1000, width=16)
    )
)
def test_bytes_lose_less_than_a_step(matrix):
    table, scale = packed(matrix)
    back = single(table) * single(scale)
    assert table.dtype == np.int8
    steps = np.maximum(np.abs(matrix).max(axis=0) / 127, 2.0**-14)
    assert (np.abs(back - matrix) <= steps * 0.6).all()
