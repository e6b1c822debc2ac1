"""Product pages from a corpus of `qbench synth`: the sentences about a row, one after the other, as one document.

    python benchmarks/pages.py TABLE ID_COLUMN CORPUS PAGES.jsonl

The ids are the table's own. With an index of `qbench ground` as a fifth argument it compares what was aligned with the
cells that the sentences state (facts.parquet of the corpus), and prints precision and recall.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import polars as pl

from qbench.corpora.tables import Table


def main() -> None:
    """Write the pages, or measure the alignment."""
    table, column, corpus, pages, *index = sys.argv[1:]
    ids = {str(number): str(row[column]) for number, row in Table(Path(table)).rows()}
    if index:
        measure(ids, Path(corpus), Path(index[0]))
        return
    found: dict[str, dict[str, str]] = {}
    for line in (Path(corpus) / "corpus.jsonl").read_text(encoding="utf-8").splitlines():
        sentence = json.loads(line)
        page = found.setdefault(ids[sentence["source_id"]], {"title": sentence["title"], "text": ""})
        page["text"] = f"{page['text']} {sentence['text']}".strip()
    with Path(pages).open("w", encoding="utf-8") as out:
        out.writelines(json.dumps({"id": name, **page}, ensure_ascii=False) + "\n" for name, page in found.items())


def measure(ids: dict[str, str], corpus: Path, index: Path) -> None:
    """How many of the facts that are said to be stated are, and how many of those that are were found."""
    gold = pl.read_parquet(corpus / "facts.parquet").select("row", "attribute", "doc_id")
    row_of = gold["doc_id"].str.split("-").list.first()
    # A sentence may compare with another row: that is stated on another row's page, and not meant here.
    own = gold.filter(row_of == gold["row"].cast(pl.String))
    stated = {(ids[str(row)], attribute) for row, attribute in own.select("row", "attribute").iter_rows()}
    facts = pl.read_parquet(index / "facts.parquet")
    said = facts.filter(pl.col("status").is_in(["stated", "bounded"]))
    aligned = set(said.select("source_id", "name").iter_rows())
    disputed = set(facts.filter(pl.col("status") == "disagrees").select("source_id", "name").iter_rows())
    print(f"stated {len(stated):,}, aligned {len(aligned):,}, both {len(stated & aligned):,}")
    print(f"precision {len(stated & aligned) / len(aligned):.3f}, recall {len(stated & aligned) / len(stated):.3f}")
    print(f"said to disagree {len(disputed):,}, of these stated {len(stated & disputed):,}")


if __name__ == "__main__":
    main()
