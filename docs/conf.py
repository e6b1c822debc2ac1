"""The docs site: `sphinx-build -W -n -c docs . SITE`, from the root of the repository.

The source folder is the repository itself, so that a link from a page to the README or to a result leads to the same
place on the site as it does beside the code.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent

project = "qbench"
author = "the qbench authors"
release = re.search(r'__version__ = "(.+)"', (ROOT / "qbench" / "__init__.py").read_text(encoding="utf-8"))[1]
version = release

extensions = ["myst_parser"]
root_doc = "docs/index"
include_patterns = [
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "docs/**",
    "benchmarks/**",
    "qbench/quantities/english/data/binder/README.md",
    "qbench/quantities/english/data/parser/README.md",
]
exclude_patterns = [".*", "**/.*", "**/node_modules", "**/site-packages"]

myst_heading_anchors = 4

html_theme = "furo"
html_title = f"qbench {release}"
html_copy_source = False
html_show_sphinx = False
html_static_path = ["static"]
html_css_files = ["tables.css"]

FRONT = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>qbench</title>
<meta http-equiv="refresh" content="0; url=docs/index.html">
<a href="docs/index.html">qbench</a>
"""
"""Leads from the root of the site to the first page."""


def setup(app: Any) -> None:
    """Write the front of the site when its pages are written."""
    app.connect("build-finished", lambda app, _: (Path(app.outdir) / "index.html").write_text(FRONT, encoding="utf-8"))
