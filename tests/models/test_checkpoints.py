"""Checkpoints of every kind: a file that is gone is named or changes nothing, and no loader takes another kind."""

from __future__ import annotations

import json
import shutil
from typing import get_args

import numpy as np
import pytest

from qbench.errors import InputError, OptionError
from qbench.mining.tagger_parser import TaggerParser
from qbench.models.aggretriever import load_aggretriever
from qbench.models.multi_vector import load_multi_vector_encoder
from qbench.models.single_vector import load_encoder
from qbench.models.sparse import load_sparse_encoder
from qbench.models.tagger import Tagger
from qbench.models.tct_colbert import load_tct_colbert
from qbench.store import drafting
from qbench.training.kinds import Kind
from qbench.training.opening import open_student
from tests.encoder_factories import WORDS, tiny_bert
from tests.number_factories import WordVectors

KINDS = get_args(Kind)
TEXTS = ["the revenue of 2019", "profit", "in 2018 the group debt, of the reported tax"]
LOADERS = {
    "bi-encoder": load_encoder,
    "colbert": load_multi_vector_encoder,
    "splade": load_sparse_encoder,
    "aggretriever": load_aggretriever,
    "numcolbert": load_multi_vector_encoder,
    "codedcolbert": load_multi_vector_encoder,
    "deepquant": WordVectors,
}
FILES = ("config.json", "manifest.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", "README.md")
LISTED = ("modules.json", "sentence_bert_config.json", "config_sentence_transformers.json")
OWN = {
    "bi-encoder": (*LISTED, "1_Pooling/config.json"),
    "colbert": (
        *LISTED,
        "1_Dense/config.json",
        "1_Dense/model.safetensors",
        "2_MultiVectorMask/config.json",
        "3_Normalize/config.json",
    ),
    "splade": (*LISTED, "1_SpladePooling/config.json"),
    "aggretriever": ("aggretriever.json",),
    "deepquant": ("deepquant.json",),
}
OWN["codedcolbert"] = OWN["colbert"]
OWN["numcolbert"] = (*OWN["colbert"], "numeric_heads.json", "numeric_heads.safetensors")
CASES = [(kind, name) for kind in KINDS for name in (*FILES, *OWN[kind])]


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory):
    """A checkpoint of each kind, saved as training saves it, with a file about it that nothing reads."""
    folder = tmp_path_factory.mktemp("checkpoints")
    base = tiny_bert(folder / "base", [*WORDS, ",", "."], head=True)
    for kind in KINDS:
        student = open_student(kind, str(base), max_length=16)
        with drafting(folder / kind, kind, "key", {}) as draft:
            student.save(draft.folder)
            (draft.folder / "README.md").write_text("About it.\n")
    with drafting(folder / "description-parser", "description-parser", "key", {}) as draft:
        Tagger.new(base, 0, 8).save(draft.folder)
    return folder


def vectors(kind, folder):
    """The texts in both roles, as one array."""
    encoder = LOADERS[kind](str(folder))
    found = [encoder.encode(TEXTS, role) for role in ("query", "document")]
    if kind in ("colbert", "numcolbert", "codedcolbert", "deepquant"):
        found = [part for _, part in found]
    if kind == "splade":
        found = [part.toarray() for part in found]
    return np.concatenate(found)


def test_the_cases_are_all_files(checkpoints):
    for kind in KINDS:
        files = {path.relative_to(checkpoints / kind).as_posix() for path in (checkpoints / kind).rglob("*.*")}
        assert files == {*FILES, *OWN[kind]}


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_a_file_that_is_gone_is_named_or_changes_nothing(checkpoints, tmp_path, kind, name):
    copy = shutil.copytree(checkpoints / kind, tmp_path / "copy")
    (copy / name).unlink()
    if name in ("manifest.json", "README.md"):
        np.testing.assert_array_equal(vectors(kind, copy), vectors(kind, checkpoints / kind))
        return
    with pytest.raises(InputError, match=rf"copy: this checkpoint is not whole: it lacks {name}\. Copy the"):
        LOADERS[kind](str(copy))


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_was_cut_or_changed_is_named(checkpoints, tmp_path, kind):
    for name in ("model.safetensors", "tokenizer_config.json"):
        copy = shutil.copytree(checkpoints / kind, tmp_path / name)
        content = (copy / name).read_bytes()
        for changed in (content[:-1], content[:-1] + b" "):
            (copy / name).write_bytes(changed)
            with pytest.raises(InputError, match=rf"not as it was written: {name} was changed\. Copy .* manifest"):
                LOADERS[kind](str(copy))


def test_weights_are_compared_too(tmp_path):
    from qbench.models.folders import require_whole

    with drafting(tmp_path / "a", "colbert", "key", {}) as draft:
        (draft.folder / "model.safetensors").write_bytes(bytes(2**20))
    require_whole(tmp_path / "a")
    with (tmp_path / "a" / "model.safetensors").open("r+b") as stream:
        stream.seek(2**19)
        stream.write(b"\1")
    with pytest.raises(InputError, match=r"model.safetensors was changed"):
        require_whole(tmp_path / "a")


@pytest.mark.parametrize(
    ("kind", "name"),
    [(kind, name) for kind in ("bi-encoder", "colbert", "splade") for name in OWN[kind] if name.endswith(".json")],
)
def test_without_a_manifest_what_the_modules_need_must_be_there(checkpoints, tmp_path, kind, name):
    copy = shutil.copytree(checkpoints / kind, tmp_path / "copy")
    for gone in ("manifest.json", name):
        (copy / gone).unlink()
    if (kind, name) == ("bi-encoder", "config_sentence_transformers.json"):  # old folders have none
        np.testing.assert_array_equal(vectors(kind, copy), vectors(kind, checkpoints / kind))
        return
    with pytest.raises(InputError, match=rf"copy: this model is not whole: it lacks {name}, .*\. Copy, fetch or save"):
        LOADERS[kind](str(copy))


def test_a_normalisation_without_a_folder_is_whole(checkpoints, tmp_path):
    """Git keeps no empty folders, and old versions wrote nothing into this one."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize

    model = SentenceTransformer(str(checkpoints / "bi-encoder"), device="cpu")
    model.append(Normalize())
    model.save_pretrained(str(tmp_path / "normal"), create_model_card=False)
    shutil.rmtree(tmp_path / "normal" / "2_Normalize", ignore_errors=True)
    np.testing.assert_allclose(
        vectors("bi-encoder", tmp_path / "normal"), vectors("bi-encoder", checkpoints / "bi-encoder"), atol=1e-6
    )


def test_a_description_parser_that_lacks_a_file_is_named(checkpoints, tmp_path):
    copy = shutil.copytree(checkpoints / "description-parser", tmp_path / "copy")
    (copy / "tokenizer_config.json").unlink()
    with pytest.raises(InputError, match=r"not whole: it lacks tokenizer_config\.json"):
        TaggerParser(copy)


IS = {
    "bi-encoder": r"this is a single-vector model, .*the system SBERT searches with this one",
    "colbert": r"this is a multi-vector model, .*the system ColBERT searches with this one",
    "splade": r"this is a sparse model, .*the system SPLADE searches with this one",
    "aggretriever": r"this is an Aggretriever, .*the system Aggretriever searches with this one",
    "description-parser": r"this is a description parser, .*Choose another",
}
TAKES = {
    load_encoder: {"bi-encoder"},
    load_tct_colbert: {"bi-encoder"},
    load_multi_vector_encoder: {"bi-encoder", "colbert"},
    load_sparse_encoder: {"bi-encoder", "splade"},
    load_aggretriever: {"bi-encoder", "splade", "aggretriever"},
}


@pytest.mark.parametrize("kind", IS)
@pytest.mark.parametrize("load", TAKES)
def test_another_kind_is_told_with_the_system_that_searches_with_it(checkpoints, load, kind):
    if kind in TAKES[load]:
        load(str(checkpoints / kind))
    else:
        with pytest.raises(InputError, match=rf"{kind}: {IS[kind]}"):
            load(str(checkpoints / kind))


@pytest.mark.parametrize("kind", KINDS)
def test_a_length_that_leaves_no_room_for_a_word_is_refused(checkpoints, kind):
    markers = 3 if "colbert" in kind or kind == "deepquant" else 2  # [CLS], [SEP], and [D]
    long = "the revenue of 2019 " * 50
    said = f"{markers} tokens stand .* Raise max_length to {markers + 1}"
    for length in range(1, markers + 1):
        with pytest.raises(OptionError, match=said):
            LOADERS[kind](str(checkpoints / kind), max_length=length)
        with pytest.raises(OptionError, match=said):
            open_student(kind, str(checkpoints / kind), max_length=length)
    encoder = LOADERS[kind](str(checkpoints / kind), max_length=markers + 1)
    found = [encoder.encode([text]) for text in (long, "profit of 2019")]
    one, other = [part.toarray() for part in found] if kind == "splade" else [part[-1] for part in found]
    assert not np.allclose(one, other)
    assert encoder.cut([long, "profit"]).tolist() == [True, False]


@pytest.mark.parametrize("kind", ["bi-encoder", "splade"])
def test_a_prompt_takes_room_from_the_text(checkpoints, tmp_path, kind):
    copy = shutil.copytree(checkpoints / kind, tmp_path / "copy")
    (copy / "manifest.json").unlink()
    path = copy / "config_sentence_transformers.json"
    prompts = {"query": "the tax ", "document": "in "}
    path.write_text(json.dumps({**json.loads(path.read_text()), "prompts": prompts}))
    with pytest.raises(OptionError, match="4 tokens stand around"):
        LOADERS[kind](str(copy), max_length=4)
    encoder = LOADERS[kind](str(copy), max_length=5)
    assert encoder.cut(["the revenue", "the revenue of"]).tolist() == [False, True]


@pytest.mark.parametrize("kind", ["aggretriever", "description-parser"])
def test_a_parser_is_not_made_of_what_holds_no_plain_encoder(checkpoints, kind):
    with pytest.raises(InputError, match=r"and an encoder is needed"):
        Tagger.new(checkpoints / kind, 0, 8)
