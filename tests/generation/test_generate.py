"""Whole benchmarks from a small index: every label again, no leaks, switches, determinism, errors."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from qbench.benchmark.check import check
from qbench.benchmark.disk import open_benchmark
from qbench.benchmark.types import UNDECIDED
from qbench.errors import InputError, OptionError
from qbench.generation import queries
from qbench.generation.gate import TIME
from qbench.generation.generate import generate
from qbench.generation.options import GenerationOptions
from qbench.generation.surfaces import read_value
from qbench.quantities.concept_match import concept_alternatives, concept_grade, stated_concept
from qbench.quantities.conditions import verdict
from qbench.quantities.types import Quantity, from_row
from qbench.quantities.units import load_units
from tests.generation.conftest import sentences, write_index

SMALL = GenerationOptions(
    min_sentences=4, max_train=80, max_dev=30, max_test=90, test_share=0.3, dev_share=0.15, alike=99, document_share=1.0
)
UNITS = load_units()


@pytest.fixture(scope="module")
def options(expansions_file):
    return dataclasses.replace(SMALL, expansions=expansions_file, value_permutation=True)


@pytest.fixture(scope="module")
def made(index, options, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(queries, "NEGATED", 0.5)  # there are few topics
        return open_benchmark(generate(index, tmp_path_factory.mktemp("made") / "bench", options))


def mentions_of(benchmark):
    found = {doc_id: [] for doc_id in benchmark.corpus["doc_id"]}
    for row in benchmark.quantities.to_dicts():
        found[row["doc_id"]].append(from_row(row))
    return found


def grade_of(query, mentions):
    """The grade of a sentence, worked out mention by mention."""
    grades = []
    for condition in query.conditions:
        met = [m for m in mentions if verdict(m, condition) == "met"]
        stated = [stated_concept(m.concept, m.unit, m.family) for m in met]
        grades.append(max([0, *(concept_grade(condition.concept, concept) for concept in stated)]))
    return min(grades)


def test_all_parts_and_kinds_are_there(made):
    found = {(query.split, query.kind) for query in made.queries}
    assert found == {
        ("train", "seen"),
        ("train", "expansion"),
        ("dev", "unseen"),
        ("dev", "expansion"),
        ("test", "seen"),
        ("test", "unseen"),
        ("test", "expansion"),
        ("test", "wo_surface"),
    }
    assert {c.comparator for q in made.queries for c in q.conditions} == {"=", "!=", "<", "<=", ">", ">=", "between"}
    assert {len(query.conditions) for query in made.queries} == {1, 2}
    assert len({query.text.lower() for query in made.queries}) == len(made.queries)
    assert made.corpus.height == len(sentences()) - 1


def test_every_judgment_holds_and_none_is_missing(made):
    mentions = mentions_of(made)
    judged = {}
    for query_id, doc_id, grade in made.qrels.iter_rows():
        judged.setdefault(query_id, {})[doc_id] = grade
    for query in made.queries:
        right = {doc_id: grade_of(query, found) for doc_id, found in mentions.items()}
        assert {doc: grade for doc, grade in judged[query.query_id].items() if grade > 0} == {
            doc: grade for doc, grade in right.items() if grade
        }
        for doc_id, grade in judged[query.query_id].items():
            assert grade == right[doc_id] or (grade == UNDECIDED and not right[doc_id])
        assert sum(1 for grade in judged[query.query_id].values() if grade == 0) <= SMALL.judged


def test_every_sample_holds(made):
    mentions, texts = mentions_of(made), dict(made.corpus.select("doc_id", "text").iter_rows())
    queries = {query.query_id: query for query in made.queries}
    assert set(made.samples["method"]) == {"original", "unit", "value"}
    for row in made.samples.to_dicts():
        query, found = queries[row["query_id"]], mentions[row["doc_id"]]
        assert query.split != "test"
        written = read_value(row["text"][row["value_start"] : row["value_end"]])
        assert written.value == pytest.approx(row["value"], rel=1e-12)
        if row["method"] == "original":
            assert row["text"] == texts[row["doc_id"]]
            assert (grade_of(query, found) == 2) is bool(row["label"])
            continue
        assert any(_only_changed(texts[row["doc_id"]], row["text"], mention) for mention in found)
        _check_changed(query, row, found)


def _only_changed(old, new, mention):
    """Whether the texts agree outside of one mention's value and unit."""
    first = min(mention.value_span[0], mention.unit_span[0])
    rest = len(old) - max(mention.value_span[1], mention.unit_span[1])
    return old != new and old[:first] == new[:first] and old[len(old) - rest :] == new[len(new) - rest :]


def _check_changed(query, row, found):
    """Some mention, replaced by the sample's value and unit, must give the label; the others stay."""
    unit = UNITS.get(row["unit"])
    base = UNITS.to_base(row["value"], row["unit"])
    outcomes = []
    for number, mention in enumerate(found):
        changed = dataclasses.replace(
            mention,
            value=row["value"],
            high=row["value"],
            unit=unit.name,
            base_unit=unit.base_unit,
            base_value=base,
            base_high=base,
        )
        outcomes.append(grade_of(query, [changed if n == number else other for n, other in enumerate(found)]) == 2)
    assert any(outcome is bool(row["label"]) for outcome in outcomes)
    if row["method"] == "unit":
        assert any(row["value"] == m.value for m in found)
        same = any(row["unit"] == m.unit for m in found if m.value == row["value"])
        assert same is bool(row["label"])
        assert any(m.family == unit.family for m in found)


def test_sample_sizes_and_triples(made):
    sizes = made.samples.group_by("query_id", "method", "label").len()
    assert sizes["len"].max() <= SMALL.samples
    original = (
        made.samples.filter(pl.col("method") == "original").group_by("query_id").agg(pl.col("label").sum(), n=pl.len())
    )
    assert (original["label"] * 2 == original["n"]).all()
    labels = dict(made.samples.select("sample_id", "label").iter_rows())
    counts = made.samples.group_by("query_id").agg(
        p=pl.col("label").sum().cast(pl.Int64), n=(1 - pl.col("label")).sum()
    )
    assert made.triples.height == (counts["p"] * counts["n"]).sum()
    assert all(labels[p] == 1 and labels[n] == 0 for _, p, n in made.triples.iter_rows())


def test_held_out_concepts_never_reach_training(made):
    held = {
        alternative
        for query in made.queries
        if query.split == "test" and query.kind != "seen"
        for condition in query.conditions
        for alternative in concept_alternatives(condition.concept)
    }
    assert held
    mentions = mentions_of(made)
    of_train = {query.query_id for query in made.queries if query.split == "train"}
    for doc_id in made.samples.filter(pl.col("query_id").is_in(of_train))["doc_id"]:
        for mention in mentions[doc_id]:
            assert not any(set(concept) <= set(mention.concept) for concept in held)
    asked = {
        (c.concept, c.comparator, c.base_value, c.base_high)
        for q in made.queries_of("train")
        if len(q.conditions) == 1
        for c in q.conditions
    }
    for query in made.queries_of("test"):
        if len(query.conditions) == 1:
            (c,) = query.conditions
            assert (c.concept, c.comparator, c.base_value, c.base_high) not in asked


def test_kinds_mean_what_they_say(made, expansions_file):
    expansions = dict(line.split("\t")[::-1] for line in expansions_file.read_text().splitlines() if "\t" in line)
    lexical = {query.terms for query in made.queries if query.kind in ("seen", "unseen")}
    for query in made.queries:
        if query.kind in ("expansion", "wo_surface"):
            assert expansions[query.terms] in {" ".join(a) for a in concept_alternatives(query.conditions[0].concept)}
        if query.kind == "wo_surface":
            concept = expansions[query.terms]
            assert not set(concept.split()) & set(query.terms.split())
            assert concept not in lexical
        assert query.terms in query.text or len(query.conditions) > 1


def test_useless_expansions_are_told(index, options, tmp_path):
    (tmp_path / "other.tsv").write_text("no such concept\tsomething else\n")
    other = dataclasses.replace(options, expansions=tmp_path / "other.tsv")
    counts = open_benchmark(generate(index, tmp_path / "b", other)).params["counts"]
    assert counts["concepts with expansions"] == {"in the file": 1, "asked about": 0}


def test_seen_means_that_training_asks_about_it(made, index, options, tmp_path):
    few = dataclasses.replace(options, max_train=6, max_test=200)
    for benchmark in (made, open_benchmark(generate(index, tmp_path / "few", few))):
        asked = {c.concept for q in benchmark.queries if (q.split, q.kind) == ("train", "seen") for c in q.conditions}
        seen = [q for q in benchmark.queries if (q.split, q.kind) == ("test", "seen")]
        assert seen or benchmark is not made
        assert all(c.concept in asked for q in seen for c in q.conditions)


def test_a_topic_is_a_group_of_concepts_and_has_its_share_of_queries(index, options, tmp_path):
    few = open_benchmark(generate(index, tmp_path / "few", dataclasses.replace(options, per_topic=3)))
    for split in ("dev", "test"):
        asked = Counter(query.topic for query in few.queries_of(split))
        assert max(asked.values()) == 3
        assert "" not in asked
    assert max(Counter(query.topic for query in few.queries_of("train")).values()) > 3
    concepts = {}
    for query in few.queries:
        concepts.setdefault(query.conditions[0].concept, set()).add(query.topic)
    assert all(len(topics) == 1 for topics in concepts.values())
    assert few.params["counts"]["rejected"]["query: its topic has enough"] > 0


def test_many_topics_come_before_many_queries(index, options, made, tmp_path):
    topics = {query.topic for query in made.queries_of("test")}
    few = dataclasses.replace(options, max_test=len(topics))
    chosen = open_benchmark(generate(index, tmp_path / "few", few)).queries_of("test")
    assert len({query.topic for query in chosen}) >= 0.8 * len(topics)
    assert len({query.conditions[0].comparator for query in chosen}) > 2


def test_no_query_has_two_samples_of_one_text_and_method(made):
    originals = made.samples.filter(pl.col("method") == "original")
    assert originals.height == originals.unique(["query_id", "label", "text"]).height


def test_query_texts_say_the_condition(made):
    for query in made.queries:
        for condition in query.conditions:
            for part in condition.value_text.split(" to "):
                assert part in query.text
            ends = [read_value(part).value for part in condition.value_text.split(" to ")]
            assert ends == [condition.value, condition.high][: len(ends)]
            assert condition.unit_text in query.text
            found = UNITS.preceding(condition.unit_text) or UNITS.lookup(condition.unit_text)
            assert (found or UNITS.get("employee")).name == condition.unit
            assert UNITS.to_base(condition.value, condition.unit) == condition.base_value


def test_our_own_check_finds_nothing(made):
    assert [finding for finding in check(made) if finding.severity == "error"] == []


def test_counts_are_reported(made):
    counts = made.params["counts"]
    assert counts["pairs"] == {"in the index": 12, "asked about": 12, "left out": {}}
    assert counts["rejected"]
    assert all(isinstance(number, int) and number > 0 for number in counts["rejected"].values())
    assert made.params["quantities"] == "gold"
    assert "judgment does not hold" not in counts["rejected"]


def test_a_second_call_changes_nothing_and_other_options_are_refused(index, options, tmp_path):
    small = dataclasses.replace(options, max_train=5, max_dev=2, max_test=5)
    folder = generate(index, tmp_path / "bench", small)
    before = (folder / "manifest.json").stat().st_mtime_ns
    assert generate(index.path, folder, small) == folder
    assert (folder / "manifest.json").stat().st_mtime_ns == before
    other = dataclasses.replace(small, seed=14)
    with pytest.raises(OptionError, match="--overwrite"):
        generate(index, folder, other)
    generate(index, folder, other, overwrite=True)
    assert open_benchmark(folder).params["seed"] == 14


SCRIPT = """
import sys
from pathlib import Path
from qbench.generation.gate import TIME
from qbench.generation.generate import generate
from qbench.generation.options import GenerationOptions
index, output, expansions = map(Path, sys.argv[1:])
generate(index, output, GenerationOptions(min_sentences=4, max_train=25, max_dev=9, max_test=25, expansions=expansions))
"""


def test_same_bytes_whatever_the_hash_seed(index, expansions_file, tmp_path):
    output = tmp_path / "there" / "bench"
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    subprocess.run(
        [sys.executable, "-c", SCRIPT, str(index.path), str(output), str(expansions_file)],
        check=True,
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[2])},
        timeout=120,
    )
    options = GenerationOptions(min_sentences=4, max_train=25, max_dev=9, max_test=25, expansions=expansions_file)
    here = generate(index, tmp_path / "here" / "bench", options)
    there, here = ({p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in f.iterdir()} for f in (output, here))
    assert len(here) >= 7
    assert here == there


def meaning(query):
    return frozenset((c.concept, c.comparator, c.base_unit, c.base_value, c.base_high) for c in query.conditions)


def lists(benchmark):
    queries = {query.query_id: query for query in benchmark.queries}
    return queries, {row["sample_id"]: row for row in benchmark.samples.to_dicts()}


@pytest.mark.parametrize(
    ("change", "lost"),
    [
        # Several switches in one go where what they take does not overlap.
        (
            {"ranges": False, "negation": False},
            lambda q: any(c.comparator in ("between", "!=") for c in q.conditions),
        ),
        (
            {"inclusive": False, "multi": False},
            lambda q: len(q.conditions) > 1 or q.conditions[0].comparator in ("<=", ">="),
        ),
        ({"expansion": False}, lambda q: q.split != "test" and q.kind == "expansion"),
        ({"kinds": ("seen", "unseen")}, lambda q: q.kind in ("expansion", "wo_surface") and q.split == "test"),
        ({"kinds": ("expansion", "wo_surface")}, lambda q: q.split == "test" and q.kind in ("seen", "unseen")),
    ],
)
def test_a_query_switch_takes_its_queries_and_no_others(index, options, made_uncapped, tmp_path, change, lost):
    queries, samples = lists(made_uncapped)
    less, fewer = lists(
        open_benchmark(generate(index, tmp_path / "b", dataclasses.replace(_uncapped(options), **change)))
    )
    gone = {name for name, query in queries.items() if lost(query)}
    assert gone
    assert not {name for name, query in less.items() if lost(query)}
    assert set(queries) - gone <= set(less)
    # A query that repeated one of those that are gone may come in.
    left_room = {meaning(queries[name]) for name in gone}
    assert all(meaning(query) in left_room for name, query in less.items() if name not in queries)
    assert all(less[name] == query for name, query in queries.items() if name in less)
    assert all(fewer[name] == row for name, row in samples.items() if row["query_id"] in less)


def test_more_random_values_are_asked_for_in_training_alone(index, options, made_uncapped, tmp_path):
    queries, samples = lists(made_uncapped)
    sets = dataclasses.replace(_uncapped(options), random_sets=5)
    more, many = lists(open_benchmark(generate(index, tmp_path / "b", sets)))
    for name, query in queries.items():
        assert more[name] == query
    assert all(many[name] == row for name, row in samples.items())
    added = [query for name, query in more.items() if name not in queries]
    assert len(added) > len(queries) / 3
    assert {query.split for query in added} == {"train"}
    meanings = [meaning(query) for query in more.values() if query.kind != "expansion"]
    assert len(meanings) == len(set(meanings))
    none = lists(open_benchmark(generate(index, tmp_path / "c", dataclasses.replace(sets, random_sets=0))))[0]
    # A query that repeated a random one comes in for it.
    assert len(none) < len(queries)


def test_combinations_of_concepts_are_asked_for_with_several_values(index, options, tmp_path):
    whole = dataclasses.replace(_uncapped(options), max_pairs=None, expansions=None)
    queries = lists(open_benchmark(generate(index, tmp_path / "a", whole)))[0].values()
    sets = dataclasses.replace(whole, joint_sets=6, single=False)
    more = lists(open_benchmark(generate(index, tmp_path / "b", sets)))[0].values()
    once = {query.query_id for query in queries if len(query.conditions) > 1}
    # One that repeats another's meaning may stay out.
    assert len(once - {query.query_id for query in more}) <= len(once) / 4
    assert len(more) > 2 * len(once) > 0
    assert all(len(query.conditions) > 1 for query in more)
    assert len({meaning(query) for query in more}) == len(more)
    assert {query.split for query in more} > {"train"}
    with pytest.raises(OptionError, match="neither queries of one constraint"):
        dataclasses.replace(sets, multi=False)


@pytest.mark.parametrize("method", ["original", "unit_permutation", "value_permutation"])
def test_a_sample_switch_takes_its_samples_and_no_others(index, options, made_uncapped, tmp_path, method):
    _, samples = lists(made_uncapped)
    without = dataclasses.replace(_uncapped(options), **{method: False})
    _, fewer = lists(open_benchmark(generate(index, tmp_path / "b", without)))
    name = method.removesuffix("_permutation")
    assert fewer
    assert all(samples[key] == row for key, row in fewer.items())
    kept = {row["query_id"] for row in fewer.values()}
    assert all(key in fewer for key, row in samples.items() if row["method"] != name and row["query_id"] in kept)
    assert not any(row["method"] == name for row in fewer.values())


def _uncapped(options):
    """Few pairs, so that no cap is reached and nothing takes another's place."""
    return dataclasses.replace(options, max_pairs=6, per_topic=10**6, max_train=10**6, max_dev=10**6, max_test=10**6)


@pytest.fixture(scope="module")
def made_uncapped(index, options, tmp_path_factory):
    return open_benchmark(generate(index, tmp_path_factory.mktemp("uncapped") / "bench", _uncapped(options)))


def test_without_expansions_only_seen_and_unseen(index, tmp_path):
    benchmark = open_benchmark(generate(index, tmp_path / "b", SMALL))
    assert {query.kind for query in benchmark.queries} == {"seen", "unseen"}


def test_an_expansion_that_is_itself_a_concept_stands_for_both(index, tmp_path):
    (tmp_path / "e.tsv").write_text("net income\trevenue\n")
    benchmark = open_benchmark(
        generate(index, tmp_path / "b", dataclasses.replace(SMALL, expansions=tmp_path / "e.tsv", max_test=400))
    )
    asked = {(q.kind, c.concept) for q in benchmark.queries if q.terms == "revenue" for c in q.conditions}
    assert ("expansion", ("revenue", "|", "net", "income")) in asked
    about = [q for q in benchmark.queries if q.terms in ("revenue", "net income")]
    assert len({q.split for q in about if (q.split, q.kind) != ("test", "seen")}) == 1
    test_every_judgment_holds_and_none_is_missing(benchmark)


def test_other_units_are_asked_for_and_still_compare(index, tmp_path):
    rows = sentences() + [(f"extra{n}::0", text, mentions) for n in range(6) for _, text, mentions in [_in_grams(n)]]
    mixed = write_index(tmp_path / "index", rows)
    benchmark = open_benchmark(generate(mixed, tmp_path / "b", dataclasses.replace(SMALL, other_unit=1.0, multi=False)))
    asked = {(c.unit, c.base_unit) for query in benchmark.queries for c in query.conditions}
    assert {("gram", "kilogram"), ("pound-mass", "kilogram")} & asked
    mentions = mentions_of(benchmark)
    for query in benchmark.queries:
        for doc_id in benchmark.qrels.filter(pl.col("query_id") == query.query_id, pl.col("grade") > 0)["doc_id"]:
            assert grade_of(query, mentions[doc_id]) > 0


def _in_grams(number):
    from tests.generation.conftest import amount

    value = 900 + 100 * number
    text = f"In case {'abcdef'[number]} the laptop weight was {value:,} g."
    return "", text, [amount("laptop weight", "gram", "{0} g", value, text)]


def test_with_an_extractor_permuted_sentences_are_read_again(tmp_path):
    from qbench.index.build import build_index

    lines = [
        json.dumps({"id": f"{name}{n}", "text": f"In case {n} the firm reported {what} of {form.format(value)}."})
        for name, what, form in (
            ("acme", "net income", "${} million"),
            ("bolt", "capital spending", "{} million euros"),
            ("corax", "reading speed", "{} km"),
            ("delta", "fuel use", "{} kg"),
            ("egret", "cash flow", "${} million"),
        )
        for n, value in enumerate([1, 2, 2, 3, 5, 8, 13, 21])
    ]
    (tmp_path / "corpus.jsonl").write_text("\n".join(lines))
    index = build_index(tmp_path / "corpus.jsonl", tmp_path / "index", workers=1)
    options = dataclasses.replace(SMALL, value_permutation=True, max_train=40, max_dev=5, max_test=20)
    benchmark = open_benchmark(generate(index, tmp_path / "b", options))
    assert benchmark.params["quantities"] == "extracted"
    assert benchmark.params["extractor"]["extractor"] == "rules"
    from qbench.quantities.extractors import get_extractor

    extractor = get_extractor(index.extractor_options())
    queries = {query.query_id: query for query in benchmark.queries}
    permuted = benchmark.samples.filter(pl.col("method") != "original").to_dicts()
    assert {(row["method"], row["label"]) for row in permuted} == {("unit", 0), ("unit", 1), ("value", 0), ("value", 1)}
    for row in permuted:
        found = extractor.extract(row["text"])
        assert (grade_of(queries[row["query_id"]], found) > 0) is bool(row["label"])
        assert any(m.value == row["value"] and m.unit == row["unit"] for m in found)


def test_an_index_without_usable_pairs_says_why(tmp_path, index):
    with pytest.raises(InputError, match=r"of 12 pairs, 0 have at least 99 sentences.*--min-sentences"):
        generate(index, tmp_path / "b", dataclasses.replace(SMALL, min_sentences=99))
    empty = write_index(tmp_path / "empty", [("a::0", "Nothing.", [])])
    with pytest.raises(InputError, match="of 0 pairs"):
        generate(empty, tmp_path / "b", SMALL)
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize(
    "change",
    [
        {"corpus": "some"},
        {"kinds": ("seen", "known")},
        {"original": False, "unit_permutation": False},
        {"samples": 0},
        {"min_sentences": 1},
        {"dev_share": 0.5, "test_share": 0.6},
        {"other_unit": 1.5},
        {"max_pairs": 0},
    ],
)
def test_options_that_make_no_sense(change):
    with pytest.raises(OptionError):
        dataclasses.replace(SMALL, **change)


def test_a_benchmark_without_queries_is_an_error(index, tmp_path):
    with pytest.raises(OptionError, match="leave no query"):
        generate(index, tmp_path / "b", dataclasses.replace(SMALL, max_train=0, max_dev=0, max_test=0))


def test_the_whole_corpus_on_request(index, tmp_path):
    small = dataclasses.replace(SMALL, corpus="all", max_train=3, max_dev=1, max_test=3)
    benchmark = open_benchmark(generate(index, tmp_path / "b", small))
    assert "empty::0" in benchmark.corpus["doc_id"].to_list()


def test_what_repeats_one_statement_or_one_document_is_undecided_beyond_the_caps(index, tmp_path, options):
    tight = dataclasses.replace(options, alike=2, expansions=None)
    benchmark = open_benchmark(generate(index, tmp_path / "b", tight))
    grades = {(query, doc): grade for query, doc, grade in benchmark.qrels.iter_rows()}
    texts = dict(benchmark.corpus.select("doc_id", "text").iter_rows())
    kept, beyond = Counter(), 0
    for (query, doc), grade in grades.items():
        skeleton = re.sub(r"\d[\d.,]*", "0", texts[doc].lower())
        kept[query, skeleton] += grade > 0
        beyond += grade == UNDECIDED
    assert max(kept.values()) == 2
    assert beyond
    assert [finding for finding in check(benchmark) if finding.severity == "error"] == []


def test_a_pair_that_nobody_asks_about_is_left_out_and_counted(tmp_path):
    def said(number, concept, value, unit):
        text = f"Case {number}: the {concept} was {value} {unit}s."
        start, at = text.index(f" {value} ") + 1, text.index(f"{unit}s")
        base, seconds = UNITS.get(unit), UNITS.to_base(value, unit)
        words, spans = tuple(concept.split()), ((start, start + len(str(value))), (at, at + len(unit) + 1))
        mention = Quantity(value, value, "=", unit, base.family, base.base_unit, seconds, seconds, words)
        return f"{concept}{number}::0", text, [dataclasses.replace(mention, value_span=spans[0], unit_span=spans[1])]

    lasting = ("battery life", "loan term", "contract duration", "hospital stay")
    rows = [said(number, concept, number + 2, "hour") for number in range(8) for concept in lasting]
    rows += [said(number, "tax rate", number + 2, "month") for number in range(8)]
    benchmark = open_benchmark(generate(write_index(tmp_path / "index", rows), tmp_path / "b", SMALL))
    assert {query.terms for query in benchmark.queries} == set(lasting)
    assert benchmark.params["counts"]["pairs"] == {"in the index": 5, "asked about": 4, "left out": {TIME: 1}}
    free = dataclasses.replace(SMALL, gate=False)
    benchmark = open_benchmark(generate(tmp_path / "index", tmp_path / "free", free))
    assert "tax rate" in {query.terms for query in benchmark.queries}
