"""`qbench explain` of mined pairs: what both descriptions share, and how likely their values agree by chance."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from qbench.cli.explain import app
from qbench.errors import OptionError
from qbench.mining.explaining import explain_pairs
from qbench.mining.options import MiningOptions
from qbench.mining.paraphrases import mine_paraphrases
from qbench.mining.probability import rank_estimate


@pytest.fixture(scope="module")
def pairs(descriptions, tmp_path_factory):
    folder = tmp_path_factory.mktemp("explained") / "pairs"
    return mine_paraphrases(descriptions.path, folder, MiningOptions(k=10, test_share=0.3), threads=1)


def query_of(pairs):
    """A description with a paraphrase and confusing pairs, and its pairs."""
    table = pairs.table().collect()
    query = table.filter(label="paraphrase")["query_id"][0]
    return query, table.filter(query_id=query).sort("rank")


def test_it_says_what_the_pairs_table_and_the_descriptions_say(pairs):
    query, rows = query_of(pairs)
    found = explain_pairs(pairs, query, top=99)
    texts = dict(pairs.descriptions().select("description_id", "description").collect().iter_rows())
    assert found.descriptions == len(texts)
    assert found.query.description == texts[query]
    assert [(one.found.description_id, one.label, one.rank) for one in found.pairs] == list(
        rows.select("doc_id", "label", "rank").iter_rows()
    )
    for one in found.pairs:
        words = [set(texts[name].lower().split()) for name in (query, one.found.description_id)]
        assert set(one.shared) == words[0] & words[1]
        for word, count in one.shared.items():
            assert count == sum(word in text.lower().split() for text in texts.values())
        if one.label == "paraphrase":
            assert one.found.base_value == pytest.approx(found.query.base_value, rel=1e-3)
            assert one.p_fact == pytest.approx(rank_estimate(np.array([one.rank]), np.array([one.chance]))[0])
        else:
            assert one.p_fact is one.chance is None
            assert one.found.base_value != found.query.base_value


def test_some_pairs_are_named_or_the_best_are_taken(pairs):
    query, rows = query_of(pairs)
    last = rows["doc_id"][-1]
    assert [one.found.description_id for one in explain_pairs(pairs, query, docs=[last]).pairs] == [last]
    assert len(explain_pairs(pairs, query, top=1).pairs) == 1
    with pytest.raises(OptionError, match="no pair with these"):
        explain_pairs(pairs, query, docs=[query])
    with pytest.raises(OptionError, match=r"no such description.*Try "):
        explain_pairs(pairs, "nobody#1")
    silent = set(pairs.descriptions().collect()["description_id"]) - set(pairs.table().collect()["query_id"])
    with pytest.raises(OptionError, match="has no pair"):
        explain_pairs(pairs, min(silent))


def test_it_is_printed(pairs):
    query, rows = query_of(pairs)
    result = CliRunner().invoke(app, [str(pairs.path), query, "--top", "99"])
    assert result.exit_code == 0, result.output
    for text in (f"{query}: ", ". paraphrase: ", " agree on ", ". confusing: ", " is not ", "one fact: ", "once in "):
        assert text in result.stdout
    result = CliRunner().invoke(app, [str(pairs.path), query, "--top", "2", "--format", "json"])
    told = json.loads(result.stdout)
    assert [one["found"]["description_id"] for one in told] == rows["doc_id"].to_list()[:2]
    assert all(one["query"]["description_id"] == query for one in told)
    result = CliRunner().invoke(app, [str(pairs.path), query, "--system", "BM25"])
    assert isinstance(result.exception, OptionError)
