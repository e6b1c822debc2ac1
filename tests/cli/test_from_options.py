"""Commands made from options classes, and the command lines that artefacts record."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import pytest
import typer
from typer.testing import CliRunner

from qbench.cli.from_options import BY_NAME, UNRECORDED, CommandLine, changed, command, from_options
from qbench.cli.recorded import file_name, named_input
from qbench.errors import OptionError
from qbench.options import check, option

runner = CliRunner()


@dataclass(frozen=True)
class Baking:
    oven: Literal["gas", "electric"] = option("gas", help="Source of heat.")
    minutes: int = option(40, help="Time in the oven.", low=1, high=90)
    share: float = option(0.5, help="Share of the flour.", low=0, high=1)
    fruit: tuple[str, ...] = option((), help="A fruit; may be repeated.")
    kinds: tuple[Literal["bread", "cake"], ...] = option(("bread", "cake"), help="What is baked.", comma=True)
    sifted: bool = option(True, help="Sift the flour.")
    covered: bool = option(False, help="Cover it.")
    iced: bool = option(False, help="Ice it.", negatable=True)
    recipe: Path | None = option(None, help="A file.", metavar="FILE")
    ovens: int = option(1, help="Ovens in use at once.", flag="parallel", recorded=False)
    topping: str = option("none", help="A name or a file.", recorded=lambda text: Path(text).name)
    inner: float = 3.0

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True)
class Serving:
    guests: int = option(help="Number of guests.")
    minutes: int = option(5, help="Time on the table.", flag="wait")


class Kitchen:
    """A command, and what it was called with."""

    def __init__(self) -> None:
        self.app = typer.Typer()
        self.calls: list[tuple[Baking, Serving, str]] = []

        @command(self.app, "kitchen bake")
        def bake(
            flour: Annotated[Path, typer.Argument(help="Flour.")],
            output: Annotated[Path, typer.Option("--output", "-o", metavar="CAKE", help="The cake.")],
            baking: Baking,
            serving: Serving,
            line: CommandLine,
            eggs: Annotated[list[Path] | None, typer.Argument(help="Eggs."), BY_NAME] = None,
            note: Annotated[str | None, typer.Option(help="A note.")] = None,
            overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace it."), UNRECORDED] = False,
        ) -> None:
            """Bake a cake."""
            self.calls.append((baking, serving, line))

    def run(self, *words: str):
        return runner.invoke(self.app, ["/home/me/flour", "-o", "/tmp/cake", "--guests", "2", *words])

    def called(self, *words: str) -> tuple[Baking, Serving, str]:
        result = self.run(*words)
        assert result.exit_code == 0, result.output
        return self.calls[-1]


def test_without_options_the_class_has_its_defaults():
    baking, serving, line = Kitchen().called()
    assert baking == Baking()
    assert serving == Serving(guests=2)
    assert line == "qbench kitchen bake FLOUR -o CAKE --guests 2"


def test_every_kind_of_option_arrives():
    given = (
        "--oven electric --minutes 3 --share 0.25 --fruit plum --fruit fig --kinds cake --no-sifted --covered --iced "
        "--recipe a/cake.txt --parallel 4 --topping x/sugar.txt --wait 7"
    )
    baking, serving, _ = Kitchen().called(*given.split())
    assert baking == Baking(
        "electric", 3, 0.25, ("plum", "fig"), ("cake",), False, True, True, Path("a/cake.txt"), 4, "x/sugar.txt"
    )
    assert serving == Serving(2, 7)


def test_the_recorded_command_says_what_differs_and_no_path():
    words = (
        "eggs/a.egg --oven gas --minutes 3 --fruit plum --fruit fig --kinds cake --no-sifted --covered --parallel 4 "
        "--recipe a/cake.txt --topping x/sugar.txt --overwrite"
    )
    _, _, line = Kitchen().called(*words.split(), "--note", "for you")
    assert line == (
        "qbench kitchen bake FLOUR a.egg -o CAKE --minutes 3 --fruit plum --fruit fig --kinds cake --no-sifted "
        "--covered --recipe cake.txt --topping sugar.txt --guests 2 --note 'for you'"
    )


def test_a_recorded_command_is_recorded_as_itself():
    kitchen = Kitchen()
    first = kitchen.called("--kinds", " cake", "--share", "0.10", "--wait", "9")[2]
    words = shlex.split(first)
    again = runner.invoke(kitchen.app, words[3:])
    assert again.exit_code == 0, again.output
    assert kitchen.calls[-1][2] == first


@pytest.mark.parametrize(
    "words", [["--minutes", "0"], ["--minutes", "91"], ["--share", "2"], ["--oven", "wood"], ["--minutes", "x"]]
)
def test_values_beyond_the_limits_are_wrong_usage(words):
    result = Kitchen().run(*words)
    assert result.exit_code == 2
    assert f"Invalid value for '{words[0]}'" in result.stderr


def test_what_the_class_refuses_is_its_own_error():
    result = Kitchen().run("--kinds", "bread,soup")
    assert isinstance(result.exception, OptionError)
    assert str(result.exception) == "--kinds is one of bread, cake (found 'soup')"


@dataclass(frozen=True)
class Shopping:
    shops: tuple[str, ...] = option((), help="A shop.", flag="shop", choices=("baker", "grocer"))
    max_price: int = option(9, help="Limit of the price.", flag="price-limit")
    weight: int = option(1, help="Kilograms.")


def test_errors_name_the_flag_and_leave_python_its_fields():
    def failing(shopping: Shopping) -> None:
        check(shopping)
        remedy = "Raise max_price, or min_price, or the weight"
        raise OptionError("max_price of max_price.txt is low", value="max_price", remedy=remedy)

    app = typer.Typer()
    command(app, "fail")(failing)
    assert str(runner.invoke(app, ["--shop", "bank"]).exception) == "--shop is one of baker, grocer (found 'bank')"
    assert str(runner.invoke(app, []).exception) == (
        "--price-limit of max_price.txt is low (found 'max_price'). Raise --price-limit, or min_price, or the weight"
    )
    with pytest.raises(OptionError, match=r"^shops is one of"):
        check(Shopping(("bank",)))


def test_an_error_about_another_class_keeps_its_field():
    def failing(serving: Serving) -> None:
        check(Shopping(("bank",)))

    app = typer.Typer()
    command(app, "fail")(failing)
    assert str(runner.invoke(app, ["--guests", "1"]).exception).startswith("shops is one of")


def test_the_help_has_limits_choices_and_defaults():
    shown = " ".join(runner.invoke(Kitchen().app, ["--help"], terminal_width=200).stdout.split())
    for text in ("1<=x<=90", "gas|electric", "--no-iced", "bread,cake", "Number of guests.", "FILE"):
        assert text in shown
    assert "--no-covered" not in shown
    assert "--inner" not in shown


def test_flags_of_options_that_differ():
    assert changed(Baking(minutes=3, ovens=2, inner=1.0)) == ["--minutes", "--parallel"]
    assert changed(Baking(minutes=3), "minutes") == []


def test_a_type_that_no_command_line_can_give_is_an_error():
    @dataclass(frozen=True)
    class Odd:
        table: dict[str, int] | None = option(None, help="A table.")

    def odd(options) -> None:
        """A command."""

    odd.__annotations__["options"] = Odd
    with pytest.raises(TypeError, match="table: the command line has no options of the type"):
        from_options(odd, "odd")


def test_texts_that_may_be_paths_are_recorded_by_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "bench").mkdir()
    assert [file_name(text) for text in ("general", "a/mine.toml", "/b/c.toml")] == ["general", "mine.toml", "c.toml"]
    assert named_input("bench=a/bench") == "bench=bench"
    assert named_input("bench=/elsewhere/bench") == "bench=bench"
    assert named_input("model=sentence-transformers/all-MiniLM-L6-v2") == "model=sentence-transformers/all-MiniLM-L6-v2"
    assert named_input("epochs=3") == "epochs=3"
