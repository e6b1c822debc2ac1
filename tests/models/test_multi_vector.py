"""Late-interaction encoders: what ColBERT says by hand, what sentence-transformers gives, every layout, bad folders."""

from __future__ import annotations

import json
import shutil
import sys

import numpy as np
import pytest

from qbench.errors import InputError, MissingPackageError, OptionError
from qbench.models.colbert_start import QUERY_LENGTH, principal_directions
from qbench.models.mlm_head import knows_masks
from qbench.models.multi_vector import MultiVector, load_multi_vector_encoder, load_multi_vector_model
from tests.encoder_factories import THINGS, WORDS, YEARS, tiny_bert

MARKS = [".", ",", "%"]
TEXTS = [f"the {thing}, of {year}." for thing, year in zip(THINGS, YEARS * 2, strict=False)]


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return tiny_bert(tmp_path_factory.mktemp("plain") / "plain", [*WORDS, *MARKS], positions=64, head=True)


@pytest.fixture(scope="module")
def encoder(plain):
    return load_multi_vector_encoder(str(plain), batch=4)


@pytest.fixture(scope="module")
def saved(encoder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved") / "saved"
    encoder.model.save(str(folder))
    return folder


def parts(lengths, vectors):
    return np.split(vectors, np.cumsum(lengths)[:-1])


def by_hand(folder, text, role, unseen=None):
    """The vectors of a text as the equations say, from the files of a folder that sentence-transformers saved."""
    import torch
    from safetensors.torch import load_file
    from transformers import AutoModel, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder)
    marker = {"query": "[Q]", "document": "[D]"}[role]
    ids = tokenizer.convert_tokens_to_ids(["[CLS]", marker, *tokenizer.tokenize(text), "[SEP]"])
    seen = [1] * len(ids)
    if role == "query":
        missing = max(QUERY_LENGTH - len(ids), 0)
        ids, seen = ids + [tokenizer.mask_token_id] * missing, seen + [0] * missing
    with torch.no_grad():
        hidden = model(torch.tensor([ids]), attention_mask=torch.tensor([seen])).last_hidden_state[0]
        vectors = hidden @ load_file(folder / "1_Dense" / "model.safetensors")["linear.weight"].T
    marks = set(tokenizer.convert_tokens_to_ids(MARKS)) if role == "document" else set()
    kept = [place for place, token in enumerate(ids) if token not in marks]
    return torch.nn.functional.normalize(vectors[kept], dim=-1).numpy()


@pytest.mark.parametrize("role", ["query", "document"])
def test_it_is_what_the_equations_say(encoder, saved, role):
    texts = [*TEXTS, "", "...", "the revenue, " * 5]
    lengths, vectors = encoder.encode(texts, role)
    assert (lengths.dtype, vectors.dtype) == (np.int64, np.float32)
    assert vectors.shape == (lengths.sum(), encoder.dimension)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)
    for text, part in zip(texts, parts(lengths, vectors), strict=True):
        np.testing.assert_allclose(part, by_hand(saved, text, role), atol=1e-5)


@pytest.mark.parametrize("role", ["query", "document"])
def test_offsets_are_the_characters_of_each_vector(plain, role):
    texts = ["the revenue, of 2020.", "", "...", "revenue", "the revenue, " * 40, "tax"]
    for limit in (0, 9):
        encoder = load_multi_vector_encoder(str(plain), batch=4, max_length=limit)
        lengths, _ = encoder.encode(texts, role)
        found = encoder.offsets(texts, role)
        assert [len(spans) for spans in found] == lengths.tolist()
        said = [
            [text[start:end] for start, end in spans if end > start] for text, spans in zip(texts, found, strict=True)
        ]
        if role == "document":  # without punctuation
            assert said[0] == ["the", "revenue", "of", "2020"]
            assert said[1:3] == [[], []]
            assert len(said[4]) < 80
        else:
            assert said[0] == ["the", "revenue", ",", "of", "2020", "."]
        assert said[3] == ["revenue"]
        assert (found[3][0], found[3][-1]) == ((0, 0), (0, 0)), "markers"


def test_queries_are_filled_up_and_long_ones_stay_whole(encoder):
    lengths, _ = encoder.encode(["", "the revenue", "the " * 29, "the " * 40], "query")
    assert lengths.tolist() == [QUERY_LENGTH, QUERY_LENGTH, QUERY_LENGTH, 43]


def test_queries_are_not_filled_up_where_no_head_says_what_a_mask_is(tmp_path):
    from transformers import GPT2Config, GPT2Model

    headless = load_multi_vector_encoder(str(tiny_bert(tmp_path / "headless", WORDS)))
    lengths, vectors = headless.encode(["", "the revenue"], "query")
    assert lengths.tolist() == [3, 5]
    headless.model.save(str(tmp_path / "saved"))
    again = load_multi_vector_encoder(str(tmp_path / "saved")).encode(["", "the revenue"], "query")
    np.testing.assert_allclose(again[1], vectors, atol=1e-6)
    GPT2Model(GPT2Config(vocab_size=8, n_positions=4, n_embd=4, n_layer=1, n_head=1)).save_pretrained(tmp_path / "gpt")
    assert not knows_masks(tmp_path / "gpt")  # of a build without such a head


def test_documents_lose_punctuation_and_an_empty_one_keeps_its_markers(encoder):
    lengths, _ = encoder.encode(["", "... % , .", "the revenue, of 2019."])
    assert lengths.tolist() == [3, 3, 7]
    assert encoder.encode([])[1].shape == (0, encoder.dimension)


def test_a_saved_model_gives_the_same_and_so_does_sentence_transformers(encoder, saved):
    from sentence_transformers import MultiVectorEncoder

    again, theirs = load_multi_vector_encoder(str(saved)), MultiVectorEncoder(str(saved), device="cpu")
    assert (encoder.trained, again.trained) == (False, True)
    for role, encode in (("query", theirs.encode_query), ("document", theirs.encode_document)):
        lengths, vectors = again.encode(TEXTS, role)
        expected = [np.asarray(part) for part in encode(TEXTS, convert_to_numpy=True)]
        assert lengths.tolist() == [len(part) for part in expected]
        np.testing.assert_allclose(vectors, np.concatenate(expected), atol=1e-6)
        np.testing.assert_allclose(encoder.encode(TEXTS, role)[1], vectors, atol=1e-6)


def test_the_same_start_every_time_whatever_the_global_seed(plain, encoder):
    import torch

    with torch.random.fork_rng():
        torch.manual_seed(99)
        before = torch.random.get_rng_state()
        again = load_multi_vector_encoder(str(plain))
        assert torch.equal(before, torch.random.get_rng_state())
    one, two = (made.model[1].linear.weight.detach().numpy() for made in (again, encoder))
    assert one.tobytes() == two.tobytes()


def test_unused_words_are_markers_where_there_are_some(tmp_path):
    folder = tiny_bert(tmp_path / "unused", [*WORDS, "[unused0]", "[unused1]"])
    size = json.loads((folder / "config.json").read_text())["vocab_size"]
    model = load_multi_vector_model(str(folder))
    assert model.prompts == {"query": "[unused0] ", "document": "[unused1] "}
    assert model.tokenizer.tokenize("[unused1] the revenue") == ["[unused1]", "the", "revenue"]
    assert len(model.tokenizer) == model.transformers_model.config.vocab_size == size


def test_new_markers_start_at_the_mean_word(encoder, plain):
    from transformers import AutoModel

    words = AutoModel.from_pretrained(plain).embeddings.word_embeddings.weight.detach().numpy()
    made = encoder.model.transformers_model.get_input_embeddings().weight.detach().numpy()
    np.testing.assert_array_equal(made[: len(words)], words)
    np.testing.assert_allclose(made[len(words) :], np.tile(words.mean(axis=0), (2, 1)), atol=1e-6)


def test_a_single_vector_model_starts_one_too(encoder, plain, tmp_path):
    from sentence_transformers import SentenceTransformer

    SentenceTransformer(str(plain), device="cpu").save(str(tmp_path / "single"))
    started = load_multi_vector_encoder(str(tmp_path / "single"))
    assert not started.trained
    np.testing.assert_allclose(started.encode(TEXTS)[1], encoder.encode(TEXTS)[1], atol=1e-5)


def test_the_projection_has_the_principal_directions():
    rng = np.random.default_rng(5)
    vectors = (rng.standard_normal((500, 12)) * np.geomspace(9, 0.1, 12)).astype(np.float32)
    found = principal_directions(vectors, 4)
    np.testing.assert_allclose(found @ found.T, np.eye(4), atol=1e-5)
    _, _, expected = np.linalg.svd(vectors)
    np.testing.assert_allclose(np.abs((found * expected[:4]).sum(axis=1)), 1, atol=1e-4)
    assert (found[np.arange(4), np.abs(found).argmax(axis=1)] > 0).all()
    assert principal_directions(vectors, 99).shape == (12, 12)


def stanford(saved, folder):
    """The layout of the ColBERT authors: weights in one file, the rest in artifact.metadata."""
    from safetensors.torch import load_file, save_file

    shutil.copytree(saved, folder)
    weights = {f"bert.{name}": value for name, value in load_file(folder / "model.safetensors").items()}
    weights["linear.weight"] = load_file(folder / "1_Dense" / "model.safetensors")["linear.weight"]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
    for name in ("modules.json", "config_sentence_transformers.json", "sentence_bert_config.json"):
        (folder / name).unlink()
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "architectures": ["HF_ColBERT"]}))
    told = {"query_token_id": "[Q]", "doc_token_id": "[D]", "query_maxlen": 32, "doc_maxlen": 40}
    (folder / "artifact.metadata").write_text(json.dumps({**told, "mask_punctuation": True}))
    return folder


def pylate(saved, folder):
    """The layout of PyLate 1 to 3: two modules, markers and lengths beside the prompts."""
    shutil.copytree(saved, folder)
    modules = json.loads((folder / "modules.json").read_text())[:2]
    modules[1]["type"] = "pylate.models.Dense.Dense"
    (folder / "modules.json").write_text(json.dumps(modules))
    told = {"model_type": "ColBERT", "query_prefix": "[Q] ", "document_prefix": "[D] ", "query_length": 32}
    config = {**told, "document_length": 40, "attend_to_expansion_tokens": False, "skiplist_words": MARKS}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(config))
    transformer = json.loads((folder / "sentence_bert_config.json").read_text())
    transformer.pop("query_expansion")
    (folder / "sentence_bert_config.json").write_text(json.dumps(transformer))
    return folder


@pytest.mark.parametrize("layout", [stanford, pylate])
def test_other_layouts_are_read(encoder, saved, tmp_path, layout):
    other = load_multi_vector_encoder(str(layout(saved, tmp_path / layout.__name__)))
    assert other.trained
    for role in ("query", "document"):
        ours, theirs = encoder.encode(TEXTS, role), other.encode(TEXTS, role)
        assert ours[0].tolist() == theirs[0].tolist()
        np.testing.assert_allclose(ours[1], theirs[1], atol=1e-5)
    assert other.cut(["the " * 37, "the " * 38]).tolist() == [False, True]


def test_documents_are_cut_where_asked_and_which_is_told(plain, encoder):
    short = load_multi_vector_encoder(str(plain), max_length=5)  # two words between markers
    texts = ["the revenue of 2019 in", "the revenue"]
    assert short.cut(texts).tolist() == [True, False]
    assert encoder.cut([*texts, "the " * 10_000, "the " * 61, "the " * 62]).tolist() == [
        False,
        False,
        True,
        False,
        True,
    ]
    lengths, vectors = short.encode(texts)
    assert lengths.tolist() == [5, 5]
    np.testing.assert_allclose(vectors[:5], vectors[5:], atol=1e-5)
    assert encoder.encode(["the " * 10_000])[0].tolist() == [64]
    assert short.encode(["the revenue of 2019 in"], "query")[0].tolist() == [QUERY_LENGTH]
    with pytest.raises(OptionError, match="at most 64 tokens"):
        load_multi_vector_model(str(plain), max_length=65)
    with pytest.raises(OptionError, match="3 tokens stand around a text"):
        load_multi_vector_model(str(plain), max_length=3)


def test_a_text_of_which_nothing_is_kept_has_a_zero_vector(saved, tmp_path):
    bare = shutil.copytree(saved, tmp_path / "bare")
    path = bare / "2_MultiVectorMask" / "config.json"
    words = ["[CLS]", "[SEP]", "[D]", *MARKS]
    path.write_text(json.dumps({**json.loads(path.read_text()), "skiplist_words": words}))
    for half in (False, True):
        lengths, vectors = load_multi_vector_encoder(str(bare), half=half).encode(["the revenue", "", "..."])
        assert lengths.tolist() == [2, 1, 1]
        assert not vectors[2:].any()


def test_lengths_are_mended_in_half_precision_where_a_model_makes_them_1(saved, tmp_path):
    from sentence_transformers import MultiVectorEncoder

    model = MultiVectorEncoder(str(saved), device="cpu")
    free = MultiVector(MultiVectorEncoder(modules=list(model)[:-1], device="cpu"), half=True)
    whole = MultiVector(model, half=True)
    lengths = [np.linalg.norm(each.encode(TEXTS)[1], axis=1) for each in (whole, free)]
    np.testing.assert_allclose(lengths[0], 1, atol=1e-6)
    assert np.abs(lengths[1] - 1).max() > 0.01


@pytest.mark.parametrize("lost", ["model.safetensors", "tokenizer.json", "config.json", "1_Dense/model.safetensors"])
def test_a_folder_that_lacks_a_file_is_named(saved, tmp_path, lost):
    broken = shutil.copytree(saved, tmp_path / "broken")
    (broken / lost).unlink()
    with pytest.raises(InputError, match=r"broken: this model cannot be loaded: .*\. It needs"):
        load_multi_vector_encoder(str(broken))


def test_a_plain_folder_that_lacks_its_weights_is_named(plain, tmp_path):
    broken = shutil.copytree(plain, tmp_path / "broken")
    (broken / "model.safetensors").unlink()
    with pytest.raises(InputError, match="broken: this model cannot be loaded"):
        load_multi_vector_encoder(str(broken))


def test_weights_that_would_be_unpickled_are_refused(saved, tmp_path):
    broken = shutil.copytree(saved, tmp_path / "broken")
    (broken / "1_Dense" / "model.safetensors").rename(broken / "1_Dense" / "pytorch_model.bin")
    with pytest.raises(InputError, match=r"not safetensors: 1_Dense/pytorch_model\.bin"):
        load_multi_vector_encoder(str(broken))


@pytest.mark.parametrize(("name", "key", "value", "said"), [
    ("config_sentence_transformers.json", "model_type", "SparseEncoder", "this is a sparse model, and a ColBERT, or"),
    ("config_sentence_transformers.json", "model_type", "CrossEncoder", "this is a cross-encoder model"),
    ("config_sentence_transformers.json", "model_type", "Oracle", r"unknown kind \(found 'Oracle'\)"),
    ("config.json", "architectures", ["ColPaliForRetrieval"], "this is an image model"),
])  # fmt: skip
def test_a_model_of_another_kind_is_named(plain, tmp_path, name, key, value, said):
    other = shutil.copytree(plain, tmp_path / "other")
    path = other / name
    path.write_text(json.dumps({**(json.loads(path.read_text()) if path.exists() else {}), key: value}))
    with pytest.raises(InputError, match=f"other.*: .*{said}"):
        load_multi_vector_encoder(str(other))


def test_vectors_that_are_not_finite_name_their_text(saved, plain, tmp_path):
    import torch
    from transformers import AutoModel

    for folder, says in ((saved, r"not finite \(found 'the tax'\)"), (plain, "its vectors are not finite")):
        broken = shutil.copytree(folder, tmp_path / f"broken-{folder.name}")
        model = AutoModel.from_pretrained(folder)
        row = load_multi_vector_model(str(saved)).tokenizer.convert_tokens_to_ids("tax")
        with torch.no_grad():
            model.embeddings.word_embeddings.weight[row if folder == saved else slice(None)] = float("nan")
        model.save_pretrained(broken)
        with pytest.raises(InputError, match=says):
            load_multi_vector_encoder(str(broken)).encode(["the revenue", "the tax", "the debt of 2019"])


def test_batches_shrink_until_they_fit_the_gpu(encoder, monkeypatch):
    import torch

    tried, encode = [], encoder.model.encode_document

    def small(texts, *, batch_size, **options):
        tried.append(batch_size)
        if batch_size > 1:
            raise torch.cuda.OutOfMemoryError
        return encode(texts, batch_size=batch_size, **options)

    monkeypatch.setattr(encoder.model, "encode_document", small)
    lengths, _ = MultiVector(encoder.model, batch=4).encode(TEXTS)
    assert tried == [4, 2, 1]
    assert len(lengths) == len(TEXTS)


def test_without_the_extra_there_is_a_line_to_install_it(saved, monkeypatch):
    for name in ("torch", "sentence_transformers"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingPackageError, match=r"pip install 'qbench\[neural\]'"):
        load_multi_vector_encoder(str(saved))
