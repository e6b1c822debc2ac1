"""NumColBERT at search: ColBERT's index and MaxSim, with other norms in the queries' vectors and nothing else."""

from __future__ import annotations

import math
import shutil

import numpy as np
import polars as pl
import pytest
import torch

from qbench.errors import InputError
from qbench.models.multi_vector import load_multi_vector_encoder, load_multi_vector_model
from qbench.models.numcolbert import CONFIG, WEIGHTS, add_numeric_heads, save_numcolbert
from qbench.retrieval.execute import execute
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.jobs import ExecuteOptions
from qbench.retrieval.late_interaction import LateInteraction
from qbench.retrieval.opening import open_ranker
from qbench.retrieval.rankers import RankerContext, Search
from tests.encoder_factories import tiny_bert
from tests.factories import tiny_benchmark
from tests.rankers import scores_of

TEXTS = [f"some boats {number} metres long" for number in range(1, 10)] + ["trains", "", "boats, boats"]
CORPUS = pl.DataFrame({"doc_id": [f"d{99 - i}" for i in range(len(TEXTS))], "passage": TEXTS})
QUERY = "boats over 5 metres"


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A NumColBERT that takes every token for a number of norm 2, and the same ColBERT without heads."""
    folder = tmp_path_factory.mktemp("models")
    tiny_bert(folder / "tiny", ["some", "boats", "metres", "long", "trains", "over", ","])
    model = load_multi_vector_model(str(folder / "tiny"))
    heads = add_numeric_heads(model, [])
    with torch.no_grad():
        heads.gate.bias.fill_(math.log(math.expm1(2.0)))
        generator = torch.Generator().manual_seed(4)
        heads.detection.weight.copy_(torch.randn(1, 32, generator=generator))
    save_numcolbert(model, folder / "numcolbert")
    shutil.copytree(folder / "numcolbert", folder / "colbert")
    for name in (CONFIG, WEIGHTS):
        (folder / "colbert" / name).unlink()
    return folder


def opened(text, root, depth=1000):
    (stage,) = parse_system(text).stages
    return open_ranker(stage, RankerContext(CORPUS, "key", root, depth))


def test_its_token_vectors_are_the_very_ones_of_the_colbert_without_heads(models, tmp_path):
    gated = opened(f"NumColBERT(model={models / 'numcolbert'})", tmp_path)
    plain = opened(f"ColBERT(model={models / 'colbert'})", tmp_path)
    assert type(gated.ranker) is type(plain.ranker) is LateInteraction
    assert gated.meta == plain.meta
    for name, array in plain.ranker.tokens.arrays.items():
        np.testing.assert_array_equal(gated.ranker.tokens.arrays[name], array)


@pytest.mark.parametrize("engine", ["exact", "centroids, nprobe=2, candidates=3"])
@pytest.mark.parametrize(
    ("dtype", "codec"),
    [("float32", ""), ("float16", ""), ("int8", ""), ("float32", "-int8"), ("float32", "-PQ(M=16, K=4)")],
)
def test_its_candidates_and_scores_are_those_of_colbert_for_its_query_vectors(models, tmp_path, engine, dtype, codec):
    """With exact search and with candidates from centroids, from whole vectors and from compressed ones.

    ColBERT's ranker, given the gated query vectors, finds the same documents with the same scores: nothing else of the
    search differs.
    """
    options = f"dtype={dtype}, engine={engine}"
    gated = opened(f"NumColBERT(model={models / 'numcolbert'}, {options}){codec}", tmp_path, 5).ranker
    plain = opened(f"ColBERT(model={models / 'colbert'}, {options}){codec}", tmp_path, 5).ranker
    assert (gated.probing is None) == (engine == "exact")
    own = plain.search(Search("q", QUERY))
    (asked,) = gated.encoded([Search("q", QUERY)])
    (given,) = plain._retrieved([asked])
    found = gated.search(Search("q", QUERY))
    np.testing.assert_array_equal(found.docs, given.docs)
    np.testing.assert_array_equal(found.scores, given.scores)
    assert found.scores.max() != pytest.approx(own.scores.max())  # the gate does count
    np.testing.assert_allclose(scores_of(gated, asked, found.docs), scores_of(plain, asked, found.docs))


def test_a_score_is_the_sum_of_the_best_cosines_times_the_gates(models, tmp_path):
    gated = opened(f"NumColBERT(model={models / 'numcolbert'}, dtype=float32)", tmp_path).ranker
    encoder = load_multi_vector_encoder(str(models / "colbert"))
    gates = np.linalg.norm(load_multi_vector_encoder(str(models / "numcolbert")).encode([QUERY], "query")[1], axis=1)
    assert {round(float(gate), 3) for gate in gates} == {1.0, 2.0}
    (query,), documents = encoder.model.encode_query([QUERY]), encoder.model.encode_document(TEXTS)
    query, documents = query.numpy(), [rows.numpy() for rows in documents]
    found = gated.search(Search("q", QUERY))
    expected = [(gates * (query @ documents[doc].T).max(axis=1)).sum() for doc in found.docs]
    np.testing.assert_allclose(found.scores, expected, atol=1e-4)


def test_both_names_share_an_index(models, tmp_path):
    opened(f"NumColBERT(model={models / 'numcolbert'})", tmp_path)
    opened(f"ColBERT(model={models / 'numcolbert'})", tmp_path)
    assert len(list(tmp_path.rglob("vector_starts.npy"))) == 1


def test_it_reranks_takes_a_quantity_score_and_is_fused(models, tmp_path):
    model = f"model={models / 'numcolbert'}"
    names = [f"BM25 + NumColBERT({model}, k=5)", f"QNumColBERT({model})", f"NumColBERT_filter({model})"]
    names.append(f"BM25 + NumColBERT({model}, k=5)-int8-I(alpha=0.3)")
    results = execute(
        tiny_benchmark(), [parse_system(name) for name in names], tmp_path, ExecuteOptions(settings=("given",))
    )
    assert all(result.run.height for result in results)


def test_a_model_without_heads_is_refused(models, tmp_path):
    with pytest.raises(InputError, match="no numeric heads"):
        opened(f"NumColBERT(model={models / 'colbert'})", tmp_path)
