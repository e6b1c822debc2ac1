"""The mappings of the how-to page: they load, and they work on the tables that they were written for."""

import gzip
import re
from itertools import islice
from pathlib import Path

import pytest

from qbench.corpora.tables import Table
from qbench.errors import InputError
from qbench.quantities.units import load_units
from qbench.store import read_manifest
from qbench.synth.make import synthesize
from qbench.synth.mapping import load_mapping

ROOT = Path(__file__).parents[2]
TABLES = ROOT.parent / "shared" / "data" / "tables"
MAPPINGS = re.findall(r"```toml\n(.*?)```", (ROOT / "docs" / "how-to" / "synth.md").read_text("utf-8"), re.DOTALL)
BIKES = (
    "Model,Kind,Maker,Weight,Price_euros,Gears\n"
    "Velora 3,City,Sprocken,14.5kg,649,7\n"
    "Tarnic,Racing,Ovalo,7.25kg,3450,22\n"
    "Quillon Pro,Racing,Sprocken,6.9kg,5200,24\n"
    "Ormade,City,Ovalo,NULL,399,3\n"
)


def test_the_first_mapping_gives_the_sentence_of_the_page(tmp_path):
    table, mapping = tmp_path / "bikes.csv", tmp_path / "bikes.toml"
    table.write_text(BIKES)
    mapping.write_text(MAPPINGS[0])
    folder = synthesize(table, tmp_path / "corpus", mapping=mapping)
    page = " ".join((ROOT / "docs" / "how-to" / "synth.md").read_text("utf-8").replace("\n> ", " ").split())
    assert any(text in page for text in re.findall(r'"text": "(Tarnic.*?)"', (folder / "corpus.jsonl").read_text()))
    assert read_manifest(folder).counts["sentences"] == 8


@pytest.mark.parametrize("text", MAPPINGS)
def test_every_mapping_loads(tmp_path, text):
    path = tmp_path / "m.toml"
    path.write_text(text)
    columns = {*re.findall(r'^"?([\w.]+)"? = \{', text, re.MULTILINE), "Memory", "Model", "Kind", "Maker", "Product"}
    columns |= {"TypeName", "Company", "name", "type"}
    assert len(load_mapping(path, columns, load_units()).attributes) >= 3
    with pytest.raises(InputError, match="no such column"):
        load_mapping(path, {"other"}, load_units())


@pytest.mark.shared
@pytest.mark.skipif(not TABLES.is_dir(), reason="the real tables are not here")
@pytest.mark.parametrize("guessed", [True, False])
@pytest.mark.parametrize(
    ("name", "number"), [("laptops.csv", 1), ("phones.csv", 2), ("openfoodfacts_us_50k.jsonl.gz", 3)]
)
def test_real_tables(tmp_path, name, number, guessed):
    table = tmp_path / name
    opened = gzip.open if name.endswith(".gz") else open
    with opened(TABLES / name, "rt", encoding="utf-8") as source, opened(table, "wt", encoding="utf-8") as head:
        head.writelines(islice(source, 1000))
    mapping = tmp_path / "m.toml"
    mapping.write_text(MAPPINGS[number])
    folder = synthesize(table, tmp_path / "c", mapping=None if guessed else mapping, sentences_per_row=1)
    counts = read_manifest(folder).counts
    assert counts["sentences"] > 850
    assert all(cells["used"] > 0 for cells in counts["columns"].values())
    assert counts["skipped"].keys() <= {"same facts as another row", "no quantity"}
    assert counts["rows"] == sum(1 for _ in Table(table).rows())
