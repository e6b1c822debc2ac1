"""`qbench retrieve-quantity` on the events of DuEE-fin: is the quantity of "company role" found, and with a bound?

    qbench build-index DUEE.jsonl -o INDEX
    python benchmarks/chinese_questions.py DATA/chinese/duee_fin_dev.json INDEX [--queries N] [--seed S]

INDEX is of the same documents, under their ids. A query names the company and the role of an amount
("某某科技质押股份数量"), as it is, asked ("...是多少"), and with a bound of half the amount ("...超过5000万"). An
answer is right if its document is that of the event, its sentence holds the argument, and its value is the argument's.
Reported are the mean reciprocal rank among ten answers and the share of queries whose first answer is right.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from chinese import SCALES, SIGNS, amount, close
from chinese_search import WHO

from qbench.mining.retrieve import Answer, open_descriptions, retrieve_quantity
from qbench.randomness import generator

NAMES = {
    "交易股票/股份数量": "{trigger}股份数量",
    "质押股票/股份数量": "质押股份数量",
    "减持部分占总股本比例": "减持占总股本比例",
    "增持部分占总股本比例": "增持占总股本比例",
    "占公司总股本比例": "{trigger}占总股本比例",
    "质押物占总股比": "质押占总股本比例",
    "质押物占持股比": "质押占所持股份比例",
    "每股交易价格": "每股价格",
    "债务规模": "债务",
    "发行价格": "发行价",
    **{role: role for role in ("净亏损", "交易金额", "中标金额", "融资金额", "募资金额", "市值", "回购股份数量")},
}
"""How people call a role."""
UNITS = {name: sign for sign, name in reversed(SIGNS.items())}
DEPTH = 10

Right = set[tuple[str, float]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("duee_fin", type=Path)
    parser.add_argument("index", type=Path)
    parser.add_argument("--queries", type=int, default=400)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    descriptions = open_descriptions(options.index)
    by_source: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in descriptions.read().iter_rows(named=True):
        by_source[row["source_id"]].append(row)
    documents = [json.loads(line) for line in options.duee_fin.read_text(encoding="utf-8").splitlines()]
    asked = sorted(questions(documents, by_source), key=lambda one: one[0])
    order = generator(options.seed, "questions").permutation(len(asked))[: options.queries]
    chosen = [asked[at] for at in order]
    print(f"{len(chosen)} of {len(asked)} queries")
    for name, texts in (
        ("as it is", [query for query, _, _ in chosen]),
        ("asked", [f"{query}是多少" for query, _, _ in chosen]),
        ("with a bound", [f"{query}超过{half}" for query, half, _ in chosen]),
        ("with a bound, apart", [f"{query} 不低于{half}" for query, half, _ in chosen]),
    ):
        ranks = [
            rank(answers, right)
            for answers, (_, _, right) in zip(retrieve_quantity(descriptions, texts, top=DEPTH), chosen, strict=True)
        ]
        reciprocal = sum(1 / at for at in ranks if at) / len(ranks)
        print(f"{name}: reciprocal rank {reciprocal:.3f}, first {ranks.count(1) / len(ranks):.3f}", flush=True)


def questions(
    documents: list[dict[str, Any]], by_source: dict[str, list[dict[str, Any]]]
) -> Iterator[tuple[str, str, Right]]:
    """Query, half the amount as written, and the documents and values that are right."""
    for document in documents:
        for event in document.get("event_list", ()):
            who = next((row["argument"] for row in event["arguments"] if row["role"] in WHO), None)
            for row in event["arguments"] if who else ():
                read = amount(row["argument"]) if row["role"] in NAMES else None
                if read is None:
                    continue
                values, unit = read
                right = {
                    (each["doc_id"], each["value"])
                    for each in by_source[document["id"]]
                    if row["argument"] in each["sentence"] and close(each["value"], values[0])
                }
                if right:
                    query = f"{who}{NAMES[row['role']].format(trigger=event['trigger'])}"
                    yield query, written(values[0] / 2, UNITS.get(unit or "", "")), right


def written(value: float, unit: str) -> str:
    """A number as Chinese writes it: 1.5亿元, 4089.1万股, 12.5%."""
    scale = next((scale for scale in ("亿", "万") if value >= SCALES[scale]), "")
    return f"{value / SCALES[scale]:g}{scale}{unit}"


def rank(answers: list[Answer], right: Right) -> int:
    """The rank of the first right answer; 0 for none."""
    return next((at for at, one in enumerate(answers, 1) if (one.doc_id, one.value) in right), 0)


if __name__ == "__main__":
    main()
