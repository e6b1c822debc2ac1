"""`qbench evaluate` on the command line."""

from __future__ import annotations

from typer.testing import CliRunner

from qbench.cli.evaluate import app


def test_prints_the_table_and_writes_on_request(tmp_path):
    qrels, good, bad = tmp_path / "qrels.txt", tmp_path / "good.run", tmp_path / "bad.run"
    qrels.write_text("".join(f"q{i} 0 d 1\n" for i in range(9)))
    good.write_text("".join(f"q{i} Q0 d 1 1 x\n" for i in range(9)))
    bad.write_text("".join(f"q{i} Q0 e 1 1 x\n" for i in range(9)))
    words = [str(qrels), str(good), str(bad), "--names", "Good", "--names", "Bad one", "--measures", "RR@10"]
    result = CliRunner().invoke(app, [*words, "--resamples", "999"])
    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["1", "1", "Good", "1.000", "a", "-"] in lines
    assert ["2", "2", "Bad", "one", "0.000", "b", "-"] in lines
    assert "Bad one: 100.0 % of the documents in the top 10 are not judged" in result.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.run", "good.run", "qrels.txt"]
    result = CliRunner().invoke(app, [*words, "-o", str(tmp_path / "out"), "--resamples", "999"])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "out" / "significance.parquet").is_file()
    assert "Written to" in result.stderr
    result = CliRunner().invoke(app, [*words, "--html", str(tmp_path / "page.html"), "--resamples", "999"])
    assert result.exit_code == 0, result.output
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert (
        "qbench evaluate qrels.txt good.run bad.run --measures RR@10 --resamples 999 --names Good --names 'Bad one'"
    ) in page
    assert str(tmp_path) not in page
