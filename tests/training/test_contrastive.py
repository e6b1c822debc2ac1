"""Retrievers tuned on triples: they learn, resume, open elsewhere; every kind by one experiment."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
import torch

from qbench.errors import InputError, OptionError
from qbench.models.aggretriever import load_aggretriever
from qbench.models.folders import model_digest, model_kind
from qbench.models.multi_vector import load_multi_vector_encoder
from qbench.models.single_vector import load_encoder
from qbench.models.sparse import load_sparse_encoder
from qbench.models.tct_colbert import load_tct_colbert
from qbench.scoring.maxsim import maxsim
from qbench.training import contrastive as module
from qbench.training import trainer
from qbench.training.contrastive import checkpoint_key, idle_options, setback, train_retriever
from qbench.training.dev import DevPool
from qbench.training.kinds import Kind
from qbench.training.opening import open_student
from qbench.training.recipes import ContrastiveRecipe
from qbench.training.students import MADE_HEAD_SCALE, SingleVectorStudent
from tests.encoder_factories import WORDS, regular_benchmark, tiny_bert
from tests.number_factories import WordVectors

BENCHMARK = regular_benchmark()
QUICK = ContrastiveRecipe(
    epochs=3, batch_size=12, lr=3e-3, negatives=2, dev_queries=6, patience=3, seed=5, evaluations=2
)
KINDS = get_args(Kind)
LOADERS = {
    "bi-encoder": load_encoder,
    "colbert": load_multi_vector_encoder,
    "splade": load_sparse_encoder,
    "aggretriever": load_aggretriever,
    "numcolbert": load_multi_vector_encoder,
    "codedcolbert": load_multi_vector_encoder,
    "deepquant": lambda model: (WordVectors if model_kind(Path(model)) == "deepquant" else load_multi_vector_encoder)(
        model
    ),
}
SLOW = replace(QUICK, epochs=8, lr=5e-3, scale=0.3, patience=8)
"""For what starts from a [CLS] that is the same for all texts."""


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return tiny_bert(tmp_path_factory.mktemp("base") / "tiny", [*WORDS, "over", "of"])


@pytest.fixture(scope="module")
def bases(base, tmp_path_factory):
    """What each kind is tuned from, and how."""
    masked = tiny_bert(tmp_path_factory.mktemp("masked") / "tiny", [*WORDS, "over", "of"], head=True)
    own = {"aggretriever": (str(masked), SLOW), "splade": (str(base), replace(QUICK, scale=1.0))}
    return {kind: own.get(kind, (str(base), QUICK)) for kind in KINDS}


@pytest.fixture(scope="module", params=KINDS)
def trained(request, tmp_path_factory, bases):
    folder = tmp_path_factory.mktemp("trained") / "checkpoint"
    told = []
    manifest = train_retriever(request.param, BENCHMARK, folder, *bases[request.param], on_epoch=told.append)
    return request.param, folder, manifest, told


def test_it_learns_what_satisfies(trained):
    _, folder, manifest, told = trained
    counts = manifest.counts
    assert [record["epoch"] for record in told] == [number / QUICK.evaluations for number in range(len(told))]
    assert counts["dev"] > counts["dev_untrained"] + 0.1
    best = next(record for record in told if record["epoch"] == counts["best_epoch"])
    assert counts["dev"] == best["ndcg"] == max(record["ndcg"] for record in told)
    assert counts["steps"] == counts["epochs"] * -(-counts["positives"] // QUICK.batch_size)
    assert told[-1]["loss"] < told[1]["loss"]
    assert 0 < told[1]["kept_from_being_negatives"] < 1
    assert json.loads((folder / "log.json").read_text()) == told


def test_the_checkpoint_opens_elsewhere(trained):
    import sentence_transformers

    kind, folder, _, _ = trained
    names = {"bi-encoder": "SentenceTransformer", "colbert": "MultiVectorEncoder", "splade": "SparseEncoder"}
    names["numcolbert"] = names["codedcolbert"] = names["colbert"]
    queries, texts = ["revenue of 2019 over 5"], ["in 2018 total revenue 9", "in 2019 annual debt 9"]
    if kind == "deepquant":
        words = WordVectors(str(folder))
        (_, asked), (lengths, stated) = words.encode(queries, "query"), words.encode(texts)
        scores = [maxsim([asked], stated, np.append(0, np.cumsum(lengths)))[:, 0]]
    elif kind == "aggretriever":
        agg = load_aggretriever(str(folder))
        assert agg.notes() == {}
        scores = agg.encode(queries, "query") @ agg.encode(texts).T
    else:
        model = getattr(sentence_transformers, names[kind])(str(folder))
        scores = model.similarity(model.encode_query(queries), model.encode_document(texts))
    assert float(scores[0][0]) > float(scores[0][1])
    assert not [path for path in folder.rglob("*") if path.suffix in (".bin", ".pt", ".pkl")]


def test_a_killed_training_goes_on_and_ends_at_the_same_weights(trained, bases, tmp_path, monkeypatch):
    kind, folder, manifest, _ = trained
    loss, seen = module.RetrieverTask.loss, []

    def killed(self, batch, step, steps):
        seen.append(step)
        # In the second half of the first epoch, whose steps are a multiple of the evaluations or one more.
        if len(seen) == steps // (2 * recipe.epochs) + 3:
            raise KeyboardInterrupt
        return loss(self, batch, step, steps)

    recipe = bases[kind][1]
    monkeypatch.setattr(module.RetrieverTask, "loss", killed)
    again = tmp_path / "checkpoint"
    torch.manual_seed(1)  # another process has other random numbers
    with pytest.raises(KeyboardInterrupt):
        train_retriever(kind, BENCHMARK, again, *bases[kind])
    assert not again.exists()
    torch.manual_seed(2)
    assert train_retriever(kind, BENCHMARK, again, *bases[kind]) == manifest
    resumed = next(step for before, step in pairwise(seen) if step <= before)
    # Not from the start of the epoch, nor from where it was killed.
    assert 0 < resumed < seen.index(resumed, resumed + 1) - 1
    assert model_digest(again) == model_digest(folder)
    assert not [path for path in again.iterdir() if path.name.startswith(".")]


def test_a_batch_that_does_not_fit_the_gpu_is_an_error_in_a_line(base, tmp_path, monkeypatch):
    import torch

    loss, batches = module.RetrieverTask.loss, []

    def full(self, batch, *step):
        batches.append(batch)
        if len(batches) == 2:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory")
        return loss(self, batch, *step)

    monkeypatch.setattr(module.RetrieverTask, "loss", full)
    with pytest.raises(OptionError, match=r"does not fit into the GPU's memory.*Lower batch_size"):
        train_retriever("bi-encoder", BENCHMARK, tmp_path / "a", str(base), QUICK)
    # What was done is there for the same call on a larger GPU.
    assert not (tmp_path / "a").exists()
    assert train_retriever("bi-encoder", BENCHMARK, tmp_path / "a", str(base), QUICK).counts["epochs"] == QUICK.epochs


def test_a_finished_training_is_not_repeated_and_another_is_refused(trained, bases, monkeypatch):
    kind, folder, manifest, _ = trained
    monkeypatch.setattr(trainer, "Trainer", None)
    assert train_retriever(kind, BENCHMARK, folder, *bases[kind]) == manifest
    with pytest.raises(OptionError, match="made from other input"):
        train_retriever(kind, BENCHMARK, folder, bases[kind][0], replace(QUICK, seed=1))


def test_a_splade_from_a_made_head_keeps_its_scale_when_it_is_tuned_again(base, tmp_path):
    train_retriever("splade", BENCHMARK, tmp_path / "a", str(base), replace(QUICK, epochs=1, max_pairs=12))
    assert open_student("splade", str(tmp_path / "a")).scale == MADE_HEAD_SCALE
    assert open_student("splade", str(tmp_path / "a"), scale=2.0).scale == 2.0


def test_options_of_other_models_are_not_in_the_key(base):
    other = replace(QUICK, query_flops=0.5, agg_dimension=3)
    keys = [[checkpoint_key(kind, BENCHMARK, str(base), recipe) for recipe in (QUICK, other)] for kind in KINDS]
    assert [kind for kind, (one, two) in zip(KINDS, keys, strict=True) if one != two] == ["splade", "aggretriever"]


def test_weights_that_are_not_finite_are_no_start(base, tmp_path):
    from safetensors.torch import load_file, save_file

    shutil.copytree(base, tmp_path / "broken")
    path = tmp_path / "broken" / "model.safetensors"
    weights = load_file(path)
    weights["embeddings.LayerNorm.weight"][:] = float("nan")
    save_file(weights, path, metadata={"format": "pt"})
    with pytest.raises(InputError, match="not finite"):
        train_retriever("bi-encoder", BENCHMARK, tmp_path / "a", str(tmp_path / "broken"), QUICK)


def test_accumulated_batches_make_fewer_steps(base, tmp_path):
    recipe = replace(QUICK, epochs=1, accumulation=3, dev_queries=0, max_pairs=30)
    told = []
    counts = train_retriever("bi-encoder", BENCHMARK, tmp_path / "a", str(base), recipe, on_epoch=told.append).counts
    assert (counts["dev"], counts["dev_queries"], counts["best_epoch"]) == (None, 0, 1)
    assert [set(record) for record in told] == [{"epoch"}, {"epoch", "loss", "kept_from_being_negatives"}]
    other = train_retriever("bi-encoder", BENCHMARK, tmp_path / "b", str(base), replace(recipe, accumulation=1))
    assert model_digest(tmp_path / "a") != model_digest(tmp_path / "b")
    assert other.params["accumulation"] == 1


def test_a_training_that_made_nothing_better_says_so(trained):
    _, _, manifest, _ = trained
    assert setback(manifest.counts) is None
    assert setback({"best_epoch": 2, "dev": None}) is None
    assert "than nDCG@10 0.500: the untrained weights are kept; lower" in str(setback({"best_epoch": 0, "dev": 0.5}))


def test_a_training_that_makes_it_worse_keeps_the_untrained_weights(base, tmp_path, monkeypatch):
    figures = iter([0.9, 0.5, 0.6, 0.7, 0.8, 0.7, 0.6])
    monkeypatch.setattr(DevPool, "score", lambda *_: next(figures))
    manifest = train_retriever("bi-encoder", BENCHMARK, tmp_path / "a", str(base), QUICK)
    assert (manifest.counts["best_epoch"], manifest.counts["dev"]) == (0, 0.9)
    texts = ["in 2018 total revenue 9", "in 2019 annual debt 9"]
    kept = load_encoder(str(tmp_path / "a")).encode(texts)
    assert np.array_equal(kept, load_encoder(str(base)).encode(texts))
    assert setback(manifest.counts) is not None


@pytest.mark.parametrize("change", [{"limit": 24}, {"by_length": True}, {"precision": "bfloat16"}], ids=str)
def test_what_is_learnt_from_and_how_it_is_computed_are_chosen(base, tmp_path, change):
    recipe = replace(QUICK, epochs=1, dev_queries=0)
    plain = train_retriever("bi-encoder", BENCHMARK, tmp_path / "a", str(base), recipe)
    other = train_retriever("bi-encoder", BENCHMARK, tmp_path / "b", str(base), replace(recipe, **change))
    assert model_digest(tmp_path / "a") != model_digest(tmp_path / "b")
    assert other.counts["positives"] == change.get("limit", plain.counts["positives"])
    assert other.counts["steps"] == (2 if "limit" in change else plain.counts["steps"])


def test_a_checkpoint_reads_as_much_as_the_model_it_comes_from(bases, tmp_path):
    word = "annual debt of 2019 "
    for kind in KINDS:
        base, recipe = bases[kind]
        short = replace(recipe, epochs=1, dev_queries=0, max_pairs=12, max_length=8)
        train_retriever(kind, BENCHMARK, tmp_path / kind, base, short)
        encoder = LOADERS[kind](str(tmp_path / kind))
        whole = LOADERS[kind](base)
        for texts in ([word * 2], [word * 5], [word * 20]):
            assert encoder.cut(texts).tolist() == whole.cut(texts).tolist(), kind


def test_what_is_made_and_not_learnt_is_said(bases, base, tmp_path, trained):
    kind, _, _, told = trained
    words = {
        "splade": "MLM head is initialised",
        "colbert": "projection is made",
        "aggretriever": "token weights are all the same",
        "deepquant": "layers for numbers are random",
    }
    assert words.get(kind, "") in told[0].get("start", "")
    assert not any("start" in record for record in told[1:])
    if kind != "colbert":
        return
    again = open_student("colbert", str(trained[1]))
    assert again.start == ""
    with pytest.raises(OptionError, match="not a ColBERT"):
        train_retriever("bi-encoder", BENCHMARK, tmp_path / "a", str(base), QUICK, teacher=str(base))


def test_what_learns_from_a_colbert_is_compared_as_it_learnt(trained, base, tmp_path):
    kind, folder, _, _ = trained
    if kind != "colbert":
        pytest.skip("needs a ColBERT")
    import sentence_transformers

    recipe = replace(QUICK, epochs=1, dev_queries=0, max_pairs=12)
    train_retriever("bi-encoder", BENCHMARK, tmp_path / "tct", str(base), recipe, teacher=str(folder))
    assert sentence_transformers.SentenceTransformer(str(tmp_path / "tct")).similarity_fn_name == "dot"


def test_options_that_would_do_nothing_are_refused(base, tmp_path):
    for recipe, teacher in ((replace(QUICK, temperature=3.0), None), (replace(QUICK, loss="pairwise"), str(base))):
        with pytest.raises(OptionError, match=r"temperature|distribution"):
            train_retriever("bi-encoder", BENCHMARK, tmp_path / "a", str(base), recipe, teacher=teacher)
    with pytest.raises(OptionError, match=r"kinds is one of seen, .*sene"):
        replace(QUICK, kinds=("sene",)).check()


def test_an_aggretriever_has_the_dimensions_of_its_recipe(bases, tmp_path):
    base, recipe = bases["aggretriever"]
    sizes = {"agg_dimension": 20, "cls_dimension": 8}
    quick = replace(recipe, epochs=1, dev_queries=0, max_pairs=12)
    train_retriever("aggretriever", BENCHMARK, tmp_path / "a", base, replace(quick, **sizes))
    assert load_aggretriever(str(tmp_path / "a")).encode(["the tax"]).shape == (1, 28)
    on = str(tmp_path / "a")
    train_retriever("aggretriever", BENCHMARK, tmp_path / "b", on, replace(quick, agg_dimension=20))
    with pytest.raises(OptionError, match="this Aggretriever has a cls_dimension of 8"):
        train_retriever("aggretriever", BENCHMARK, tmp_path / "c", on, replace(quick, cls_dimension=16))
    with pytest.raises(OptionError, match="agg_dimension is at least 0"):
        replace(quick, agg_dimension=-1).check()


@pytest.mark.parametrize(
    ("change", "plain", "message"),
    [
        ({"joint_share": 0.5}, False, "joint_share changes nothing: there is no other benchmark"),
        ({"lowest_grade": 2}, False, "lowest_grade changes nothing: positives come from triples"),
        ({"methods": ("unit",)}, True, "methods changes nothing: this benchmark has no triples"),
    ],
)
def test_options_that_would_change_nothing_are_refused(base, tmp_path, change, plain, message):
    none = {"samples": BENCHMARK.samples.clear(), "triples": BENCHMARK.triples.clear()}
    bench = replace(BENCHMARK, **none) if plain else BENCHMARK
    with pytest.raises(OptionError, match=message):
        train_retriever("bi-encoder", bench, tmp_path / "a", str(base), replace(QUICK, **change))
    assert not (tmp_path / "a").exists()
    # They are allowed where they do something, and their defaults are anywhere.
    assert idle_options(replace(QUICK, **change), replace(BENCHMARK, **({} if plain else none)), bench) == {}
    assert idle_options(QUICK, bench) == {}


@pytest.mark.parametrize(
    ("kind", "off", "change"),
    [
        ("deepquant", {"comparison_weight": 0.0}, {"as_printed": True}),
        ("numcolbert", {"contrast_weight": 0.0}, {"contrast": "numeric"}),
        ("numcolbert", {"contrast_weight": 0.0}, {"contrast_temperature": 0.5}),
    ],
)
def test_options_of_a_loss_that_is_left_out_are_refused(base, tmp_path, kind, off, change):
    (name,), (left_out,) = change, off
    with pytest.raises(OptionError, match=f"{name} changes nothing: .* without {left_out}"):
        train_retriever(kind, BENCHMARK, tmp_path / "a", str(base), replace(QUICK, **off, **change))
    for alone in (off, change):
        assert idle_options(replace(QUICK, **alone), BENCHMARK) == {}


def test_made_up_numbers_in_every_step_are_refused():
    with pytest.raises(OptionError, match="numbers_every is 0 or at least 2"):
        replace(QUICK, numbers_every=1).check()


def test_a_general_benchmark_takes_its_share_of_the_batches(base, tmp_path):
    none = {"samples": BENCHMARK.samples.clear(), "triples": BENCHMARK.triples.clear()}
    queries = [replace(query, split="test") for query in BENCHMARK.queries]
    general = replace(BENCHMARK, name="general", queries=queries, **none)
    seen = []
    recipe = replace(QUICK, epochs=1, joint_share=0.5, dev_queries=0)
    manifest = train_retriever(
        "bi-encoder",
        BENCHMARK,
        tmp_path / "a",
        str(base),
        recipe,
        joint=general,
        progress=lambda done, total, _: seen.append(total),
    )
    alone = -(-manifest.counts["positives"] // recipe.batch_size)
    assert seen[-1] == 2 * alone
    # The usual share of a single batch is less than one.
    single = replace(recipe, joint_share=0.25, max_pairs=recipe.batch_size)
    told = lambda done, total, _: seen.append(total)  # noqa: E731
    train_retriever("bi-encoder", BENCHMARK, tmp_path / "b", str(base), single, joint=general, progress=told)
    assert seen[-1] == 2
    assert manifest.counts["joint"]["triples from judgments"] > 0


def test_the_pairwise_loss_trains_too(base, tmp_path):
    recipe = replace(QUICK, loss="pairwise")
    counts = train_retriever("bi-encoder", BENCHMARK, tmp_path / "a", str(base), recipe).counts
    assert counts["dev"] > counts["dev_untrained"]


def test_what_learns_from_a_teacher_is_scored_as_it_is_searched_with(base):
    texts = ["in 2018 total revenue 9", "in 2019 annual debt 9"]
    student = open_student("bi-encoder", str(base), dot=True)
    embedded = student.embed(texts, "document")
    found = load_tct_colbert(str(base), markers="none").encode(texts)
    assert np.allclose(embedded.vectors.detach().numpy(), found, atol=1e-5)
    assert np.allclose(student.scores(embedded, embedded).detach().numpy(), found @ found.T, rtol=1e-4)


def test_a_student_comes_close_to_its_teacher(base, tmp_path):
    teacher = tmp_path / "teacher"
    train_retriever("colbert", BENCHMARK, teacher, str(base), QUICK)
    recipe = replace(QUICK, temperature=4.0, scale=8.0, epochs=8, patience=8)
    told = []
    manifest = train_retriever(
        "bi-encoder", BENCHMARK, tmp_path / "a", str(base), recipe, teacher=str(teacher), on_epoch=told.append
    )
    assert told[-1]["loss"] < told[1]["loss"]
    assert manifest.counts["dev"] > manifest.counts["dev_untrained"]
    assert told[1]["kept_from_being_negatives"] == 0
    labels = train_retriever("bi-encoder", BENCHMARK, tmp_path / "b", str(base), replace(recipe, temperature=1.0))
    assert labels.digest != manifest.digest
    with pytest.raises(OptionError, match="temperature"):
        train_retriever("bi-encoder", BENCHMARK, tmp_path / "c", str(base), replace(QUICK, temperature=0.0))


@pytest.mark.parametrize(
    "change",
    [
        {"epochs": 0},
        {"batch_size": 0},
        {"negatives": -1},
        {"negatives": 0, "loss": "pairwise"},
        {"satisfying": -1},
        {"lr": 2},
        {"joint_share": 1},
        {"loss": "hinge"},
        {"scale": -1},
    ],
    ids=str,
)
def test_recipes_that_make_no_sense(change, base, tmp_path):
    with pytest.raises(OptionError, match=next(iter(change))):
        train_retriever("bi-encoder", BENCHMARK, tmp_path / "out", str(base), ContrastiveRecipe(**change))


def test_no_model_is_told_before_any_work(tmp_path):
    with pytest.raises(InputError, match="neither modules"):
        train_retriever("colbert", BENCHMARK, tmp_path / "out", str(tmp_path), QUICK)


def test_a_loss_that_runs_away_is_told(base, tmp_path, monkeypatch):
    scores = SingleVectorStudent.scores
    monkeypatch.setattr(SingleVectorStudent, "scores", lambda *args: scores(*args) * float("inf"))
    with pytest.raises(OptionError, match="no longer finite in epoch 1"):
        train_retriever("bi-encoder", BENCHMARK, tmp_path / "out", str(base), replace(QUICK, dev_queries=0))
