"""The notebook of the docs: it is what its script says, and it still executes."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

ROOT = Path(__file__).parent.parent
SCRIPT = runpy.run_path(str(ROOT / "scripts" / "notebook.py"))


def test_the_notebook_has_the_cells_of_its_script_and_no_place_of_a_machine():
    kept = json.loads(SCRIPT["NOTEBOOK"].read_text(encoding="utf-8"))
    assert [(cell["cell_type"], "".join(cell["source"])) for cell in kept["cells"]] == list(SCRIPT["cells"]())
    outputs = json.dumps([cell.get("outputs") for cell in kept["cells"]])
    assert not any(place in outputs for place in ("/tmp", "/home", "/root", "0x7"))
    assert all(cell["outputs"] for cell in kept["cells"] if cell["cell_type"] == "code")


def test_the_notebook_executes(tmp_path):
    made = SCRIPT["executed"](tmp_path)
    shown = [
        "".join(output["data"]["text/html"])
        for cell in made["cells"]
        for output in cell.get("outputs", [])
        if "text/html" in output.get("data", {})
    ]
    assert any("<mark" in html for html in shown)
    assert any("BindBM25 [parsed]" in html for html in shown)
    assert (tmp_path / "board.html").stat().st_size > 50_000
    assert len(list(tmp_path.glob("*.csv"))) == 1
