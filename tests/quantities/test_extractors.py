"""What every extractor promises, whichever it is; and what names an extractor's output."""

import dataclasses
import shutil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qbench.quantities.english import language as english
from qbench.quantities.english import rules as rules_module
from qbench.quantities.english.parsers import embedded
from qbench.quantities.english.queries import parse_query
from qbench.quantities.extractors import ExtractorOptions, extract_table, get_extractor
from qbench.quantities.types import Quantity, from_row, quantity_schema

KINDS = {
    "rules": ExtractorOptions(),
    "words": ExtractorOptions(spacy_model="none"),
    "neural": ExtractorOptions("neural"),
    "quantulum3": ExtractorOptions("quantulum3"),
    "years": ExtractorOptions(years=True),
}
TEXTS = [
    "The laptop weighs more than 1.2 kilograms and costs $900.",
    "No number here.",
    "",
    "Net sales rose 5% to $3.5 million, from $3.3 million a year ago.",
    "It has 250 employees. It was founded in 1990, and sold for 40 to 50 million dollars.",
    "   \t ",
    "Two of the 12 towers are 300 metres tall.",
]


@pytest.fixture(scope="session", params=KINDS)
def extractor(request):
    options = KINDS[request.param]
    if options.name == "neural":
        options = dataclasses.replace(options, model=request.getfixturevalue("extractor_model"))
    return get_extractor(options)


@st.composite
def sentences(draw):
    subject = draw(st.sampled_from(["The firm", "It", "Our old laptop", "The price of oil", "She", "The town"]))
    verb = draw(st.sampled_from(["has", "weighs", "sold", "rose to", "fell by", "costs", "costs about"]))
    number = draw(st.sampled_from(["5", "1,200", "3.5", "twelve", "one", "half a dozen", "5 to 8", "2 or 3"]))
    unit = draw(st.sampled_from([" kg", "%", " million dollars", " red doors", " people", "", " years", "-mile runs"]))
    rest = draw(st.sampled_from(["", " in May", ", or $40", " and it has 3 sons", " (11 km)"]))
    return f"{subject} {verb} {number}{unit}{rest}{draw(st.sampled_from(['.', '!', '']))}"


def check_spans(text, found):
    starts = [q.value_span[0] for q in found]
    assert starts == sorted(starts)
    for q in found:
        for span in (q.value_span, q.unit_span, q.comparator_span, *q.concept_spans):
            assert span is None or 0 <= span[0] < span[1] <= len(text)


def test_every_extractor_is_covered():
    assert {options.name for options in KINDS.values()} == set(english.EXTRACTORS)


def test_has_a_name_and_units(extractor):
    assert extractor.name in english.EXTRACTORS
    assert extractor.units.lookup("kg").name == "kilogram"


def test_finds_quantities_in_order_with_valid_spans(extractor):
    for text in TEXTS:
        found = extractor.extract(text)
        assert all(isinstance(q, Quantity) for q in found)
        check_spans(text, found)
    (mass, money) = extractor.extract(TEXTS[0])
    assert (mass.comparator, mass.value, mass.unit) == (">", 1.2, "kilogram")
    assert (money.value, money.unit) == (900, "dollar")
    assert TEXTS[0][slice(*mass.value_span)] == "1.2"
    assert TEXTS[0][slice(*money.value_span)] == "900"


def test_the_same_text_gives_the_same(extractor):
    assert [extractor.extract(text) for text in TEXTS] == [extractor.extract(text) for text in TEXTS]


@pytest.mark.parametrize("text", ["", " ", "\n", "No number here."])
def test_nothing_in_nothing(extractor, text):
    assert extractor.extract(text) == []
    assert extractor.extract_query(text) == []
    assert extractor.explain_many([text]) == [[]]


def test_many_are_as_one_by_one(extractor):
    one_by_one = [extractor.extract(text) for text in TEXTS]
    assert extractor.extract_many(TEXTS) == one_by_one
    assert extractor.extract_many(iter(TEXTS)) == one_by_one
    assert extractor.extract_many(TEXTS[::-1]) == one_by_one[::-1]
    assert extractor.extract_many([]) == []


def test_explained_are_as_unexplained(extractor):
    explained = extractor.explain_many(TEXTS)
    assert [[q for q, _ in found] for found in explained] == extractor.extract_many(TEXTS)
    assert all(how and all(how) for found in explained for _, how in found)


def test_queries_are_read_in_order(extractor):
    text = "phone battery over 4000 mAh between 300 and 500 dollars"
    found = extractor.extract_query(text)
    check_spans(text, found)
    assert (found[0].comparator, found[0].value, found[0].high, found[0].unit) == (">", 4000, 4000, "milliampere hour")


@given(st.lists(sentences(), max_size=6))
@settings(max_examples=40, deadline=None)
def test_any_sentences_many_are_as_one_by_one(extractor, texts):
    found = extractor.extract_many(texts)
    assert found == [extractor.extract(text) for text in texts]
    for text, mentions in zip(texts, found, strict=True):
        check_spans(text, mentions)


def test_sentences_share_nothing(extractor):
    # What stands in one sentence of a text does not change what is read in the next one.
    first, second = "The tower is 300 metres tall.", "The price is $40."
    both = extractor.extract(f"{first} {second}")
    assert [(q.value, q.unit) for q in both] == [
        (q.value, q.unit) for text in (first, second) for q in extractor.extract(text)
    ]


# What costs nothing.


@pytest.mark.parametrize("kind", ["rules", "words", "years"])
def test_a_text_without_a_number_is_not_even_cut_into_tokens(monkeypatch, kind):
    monkeypatch.setattr(rules_module, "tokenize", lambda text: pytest.fail(text))
    assert get_extractor(KINDS[kind]).extract("A day of rain, and nobody had any idea what to do about it.") == []


def test_only_texts_with_an_amount_reach_the_parser(monkeypatch, rules):
    seen = []

    class Recorder:
        def parse_many(self, texts):
            seen.extend(text for text, *_ in texts)
            return [None] * len(texts)

    monkeypatch.setattr(rules_module, "load_parser", lambda name: Recorder())
    rules.extract_many(["It has 5 doors.", "No number here.", "in 1990 and on Form 10-K"])
    assert seen[0] == "It has 5 doors."
    assert "No number here." not in seen


def test_queries_load_no_parser(monkeypatch):
    monkeypatch.setattr(rules_module, "load_parser", lambda name: pytest.fail("a query loaded the parser"))
    for kind in ("rules", "years", "quantulum3"):
        extractor = get_extractor(KINDS[kind])
        assert extractor.extract_query("laptop under 2 lb")[0].unit == "pound-mass"
        assert parse_query("laptop under 2 lb", extractor).terms == "laptop"
    with pytest.raises(pytest.fail.Exception):
        get_extractor(KINDS["rules"]).extract("It weighs 2 lb.")


# Tables.


def test_a_table_has_the_mentions_of_each_text_in_batches(monkeypatch, words_only):
    monkeypatch.setattr("qbench.quantities.extractors.BATCH", 2)
    ids = [f"d{n}" for n in range(len(TEXTS))]
    table = extract_table(iter(ids), iter(TEXTS), words_only)
    assert dict(table.schema) == quantity_schema()
    wanted = [(name, q) for name, text in zip(ids, TEXTS, strict=True) for q in words_only.extract(text)]
    assert [(row["doc_id"], from_row(row)) for row in table.iter_rows(named=True)] == wanted
    assert extract_table([], [], words_only).is_empty()
    with pytest.raises(ValueError, match="zip"):
        extract_table(["d1"], ["5 kg", "6 kg"], words_only)


# What names the output.


def test_the_key_holds_every_option(tmp_path, extractor_model):
    units = tmp_path / "mine.txt"
    units.write_text("[counting]\nblip = = ; blip\n")
    keys = [
        ExtractorOptions().key(),
        ExtractorOptions("quantulum3").key(),
        ExtractorOptions(years=True).key(),
        ExtractorOptions(p_values=False).key(),
        ExtractorOptions(units_file=units).key(),
        ExtractorOptions(spacy_model="none").key(),
        ExtractorOptions(spacy_model="en_core_web_sm").key(),
        ExtractorOptions("neural", model=extractor_model).key(),
    ]
    assert all(a != b for n, a in enumerate(keys) for b in keys[:n])
    assert keys[0] == ExtractorOptions().key()
    assert {"extractor", "years", "units_file", "spacy_model", "parser", "rules", "language"} <= set(keys[0])
    assert len(dataclasses.fields(ExtractorOptions)) == 7


@pytest.fixture
def no_memory():
    english.parser_digest.cache_clear()
    yield
    english.parser_digest.cache_clear()


@pytest.mark.parametrize("changed", ["weights.npz", "vocab.txt"])
def test_the_key_changes_with_the_files_of_the_embedded_parser(tmp_path, monkeypatch, no_memory, changed):
    before = ExtractorOptions().key()
    shutil.copytree(embedded.FOLDER, tmp_path / "parser")
    monkeypatch.setattr(embedded, "FOLDER", tmp_path / "parser")
    english.parser_digest.cache_clear()
    assert ExtractorOptions().key() == before  # neither the place nor the time of a file counts
    with (tmp_path / "parser" / changed).open("ab") as file:
        file.write(b" ")
    english.parser_digest.cache_clear()
    assert ExtractorOptions().key() != before
    assert ExtractorOptions(spacy_model="none").key()["parser"] == "none"


def test_the_key_changes_with_the_files_of_a_folder(tmp_path, no_memory):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "meta.json").write_text("{}")
    options = ExtractorOptions(spacy_model=str(tmp_path / "model"))
    before = options.key()
    (tmp_path / "model" / "meta.json").write_text("{ }")
    english.parser_digest.cache_clear()
    assert options.key() != before


def test_the_key_names_the_version_of_an_installed_pipeline(monkeypatch, no_memory):
    from importlib import metadata

    known = {"en_core_web_sm": "3.8.0"}

    def version(name):
        if name not in known:
            raise metadata.PackageNotFoundError(name)
        return known[name]

    monkeypatch.setattr(english, "version", version)
    assert ExtractorOptions(spacy_model="en_core_web_sm").key()["parser"] == "en_core_web_sm 3.8.0"
    assert ExtractorOptions(spacy_model="en_core_web_lg").key()["parser"] == "en_core_web_lg"
