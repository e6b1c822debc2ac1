"""JPQ: its loss by hand, negatives from the compressed index, codes that never change, and its encoder of queries."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from qbench.compression.trained import Trained
from qbench.errors import OptionError
from qbench.models.aggretriever import load_aggretriever
from qbench.models.jpq import JPQ
from qbench.models.single_vector import load_encoder
from qbench.models.tct_colbert import load_tct_colbert
from qbench.retrieval.execute import execute
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.jobs import ExecuteOptions
from qbench.store import MANIFEST
from qbench.training.codebook import train_codebook
from qbench.training.losses.quantisers import lambda_rank
from qbench.training.query_encoders import open_query_encoder
from tests.encoder_factories import tiny_bert
from tests.training.test_codebook import RECIPE, bench, encoder, task_of  # noqa: F401


def test_lambda_rank_by_hand():
    # d+ scores 2 beside 3 and 1: its rank is 2; that of the first d- is 1, that of the other 3.
    expected = (1 - 1 / 2) * math.log(1 + math.e) + (1 / 2 - 1 / 3) * math.log(1 + 1 / math.e)
    assert lambda_rank(torch.tensor([[2.0]]), torch.tensor([[3.0, 1.0]])).item() == pytest.approx(expected)
    assert lambda_rank(torch.tensor([[2.0]]), torch.tensor([[1.0, 3.0]])).item() == pytest.approx(expected)
    # Two positives are two lists with one each.
    one = lambda_rank(torch.tensor([[0.5]]), torch.tensor([[3.0, 1.0]])).item()
    both = lambda_rank(torch.tensor([[2.0, 0.5]]), torch.tensor([[3.0, 1.0]])).item()
    assert both == pytest.approx((expected + one) / 2)


def test_the_gradient_of_a_codeword_is_that_of_the_equation():
    network = JPQ(np.array([[[1.0], [2.0]], [[1.0], [3.0]]], np.float32))
    codes, query = torch.tensor([[0, 1], [1, 1]]), torch.tensor([0.5, 0.7])  # d+ and d-, which share the second code
    scores = network(codes) @ query
    torch.nn.functional.softplus(scores[1] - scores[0]).backward()
    a = torch.sigmoid(scores[1] - scores[0]).item()
    gradient = network.codewords.grad[:, :, 0] / network.size
    np.testing.assert_allclose(gradient, [[-a * 0.5, a * 0.5], [0, 0]], rtol=1e-5)


def test_negatives_are_the_best_of_the_compressed_index_that_are_not_judged():
    task = task_of("JPQ", query_lr=0.0, pairs=5)
    batch = np.array([3, 17])
    queries = task.data.pairs.queries[batch]
    with torch.no_grad():
        task.network.codewords += torch.from_numpy(np.random.default_rng(0).standard_normal((4, 8, 4)) / 3)
        scores = queries @ task.network(torch.from_numpy(task.codes.astype(np.int64))).numpy().T
    found = task.negatives(batch, queries)
    for number, query in enumerate(batch):
        judged = set(task.data.pairs.judged[query].tolist())
        best = [row for row in np.argsort(-scores[number]) if row not in judged]
        assert set(found[number].tolist()) == set(best[:5])


def test_a_query_whose_documents_are_all_judged_learns_from_those_of_bm25():
    task = task_of("JPQ", query_lr=0.0)
    pairs = task.data.pairs
    task.data = replace(task.data, pairs=replace(pairs, judged=[np.arange(400)] * 60))
    assert set(task.negatives(np.array([0]), pairs.queries[:1])[0]) <= set(pairs.negatives[0])


@pytest.fixture(scope="module")
def trained(bench, encoder, tmp_path_factory):  # noqa: F811
    work = tmp_path_factory.mktemp("jpq")
    recipe = replace(RECIPE, variant="JPQ", query_lr=1e-2, lr=1e-2)
    train_codebook(bench, work / "jpq", encoder, recipe, work=work)
    return work


def test_codes_are_those_of_pq_and_scores_are_not(bench, encoder, trained):  # noqa: F811
    names = [f"{encoder}-PQ(M=8, K=4)", f"{encoder}-JPQ(codebook={trained / 'jpq'})"]
    plain, jpq = execute(bench, [parse_system(name) for name in names], trained, ExecuteOptions())
    folders = {
        name: folder
        for folder in {path.parent for path in trained.rglob("codes.npy")}
        for name in ("PQ", "JPQ")
        if f'"codec": "{name}"' in (folder / MANIFEST).read_text()
    }
    codes = {name: np.load(folder / "codes.npy") for name, folder in folders.items()}
    np.testing.assert_array_equal(codes["PQ"], codes["JPQ"])
    books = {name: np.load(folder / "codec.codebook.npy") for name, folder in folders.items()}
    assert np.abs(books["PQ"] - books["JPQ"]).max() > 1e-3
    assert plain.meta["codes_bytes"] == jpq.meta["codes_bytes"]


def test_queries_are_encoded_by_the_encoder_that_was_trained(encoder, trained):  # noqa: F811
    model = Trained(codebook=trained / "jpq").query_model()
    assert model == trained / "jpq" / "query-encoder"
    before = load_tct_colbert(encoder.partition("=")[2].rstrip(")"))
    after = load_tct_colbert(str(model))
    texts = ["a charger for a laptop", "rain"]
    assert np.abs(before.encode(texts, "query") - after.encode(texts, "query")).max() > 1e-3


def test_without_a_rate_for_queries_there_is_no_encoder_of_queries(bench, encoder, tmp_path):  # noqa: F811
    recipe = replace(RECIPE, variant="JPQ", query_lr=0.0)
    train_codebook(bench, tmp_path / "jpq", encoder, recipe, work=tmp_path)
    assert Trained(codebook=tmp_path / "jpq").query_model() is None


@pytest.mark.parametrize("load", [load_encoder, load_tct_colbert, load_aggretriever])
def test_an_encoder_is_trained_as_it_encodes(load, tmp_path):
    folder = str(tiny_bert(tmp_path / "tiny", ["rain", "snow", "metres", "of"]))
    opened = load(folder)
    queries = open_query_encoder(opened)
    queries.network.eval()
    texts = ["rain of metres", "snow"]
    made = queries.embed(texts)
    assert made.requires_grad
    np.testing.assert_allclose(made.detach(), opened.encode(texts, "query"), atol=1e-5)
    queries.save(tmp_path / "saved")
    np.testing.assert_allclose(load(str(tmp_path / "saved")).encode(texts, "query"), made.detach(), atol=1e-5)


def test_an_encoder_of_others_cannot_be_trained():
    with pytest.raises(OptionError, match="--query-lr 0"):
        open_query_encoder(object())
