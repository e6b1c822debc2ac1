"""Systems parse back from their names, and wrong names say what is right."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qbench.errors import OptionError, UnknownNameError
from qbench.options import option
from qbench.retrieval.entries import REGISTRY
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.jobs import Job
from qbench.retrieval.ranker_options import (
    BindOptions,
    CodedOptions,
    LexicalOptions,
    LexicalScoreOptions,
    QuantityScoreOptions,
)
from qbench.retrieval.registry import Entry, K, Registry
from qbench.retrieval.systems import Component, Stage, System


@dataclass(frozen=True, kw_only=True)
class Codes:
    M: int = option(16, help="", low=1)
    K: int = option(256, help="", low=2)


@dataclass(frozen=True, kw_only=True)
class Model:
    model: str = option("base", help="", checkpoint=True)


@dataclass(frozen=True, kw_only=True)
class Deep(Model):
    depth: int = option(100, help="", low=1)


BOTH = ("first stage", "reranker")
MADE_UP = (
    Entry("SPLADE", ("first stage",), "", "", Model),
    Entry("ColBERT", BOTH, "", "", Model),
    Entry("ColBERT_ft", BOTH, "", "", Model),
    Entry("TCT-ColBERT", BOTH, "", "", Deep),
    Entry("Aggretriever", ("reranker",), "", "", Model),
    Entry("PQ", ("compression",), "", "", Codes),
    Entry("WolfPQ", ("compression",), "", "", Codes),
    Entry("WolfPQI", ("compression",), "", "", Codes),
    Entry("WolfPQSem", ("compression",), "", "", Codes),
)
THESIS = Registry(
    (*(entry for entry in REGISTRY.entries if entry.name not in {made.name for made in MADE_UP}), *MADE_UP)
)


def value_of(parameter):
    if parameter.kind == "choice":
        return st.sampled_from(parameter.choices)
    if parameter.kind in ("file", "text"):
        return st.text(min_size=1, max_size=12)
    low, high = max(parameter.low, -1e9), min(parameter.high, 1e9)
    if parameter.kind == "integer":
        return st.integers(int(low), int(high))
    return st.floats(low, high).map(lambda x: x + 0.0)


@st.composite
def parts(draw, name, parameters):
    params = []
    for parameter in parameters:
        if parameter.default is None or draw(st.booleans()):
            value = draw(value_of(parameter))
            if value != parameter.default:
                params.append((parameter.name, value))
    # What needs another parameter is refused without it.
    needs = {parameter.name: parameter.needs for parameter in parameters}
    return Component(name, tuple(pair for pair in params if needs[pair[0]] is None or needs[pair[0]] in params))


@st.composite
def maybe(draw, registry, role):
    entry = draw(st.sampled_from([None, *registry.of(role)]))
    return None if entry is None else draw(parts(entry.name, entry.parameters))


@st.composite
def stages(draw, registry, role):
    model = draw(st.sampled_from(registry.of(role)))
    quantity = draw(st.sampled_from([None, *registry.of("quantity score")]))
    score = None if quantity is None else draw(parts(quantity.name, quantity.parameters_on(model, role)))
    own = model.parameters if role == "reranker" else model.parameters_as(role)
    own = [each for each in own if each.of_score in ("", quantity.name if quantity else "")]
    stage = Stage(draw(parts(model.name, own)), draw(maybe(registry, "compression")), score)
    if role == "first stage":
        return replace(stage, k=draw(st.integers(1, 2000))) if quantity and quantity.takes_best(model) else stage
    return replace(stage, fusion=draw(maybe(registry, "fusion")), k=draw(st.integers(1, 2000)))


@st.composite
def systems(draw, registry):
    count = draw(st.integers(0, 4)) if registry.of("reranker") else 0
    rerankers = [draw(stages(registry, "reranker")) for _ in range(count)]
    return System((draw(stages(registry, "first stage")), *rerankers))


def test_a_preset_stands_for_its_parameters():
    published = "QBM25(alpha=2, terms=all, k1=1.2)"
    assert str(parse_system("QBM25(as_published)")) == published
    assert str(parse_system("QBM25( b=0.5, as_published, k1=1.5)")) == "QBM25(alpha=2, terms=all, b=0.5)"
    assert str(parse_system("BM25 + QColBERT(as_published, k=50)")) == "BM25 + QColBERT(k=50)"
    assert parse_system(published) == parse_system("QBM25(as_published)")
    for refused in ("BM25(as_published)", "BindBM25(as_published)", "QRun(as_published=1)", "QBM25(x)"):
        with pytest.raises(OptionError):
            parse_system(refused)


def test_a_neural_model_with_q_takes_its_own_best():
    system = parse_system("QColBERT(alpha=2, k=50)")
    assert (system.first.k, str(system)) == (50, "QColBERT(alpha=2, k=50)")
    # The same number in both roles; without Q a reranker takes more.
    both = parse_system("QColBERT(k=100) + QSBERT(model=m, k=100) + SBERT(model=m)")
    assert [stage.k for stage in both.stages] == [100, 100, 1000]
    assert str(both) == "QColBERT + QSBERT(model=m) + SBERT(model=m)"
    assert parse_system("BM25 + QBM25").stages[1].k == 1000
    for refused in ("ColBERT(k=100)", "QBM25(k=100)", "BindColBERT(k=100)", "ColBERT_filter(k=100)"):
        with pytest.raises(OptionError):
            parse_system(refused)


@given(systems(REGISTRY))
@settings(max_examples=60, deadline=None)
def test_every_system_parses_back(system):
    assert parse_system(str(system)) == system


@given(systems(THESIS))
@settings(max_examples=60, deadline=None)
def test_systems_of_the_thesis_parse_back(system):
    assert parse_system(str(system), THESIS) == system


@pytest.mark.parametrize(
    "name",
    [
        "BM25",
        "BM25_filter",
        "QBM25(alpha=0.5, terms=all, k1=0.5)",
        "QColBERT",
        "ColBERT_ft",
        "QColBERT_ft",
        "TCT-ColBERT-PQ",
        "BM25 + ColBERT",
        "BM25 + TCT-ColBERT-WolfPQI(M=96)-I(alpha=0.1)",
        "BM25 + TCT-ColBERT(depth=50)-WolfPQSem(M=24, K=1024)-I",
        "SPLADE + Aggretriever-PQ-I",
        "QBM25(alpha=2) + Aggretriever-I",
        "BM25 + QColBERT(alpha=0.5, model=x)-RRF",
        "BM25_filter + QTCT-ColBERT(depth=50)-PQ-I",
        "BM25 + ColBERT_ft_filter",
        "BM25 + ColBERT(model=x, k=100) + TCT-ColBERT(k=20)",
        "QBM25 + ColBERT(k=100)-PQ-I(alpha=0.1) + QTCT-ColBERT(alpha=2, depth=3, k=20)-RRF + ColBERT_ft_filter(k=5)",
        'Run(path="my runs/a, b.trec")',
        "Run(path=runs/a.trec.gz)",
    ],
)
def test_names_print_as_they_were_written(name):
    assert str(parse_system(name, THESIS)) == name


def test_the_longest_name_wins_and_parts_go_where_they_belong():
    system = parse_system("BM25 + TCT-ColBERT-WolfPQI(M=96, K=256)-I(alpha=0.1)", THESIS)
    first, reranker = system.stages
    assert first == Stage(Component("BM25"))
    compression, fusion = Component("WolfPQI", (("M", 96),)), Component("I", (("alpha", 0.1),))
    assert reranker == Stage(Component("TCT-ColBERT"), compression, fusion=fusion)
    assert not system.uses_conditions


def test_defaults_and_white_space_do_not_show():
    assert str(parse_system("  QBM25 ( k1 = 1.50 ,alpha=1,phi=ratio)  ")) == "QBM25"
    assert str(parse_system("BM25+Aggretriever-PQ( M=8 )-I", THESIS)) == "BM25 + Aggretriever-PQ(M=8)-I"


def test_every_reranker_has_its_own_depth_and_fusion():
    system = parse_system("BM25 + ColBERT(model=x, k=100)-I + QTCT-ColBERT(alpha=2, k=20)-PQ-RRF(k=10)", THESIS)
    assert [stage.k for stage in system.stages] == [K, 100, 20]
    assert [str(stage.fusion) for stage in system.rerankers] == ["I", "RRF(k=10)"]
    assert [str(stage.bare) for stage in system.stages] == ["BM25", "ColBERT(model=x)", "TCT-ColBERT-PQ"]


def test_options_are_typed_and_hold_the_defaults_too():
    first = parse_system("QBM25(alpha=0.5)").first
    assert first.options() == LexicalOptions(k1=1.5, b=0.75, epsilon=0.25, engine="numpy")
    assert first.quantity_options() == LexicalScoreOptions(alpha=0.5, phi="ratio", terms="any")
    assert parse_system("BM25").first.quantity_options() is None
    run, again = parse_system("QRun(path=x) + QBM25(terms=all)-RRF").stages
    assert run.options().path == Path("x")
    assert run.quantity_options() == QuantityScoreOptions(alpha=1.0, phi="ratio")
    assert again.quantity_options() == LexicalScoreOptions(terms="all")
    assert again.fusion_options().k == 60
    assert parse_system("BERT-P").first.options().model.startswith("sentence-transformers/")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("QBM26", "Did you mean QBM25"),
        ("bm25", "Did you mean BM25"),
        ("", "unknown first stage .*`qbench systems` lists all"),
        ("BM25 + GPT", "unknown reranker .*`qbench systems` lists all"),
        ("BM25-LZ", "unknown compression"),
        ("BM25x", "BM25x"),
    ],
)
def test_unknown_names_say_what_is_known(name, says):
    with pytest.raises(UnknownNameError, match=says):
        parse_system(name)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("BM25(alpha=1)", "It takes k1, b, epsilon, engine"),
        ("BM25_filter(terms=all)", "no such parameter"),
        ("QRun(path=x, terms=all)", "It takes alpha, phi, norm, scale, path"),
        ("BM25(b=2)", "b needs a number from 0 to 1"),
        ("BM25(k1=nan)", "k1 needs a number of at least 0"),
        ("BM25(k1=inf)", "k1 needs"),
        ("BM25(k1=much)", "k1 needs"),
        ("BM25(k1=1, k1=2)", "twice"),
        ("QBM25(phi=linear)", "one of ratio, exponential, relative"),
        ("Run", r"Run\(path=\.\.\.\)"),
        ('Run(path="")', "the path of a file"),
        ('Run(path="x)', 'closing "'),
        ("BM25(k1=1", "a comma or"),
        ("BM25(k1 1)", "= should stand at character 9"),
        ("BM25(k1=)", "a value should stand"),
        ("BM25 BM25", "nothing more should stand"),
        ("BM25)", "unknown first stage"),
    ],
)
def test_wrong_parameters_and_signs_say_what_is_right(name, says):
    with pytest.raises(OptionError, match=says):
        parse_system(name)


@pytest.mark.parametrize(
    "entries",
    [
        (Entry("A", ("first stage",), "", ""), Entry("A", ("first stage",), "", "")),
        (
            Entry("X", ("first stage",), "", ""),
            Entry("QX", ("first stage",), "", ""),
            Entry("Q", ("quantity score",), "", ""),
        ),
        (
            Entry("A-B", ("reranker",), "", ""),
            Entry("A", ("reranker",), "", ""),
            Entry("B", ("compression",), "", ""),
        ),
    ],
)
def test_a_registry_refuses_parts_that_are_written_alike(entries):
    with pytest.raises(OptionError, match="written alike"):
        Registry(entries)


def test_no_parameter_of_a_model_is_also_one_of_its_quantity_score():
    for role in ("first stage", "reranker"):
        for model in THESIS.of(role):
            for quantity in THESIS.of("quantity score"):
                names = [p.name for p in (*quantity.parameters_on(model, role), *model.parameters_as(role))]
                assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ColBERT(model=m, nprobe=8)", "nprobe changes nothing with engine=exact"),
        ("ColBERT(model=m, candidates=9, engine=exact)", "candidates changes nothing with engine=exact"),
        ("QColBERT(model=m, candidates=9)", "candidates changes nothing with engine=exact"),
        ("ColBERT(model=m, copy=pq)", "copy changes nothing without engine=faiss"),
        ("SBERT(model=m, nprobe=8)", "nprobe changes nothing without engine=faiss"),
    ],
)
def test_parameters_that_would_change_nothing_are_refused(name, message):
    with pytest.raises(OptionError, match=message):
        parse_system(name)
    other = "faiss" if name.startswith("SBERT") or "copy" in name else "centroids"
    assert parse_system(name.replace(", engine=exact", "").replace(")", f", engine={other})")).is_neural


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("BindBM25(meaning=3)", r"meaning changes nothing without encoder=\.\.\."),
        ("BindBM25(encoder=m, meaning=0)", "encoder changes nothing with meaning=0"),
        ("BM25 + BindBM25(pool=5)", "no such parameter .*pool"),
        ("QBM25(alpha=0, phi=relative)", "phi changes nothing with alpha=0"),
        ("QColBERT(model=m, alpha=0, norm=all)", "norm changes nothing with alpha=0"),
        ("QBM25(alpha=0, terms=all)", "terms changes nothing with alpha=0"),
        ("QBM25(alpha=0, scale=minmax)", "scale changes nothing with alpha=0"),
        ("BM25(k1=0, b=0.5)", "b changes nothing with k1=0"),
        ("Postgres(k1=0, b=0.5)", "b changes nothing with k1=0"),
    ],
)
def test_weights_of_nought_leave_other_options_nothing_to_change(name, message):
    with pytest.raises(OptionError, match=message):
        parse_system(name)


def test_codes_of_no_weight_are_refused():
    assert CodedOptions(model="m", code_weight=0).token_weight > 0
    with pytest.raises(OptionError, match="codes change nothing"):
        CodedOptions(model="m", code_weight=0, token_weight=0, term_weight=0)


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("SBERT(model=m)", 0),
        ("QSBERT(model=m)", 100),
        ("QSBERT(model=m, k=30)", 30),
        ("SBERT_filter(model=m)", 1000),
        ("BindSBERT(model=m, pool=50)", 50),
        ("QBM25", 0),
        ("BM25_filter", 0),
        ("BindBM25", 0),
    ],
)
def test_what_a_score_looks_at_does_not_depend_on_the_depth_of_runs(name, most):
    system = parse_system(name)
    assert system.first.looks_at == most
    assert Job(system, "given", "key", Path(), {"depth": 10}).deep == max(10, most)


def test_bind_needs_a_part_with_a_weight():
    none = {"own": 0.0, "words": 0.0, "pairs": 0.0, "satisfied": 0.0, "binding": 0.0, "ratio": 0.0}
    with pytest.raises(OptionError, match="no part of Bind has a weight"):
        BindOptions(**none)
    assert BindOptions(**none, encoder="m").weights()["meaning"] > 0


def test_a_default_that_is_written_out_changes_nothing():
    assert parse_system("ColBERT(model=m, nprobe=4)") == parse_system("ColBERT(model=m)")


@pytest.mark.parametrize(
    "name",
    [
        "BM25 + LLM-itemwise(model=m, base_url=http://me:hush@localhost/v1)",
        'SBERT(model=OpenAI) + LLM-itemwise(model=m, base_url="http://localhost/v1?api_key=hush")',
        'Postgres(dsn="host=db sslpassword=hush")',
    ],
)
def test_a_secret_in_a_name_is_refused_and_not_shown(name):
    with pytest.raises(OptionError, match="holds a password or key, which would be shown on boards") as caught:
        parse_system(name)
    assert "hush" not in str(caught.value)


def test_a_list_of_systems_says_to_repeat_the_option():
    with pytest.raises(OptionError, match=r"Repeat the option: --systems BM25 --systems 'QBM25\(alpha=2, k1=1\)'"):
        parse_system("BM25, QBM25(alpha=2, k1=1)")
    with pytest.raises(OptionError, match="unknown"):
        parse_system("BM26(alpha=2, k1=1)")
