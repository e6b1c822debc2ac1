"""LexPQ: what words tell by hand, codes of the rest, and an index whose bytes are the codes alone."""

from __future__ import annotations

import numpy as np
import pytest

from qbench.compression.codec import WORDS
from qbench.compression.lexical import LexPQ
from qbench.compression.product import OPQ
from qbench.errors import OptionError
from qbench.models.single_vector import load_encoder
from qbench.models.word_features import encoder_features, word_features
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.opening import open_ranker
from qbench.retrieval.passages import passages
from qbench.retrieval.rankers import RankerContext, Search
from tests.compression.trained_codebook import drawn
from tests.encoder_factories import tiny_bert
from tests.factories import tiny_benchmark

BENCHMARK = tiny_benchmark()


def split_tokens(texts, **options):
    return {"input_ids": [[int(word) for word in text.split()] for text in texts]}


def test_words_by_hand():
    table = np.array([[1, 0], [0, 1], [2, 2]], np.float32)
    features = word_features(table, split_tokens)
    once, twice = np.log(2), np.log(3)
    expected = [[0, 0], [1, 0], [(twice + 2 * once) / np.hypot(once, twice), 2 * once / np.hypot(once, twice)]]
    np.testing.assert_allclose(features(["", "0", "0 2 0"]), expected, rtol=1e-6)
    assert features([]).shape == (0, 2)


def fitted(count=400, rest=0.1):
    words = drawn((count, 5), 1)
    vectors = words @ drawn((5, 8), 2) + 3 + rest * drawn((count, 8), 3)
    return LexPQ(M=2, K=16, rotations=2).fit_words(vectors.astype(np.float32), words), vectors.astype(np.float32), words


def test_codes_have_less_to_tell_where_words_tell_much():
    codec, vectors, words = fitted()
    arrays = codec.encode_words(vectors, words)
    assert list(arrays) == ["codes"]
    assert arrays["codes"].nbytes == len(vectors)
    found = codec.decode({**arrays, WORDS: words})
    plain = OPQ(M=2, K=16, rotations=2).fit(vectors)
    theirs = plain.decode(plain.encode(vectors))
    assert ((vectors - found) ** 2).mean() < ((vectors - theirs) ** 2).mean() / 10


@pytest.mark.parametrize("count", [1, 40])
def test_scores_are_products_with_decoded_vectors(count):
    codec, vectors, words = fitted()
    arrays = {**codec.encode_words(vectors, words), WORDS: words}
    queries = drawn((count, 8), 4)
    scores = codec.scores(codec.tables(queries), arrays)
    np.testing.assert_allclose(scores, queries @ codec.decode(arrays).T, atol=1e-4)


def test_vectors_alone_are_refused():
    codec, vectors, _ = fitted()
    for call in (LexPQ(M=2, K=16).fit, codec.encode):
        with pytest.raises(OptionError, match="words of their texts"):
            call(vectors)


def test_words_that_tell_nothing_leave_opq():
    vectors = drawn((300, 8), 5)
    codec = LexPQ(M=2, K=16, rotations=1).fit_words(vectors, np.zeros((300, 3), np.float32))
    plain = OPQ(M=2, K=16, rotations=1).fit(vectors - vectors.mean(axis=0))
    np.testing.assert_allclose(codec.learnt["told"][-1], vectors.mean(axis=0), atol=1e-5)
    np.testing.assert_allclose(codec.learnt["codebook"], plain.learnt["codebook"], atol=1e-3)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    words = [word for text in BENCHMARK.corpus["text"] for word in text.lower().split()]
    return tiny_bert(tmp_path_factory.mktemp("lexical") / "tiny", words)


@pytest.mark.parametrize("model", ["SBERT", "TCT-ColBERT"])
def test_a_system_scores_what_its_codec_decodes(tiny, tmp_path, model):
    context = RankerContext(passages(BENCHMARK.corpus), "key", tmp_path, 10)
    opened = [
        open_ranker(parse_system(f"{model}(model={tiny})-LexPQ(M=2, K=2)").first, context) for _ in range(2)
    ]  # built, and opened again
    ranker = opened[1].ranker
    (search,) = ranker.encoded([Search("q", "battery life")])
    hits = ranker.search(search)
    stored = ranker.vectors
    expected = stored.rows(0, len(stored)) @ np.asarray(search.vector)
    np.testing.assert_allclose(hits.scores, expected[stored.shared.of[hits.docs]], atol=1e-4)
    assert stored.cost(len(stored))["codes_bytes"] == len(stored)
    assert list(stored.arrays) == ["codes"]


def test_an_encoder_with_word_vectors_gives_them(tiny):
    features = encoder_features(load_encoder(str(tiny)))
    assert features is not None
    same, other = features(["battery life", "life battery"]), features(["battery battery"])
    np.testing.assert_allclose(same[0], same[1], atol=1e-6)
    assert not np.allclose(same[0], other[0])


def test_token_vectors_have_no_words_of_a_text(tiny, tmp_path):
    context = RankerContext(passages(BENCHMARK.corpus), "key", tmp_path, 10)
    with pytest.raises(OptionError, match="no vectors of words"):
        open_ranker(parse_system(f"ColBERT(model={tiny})-LexPQ(M=2, K=2)").first, context)
