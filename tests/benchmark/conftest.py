"""Folders in other people's layouts, small and made up."""

import copy
import csv
import io
import json

import pytest

SENTENCES = [
    # sentence, values, units, value_char_indices, unit_char_indices
    ("Shares of Acme rose 5 percent.", [5.0], ["percentage"], [[(20, 21)]], [[(22, 29)]]),
    ("Acme paid $ 3 million, a record.", [3000000.0], ["dollar"], [[(12, 21)]], [[(10, 11)]]),
    ('The "Bolt" plant employs 40 workers.', [40.0], ["worker"], [[(25, 27)]], [[(28, 35)]]),
    ("Acme sold 7 of its shops.", [7.0], ["-"], [[(10, 11)]], [[]]),
    ("Shares of Bolt fell 9 percent.", [9.0], ["percentage"], [[(20, 21)]], [[(22, 29)]]),
]
QUERIES = [
    # query_text, keywords, unit, value, condition
    ("Acme shares up less than 6 percent", "Acme shares", "percentage", "6", "<"),
    ("Acme payment of $3 million", "Acme payment", "dollar", "3000000", "="),
    ("more than 30 workers at Bolt", "Bolt workers", "worker", "30.0", ">"),
    ("stock over 8 percent", "stock", "percentage", "8", ">"),
]
JUDGMENTS = {"0": {"0": 1}, "1": {"1": 1, "3": 0}, "2": {"2": 1}, "3": {"4": 1}}


def csv_text(rows, delimiter=","):
    stream = io.StringIO()
    csv.writer(stream, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return stream.getvalue()


class QuantFolder:
    """A FinQuant folder that a test may spoil before it is read."""

    def __init__(self, path):
        self.path = path
        header = ["", "sentence", "normalized_sentence", "values", "units", "value_char_indices", "unit_char_indices"]
        self.collection = [header] + [
            [str(n), text, text.lower(), repr(values), repr(units), repr(at), repr(unit_at)]
            for n, (text, values, units, at, unit_at) in enumerate(SENTENCES)
        ]
        self.queries = [["query_text", "keywords", "unit", "value", "condition"], *map(list, QUERIES)]
        self.qrels = {
            "qrel_compelete": copy.deepcopy(JUDGMENTS),
            "qrel_in_training": {"0": {"0": 1}},
            "qrel_not_training": {"1": {"1": 1, "3": 0}},
            "qrel_expanded": {"2": {"2": 1}},
            "qrel_wo_surface": {"3": {"4": 1}},
            "qrels_equal": {"1": {"1": 1, "3": 0}},
            "qrels_greater": {"2": {"2": 1}, "3": {"4": 1}},
            "qrels_less": {"0": {"0": 1}},
        }

    def write(self, ending=".json", sub=""):
        self.path.mkdir(exist_ok=True)
        (self.path / "collection.csv").write_text(csv_text(self.collection), encoding="utf-8")
        (self.path / "queries.tsv").write_text(csv_text(self.queries, "\t"), encoding="utf-8")
        (self.path / sub).mkdir(exist_ok=True)
        for name, judgments in self.qrels.items():
            (self.path / sub / f"{name}{ending}").write_text(json.dumps(judgments), encoding="utf-8")
        return self.path


@pytest.fixture
def quant(tmp_path):
    return QuantFolder(tmp_path / "finquant")


class BeirFolder:
    """A BEIR folder that a test may spoil before it is read."""

    def __init__(self, path):
        self.path = path
        self.corpus = [
            {"_id": "d1", "title": "One", "text": "Acme has 5 plants."},
            {"_id": "d2", "title": "", "text": "Bolt has 9 plants."},
            {"_id": "d3", "text": "Corax has none."},
        ]
        self.queries = [{"_id": "q1", "text": "plants of Acme"}, {"_id": "q2", "text": "more than 6 plants"}]
        self.qrels = {"test": [("q1", "d1", 1), ("q1", "d3", 0), ("q2", "d2", 2)]}

    def write(self):
        (self.path / "qrels").mkdir(parents=True, exist_ok=True)
        for name, rows in (("corpus", self.corpus), ("queries", self.queries)):
            (self.path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        for stem, rows in self.qrels.items():
            lines = ["query-id\tcorpus-id\tscore", *("\t".join(map(str, row)) for row in rows)]
            (self.path / "qrels" / f"{stem}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        return self.path


@pytest.fixture
def beir(tmp_path):
    return BeirFolder(tmp_path / "beir")
