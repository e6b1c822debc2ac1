"""Audits: what is drawn, what is read back, and what becomes of a sheet when the labels change."""

from __future__ import annotations

import json
from dataclasses import replace

import polars as pl
import pytest

from qbench.annotation.audit import draw_audit, open_audit, read_audit
from qbench.annotation.audit_form import CAUSES, benchmark_subject
from qbench.annotation.missed import likeliest
from qbench.annotation.options import AuditOptions, ImportOptions
from qbench.benchmark.audit_disk import with_section, write_audit
from qbench.benchmark.audits import ALL, Audit, audit_note, audit_of
from qbench.benchmark.card import AUDIT_TITLE, card
from qbench.benchmark.disk import open_benchmark, write_benchmark
from qbench.benchmark.mask import mask_benchmark
from qbench.errors import InputError, OptionError
from qbench.quantities.types import to_row
from qbench.store import read_manifest
from tests.annotation.conftest import rows_of
from tests.factories import quantity, tiny_benchmark

ALL_OF_IT = AuditOptions(seed=1)


@pytest.fixture
def subject(bench):
    return benchmark_subject(bench, ALL_OF_IT)


@pytest.fixture
def audit(subject, tmp_path):
    return draw_audit(subject, tmp_path / "audit", ALL_OF_IT)


def write(path, rows):
    import csv

    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


def filled(audit, path, verdict=lambda row: ("right", "")):
    """The table of a sheet, filled in by a function from a row to verdict and cause."""
    rows = rows_of(audit.folder / "audit.csv")
    for row in rows:
        row["verdict"], row["cause"] = verdict(row)
    return write(path, rows)


def but_d03(verdict, otherwise=("right", "")):
    """Says one thing of the judgment of d03, and another of all else."""
    return lambda row: verdict if row["doc_id"] == "d03" else otherwise


def figure(audit, kind, by=ALL, group=""):
    return next(each for each in audit.figures if (each.kind, each.by, each.group) == (kind, by, group))


def test_it_draws_every_kind_and_counts_them(audit):
    labels = {
        "query": 4,
        "relevant": 4,
        "judged 0": 1,
        "original sample, positive": 2,
        "unit sample, negative": 1,
        "value sample, negative": 1,
    }
    assert audit.counts["labels"] == labels
    assert audit.counts["drawn"] == labels
    assert len(audit.items) == audit.counts["items"] == 13
    rows = rows_of(audit.folder / "audit.csv")
    assert {row["claim"] for row in rows if row["doc_id"] == "d11"} == {"Judged 0: the text does not answer the query"}
    by_id = {row["doc_id"]: row for row in rows}
    assert by_id["s4"]["text"] == "A Delta laptop sells for €800."
    assert by_id["s4"]["claim"] == "Training text, written anew with another unit: it does not answer the query"
    assert by_id["s1"]["claim"] == "Training text of the corpus: it answers the query"
    assert [row["text"] for row in rows if not row["doc_id"] and row["query_id"] == "q4"] == ["laptop weight over 2 kg"]


def test_a_query_is_read_before_its_labels(audit):
    places = [item.query_id for item in audit.items]
    assert [places.index(query) for query in dict.fromkeys(places)] == sorted(map(places.index, dict.fromkeys(places)))
    for query in ("q4", "q5", "q6", "q7"):
        own = [item for item in audit.items if item.query_id == query]
        assert own[0].sources == ("query",)
        first = audit.items.index(own[0])
        assert audit.items[first : first + len(own)] == own


def test_the_same_seed_gives_the_same_files(subject, audit, bench, tmp_path):
    again = draw_audit(benchmark_subject(bench, ALL_OF_IT), tmp_path / "again", ALL_OF_IT)
    for name in ("audit.csv", "audit.html", "items.parquet"):
        assert (audit.folder / name).read_bytes() == (again.folder / name).read_bytes()
    other = AuditOptions(seed=2)
    assert draw_audit(benchmark_subject(bench, other), tmp_path / "other", other).items != audit.items


def test_undecided_judgments_are_not_drawn(bench, tmp_path):
    undecided = pl.DataFrame([("q5", "d10", -1)], schema=bench.qrels.schema, orient="row")
    changed = replace(bench, qrels=pl.concat([bench.qrels, undecided]), digest="x")
    drawn = draw_audit(benchmark_subject(changed, AuditOptions()), tmp_path / "undecided")
    assert ("q5", "d10") not in [item.pair for item in drawn.items]


def with_sentences(bench, *rows):
    """The benchmark with further sentences: (id, text, value as written, value, unit, concept, comparator)."""
    corpus = [(doc_id, text, "", "more") for doc_id, text, *_ in rows]
    mentions = [
        to_row(doc_id, quantity(text, written, value, unit, concept, comparator=comparator))
        for doc_id, text, written, value, unit, concept, comparator in rows
    ]
    return replace(
        bench,
        corpus=pl.concat([bench.corpus, pl.DataFrame(corpus, schema=bench.corpus.schema, orient="row")]),
        quantities=pl.concat([bench.quantities, pl.DataFrame(mentions, schema=bench.quantities.schema)]),
        digest="more",
    )


@pytest.fixture
def missing(bench):
    """A benchmark whose q6, "earnings below $4 million", has documents that nobody judged."""
    return with_sentences(
        bench,
        ("m1", "Earnings of Dorn, earnings at last, were $2 million.", "2 million", 2e6, "dollar", "dorn", "="),
        ("m2", "Dorn had $3 million of earnings in a long year of many sales.", "3 million", 3e6, "dollar", "", "="),
        ("m3", "Earnings of Enno were $9 million.", "9 million", 9e6, "dollar", "enno", "="),
        ("m4", "Enno sold a house for $1 million.", "1 million", 1e6, "dollar", "house", "="),
        ("m5", "Earnings, a profit above $1 million, pleased Enno.", "1 million", 1e6, "dollar", "profit", ">"),
        ("m6", "Earnings of Fenn were 2 million euros.", "2 million", 2e6, "euro", "fenn", "="),
        ("m7", "EARNINGS of Dorn, earnings at last,  were $2 million.", "2 million", 2e6, "dollar", "dorn", "="),
    )


def test_unjudged_documents_meet_the_value_and_hold_the_words(missing):
    """m3 breaks the condition, m4 has no word of it, m5 is undecided, m6 is of another currency, m7 repeats m1."""
    queries = {query.query_id: query for query in missing.queries}
    assert likeliest(missing, [queries["q6"]], 5) == {"q6": ["m1", "m2"]}
    assert likeliest(missing, [queries["q6"]], 1) == {"q6": ["m1"]}
    assert likeliest(missing, [replace(queries["q6"], conditions=())], 5) == {"q6": []}
    assert likeliest(replace(missing, quantities=None), [queries["q6"]], 5) == {}


def test_a_query_has_missed_something_if_one_of_its_documents_was(missing, tmp_path):
    subject = benchmark_subject(missing, ALL_OF_IT)
    audit = draw_audit(subject, tmp_path / "audit", ALL_OF_IT)
    assert audit.counts["drawn"]["unjudged"] == 2
    claims = {row["claim"] for row in rows_of(audit.folder / "audit.csv") if row["doc_id"] in ("m1", "m2")}
    assert claims == {"Not judged, and so taken for not relevant: the text does not answer the query"}

    def by_query(of):
        found = read_audit(subject, audit, [filled(audit, tmp_path / "a.csv", of)]).audit
        return figure(found, "unjudged"), figure(found, "query with nothing missed", "queries")

    labels, queries = by_query(lambda row: ("wrong", "answers after all") if row["doc_id"] == "m2" else ("right", ""))
    assert (labels.right, labels.wrong, queries.drawn, queries.right, queries.wrong) == (1, 1, 4, 3, 1)
    labels, queries = by_query(lambda row: ("", "") if row["doc_id"] == "m2" else ("right", ""))
    assert (labels.read, queries.read) == (1, 0), "the figure is given when all documents are read"
    queries = by_query(lambda row: ("?", "") if row["doc_id"] == "m2" else ("right", ""))[1]
    assert (queries.right, queries.unsure) == (3, 1)
    labels, queries = by_query(lambda row: ("nonsense", "nobody asks this"))
    assert (queries.right, queries.read) == (3, 3), "of a nonsense query nothing is said"
    assert (labels.nonsense, labels.share) == (2, None), "nor of its candidates"
    assert by_query(lambda row: ("right", ""))[1].share == 1

    def with_texts(row):
        return ("wrong", "answers after all") if row["doc_id"] == "m2" else ("right", "")

    found = read_audit(subject, audit, [filled(audit, tmp_path / "b.csv", with_texts)]).audit
    queries = figure(found, "query with nothing missed, with candidates", "queries")
    assert (queries.drawn, queries.right, queries.wrong) == (1, 0, 1)


def test_queries_without_a_candidate_have_missed_nothing(subject, audit, tmp_path):
    assert audit.counts["by query"] == {"unjudged": {"name": "query with nothing missed", "queries": 4}}
    found = read_audit(subject, audit, [filled(audit, tmp_path / "anna.csv")]).audit
    queries = figure(found, "query with nothing missed", "queries")
    assert (queries.drawn, queries.right, queries.share) == (4, 4, 1)
    assert figure(found, "query with nothing missed, with candidates", "queries").share is None
    none = AuditOptions(missed=0)
    assert "by query" not in draw_audit(benchmark_subject(tiny_benchmark(), none), tmp_path / "none", none).counts


def test_figures_by_kind_and_group_and_their_causes(subject, audit, tmp_path):
    def verdict(row):
        if row["doc_id"] == "d03":
            return "wrong", "another thing"
        return ("nonsense", "") if row["doc_id"] in ("s2", "s4") else ("right", "")

    found = read_audit(subject, audit, [filled(audit, tmp_path / "anna.csv", verdict)]).audit
    relevant = figure(found, "relevant")
    assert (relevant.labels, relevant.drawn, relevant.right, relevant.wrong, relevant.nonsense) == (4, 4, 3, 1, 0)
    assert relevant.share == 0.75
    assert (relevant.low, relevant.high) == pytest.approx((0.3006, 0.9544), abs=1e-4)
    assert figure(found, "relevant", "comparator", ">").share == 0
    assert figure(found, "relevant", "comparator", "between").share == 1
    assert figure(found, "relevant", "query kind", "seen").read == 2
    assert figure(found, "unit sample, negative").nonsense == 1
    causes = [(each.kind, each.verdict, each.cause, each.labels) for each in found.causes]
    assert causes == [
        ("relevant", "wrong", "another thing", 1),
        ("unit sample, negative", "nonsense", "", 1),
        ("value sample, negative", "nonsense", "", 1),
    ]
    assert found.auditors == {"annotator 1": {"verdicts": 13, "cannot tell": 0}}
    assert Audit.from_json(json.loads(json.dumps(found.to_json()))).to_json() == found.to_json()


def test_a_half_filled_sheet_is_counted_and_never_replaced(subject, audit, bench, tmp_path):
    def verdict(row):
        return ("right", "") if row["doc_id"] == "d03" else ("?", "") if row["doc_id"] == "d09" else ("", "")

    filled(audit, audit.folder / "audit.csv", verdict)
    there = draw_audit(subject, audit.folder, ALL_OF_IT)
    assert there.filled == [audit.folder / "audit.csv"]
    found = read_audit(subject, there, there.filled).audit
    relevant = figure(found, "relevant")
    assert (relevant.drawn, relevant.read, relevant.right, relevant.unsure) == (4, 1, 1, 1)
    assert figure(found, "judged 0").share is None
    assert [each.kind for each in found.kinds] == ["relevant", "query with nothing missed"]
    before = (audit.folder / "audit.csv").read_bytes()
    changed = replace(bench, digest="changed")
    with pytest.raises(OptionError, match=r"audit\.csv: this file may hold judgments"):
        draw_audit(benchmark_subject(changed, ALL_OF_IT), audit.folder, ALL_OF_IT, overwrite=True)
    assert (audit.folder / "audit.csv").read_bytes() == before


def test_a_stale_audit_is_said(subject, audit, bench, tmp_path):
    changed = benchmark_subject(replace(bench, digest="changed"), ALL_OF_IT)
    with pytest.raises(OptionError, match=rf"have changed since this audit was drawn.*{bench.digest}, now changed"):
        draw_audit(changed, audit.folder, ALL_OF_IT)
    assert draw_audit(changed, audit.folder, ALL_OF_IT, overwrite=True).digest != audit.digest


def test_other_options_are_refused_and_none_go_on(subject, audit, tmp_path):
    assert draw_audit(subject, audit.folder).digest == audit.digest
    with pytest.raises(OptionError, match="drawn with other options"):
        draw_audit(subject, audit.folder, AuditOptions(seed=3))
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("mine")
    with pytest.raises(OptionError, match="qbench did not make"):
        draw_audit(subject, tmp_path / "notes")


def test_nothing_to_draw(bench, tmp_path):
    nothing = AuditOptions(queries=0, relevant=0, negative=0, samples=0)
    with pytest.raises(OptionError, match="no label to draw"):
        draw_audit(benchmark_subject(bench, nothing), tmp_path / "audit", nothing)
    with pytest.raises(OptionError, match=r"no queries in this split.*dev"):
        benchmark_subject(replace(bench, queries=bench.queries_of("test")), AuditOptions(split="dev"))


def test_two_auditors_agree_or_not(subject, audit, tmp_path):
    anna = filled(audit, tmp_path / "anna.csv")
    ben = filled(audit, tmp_path / "ben.csv", but_d03(("wrong", "other")))
    with pytest.raises(InputError, match=r"1 items are graded differently.*kappa of anna and ben"):
        read_audit(subject, audit, [anna, ben])
    found = read_audit(subject, audit, [anna, ben], ImportOptions(resolve="lowest"))
    assert found.audit.agreement == {
        "annotator 1 and annotator 2": {"judged_by_both": 13, "equal": 0.9231, "kappa": 0.0}
    }
    assert list(found.agreement) == ["anna and ben"]
    assert figure(found.audit, "relevant").wrong == 1
    assert [cause.cause for cause in found.audit.causes] == ["other"]
    named = read_audit(subject, audit, [anna, ben], ImportOptions(resolve="first", names=True)).audit
    assert list(named.auditors) == ["anna", "ben"]
    assert figure(named, "relevant").wrong == 0


def test_the_cause_of_an_adjudicator_counts(subject, audit, tmp_path):
    files = [
        filled(audit, tmp_path / "anna.csv"),
        filled(audit, tmp_path / "ben.csv", but_d03(("wrong", "other"))),
        filled(audit, tmp_path / "eve.csv", but_d03(("wrong", "left open"), ("", ""))),
    ]
    found = read_audit(subject, audit, files[:2], ImportOptions(adjudicated=files[2])).audit
    assert [(cause.cause, cause.labels) for cause in found.causes] == [("left open", 1)]


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("verdict", "rihgt", r"not a verdict of this sheet \(found 'rihgt'\)\. Write right, wrong, nonsense, \?"),
        ("verdict", "3", r"not a verdict of this sheet"),
        ("cause", "bad luck", r"not a cause of this sheet \(found 'bad luck'\)\. Known: another thing, "),
        ("text", "Something else.", r"this is not the text that the sheet has"),
        ("doc_id", "d99", r"this item is not in the sheet"),
    ],
)
def test_what_cannot_be_used_is_named(subject, audit, tmp_path, column, value, message):
    rows = rows_of(audit.folder / "audit.csv")
    for row in rows:
        row["verdict"] = "wrong"
    rows[2][column] = value
    path = write(tmp_path / "anna.csv", rows)
    with pytest.raises(InputError, match=rf"anna\.csv:4: {message}"):
        read_audit(subject, audit, [path])
    kept = read_audit(subject, audit, [path], ImportOptions(on_error="skip"))
    assert sum(kept.judgments.problems.counts.values()) == 1


def test_verdicts_may_come_in_capitals_and_causes_of_right_are_dropped(subject, audit, tmp_path):
    rows = rows_of(audit.folder / "audit.csv")
    rows[0].update(verdict="Right", cause="other")
    rows[1].update(verdict="NONSENSE", cause=" Nobody  asks this ")
    found = read_audit(subject, audit, [write(tmp_path / "anna.csv", rows)]).audit
    assert [(each.verdict, each.cause) for each in found.causes] == [("nonsense", "nobody asks this")]


def test_the_card_has_the_figures_and_keeps_what_was_edited(subject, audit, bench, tmp_path):
    folder = tmp_path / "bench"
    text = (folder / "README.md").read_text()
    assert f"{AUDIT_TITLE}\n\nLabels not audited" in text
    (folder / "README.md").write_text(text.replace("## Limits", "## My own words\n\nHello.\n\n## Limits"))
    found = read_audit(subject, audit, [filled(audit, tmp_path / "anna.csv")]).audit
    write_audit(folder, found)
    after = (folder / "README.md").read_text()
    assert "not audited" not in after
    assert "| relevant | 100.0 % | 51.0 to 100.0 % | 4 of 4 | 0 | 0 | 0 |" in after
    assert "Hello." in after
    assert after.count(AUDIT_TITLE) == 1
    opened = open_benchmark(folder)
    assert opened.digest == bench.digest
    assert opened.audit == Audit.from_json(found.to_json())
    assert read_manifest(folder).files["audit.json"]["bytes"] == (folder / "audit.json").stat().st_size
    assert card(opened, "bench", bench.digest) == after.replace("## My own words\n\nHello.\n\n", "")
    write_audit(folder, found)
    assert (folder / "README.md").read_text() == after


def test_a_card_without_the_section_gets_it_at_its_end():
    assert with_section("# Mine\n\nText.\n", None).startswith(f"# Mine\n\nText.\n\n{AUDIT_TITLE}\n\nLabels not")
    card = f"# Mine\n\n{AUDIT_TITLE}\n\nold\n"
    assert with_section(card, None) == with_section("# Mine\n", None)


def test_what_is_made_of_an_audited_benchmark_is_not_audited(subject, audit, tmp_path):
    found = read_audit(subject, audit, [filled(audit, tmp_path / "anna.csv")]).audit
    write_audit(tmp_path / "bench", found)
    opened = open_benchmark(tmp_path / "bench")
    assert audit_of(opened.audit, opened.digest) == opened.audit
    assert audit_note(opened.audit, opened.digest).startswith(
        "Labels audited by annotator 1: query 100.0 % right (51.0 to 100.0 %, 4 read); relevant 100.0 % right"
    )
    masked = mask_benchmark(opened, "units")
    assert audit_note(masked.audit, masked.digest) == "Labels not audited."
    assert write_benchmark(masked, tmp_path / "masked").audit is None
    assert "Labels not audited" in (tmp_path / "masked" / "README.md").read_text()


@pytest.mark.parametrize(
    ("edit", "fault"),
    [
        (lambda data: [data], "the record is no object"),
        (lambda data: {"figures": 3}, "the record lacks agreement"),
        (lambda data: {**data, "figure": 3}, "the record has an unknown entry figure"),
        (lambda data: {**data, "figures": 3}, "figures is no list"),
        (lambda data: {**data, "auditors": 3}, "auditors is no object, or holds something else"),
        (lambda data: {**data, "figures": [data["figures"][0], {}]}, "entry 2 of figures lacks by"),
        (lambda data: {**data, "causes": ["luck"]}, "entry 1 of causes is no object"),
    ],
)
def test_a_damaged_record_is_named(subject, audit, bench, tmp_path, edit, fault):
    found = read_audit(subject, audit, [filled(audit, tmp_path / "anna.csv")]).audit
    (tmp_path / "bench" / "audit.json").write_text(json.dumps(edit(json.loads(json.dumps(found.to_json())))))
    with pytest.raises(InputError, match=rf"audit\.json: not the record of an audit \(found '{fault}'\)\. Remove it"):
        open_benchmark(tmp_path / "bench")


def test_the_table_numbers_its_rows_and_says_kind_marks_and_origin(audit, bench):
    rows = rows_of(audit.folder / "audit.csv")
    assert [row["item"] for row in rows] == [str(number) for number in range(1, len(rows) + 1)]
    assert [row["kind"] for row in rows] == [item.sources[0] for item in audit.items]
    texts = dict(bench.corpus.select("doc_id", "text").iter_rows())
    samples = {row["sample_id"]: row for row in bench.samples.to_dicts()}
    for row in rows:
        sample = samples.get(row["doc_id"], {"method": "original"})
        assert row["original"] == ("" if sample["method"] == "original" else texts[sample["doc_id"]])
        if "doc_id" in sample:
            assert row["marked"] == sample["text"][sample["value_start"] : sample["value_end"]]


def test_each_kind_draws_queries_of_its_own(subject):
    labels = {f"q{n}": [""] for n in range(40)}
    many = replace(subject, groups={name: {"comparator": "=", "query kind": "seen"} for name in labels})
    drawn = {kind: many.draw(labels, 10, 1, kind) for kind in ("query", "relevant")}
    assert drawn["query"] != drawn["relevant"]
    assert all(len({query for query, _ in some}) == 10 for some in drawn.values())


def test_the_causes_are_those_of_guideline_and_prompt(subject):
    from qbench.llm.prompts import load_prompt

    prompt = load_prompt("audit", subject.prompt)
    for cause in CAUSES:
        assert f"\n- {cause}" in subject.guideline
        assert f"\n- {cause}" in prompt.system


def test_a_changed_sheet_is_not_read(audit):
    (audit.folder / "items.parquet").write_bytes((audit.folder / "items.parquet").read_bytes() + b"x")
    with pytest.raises(InputError, match=r"items\.parquet"):
        open_audit(audit.folder)


def test_a_beir_like_benchmark_without_digest_is_audited_by_its_content(tmp_path):
    subject = benchmark_subject(tiny_benchmark(), AuditOptions())
    drawn = draw_audit(subject, tmp_path / "audit")
    assert read_manifest(drawn.folder).params["artefact"] == subject.key
