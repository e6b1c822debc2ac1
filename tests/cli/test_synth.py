"""`qbench synth` on the command line."""

from __future__ import annotations

from typer.testing import CliRunner

from qbench.cli.synth import app


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_a_guess_is_told_and_counts_are_printed(tmp_path):
    table = tmp_path / "bikes.csv"
    table.write_text("name,Weight,doors\nVelora,12.5kg,x\nTarnic,9kg,\nOrmade,NULL,\n")
    result = run(table, "-o", tmp_path / "corpus", "--sentences-per-row", 1)
    assert result.exit_code == 0, result.output
    assert '"Weight" = { name = "weight", unit = "kilogram" }' in result.stderr
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["rows", "3"] in lines
    assert ["sentences", "2"] in lines
    assert ["1", "no", "quantity"] in lines
    assert ["2", "1", "0", "Weight"] in lines
    assert (tmp_path / "corpus" / "mapping.toml").is_file()


def test_a_column_with_nothing_usable_is_told(tmp_path):
    table, mapping = tmp_path / "bikes.csv", tmp_path / "m.toml"
    table.write_text("name,Weight,price\nVelora,12.5kg,cheap\nTarnic,9kg,\n")
    mapping.write_text('name = "name"\n[attributes]\nWeight = { unit = "kg" }\nprice = { unit = "dollar" }\n')
    result = run(table, "-o", tmp_path / "corpus", "--mapping", mapping)
    assert result.exit_code == 0, result.output
    assert "nothing usable in column price: 1 empty, 1 unreadable" in result.stderr
    assert "(such as 'cheap')" in result.stdout
    assert "Guessed" not in result.stderr


def test_help_names_the_next_steps():
    result = run("--help")
    assert result.exit_code == 0
    assert "--extractor given" in " ".join(result.stdout.split())
