"""WolfPQ: the module by hand, its losses by hand, training that lowers them, and an index that is a PQ's."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import torch
from typer.testing import CliRunner

from qbench.benchmark.disk import write_benchmark
from qbench.benchmark.types import Query
from qbench.cli.train import app
from qbench.compression.plain import Float32
from qbench.compression.product import OPQ
from qbench.compression.quantiser import Quantiser
from qbench.compression.trained import Trained
from qbench.errors import InputError, OptionError
from qbench.models.wolfpq import WolfPQ
from qbench.retrieval.execute import execute
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.jobs import ExecuteOptions
from qbench.retrieval.shared_texts import SharedTexts
from qbench.retrieval.vectors import StoredVectors
from qbench.scoring.product import encoded, product_codebook
from qbench.scoring.semantic import Network, semantic_codes
from qbench.store import MANIFEST
from qbench.training.codebook import open_task, train_codebook
from qbench.training.codebook_data import CodebookData, Pairs, encoder_stage, read_codebook_data
from qbench.training.codebook_recipe import CodebookRecipe
from qbench.training.losses.quantisers import distortion, margin_mse, ranknet
from tests.compression.trained_codebook import drawn, some_network, write_codebook
from tests.encoder_factories import tiny_bert
from tests.factories import tiny_benchmark

CODEBOOK = np.array([[[0, 0], [1, 1]], [[2, 0], [0, 2]]], np.float32)


def test_quantised_vectors_are_the_nearest_codewords_and_the_gradient_goes_to_them():
    network = WolfPQ(CODEBOOK)
    out = network(torch.tensor([[0.9, 0.8, 1.5, 0.1]]))
    np.testing.assert_allclose(out.detach(), [[1, 1, 2, 0]], atol=1e-6)
    out[0, 0].backward()
    gradient = network.codewords.grad.numpy()
    size = float(network.size)  # codewords are learnt in units of their size
    np.testing.assert_allclose(gradient[0], [[0, 0], [size, 0]], atol=1e-6)
    assert not gradient[1].any()


def test_rotations_are_the_identity_at_first_and_rotations_for_ever():
    network = WolfPQ(drawn((3, 5, 4)))
    np.testing.assert_allclose(network.rotations().detach(), np.broadcast_to(np.eye(4), (3, 4, 4)), atol=1e-6)
    with torch.no_grad():
        network.turns += torch.from_numpy(drawn((3, 4, 4), 1))
    rotations = network.rotations().detach()
    np.testing.assert_allclose(rotations @ rotations.mT, np.broadcast_to(np.eye(4), (3, 4, 4)), atol=1e-5)
    expected = torch.einsum("mij,mkj->mki", rotations, network.codewords * network.size)
    np.testing.assert_allclose(network.stored().detach(), expected.detach(), atol=1e-5)


def test_a_quarter_turn_turns_codewords():
    network = WolfPQ(CODEBOOK)
    with torch.no_grad():
        network.turns[1, 1, 0] = 2 * math.pi / 2  # of the second part, in halves: (2, 0) -> (0, 2), (0, 2) -> (-2, 0)
    np.testing.assert_allclose(network.stored()[1].detach(), [[0, 2], [-2, 0]], atol=1e-5)


def semantic_wolf(gamma=0.5, mdf=3.0):
    M, K, width = 4, 8, 12
    w1, b1, w2, b2 = some_network(M, K, width)
    network = WolfPQ(product_codebook(drawn((90, width)), M, K), semantic=True, mdf=mdf)
    with torch.no_grad():
        for parameter, value in zip(
            (network.first.weight, network.first.bias, network.second.weight, network.second.bias),
            (w1, b1, w2, b2),
            strict=True,
        ):
            parameter.copy_(torch.from_numpy(value))
        network.xi.fill_(math.log(gamma / (1 - gamma)))
    return network, Network(w1, b1, w2, b2)


def test_semantic_selection_by_hand():
    # One part, two codewords: the nearest is the first; the network's logits are relu(tanh(x) + (0, 1)).
    codebook = np.array([[[1.0], [-1.0]]], np.float32)
    layers = Network(*(np.array(a, np.float32) for a in ([[1.0]], [0.0], [[1.0], [1.0]], [0.0, 1.0])))
    vector = np.array([[0.5]], np.float32)
    a = math.tanh(0.5)
    for gamma, mdf in ((0.5, 0.9), (0.5, 1.1)):
        logits = [(1 - gamma) * a + gamma * mdf, (1 - gamma) * (a + 1)]
        expected = [[int(logits[1] > logits[0])]]
        assert semantic_codes(vector, codebook, layers, gamma, mdf).tolist() == expected
    assert semantic_codes(vector, codebook, layers, 0.5, 0.9).tolist() == [[1]]


def test_training_and_search_select_the_same_codewords():
    vectors = drawn((40, 12), 5)
    for mdf in (0.0, 0.5, 30.0):
        network, layers = semantic_wolf(mdf=mdf)
        network.eval()
        codebook = network.stored().detach().numpy()
        codes = semantic_codes(vectors, codebook, layers, 0.5, mdf)
        np.testing.assert_array_equal(
            network.logits(torch.from_numpy(vectors), torch.from_numpy(encoded(vectors, codebook).astype(np.int64)))
            .argmax(dim=2)
            .numpy(),
            codes,
        )
        quantised = network(torch.from_numpy(vectors)).detach().numpy()
        parts = codebook[np.arange(4), codes]
        np.testing.assert_allclose(quantised, parts.reshape(40, 12), atol=1e-6)
        assert (codes == encoded(vectors, codebook)).all() == (mdf == 30)


def test_sampling_in_training_is_random_hard_and_has_gradients():
    network, _ = semantic_wolf(mdf=0.5)
    network.train()
    torch.manual_seed(0)
    vectors = torch.from_numpy(drawn((40, 12), 5))
    first, second = network(vectors), network(vectors)
    assert not torch.equal(first, second)
    codewords = network.stored().detach()
    parts = first.detach().reshape(40, 4, 1, 3)
    assert torch.allclose((parts - codewords).abs().sum(dim=3).min(dim=2).values, torch.zeros(()), atol=1e-5)
    first.square().sum().backward()
    for parameter in (network.xi, network.first.weight, network.second.weight, network.codewords, network.turns):
        assert parameter.grad.abs().sum() > 0


def test_losses_by_hand():
    taught = torch.tensor([[3.0, 1.0], [2.0, 2.0]])
    learnt = torch.tensor([[2.5, 1.0], [2.0, 1.0]])
    # Margins 2 and 0 against 1.5 and 1: (0.25 + 1) / 2.
    assert margin_mse(taught, learnt).item() == pytest.approx(0.625)
    assert margin_mse(taught, learnt + torch.tensor([[7.0], [9.0]])).item() == pytest.approx(0.625)
    ranked = ranknet(torch.tensor([[1.0, 2.0]]), torch.tensor([[1.0]]))
    assert ranked.item() == pytest.approx((math.log(2) + math.log(1 + math.exp(-1))) / 2)
    assert distortion(torch.tensor([[1.0, 2.0], [0.0, 0.0]]), torch.tensor([[1.0, 0.0], [0.0, 1.0]])).item() == 2.5


def in_memory(vectors):
    """Stored vectors in memory, a text each."""
    each = np.arange(len(vectors) + 1)
    return StoredVectors(
        Float32(), {"vectors": vectors}, SharedTexts(each, each[:-1]), vectors.shape[1], each, {"model": "m"}
    )


def task_of(variant, **options):
    rng = np.random.default_rng(4)
    vectors, queries = drawn((400, 16), 1), drawn((60, 16), 2)
    shape = (60, 8)
    best = np.argsort(-(queries @ vectors.T), axis=1)
    pairs = Pairs(
        queries,
        best[:, :8].astype(np.int64),
        best[:, 50:58].astype(np.int64),
        rng.random((*shape, 2)).astype(np.float32),
        np.ones((60, 2), np.float32),
        [str(number) for number in range(60)],
        list(best[:, :8]),
    )
    recipe = CodebookRecipe(variant=variant, M=4, K=8, pretraining=30, **options)
    return open_task(CodebookData(None, in_memory(vectors), pairs, None), recipe)


@pytest.mark.parametrize("variant", ["WolfPQ", "WolfPQSem", "WolfPQI", "WolfPQSemI", "DPQ", "RepCONC", "JPQ"])
def test_every_variant_lowers_its_loss(variant):
    task = task_of(variant, lr=3e-2, query_lr=0.0)
    everything = np.arange(60)

    def loss():
        torch.manual_seed(1)
        return task.loss(everything, 0, 1).item()

    optimizer, before = task.optimizer(), loss()
    for step in range(40):
        optimizer.zero_grad()
        torch.manual_seed(step)
        task.loss(everything, 0, 1).backward()
        optimizer.step()
    assert loss() < 0.95 * before


def test_margins_are_compared_up_to_a_factor():
    task, batch = task_of("DPQ"), np.arange(60)  # whose keys select, whatever becomes of the codewords
    task.network.eval()
    with torch.no_grad():
        assert task.network.factor() > 1  # codewords are means, and shorter than what they are means of
        whole = task.loss(batch, 0, 1).item()
        task.network.codewords /= 2
        assert task.loss(batch, 0, 1).item() != pytest.approx(whole, rel=0.1)
        task.network.log_factor += math.log(2)
        assert task.loss(batch, 0, 1).item() == pytest.approx(whole, rel=1e-4)
    assert task_of("DPQ", factor="none").loss(batch, 0, 1).item() != pytest.approx(whole, rel=0.1)


def test_pretraining_keeps_the_distortion_of_pq():
    task = task_of("WolfPQPre")
    assert task.evaluate()["distortion"] < 1.05 * task._started


def test_interpolation_changes_ranknet_and_not_margins():
    batch = np.arange(10)
    plain = task_of("WolfPQI", lip=0.0, scale=1.0, alpha=0.0).loss(batch, 0, 1).item()
    assert task_of("WolfPQI", lip=0.0, scale=1.0, alpha=0.5).loss(batch, 0, 1).item() == pytest.approx(plain / 4)
    one, other = (task_of("WolfPQI", lip=1.0, alpha=alpha).loss(batch, 0, 1).item() for alpha in (0.1, 0.9))
    assert one != pytest.approx(other, rel=0.05)


@pytest.fixture(scope="module")
def bench():
    made = tiny_benchmark()
    splits = ["train", "train", "dev", "dev"]
    queries = [replace(query, split=split) for query, split in zip(made.queries, splits, strict=False)]
    return replace(made, queries=[*queries, *made.queries[4:]])


@pytest.fixture(scope="module")
def encoder(bench, tmp_path_factory):
    words = [word for text in bench.corpus["text"] for word in text.lower().split()]
    return f"TCT-ColBERT(model={tiny_bert(tmp_path_factory.mktemp('tct') / 'tiny', words)})"


RECIPE = CodebookRecipe(M=8, K=4, epochs=2, pretraining=5, pairs=4)


@pytest.mark.parametrize("variant", ["WolfPQPre", "WolfPQ", "WolfPQSemI", "DPQ", "RepCONC", "JPQ"])
def test_a_trained_codebook_is_searched_with_as_a_pq(bench, encoder, tmp_path, variant):
    recipe = replace(RECIPE, variant=variant)
    manifest = train_codebook(bench, tmp_path / "wolf", encoder, recipe, work=tmp_path / "work")
    assert manifest.counts["dev"] is not None
    assert json.loads((tmp_path / "wolf" / "log.json").read_text())[0]["epoch"] == 0
    names = [f"{encoder}-PQ(M=8, K=4)", f"BM25 + {encoder}-{variant}(codebook={tmp_path / 'wolf'})-I"]
    results = execute(bench, [parse_system(name) for name in names], tmp_path / "work", ExecuteOptions())
    codes = {
        path.parent: {p.name: p.stat().st_size for p in path.parent.iterdir() if p.suffix == ".npy"}
        for path in (tmp_path / "work").rglob("codes.npy")
    }
    plain, wolf = codes.values()
    assert plain == wolf
    assert results[0].meta["codes_bytes"] == results[1].meta["reranker_codes_bytes"]
    (folder,) = [folder for folder in codes if f'"codec": "{variant}"' in (folder / MANIFEST).read_text()]
    stored = np.load(folder / "codec.codebook.npy")
    np.testing.assert_array_equal(stored, np.load(tmp_path / "wolf" / "codebook.npy"))


@pytest.mark.parametrize("variant", ["WolfPQ", "WolfPQSem", "DPQ", "RepCONC", "JPQ"])
def test_a_start_from_opq_quantises_as_opq_until_it_learns(variant):
    task = task_of(variant, query_lr=0.0, start="OPQ", lr=0.0, mdf=1e4)
    vectors = task.data.vectors.chosen(np.arange(400))
    opq = OPQ(M=4, K=8).fit(vectors)
    expected = opq.decode(opq.encode(vectors))
    np.testing.assert_allclose(task.quantised()(vectors), expected, atol=1e-5)
    assert task._started == pytest.approx(((vectors - expected) ** 2).sum(axis=1).mean(), rel=1e-4)
    given = torch.from_numpy(task.codes.astype(np.int64) if variant == "JPQ" else vectors)
    task.network.eval()
    np.testing.assert_allclose(task.network(given).detach(), expected, atol=1e-5)
    if variant == "JPQ":
        queries = task.data.pairs.queries
        _, scores = task.index().nearest(queries, 3)
        np.testing.assert_allclose(scores, -np.sort(-(queries @ expected.T), axis=1)[:, :3], rtol=1e-4)


@pytest.mark.parametrize("variant", ["WolfPQ", "JPQ"])
def test_a_rotation_is_stored_with_the_codewords_and_searched_with(bench, encoder, tmp_path, variant):
    recipe = replace(RECIPE, variant=variant, start="OPQ")
    train_codebook(bench, tmp_path / "wolf", encoder, recipe, work=tmp_path / "work")
    rotation = np.load(tmp_path / "wolf" / "rotation.npy")
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(len(rotation)), atol=1e-5)
    names = [f"{encoder}-OPQ(M=8, K=4)", f"{encoder}-{variant}(codebook={tmp_path / 'wolf'})"]
    plain, wolf = execute(bench, [parse_system(name) for name in names], tmp_path / "work", ExecuteOptions())
    assert plain.meta["codes_bytes"] == wolf.meta["codes_bytes"]
    assert plain.meta["codebook_bytes"] == wolf.meta["codebook_bytes"]
    codec = Trained(codebook=tmp_path / "wolf").fit(rotation)
    some = drawn((30, len(rotation)))
    found = codec.decode(codec.encode(some))
    np.testing.assert_allclose(found, Quantiser.open(tmp_path / "wolf").quantised(some), atol=1e-5)
    np.testing.assert_allclose(
        codec.scores(codec.tables(some[:2]), codec.encode(some)), some[:2] @ found.T, rtol=1e-4, atol=1e-4
    )
    Quantiser(drawn((2, 4, 3)), rotation=np.eye(4, dtype=np.float32)).save(tmp_path, variant=variant, vectors={})
    with pytest.raises(InputError, match="rotation is not of the codewords' dimension"):
        Quantiser.open(tmp_path)
    with pytest.raises(OptionError, match="start is no value for CQ"):
        replace(recipe, variant="CQ").check()


def test_a_codebook_of_another_variant_encoder_or_size_is_refused(bench, encoder, tmp_path):
    path = tmp_path / "wolf"
    train_codebook(bench, path, encoder, RECIPE, work=tmp_path / "work")

    def run(name):
        execute(bench, [parse_system(name)], tmp_path / "work", ExecuteOptions())

    with pytest.raises(InputError, match=r"this codebook is no WolfPQI \(found 'WolfPQ'\)"):
        run(f"{encoder}-WolfPQI(codebook={path})")
    with pytest.raises(InputError, match="trained for another encoder"):
        run(f"{encoder.replace('model=', 'pooling=max, model=')}-WolfPQ(codebook={path})")
    assert len(list(tmp_path.rglob("vectors.npy"))) == 1  # nothing was encoded by the other encoder
    with pytest.raises(OptionError, match=r"another K \(found 4\)"):
        run(f"{encoder}-WolfPQ(M=8, K=256, codebook={path})")
    with pytest.raises(InputError, match="codebook"):
        run(f"{encoder}-WolfPQ(codebook={tmp_path / 'missing'})")
    made_for = json.loads((path / "codebook.json").read_text())["vectors"]
    other = write_codebook(tmp_path / "wide", drawn((2, 4, 3)), vectors=made_for)
    with pytest.raises(InputError, match="learnt from vectors of 6 numbers"):
        run(f"{encoder}-WolfPQ(codebook={other})")


def test_scores_that_are_added_as_they_are_have_no_factor():
    interpolated = replace(RECIPE, variant="WolfPQI", norm="none")
    with pytest.raises(OptionError, match="norm needs factor none too"):
        interpolated.check()
    replace(interpolated, factor="none").check()
    replace(interpolated, variant="WolfPQ").check()


def test_names_stand_for_codebooks(tmp_path):
    models = {"TCT-ColBERT": "my-tct", "WolfPQI": "wolf"}
    system = parse_system("BM25 + TCT-ColBERT-WolfPQI(M=96, K=256)-I(alpha=0.1)", models=models)
    assert str(system) == "BM25 + TCT-ColBERT(model=my-tct)-WolfPQI(codebook=wolf, M=96, K=256)-I(alpha=0.1)"
    assert parse_system(str(system)) == system


@pytest.mark.parametrize(
    "name", ["BM25", "ColBERT(model=m)", "QSBERT(model=m)", "SBERT(model=m)-PQ", "BM25 + SBERT(model=m)"]
)
def test_what_is_no_encoder_is_refused(name):
    with pytest.raises(OptionError, match="no encoder whose vectors could be compressed"):
        encoder_stage(name)


def read_data(bench, encoder, work, recipe):
    return read_codebook_data(bench, encoder_stage(encoder), work, recipe, lambda *_: None)


def test_negatives_are_the_lowest_of_the_best_and_never_judged_relevant(bench, encoder, tmp_path):
    recipe = replace(RECIPE, pairs=3, pool=6)
    data = read_data(bench, encoder, tmp_path, recipe)
    doc_ids = sorted(bench.corpus["doc_id"], reverse=True)
    rows = dict(zip(data.vectors.shared.of.tolist(), doc_ids, strict=True))
    train = bench.queries_of("train")
    for number, query in enumerate(train):
        grades = dict(bench.qrels.filter(pl.col("query_id") == query.query_id).select("doc_id", "grade").iter_rows())
        assert all(grades[rows[row]] >= 1 for row in data.pairs.positives[number])
        assert all(grades.get(rows[row], 0) == 0 for row in data.pairs.negatives[number])
    hard = read_data(bench, encoder, tmp_path, replace(recipe, negatives="highest")).pairs
    assert data.pairs.lexical[:, :, 1].mean() < hard.lexical[:, :, 1].mean()


def test_both_documents_of_a_pair_may_be_any_of_the_best(bench, encoder, tmp_path):
    recipe = replace(RECIPE, pairs=4, negatives="both")
    pairs = read_data(bench, encoder, tmp_path, recipe).pairs
    for first, second, judged in zip(pairs.positives, pairs.negatives, pairs.judged, strict=True):
        assert set(judged) <= {*first, *second}
        assert not set(first) <= set(judged)  # others stand above as well
    with pytest.raises(OptionError, match="loss needs positives"):
        replace(recipe, variant="WolfPQI").check()


def test_agreement_with_the_uncompressed_vectors_chooses_the_best_epoch(bench, encoder, tmp_path):
    recipe = replace(RECIPE, choose="agreement", epochs=1)
    train_codebook(bench, tmp_path / "wolf", encoder, recipe, work=tmp_path / "work")
    before, _ = json.loads((tmp_path / "wolf" / "log.json").read_text())
    task = open_task(read_data(bench, encoder, tmp_path, recipe), recipe)
    assert task.data.held is not None
    assert task._ndcg(task.data.held, lambda vectors: vectors) == 1.0
    assert 0 < before["ndcg"] <= 1
    with pytest.raises(OptionError, match="choose is no value for CQ"):
        replace(recipe, variant="CQ").check()


def test_nothing_to_learn_from_is_an_error(bench, encoder, tmp_path):
    alone = replace(bench, queries=[Query("x", "zebra", "zebra", (), "train", "seen", "t", 1)])
    with pytest.raises(InputError, match="nothing to learn from"):
        train_codebook(alone, tmp_path / "wolf", encoder, RECIPE, work=tmp_path / "work")


def test_the_command(bench, encoder, tmp_path):
    write_benchmark(bench, tmp_path / "bench")
    words = ["codebook", str(tmp_path / "bench"), "-o", str(tmp_path / "wolf"), "--encoder", encoder]
    options = ["--M", "8", "--K", "4", "--epochs", "1", "--pretraining", "2", "--work", str(tmp_path / "work")]
    result = CliRunner().invoke(app, [*words, *options, "--variant", "WolfPQI"])
    assert result.exit_code == 0, result.output
    assert "distortion: " in result.stdout
    assert f"BM25 + {encoder}-WolfPQI(codebook={tmp_path / 'wolf'})-I(alpha=0.1)" in result.stderr.replace("\n", "")
