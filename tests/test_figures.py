"""Figures on pages are those of the boards that they cite."""

import json
from itertools import takewhile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("page", ["README.md", "benchmarks/README.md"])
def test_figures_on_real_text_are_those_of_the_boards(page):
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    head = next(
        k for k, line in enumerate(lines) if line.startswith("| | sec_filings | reuters21578 | rct_abstracts |")
    )
    names = [cell.strip() for cell in lines[head].strip("|").split("|")[1:]]
    boards = [json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text()) for name in names]
    told = 0
    for line in takewhile(lambda line: line.startswith("|"), lines[head + 2 :]):
        system, *figures = (cell.strip() for cell in line.strip("|").split("|"))
        for board, figure in zip(boards, figures, strict=True):
            means = {row["label"]: row["measures"]["nDCG@10"]["mean"] for row in board["rows"]}
            if figure != "-":
                assert figure.split()[0] == f"{means.get(f'{system} [parsed]', means.get(system)):.3f}", (
                    system,
                    figure,
                )
                told += 1
    assert told >= 4 * len(names)
