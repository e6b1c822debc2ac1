"""Contextual quantisation: the decoder by hand, tokens and their vectors alone, training, and search with it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from qbench.compression.contextual import Contextual, save_context
from qbench.compression.quantiser import KIND
from qbench.errors import InputError, OptionError
from qbench.models.contextual import ContextualQuantiser
from qbench.models.multi_vector import load_multi_vector_encoder
from qbench.retrieval.execute import execute
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.jobs import ExecuteOptions
from qbench.store import MANIFEST, drafting
from qbench.training.codebook import open_task, train_codebook
from qbench.training.codebook_data import encoder_stage, read_codebook_data
from qbench.training.codebook_task import quantiser_of
from qbench.training.losses.quantisers import margin_mse
from tests.compression.trained_codebook import drawn
from tests.encoder_factories import tiny_bert
from tests.number_factories import WORDS, operator_benchmark, random_deepquant
from tests.training.test_codebook import RECIPE, bench  # noqa: F401

CQ = replace(RECIPE, variant="CQ", M=4, K=8)


def test_a_vector_is_decoded_from_its_context_and_its_token():
    # Two parts of one number; the context adds (0.4, -0.1), whose nearest codewords are 0.5 and 0.
    network = ContextualQuantiser(np.array([[[0.0], [0.5]], [[0.0], [1.0]]], np.float32))
    alone = torch.tensor([[0.1, 0.2]])
    given = torch.cat([alone + torch.tensor([[0.4, -0.1]]), alone], dim=1)
    np.testing.assert_allclose(network(given).detach(), np.tanh([[0.6, 0.2]]), rtol=1e-5)
    with torch.no_grad():
        network.of_context.copy_(torch.tensor([[1.0, 0], [2, 0]]))
        network.of_token.copy_(torch.tensor([[0.0, 1], [1, 0]]))
        network.bias.copy_(torch.tensor([0.1, -0.1]))
    expected = np.tanh([[0.5 + 0.2 + 0.1, 1.0 + 0.1 - 0.1]])
    np.testing.assert_allclose(network(given).detach(), expected, rtol=1e-5)


@pytest.fixture
def codec(tmp_path):
    """A codec of 12 numbers and 300 words, and the network that it was made of."""
    network = ContextualQuantiser(drawn((4, 8, 3)) / 4).eval()
    with torch.no_grad():
        for part in (network.of_context, network.of_token, network.bias, network.selecting):
            part += torch.from_numpy(drawn(tuple(part.shape), 7)) / 10
    alone = drawn((300, 12), 1) / 4
    with drafting(tmp_path / "cq", KIND, "a key", {}) as draft:
        quantiser_of(network).save(draft.folder, variant="CQ", vectors={})
        words = network.words(torch.from_numpy(alone)).detach().numpy()
        save_context(draft.folder, alone, words, network.of_context.detach().numpy())
    return Contextual(codebook=tmp_path / "cq").fit(np.empty((0, 12), np.float32)), network, alone


def test_the_codec_decodes_as_the_network_did(codec, tmp_path):
    fitted, network, alone = codec
    vectors, tokens = drawn((50, 12), 2) / 3, np.random.default_rng(0).integers(0, 300, 50)
    arrays = fitted.encode_tokens(vectors, tokens)
    assert {name: (array.shape, array.dtype) for name, array in arrays.items()} == {
        "codes": ((50, 2), np.uint8),  # four codes of 3 bits
        "tokens": ((50,), np.uint16),
    }
    given = torch.from_numpy(np.concatenate([vectors, alone[tokens]], axis=1))
    np.testing.assert_allclose(fitted.decode(arrays), network(given).detach(), atol=1e-6)
    queries = drawn((3, 12), 5)
    scores = fitted.scores(fitted.tables(queries), arrays)
    np.testing.assert_allclose(scores, queries @ fitted.decode(arrays).T, atol=1e-5)
    fitted.save(tmp_path)
    np.testing.assert_array_equal(fitted.opened(tmp_path).decode(arrays), fitted.decode(arrays))


def test_what_it_cannot_encode_is_refused(codec):
    fitted, _, _ = codec
    with pytest.raises(InputError, match="no such word"):
        fitted.encode_tokens(drawn((1, 12)), np.array([300]))
    with pytest.raises(OptionError, match="vectors of tokens"):
        fitted.encode(drawn((1, 12)))


@pytest.fixture(scope="module")
def model(bench, tmp_path_factory):  # noqa: F811
    words = [word for text in bench.corpus["text"] for word in text.lower().split()]
    return str(tiny_bert(tmp_path_factory.mktemp("colbert") / "tiny", words))


def test_tokens_are_those_that_vectors_stand_for(model, bench):  # noqa: F811
    encoder = load_multi_vector_encoder(model)
    texts = [*bench.corpus["text"].to_list(), "", "...", "km " * 600]
    lengths, vectors = encoder.encode(texts)
    counted, tokens = encoder.token_ids(texts)
    np.testing.assert_array_equal(counted, lengths)
    assert len(tokens) == len(vectors)
    word = next(w for w in texts[0].lower().split() if w in encoder.model.tokenizer.get_vocab())
    alone = encoder.alone()
    assert alone.shape == (len(encoder.model.tokenizer), vectors.shape[1])
    _, own = encoder.encode([word])
    number = encoder.model.tokenizer.convert_tokens_to_ids(word)
    place = encoder.token_ids([word])[1].tolist().index(number)
    np.testing.assert_allclose(own[place], alone[number], atol=1e-5)


def test_training_lowers_the_loss(model, bench, tmp_path):  # noqa: F811
    stage = encoder_stage(f"ColBERT(model={model})", tokens=True)
    recipe = replace(CQ, lr=1e-2, pretraining=20)
    task = open_task(read_codebook_data(bench, stage, tmp_path, recipe, lambda *_: None), recipe)
    assert task.evaluate()["distortion"] < task._started
    task.network.train()
    everything = np.arange(len(task.data.pairs.queries))
    optimizer, before = task.optimizer(), task.loss(everything, 0, 1).item()
    for _ in range(40):
        optimizer.zero_grad()
        task.loss(everything, 0, 1).backward()
        optimizer.step()
    assert task.loss(everything, 0, 1).item() < 0.8 * before


def test_the_loss_is_that_of_all_tokens(model, bench, tmp_path):  # noqa: F811
    stage = encoder_stage(f"ColBERT(model={model})", tokens=True)
    task = open_task(read_codebook_data(bench, stage, tmp_path, CQ, lambda *_: None), CQ)
    batch, network = np.arange(len(task.data.pairs.queries)), task.network.train()
    network.zero_grad()
    loss = task.loss(batch, 0, 1)
    assert network.training
    loss.backward()
    gradients = {name: part.grad.clone() for name, part in network.named_parameters() if part.grad is not None}
    network.zero_grad()
    distinct, places = task.texts(batch)
    queries, scores = torch.from_numpy(task.data.pairs.queries), []
    for text in distinct:
        given = torch.from_numpy(task.sampled(task._rows(np.array([text]))[0]))
        whole, decoded = given[:, : queries.shape[2]], torch.from_numpy(task.quantised()(given.numpy()))
        nearest = network(given)[(queries @ decoded.T).argmax(dim=2)]  # the first of tokens that are as near
        both = ((queries @ whole.T).amax(dim=2), (queries * nearest).sum(dim=2))
        scores.append(torch.stack([products.sum(dim=1) for products in both], dim=1))
    found = torch.stack(scores, dim=1)  # (queries, texts, 2)
    taught, learnt = (found[..., side].gather(1, places.flatten(1)).reshape(places.shape) for side in (0, 1))
    expected = margin_mse(taught, learnt)
    expected.backward()
    np.testing.assert_allclose(loss.item(), expected.item(), rtol=1e-4)
    assert gradients["selecting"].abs().sum() > 0  # depends on which of several tokens with one code it is
    for name in ("codewords", "of_context", "of_token", "bias"):
        own = network.get_parameter(name).grad
        np.testing.assert_allclose(gradients[name], own, atol=1e-3 * float(own.abs().max()))
    with torch.no_grad():
        network.log_factor.fill_(0.5)
        factored = margin_mse(taught, learnt * np.exp(0.5)).item()
        np.testing.assert_allclose(task.loss(batch, 0, 1).item(), factored, rtol=1e-4)
        task.recipe = replace(CQ, factor="none")
        np.testing.assert_allclose(task.loss(batch, 0, 1).item(), expected.item(), rtol=1e-4)


def test_scores_on_dev_are_those_of_search(model, bench, tmp_path):  # noqa: F811
    encoder, work = f"ColBERT(model={model}, dtype=float32)", tmp_path / "work"
    manifest = train_codebook(bench, tmp_path / "cq", encoder, CQ, work=work)
    assert manifest.counts["dev"] is not None
    name = f"BM25 + {encoder}-CQ(codebook={tmp_path / 'cq'})"
    result = execute(bench, [parse_system(name)], work, ExecuteOptions())[0]
    (folder,) = [path.parent for path in work.rglob("codes.npy")]
    assert '"codec": "CQ"' in (folder / MANIFEST).read_text()
    tokens, codes = (np.load(folder / f"{what}.npy") for what in ("tokens", "codes"))
    assert result.meta["reranker_codes_bytes"] == tokens.nbytes + codes.nbytes
    stage = encoder_stage(encoder, tokens=True)
    data = read_codebook_data(bench, stage, work, CQ, lambda *_: None)
    np.testing.assert_array_equal(tokens, data.tokens)
    task = open_task(data, CQ)
    codec = Contextual(codebook=tmp_path / "cq").opened(folder)
    query, texts = data.pairs.queries[0], np.array([2, 0, 2])
    decoded = codec.decode({"codes": codes, "tokens": tokens})
    starts = data.vectors.starts
    expected = [(query @ decoded[starts[text] : starts[text + 1]].T).max(axis=1).sum() for text in texts]

    def stored(given):
        return codec.decode(codec.encode_tokens(given[:, : given.shape[1] // 2], task.tokens[task._rows(texts)[0]]))

    np.testing.assert_allclose(task.relevance(query, texts, stored), expected, rtol=1e-5)


def test_the_words_of_a_deepquant_take_it_and_its_numbers_stay(tmp_path):
    benchmark = operator_benchmark()
    model = random_deepquant(tiny_bert(tmp_path / "plain", WORDS, positions=48), tmp_path / "model")
    encoder, work = f"DeepQuant(model={model}, dtype=float32)", tmp_path / "work"
    stage = encoder_stage(encoder, tokens=True)
    data = read_codebook_data(benchmark, stage, work, CQ, lambda *_: None)
    # "the weight of lamps is 2 kg": the number is none of the words; and a word alone has the vector that it is given.
    words = data.encoder.model.tokenizer.convert_ids_to_tokens(data.tokens[data.vectors.starts[0] :][:9].tolist())
    assert [word for word in words if word[0] != "["] == ["the", "weight", "of", "lamps", "is", "kg"]
    place = data.encoder.model.tokenizer.convert_tokens_to_ids("lamps")
    lengths, tokens = data.encoder.token_ids(["lamps"], [[]])
    own = data.encoder.documents(["lamps"], [[]]).vectors[tokens.tolist().index(place)]
    np.testing.assert_allclose(data.encoder.alone()[place], own, atol=1e-5)
    assert lengths.tolist() == [len(tokens)]
    train_codebook(benchmark, tmp_path / "cq", encoder, CQ, work=work)
    names = [f"BM25 + {encoder}", f"BM25 + {encoder}-CQ(codebook={tmp_path / 'cq'})"]
    options = ExecuteOptions(split="train")
    whole, *_, coded = execute(benchmark, [parse_system(name) for name in names], work, options)
    assert coded.meta["reranker_numbers"] == whole.meta["reranker_numbers"] > 0
    assert coded.meta["reranker_compression"] != 1


def test_one_vector_for_each_text_has_no_tokens(model, bench, codec, tmp_path):  # noqa: F811
    system = parse_system(f"SBERT(model={model})-CQ(codebook={codec[0].codebook})")
    with pytest.raises(OptionError, match="do not stand for one word each"):
        execute(bench, [system], tmp_path, ExecuteOptions())
    with pytest.raises(OptionError, match="a vector for each token, such as ColBERT"):
        train_codebook(bench, tmp_path / "new", f"TCT-ColBERT(model={model})", CQ, work=tmp_path)
