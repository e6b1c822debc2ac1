"""The shape of the house: rooms import downwards, nothing heavy loads early, no prints, no pickle."""

import ast
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "qbench"
FILES = sorted(PACKAGE.rglob("*.py"))


HOUSE = runpy.run_path(str(PACKAGE.parent / "scripts" / "rooms.py"))
ROOMS = HOUSE["ORDER"]
imports = HOUSE["imported"]


def test_every_room_has_its_place():
    assert set(HOUSE["rooms"]()) == set(ROOMS)


def test_no_module_imports_itself_by_way_of_others():
    """Imports inside functions and for type checkers count, too."""
    assert HOUSE["circles"](HOUSE["graph"]()) == []


def test_circles_are_found():
    edges = {"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": set(), "e": {"a"}}
    assert HOUSE["circles"](edges) == ["a", "b", "c"]


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_lower_room_never_imports_a_higher_one(path):
    room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    if room in ("__init__", "__main__"):
        return
    above = set(ROOMS[ROOMS.index(room) + 1 :])
    used = {name.split(".")[1] for name in imports(path) if name.startswith("qbench.")}
    assert not used & above


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_no_pickle_and_no_long_modules(path):
    assert not {name.split(".")[0] for name in imports(path)} & {"pickle", "dill", "shelve", "marshal"}
    assert path.read_text(encoding="utf-8").count("\n") < 500


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_no_asserts(path):
    """They vanish under `python -O`, and what a type checker needs to hear is better said by the code's shape."""
    assert not any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_functions_fit_a_screen(path):
    """Their statements, that is: signatures and docstrings may be longer."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[1] if ast.get_docstring(node) and len(node.body) > 1 else node.body[0]
            assert node.end_lineno - first.lineno < 60, node.name


def test_every_room_says_what_it_is():
    for folder in sorted(p for p in PACKAGE.iterdir() if p.is_dir() and list(p.glob("*.py"))):
        assert len((ast.get_docstring(ast.parse((folder / "__init__.py").read_text())) or "").splitlines()) >= 3, (
            folder.name
        )


HEAVY = (
    "torch",
    "spacy",
    "polars",
    "pyarrow",
    "pint",
    "datasets",
    "quantulum3",
    "ir_measures",
    "numpy",
    "rich",
    "scipy",
    "llvmlite",
    "numba",
    "transformers",
    "sentence_transformers",
    "httpx2",
    "anyio",
    "sqlite3",
    "matplotlib",
    "huggingface_hub",
)


@pytest.mark.parametrize(
    "arguments", [["-c", "import qbench"], ["-m", "qbench", "--help"], ["-m", "qbench", "--version"]]
)
def test_nothing_heavy_is_imported_early(arguments):
    probe = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments], capture_output=True, text=True, check=True, timeout=60
    )
    loaded = {line.rpartition("|")[2].strip().split(".")[0] for line in probe.stderr.splitlines()}
    assert not loaded & set(HEAVY)


def test_public_names_exist():
    import qbench

    for name in qbench.__all__:
        assert getattr(qbench, name) is not None
    with pytest.raises(AttributeError):
        qbench.nonsense  # noqa: B018


def test_packages_that_not_all_commands_need_are_in_the_extra_that_the_error_names():
    extras = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    calls = [
        [getattr(argument, "value", None) for argument in node.args]
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "needed"
    ]
    assert {extra for _, extra, *_ in calls} == {*extras["optional-dependencies"]} - {"docs", "test"}
    core = {re.split(r"[>=]", line)[0].replace("-", "_") for line in extras["dependencies"]}
    for package, extra, *_ in calls:
        if package is not None:
            name = package.partition(".")[0]
            assert name not in core
            assert any(name in line.replace("-", "_") for line in extras["optional-dependencies"][extra])


def test_a_package_that_is_missing_is_named_with_its_extra(monkeypatch):
    from qbench.errors import MissingPackageError
    from qbench.extras import needed

    assert needed("json.decoder", "x", "x") is sys.modules["json.decoder"]
    monkeypatch.setitem(sys.modules, "some_package", None)
    with pytest.raises(MissingPackageError) as caught:
        needed("some_package.part", "some", "engine=some", otherwise="or leave it")
    assert str(caught.value) == "engine=some needs some-package. Install it: pip install 'qbench[some]', or leave it"


PAGES = sorted(
    [*PACKAGE.parent.glob("*.md"), *PACKAGE.parent.glob("docs/**/*.md"), *PACKAGE.parent.glob("benchmarks/*.md")]
)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(PACKAGE.parent)))
def test_pages_are_finished_and_their_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    assert "@@" not in text
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", text):
        assert "://" in target or (page.parent / target).is_file(), f"{target} is no file: the site links only files"


def test_the_two_commands_are_in_the_readme():
    readme = (PACKAGE.parent / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^python3 -m venv .*$", readme, re.MULTILINE)
    assert [command.rpartition("&& ")[2].split()[0] for command in commands] == [".venv/bin/qbench", ".venv/bin/python"]
