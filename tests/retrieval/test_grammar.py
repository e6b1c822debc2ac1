"""Systems parse back from their names, and wrong names say what is right."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qbench.errors import OptionError, UnknownNameError
from qbench.retrieval.entries import REGISTRY
from qbench.retrieval.grammar import Part, Stage, System, first_values, parse_system, quantity_values
from qbench.retrieval.registry import Entry, Parameter, Registry

M = Parameter("M", "integer", "", 16, low=1)
K = Parameter("K", "integer", "", 256, low=2)
ALPHA = Parameter("alpha", "number", "", 0.5, low=0, high=1)

MADE_UP = (
    Entry("SPLADE", ("first stage",), "", ""),
    Entry("ColBERT", ("first stage", "reranker"), "", "", (Parameter("model", "text", "", "base"),)),
    Entry("ColBERT_ft", ("first stage", "reranker"), "", ""),
    Entry("TCT-ColBERT", ("first stage", "reranker"), "", "", (Parameter("depth", "integer", "", 100, low=1),)),
    Entry("Aggretriever", ("reranker",), "", ""),
    Entry("PQ", ("compression",), "", "", (M, K)),
    Entry("WolfPQ", ("compression",), "", "", (M, K)),
    Entry("WolfPQI", ("compression",), "", "", (M, K)),
    Entry("WolfPQSem", ("compression",), "", "", (M, K)),
    Entry("I", ("fusion",), "", "", (ALPHA,)),
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
    return Part(name, tuple(params))


@st.composite
def maybe(draw, registry, role):
    entry = draw(st.sampled_from([None, *registry.of(role)]))
    return None if entry is None else draw(parts(entry.name, entry.parameters))


@st.composite
def stages(draw, registry, role):
    model = draw(st.sampled_from(registry.of(role)))
    quantity = draw(st.sampled_from([None, *registry.of("quantity score")]))
    score = None if quantity is None else draw(parts(quantity.name, quantity.parameters_on(model)))
    return Stage(draw(parts(model.name, model.parameters_as(role))), draw(maybe(registry, "compression")), score)


@st.composite
def systems(draw, registry):
    first = draw(stages(registry, "first stage"))
    if not registry.of("reranker") or draw(st.booleans()):
        return System(first)
    return System(first, draw(stages(registry, "reranker")), draw(maybe(registry, "fusion")))


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
        'Run(path="my runs/a, b.trec")',
        "Run(path=runs/a.trec.gz)",
    ],
)
def test_names_print_as_they_were_written(name):
    assert str(parse_system(name, THESIS)) == name


def test_the_longest_name_wins_and_parts_go_where_they_belong():
    system = parse_system("BM25 + TCT-ColBERT-WolfPQI(M=96, K=256)-I(alpha=0.1)", THESIS)
    assert system.first == Stage(Part("BM25"))
    assert system.reranker == Stage(Part("TCT-ColBERT"), Part("WolfPQI", (("M", 96),)))
    assert system.fusion == Part("I", (("alpha", 0.1),))
    assert not system.uses_conditions


def test_defaults_and_white_space_do_not_show():
    assert str(parse_system("  QBM25 ( k1 = 1.50 ,alpha=1,phi=ratio)  ")) == "QBM25"
    assert str(parse_system("BM25+Aggretriever-PQ( M=8 )-I", THESIS)) == "BM25 + Aggretriever-PQ(M=8)-I"


def test_values_hold_the_defaults_too():
    system = parse_system("QBM25(alpha=0.5)")
    assert first_values(system) == {"k1": 1.5, "b": 0.75, "epsilon": 0.25, "engine": "numpy"}
    assert quantity_values(system.first, "first stage") == {"alpha": 0.5, "phi": "ratio", "terms": "any"}
    assert quantity_values(parse_system("BM25").first, "first stage") == {}
    run, again = (stage for stage, _ in parse_system("QRun(path=x) + QBM25(terms=all)").stages)
    assert "terms" not in quantity_values(run, "first stage")
    assert quantity_values(again, "reranker") == {"alpha": 1.0, "phi": "ratio", "terms": "all"}


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("QBM26", "Did you mean QBM25"),
        ("bm25", "Did you mean BM25"),
        ("", "Known: BM25, QBM25, BM25_filter, Run, QRun, Run_filter"),
        ("BM25 + GPT", "unknown reranker .*Known: BM25"),
        ("BM25-PQ", "unknown compression"),
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
        ("QRun(path=x, terms=all)", "It takes alpha, phi, path"),
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
    for model in THESIS.of("first stage"):
        for quantity in THESIS.of("quantity score"):
            names = [p.name for p in (*quantity.parameters_on(model), *model.parameters)]
            assert len(names) == len(set(names))
