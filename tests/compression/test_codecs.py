"""What every codec promises: rows are independent, scores are those of what is decoded, what is saved opens again."""

from __future__ import annotations

import numpy as np
import pytest

from qbench.compression.plain import DTYPES
from qbench.compression.product import OPQ, PQ
from qbench.compression.trained import Trained
from qbench.errors import InputError, OptionError
from qbench.retrieval.entries import REGISTRY
from qbench.scoring.product import product_codebook
from tests.compression.sign_codec import Sign
from tests.compression.trained_codebook import drawn as drawn_of
from tests.compression.trained_codebook import some_network, write_codebook
from tests.resealed import reseal

D = 12
CODECS = {**DTYPES, "Sign": Sign(), "Sign, boosted": Sign(boost=1.5)}
SMALL = {"M": 4, "K": 32}
"""Options of codecs with a codebook, for these few short vectors."""
CODECS |= {
    entry.name: entry.typed([(option.name, SMALL[option.name]) for option in entry.declared if option.name in SMALL])
    for entry in REGISTRY.of("compression")
    if not issubclass(entry.options, Trained) and not entry.options.needs_words  # LexPQ: test_lexical.py
}
CODECS |= {"PQ, 9 bits": PQ(M=3, K=257), "PQ, 3 bits": PQ(M=12, K=7), "OPQ, 5 bits": OPQ(M=6, K=20)}
CODECS |= {"WolfPQ": None, "WolfPQSem": None, "DPQ": None}  # made by `codecs`, which knows a folder
STRENGTH = {"float32": 1e-7, "float16": 1e-3, "int8": 1e-2}
"""How far a number may be off, as a share of the largest number."""


def drawn(count, seed=0):
    return np.random.default_rng(seed).standard_normal((count, D)).astype(np.float32) + np.float32(0.3)


@pytest.fixture(params=CODECS)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def codecs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("codebooks")
    codebook = product_codebook(drawn(300, seed=1), 4, 32)
    paths = {
        "WolfPQ": write_codebook(folder / "distance", codebook),
        "DPQ": write_codebook(folder / "keys", codebook, "DPQ", keys=np.float32(0.9) * codebook),
        "WolfPQSem": write_codebook(folder / "semantic", codebook, "WolfPQSem", network=some_network(4, 32, D), mdf=9),
    }
    return CODECS | {name: Trained(codebook=path) for name, path in paths.items()}


@pytest.fixture
def unfitted(name, codecs):
    return codecs[name]


@pytest.fixture
def codec(unfitted):
    return unfitted.fit(drawn(300, seed=1))


def some(arrays, rows):
    return {name: array[rows] for name, array in arrays.items()}


def equal(one, other):
    return one.keys() == other.keys() and all(
        np.array_equal(one[key], other[key]) and one[key].dtype == other[key].dtype for key in one
    )


def test_each_vector_is_encoded_by_itself(codec):
    vectors = drawn(50)
    arrays = codec.encode(vectors)
    assert all(len(array) == 50 for array in arrays.values())
    for rows in (slice(0, 1), slice(7, 31), slice(0, 0), slice(49, 50)):
        assert equal(codec.encode(vectors[rows]), some(arrays, rows))


def test_decoded_vectors_are_like_the_vectors(codec, name):
    vectors = drawn(50)
    decoded = codec.decode(codec.encode(vectors))
    assert (decoded.shape, decoded.dtype) == (vectors.shape, np.float32)
    cosines = (decoded * vectors).sum(axis=1) / np.linalg.norm(decoded, axis=1) / np.linalg.norm(vectors, axis=1)
    assert (cosines.min() if name not in ("KMeans", "WolfPQSem") else np.median(cosines)) > 0.3
    if name in STRENGTH:
        assert np.abs(decoded - vectors).max() <= STRENGTH[name] * np.abs(vectors).max()
    rows = np.array([3, 40, 3])
    assert np.array_equal(codec.decode(some(codec.encode(vectors), rows)), decoded[rows])


def test_scores_are_the_products_with_decoded_vectors(codec):
    arrays, queries = codec.encode(drawn(50)), drawn(4, seed=2)
    expected = queries @ codec.decode(arrays).T
    scores = codec.scores(codec.tables(queries), arrays)
    np.testing.assert_allclose(scores, expected, rtol=1e-4, atol=1e-5)
    few = codec.scores(codec.tables(queries[2:3]), some(arrays, np.array([40, 0, 40])))
    np.testing.assert_allclose(few[0], expected[2][[40, 0, 40]], rtol=1e-4, atol=1e-5)
    assert codec.scores(codec.tables(queries), some(arrays, slice(0, 0))).shape == (4, 0)


def test_learning_is_deterministic_and_what_was_learnt_is_kept(codec, unfitted, tmp_path):
    codec.save(tmp_path)
    opened = unfitted.opened(tmp_path)
    assert equal(opened.learnt, codec.learnt)
    assert equal(opened.learnt, unfitted.fit(drawn(300, seed=1)).learnt)
    assert equal(opened.encode(drawn(9)), codec.encode(drawn(9)))
    assert opened == codec


def test_a_corpus_without_vectors_can_be_learnt_from(unfitted):
    codec = unfitted.fit(np.empty((0, D), np.float32))
    assert codec.decode(codec.encode(np.empty((0, D), np.float32))).shape == (0, D)


def test_what_float16_cannot_hold_is_an_error():
    with pytest.raises(OptionError, match=r"too large for float16 \(found 70000.0\)"):
        DTYPES["float16"].encode(np.array([[1.0, -7e4]], np.float32))
    DTYPES["int8"].encode(np.array([[1.0, -7e4]], np.float32))


@pytest.mark.parametrize("broken", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["float16", "int8", "PQ"])
def test_a_vector_that_is_not_finite_is_never_stored_as_numbers(codec, broken):
    vectors = drawn(3)
    vectors[1, 4] = broken
    with pytest.raises(InputError, match=r"not finite \(found 'row 1'\)"):
        codec.encode(vectors)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("codebook.npy", lambda data: data[:90], "not a readable array"),
        ("codebook.npy", lambda data: b"", "not a readable array"),
        ("codebook.npy", lambda data: data.replace(b"'descr'", b"'desc(("), "not a readable array"),
        ("codebook.npy", lambda data: data.replace(b"'descr'", b"1234567"), "not a readable array"),
        ("codebook.npy", lambda data: data.replace(b"<f4", b"<i4"), "not an array of finite numbers"),
        ("codebook.npy", lambda data: data[:-4] + b"\x00\x00\xc0\x7f", "not an array of finite numbers"),
        ("codebook.npy", lambda data: data.replace(b"(4, 8, 3)", b"(96,)    "), "not codewords: another shape"),
        ("codebook.npy", lambda data: data.replace(b"(4, 8, 3)", b"(4, " + b"9" * 30 + b")"), "not a readable array"),
        ("w2.npy", lambda data: data.replace(b"(32, 16)", b"(16, 32)"), "layer w2 does not belong to the codewords"),
        ("codebook.json", lambda data: b"[]", "not what describes a codebook"),
        ("codebook.json", lambda data: data.replace(b'"gamma": 0.5', b'"gamma": "x"'), "gamma is not a number"),
        ("codebook.json", lambda data: data.replace(b'"gamma": 0.5', b'"gamma": 1' + b"0" * 400), "gamma is not a n"),
    ],
)
def test_a_damaged_codebook_of_a_stranger_is_one_line(tmp_path, name, change, message):
    folder = write_codebook(tmp_path / "codebook", drawn_of((4, 8, 3)), network=some_network(4, 8, 12))
    whole = (folder / name).read_bytes()
    (folder / name).write_bytes(change(whole))
    assert (folder / name).read_bytes() != whole
    reseal(folder)
    codec = Trained(codebook=folder)
    sample = np.ones((2, 12), np.float32)
    with pytest.raises(InputError, match=message):
        codec.refuse_unfit("WolfPQ", {}) or codec.fit(sample).encode(sample)
