"""DeepQuant around a tiny encoder: what goes in, what each part of its score is, saving, odd numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from qbench.errors import InputError, OptionError  # noqa: E402
from qbench.models.deepquant import DeepQuant, deepquant_from, load_deepquant  # noqa: E402
from qbench.models.deepquant_encoder import DeepQuantEncoder  # noqa: E402
from qbench.models.multi_vector import load_multi_vector_encoder  # noqa: E402
from qbench.models.numbers import Number, UnitList  # noqa: E402
from qbench.scoring.maxsim import TokenVectors  # noqa: E402
from qbench.scoring.number_relevance import AskedNumbers, StatedNumbers, scored  # noqa: E402
from tests.encoder_factories import tiny_bert  # noqa: E402
from tests.number_factories import WORDS, random_deepquant  # noqa: E402

TEXTS = ["the weight is 5 kg .", "lamps , boxes", "a length of 3 m with a weight of 20 kg"]
NUMBERS = [
    [Number(5, "kilogram", (14, 15), (16, 18))],
    [],
    [Number(3, "metre", (12, 13)), Number(20, "kilogram", (33, 35))],
]
QUERIES = ["lamps under 7 kg", "boxes"]
ASKED = [[Number(7, "kilogram", (12, 13), operator="<")], []]


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return tiny_bert(tmp_path_factory.mktemp("plain") / "plain", WORDS, positions=64, head=True)


@pytest.fixture(scope="module")
def saved(plain, tmp_path_factory):
    return random_deepquant(plain, tmp_path_factory.mktemp("deepquant") / "model")


@pytest.fixture(scope="module")
def model(saved):
    return load_deepquant(str(saved))


@pytest.fixture(scope="module")
def parts(model):
    with torch.no_grad():
        return model.parts(model.contextual(QUERIES, ASKED, "query"), model.contextual(TEXTS, NUMBERS))


def test_a_number_is_one_token_with_its_own_input_and_its_unit_stays(model, monkeypatch):
    (tokens,) = model.tokens(TEXTS[:1], NUMBERS[:1], "document")
    assert model.tokenizer.convert_ids_to_tokens(tokens.ids) == [
        "[CLS]", "[D]", "the", "weight", "is", "[num]", "kg", ".", "[SEP]",
    ]  # fmt: skip
    assert tokens.places == [5]
    given = []
    monkeypatch.setattr(model.encoder, "forward", lambda **kept: given.append(kept) or stop())

    def stop():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.contextual(TEXTS[:1], NUMBERS[:1])
    (row,) = given[0]["inputs_embeds"]
    table = model.encoder.get_input_embeddings().weight
    added = model.number(torch.tensor([5.0]), torch.tensor([0]))[0]
    torch.testing.assert_close(row[5], table[model.token] + added)
    torch.testing.assert_close(row[6], table[tokens.ids[6]])


def test_numbers_and_punctuation_take_no_part_in_maxsim(model):
    seen = model.contextual(TEXTS, NUMBERS)
    assert seen.words[0].tolist()[:9] == [True] * 5 + [False, True, False, True]
    assert seen.places.tolist() == [[5, -1], [-1, -1], [5, 11]]
    assert seen.members.tolist() == [[0, -1], [-1, -1], [1, 2]]
    torch.testing.assert_close(seen.numbers, seen.vectors[[0, 2, 2], [5, 5, 11]])


def test_the_score_is_a_mixture(model, parts):
    assert parts.text.shape == parts.quantity.shape == parts.score.shape == (2, 3)
    alpha = parts.alpha[0].item()
    assert 0 < alpha < 1
    torch.testing.assert_close(parts.score[0], (1 - alpha) * parts.quantity[0] + alpha * parts.text[0])
    assert (parts.quantity[0, [0, 2]] > 0).all()
    assert (parts.quantity[0] <= 1).all()


def test_without_numbers_it_is_the_colbert_that_it_came_from(plain, model, parts):
    assert parts.alpha[1] == 1
    assert parts.quantity[0, 1] == 0
    assert (parts.quantity[1] == 0).all()
    torch.testing.assert_close(parts.score[1], parts.text[1])
    colbert = load_multi_vector_encoder(str(plain))
    encoder = DeepQuantEncoder(model)
    texts = ["lamps , boxes", "", "the weight"]
    made = encoder.documents(texts, [[]] * 3)
    lengths, vectors = colbert.encode(texts)
    assert made.lengths.tolist() == lengths.tolist()
    np.testing.assert_allclose(made.vectors, vectors, atol=1e-5)
    (query,) = encoder.queries(["the boxes"], [[]])
    np.testing.assert_allclose(query.vectors, colbert.encode(["the boxes"], "query")[1], atol=1e-5)
    assert (query.alpha, query.operators.shape) == (1, (0, 3))


@pytest.mark.parametrize("text_score", ["sum", "mean"])
def test_stored_arrays_give_the_score_of_the_model(plain, tmp_path, text_score):
    model = load_deepquant(str(random_deepquant(plain, tmp_path / "model", text_score=text_score)))
    with torch.no_grad():
        wanted = model.parts(model.contextual(QUERIES, ASKED, "query"), model.contextual(TEXTS, NUMBERS)).score
    encoder = DeepQuantEncoder(model, batch=2)
    made = encoder.documents(TEXTS, NUMBERS)
    starts, number_starts = (np.append(0, np.cumsum(counts)) for counts in (made.lengths, made.counts))
    tokens = TokenVectors(starts, made.vectors)
    numbers = StatedNumbers(number_starts, made.towers, made.units)
    for query, row in zip(encoder.queries(QUERIES, ASKED), wanted, strict=True):
        divisor = len(query.vectors) if text_score == "mean" else 1.0
        asked = AskedNumbers(query.vectors, query.operators, query.towers, query.units, query.alpha, divisor)
        np.testing.assert_allclose(scored(tokens, numbers, asked, np.arange(3)), row.numpy(), rtol=1e-4)


def test_several_constraints_add_up(model):
    text = "lamps under 7 kg with a length over 2 m"
    both = [Number(7, "kilogram", (12, 13), operator="<"), Number(2, "metre", (36, 37), operator=">")]
    with torch.no_grad():
        texts, queries = model.contextual(TEXTS, NUMBERS), model.contextual([text], [both], "query")
        whole = model.parts(queries, texts)
        halves = [
            replace(queries, places=queries.places[:, [place]]) for place in range(2)
        ]  # the same vectors, one number at a time
        each = [model.parts(half, texts).quantity for half in halves]
    torch.testing.assert_close(whole.quantity, each[0] + each[1])


def test_odd_numbers_and_many_of_them(model):
    values = [1e-300, 1e300, -1e300, -5.0, 0.0, 5e-324]
    text = " ".join("1" for _ in values)
    numbers = [Number(value, "parsec", (2 * place, 2 * place + 1)) for place, value in enumerate(values)]
    many = " ".join(["1 kg"] * 200)
    two_hundred = [Number(1.0, "kilogram", (5 * place, 5 * place + 1)) for place in range(200)]
    encoder = DeepQuantEncoder(model)
    made = encoder.documents([text, many, ""], [numbers, two_hundred, []])
    # Two hundred and their units are 400 tokens: what lies behind the 64 that are read is left out.
    assert made.counts.tolist() == [6, 31, 0]
    assert np.isfinite(made.towers).all()
    with torch.no_grad():
        score = model.parts(
            model.contextual(["over 1"], [[Number(1e300, "lightyear", (5, 6))]], "query"),
            model.contextual([text, many, ""], [numbers, two_hundred, []]),
        ).score
    assert torch.isfinite(score).all()


def test_a_saved_model_is_the_same(model, saved, tmp_path):
    model.save(tmp_path)
    again = DeepQuant.load(tmp_path)
    assert again.config == model.config == load_deepquant(str(saved)).config
    assert not [path for path in tmp_path.rglob("*") if path.suffix in (".bin", ".pt", ".pkl")]
    with torch.no_grad():
        one, two = (each.contextual(TEXTS, NUMBERS).vectors for each in (model, again))
    assert torch.equal(one, two)


def test_a_checkpoint_with_another_list_of_units_is_taken_over_by_name(saved, model):
    other, start = deepquant_from(str(saved))
    assert start == ""
    other.know(UnitList(("metre", "parsec", "kilogram")))
    vectors = torch.randn(3, 32)
    with torch.no_grad():
        before, after = model.heads.units(vectors), other.heads.units(vectors)
    torch.testing.assert_close(after[:, [0, 1, 3]], before[:, [0, 4, 3]])
    assert other.units.names == other.config.units == ("metre", "parsec", "kilogram")


def test_weights_of_another_list_of_units_are_refused(saved, tmp_path):
    from qbench.store import read_json, write_json

    copy = tmp_path / "copy"
    copy.mkdir()
    for path in saved.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    config = read_json(copy / "deepquant.json")
    write_json(copy / "deepquant.json", {**config, "units": config["units"][:2]})
    with pytest.raises(InputError, match=r"weights cannot be read"):
        load_deepquant(str(copy))


def test_it_goes_on_from_a_trained_colbert(plain, tmp_path):
    colbert = load_multi_vector_encoder(str(plain))
    with torch.no_grad():
        colbert.model[1].linear.weight.mul_(torch.randn(32, 1))
    colbert.model.save(str(tmp_path / "colbert"))
    made, start = deepquant_from(str(tmp_path / "colbert"))
    assert "random" in start
    torch.testing.assert_close(made.projection.weight, colbert.model[1].linear.weight)
    assert made.config.query_length == 32


def test_what_is_no_deepquant_is_refused(plain, saved, tmp_path):
    with pytest.raises(InputError, match="a DeepQuant"):
        load_deepquant(str(plain))
    with pytest.raises(InputError, match=r"this is a DeepQuant.*the system DeepQuant searches"):
        load_multi_vector_encoder(str(saved))
    with pytest.raises(OptionError, match="reads at most 64"):
        load_deepquant(str(saved), 65)
    colbert = load_multi_vector_encoder(str(plain)).model
    colbert.tokenizer.cls_token = None
    with pytest.raises(OptionError, match=r"\[CLS\]"):
        DeepQuant(colbert[0].model, colbert.tokenizer, replace(load_deepquant(str(saved)).config))


def test_a_limit_cuts_documents_and_not_queries(saved):
    short = load_deepquant(str(saved), 6)
    assert short.cut(["the weight of lamps", "lamps"]).tolist() == [True, False]
    assert [len(t.ids) for t in short.tokens([TEXTS[2]] * 2, [NUMBERS[2]] * 2, "document")] == [6, 6]
    (query,) = short.tokens(TEXTS[2:], NUMBERS[2:], "query")
    assert len(query.places) == 2


def test_an_encoder_may_read_smaller_vectors_than_it_gives(plain, tmp_path):
    from transformers import AutoTokenizer, ElectraConfig, ElectraModel

    tokenizer = AutoTokenizer.from_pretrained(plain)
    sizes = {"embedding_size": 16, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = ElectraConfig(vocab_size=len(tokenizer), intermediate_size=64, max_position_embeddings=64, **sizes)
    ElectraModel(config).save_pretrained(tmp_path / "electra")
    tokenizer.save_pretrained(tmp_path / "electra")
    made, _ = deepquant_from(str(tmp_path / "electra"))
    made.save(tmp_path / "model")
    loaded = load_deepquant(str(tmp_path / "model"))
    with torch.no_grad():
        small, large = (loaded.contextual(["5 kg"], [[Number(x, "", (0, 1))]]).numbers for x in (5, 5000))
    assert small.shape == (1, 32)
    assert not torch.allclose(small, large)
