"""The folder that is uploaded, read by other tools, without a network."""

import json
import shutil

import pytest

from qbench.benchmark.disk import open_benchmark
from qbench.errors import InputError, MissingPackageError, OptionError
from qbench.publishing import configs
from qbench.publishing.options import PublishOptions
from qbench.publishing.picture import MOST_BARS, Panel, draw
from qbench.publishing.publish import publish
from qbench.store import SEAL


@pytest.fixture
def folder(bench, tmp_path, monkeypatch):
    monkeypatch.setattr("datasets.config.HF_HUB_OFFLINE", True)
    publish(bench, tmp_path / "out", PublishOptions("me/tiny"), dry_run=True)
    return tmp_path / "out"


def load(folder, config, tmp_path):
    import datasets

    datasets.disable_progress_bars()
    return datasets.load_dataset(str(folder), config, cache_dir=str(tmp_path / "cache"))


def test_datasets_loads_every_configuration(folder, tmp_path):
    from datasets import get_dataset_config_names

    configs = get_dataset_config_names(str(folder))
    assert configs == ["corpus", "queries", "qrels", "triples", "conditions", "quantities", "samples"]
    loaded = {config: load(folder, config, tmp_path) for config in configs}
    assert loaded["corpus"]["corpus"][0] == {"_id": "d01", "title": "", "text": "The Aria laptop weighs 1.2 kg."}
    assert loaded["queries"]["queries"].column_names == ["_id", "text"]
    assert loaded["qrels"]["test"][0] == {"query-id": "q4", "corpus-id": "d03", "score": 2}
    assert {split: len(rows) for split, rows in loaded["qrels"].items()} == {"train": 4, "dev": 2, "test": 5}
    assert loaded["triples"]["train"].column_names == ["anchor", "positive", "negative"]
    assert loaded["conditions"]["conditions"][0]["conditions"][0]["comparator"] == "<"


def test_judgments_are_those_of_the_benchmark(folder, bench, tmp_path):
    splits = load(folder, "qrels", tmp_path)
    found = {(row["query-id"], row["corpus-id"], row["score"]) for rows in splits.values() for row in rows}
    assert found == set(open_benchmark(bench).qrels.rows())


def test_a_large_table_goes_into_several_files(folder, bench, tmp_path, monkeypatch):
    monkeypatch.setattr(configs, "SHARD", 100)
    publish(bench, tmp_path / "small", PublishOptions("me/tiny"), dry_run=True)
    names = sorted(path.name for path in (tmp_path / "small" / "corpus").iterdir())
    assert len(names) > 3
    assert names[0] == f"corpus-00000-of-{len(names):05d}.parquet"
    rows = load(tmp_path / "small", "corpus", tmp_path)["corpus"]
    assert rows["_id"][:] == open_benchmark(bench).corpus["doc_id"].to_list()


def test_without_matplotlib(bench, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(MissingPackageError, match="--no-picture"):
        publish(bench, tmp_path / "out", PublishOptions("me/tiny"), dry_run=True)
    publish(bench, tmp_path / "out", PublishOptions("me/tiny", picture=False), dry_run=True)
    assert "distributions.png" not in (tmp_path / "out" / "README.md").read_text()


def test_the_picture_is_the_same_whatever_the_settings():
    import matplotlib

    panels = [Panel("by $x_1$", {"=": 3, "汉字\x00": 2, "$\\frac{": 1}), Panel("empty", {}), Panel("one", {"a": 1})]
    first = draw(panels, "na\u202eme\n$")
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "red"}):
        assert draw(panels, "na\u202eme\n$") == first
    assert first.startswith(b"\x89PNG")
    assert b"Matplotlib" not in first
    assert draw([], "nothing").startswith(b"\x89PNG")


def test_bars():
    many = {str(n): n for n in range(30)}
    bars = Panel("t", many).bars()
    assert bars[0] == ("29", 29)
    assert bars[-1] == ("19 others", sum(range(1, 20)))
    assert len(bars) == MOST_BARS + 1
    ordered = Panel("t", {"10-100": 1, "1-10": 5, "0": 0}, ordered=True).bars()
    assert ordered == [("10-100", 1), ("1-10", 5)]


@pytest.mark.parametrize("text", ["see sk-test-0123456789-not-a-real-key", "token: my-own-secret"])
def test_a_citation_with_a_key_is_refused(bench, tmp_path, monkeypatch, text):
    monkeypatch.setenv("SOME_TOKEN", "my-own-secret")
    (tmp_path / "cite.md").write_text(text)
    options = PublishOptions("me/t", picture=False, citation=tmp_path / "cite.md")
    with pytest.raises(InputError, match=r"cite.md: this file holds (SOME_TOKEN|a key), and is not published"):
        publish(bench, tmp_path / "out", options, dry_run=True)
    assert not (tmp_path / "out").exists()


def test_citation_of_ones_own(bench, tmp_path):
    (tmp_path / "cite.md").write_text("Cite *us*.\n")
    publish(bench, tmp_path / "out", PublishOptions("me/t", picture=False, citation=tmp_path / "cite.md"), dry_run=True)
    assert (tmp_path / "out" / "README.md").read_text().endswith("## Citation\n\nCite *us*.\n")


def test_the_language_is_that_of_the_benchmark_unless_said(bench, tmp_path):
    import yaml

    chinese = tmp_path / "chinese"
    shutil.copytree(bench, chinese)
    manifest = json.loads((chinese / "manifest.json").read_text())
    del manifest[SEAL]
    manifest["params"]["extractor"] = {"language": "zh"}
    (chinese / "manifest.json").write_text(json.dumps(manifest))

    def languages(bench=bench, **said):
        publish(bench, tmp_path / "out", PublishOptions("me/t", picture=False, **said), dry_run=True)
        return yaml.safe_load((tmp_path / "out" / "README.md").read_text().split("---\n")[1])["language"]

    assert languages() == ["en"]
    assert languages(chinese) == ["zh"]
    assert languages(languages=("no", "zh-Hant")) == ["no", "zh-Hant"]
    for code in ("", "English", "e", "de\n- x"):
        with pytest.raises(OptionError, match="not a code of a language"):
            languages(languages=(code,))
