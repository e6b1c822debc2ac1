import pytest

from qbench.errors import OptionError, UnknownNameError
from qbench.index import build_index
from qbench.index.disk import Index
from qbench.licences import FORBIDDING, LICENCES, NOTICES, identifier, licence, normalised
from qbench.quantities.extractors import ExtractorOptions


def test_names_are_identifiers_in_any_case():
    assert identifier(" CC-BY-4.0 ") == "cc-by-4.0"
    assert identifier("ODbL-1.0") == "odbl"
    assert normalised("Terms  of Ours") == "Terms of Ours"
    assert normalised("") == "unknown"
    with pytest.raises(UnknownNameError, match=r"Near: cc-by-4.0"):
        identifier("cc-by-4")


def test_every_licence_is_published_with_a_notice_or_refused_with_a_reason():
    for name, terms in LICENCES.items():
        found = licence(name)
        assert (terms in NOTICES) != (terms in FORBIDDING)
        assert (found.refusal is None) == (terms in NOTICES)
        assert found.notice
    assert not licence("public-domain").listed
    assert licence("mit").listed
    assert "same licence" in licence("cc-by-nc-sa-4.0").notice


def test_terms_that_are_stated():
    assert licence("Terms of ours", "share-alike").refusal is None
    assert licence("Terms of ours").refusal == "nobody stated one, or what it asks is not known"
    for name, terms in (("mit", "proprietary"), ("x", "nice"), ("unknown", "permissive")):
        with pytest.raises(OptionError):
            licence(name, terms)


def test_stating_a_licence_does_not_build_an_index_anew(tmp_path, monkeypatch):
    source = tmp_path / "c.jsonl"
    source.write_text('{"id": "a", "text": "It weighs 5 kg."}\n')
    options = {"extractor": ExtractorOptions(spacy_model="none"), "workers": 1}
    first = build_index(source, tmp_path / "index", **options)
    assert "licence" not in first.manifest.params
    monkeypatch.setattr("qbench.index.build._make", lambda *_: pytest.fail("built anew"))
    stated = build_index(source, tmp_path / "index", **options, licence="CC0-1.0")
    assert stated.manifest.params["licence"] == "cc0-1.0"
    assert stated.manifest.digest != first.manifest.digest
    assert stated.manifest.files == first.manifest.files
    assert build_index(source, tmp_path / "index", **options, licence="cc0-1.0").manifest == stated.manifest
    assert build_index(source, tmp_path / "index", **options).manifest == first.manifest
    assert Index.open(tmp_path / "index").manifest == first.manifest
