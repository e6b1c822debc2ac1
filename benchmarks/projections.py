"""How a late-interaction model that was not trained should begin: which projection keeps the nearest sentences.

Method. Sentences of a corpus are encoded by a single-vector model with ColBERT's markers and [MASK], unprojected. The
ten nearest of 300 sentences by MaxSim for each of 100 others are the truth; printed is the share of them that stays
among the ten nearest after a projection to 128 numbers. Random ones are the mean of three seeds.

    python benchmarks/projections.py sec_filings.jsonl.gz reuters21578.jsonl.gz [--model FOLDER]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from maxsim import embedded_model, sentences

from qbench.models.colbert_start import DIMENSION, principal_directions
from qbench.models.multi_vector import load_multi_vector_model
from qbench.scoring.maxsim import maxsim
from qbench.scoring.ranking import top_k

Parts = list[np.ndarray]


def projected(parts: Parts, projection: np.ndarray | None) -> Parts:
    found = parts if projection is None else [part @ projection.T for part in parts]
    return [part / np.linalg.norm(part, axis=1, keepdims=True) for part in found]


def nearest(queries: Parts, documents: Parts, projection: np.ndarray | None) -> list[np.ndarray]:
    vectors = projected(documents, projection)
    starts = np.cumsum([0, *map(len, vectors)])
    return [top_k(row, 10) for row in maxsim(projected(queries, projection), np.concatenate(vectors), starts).T]


def beginnings(size: int, own: np.ndarray, ours: np.ndarray) -> dict[str, list[np.ndarray]]:
    """Projections by name, each of shape (128, size)."""
    draws = [np.random.default_rng(seed).standard_normal((size, DIMENSION)) for seed in range(3)]
    lengths = own / np.linalg.norm(own, axis=1, keepdims=True)
    return {
        "a layer's usual random start": [(draw.T / size**0.5).astype(np.float32) for draw in draws],
        "random orthogonal": [np.linalg.qr(draw)[0].T.astype(np.float32) for draw in draws],
        "the first 128 numbers": [np.eye(DIMENSION, size, dtype=np.float32)],
        "principal directions of the vocabulary (ours)": [ours],
        "principal directions of the documents themselves": [principal_directions(lengths, DIMENSION)],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", type=Path, nargs="+")
    parser.add_argument("--model", type=Path)
    options = parser.parse_args()
    model = load_multi_vector_model(str(options.model or embedded_model()))
    ours = model[1].linear.weight.detach().cpu().numpy()
    # Without the projection: the transformer, the filter, and no lengths of 1.
    del model[3], model[1]
    rows: dict[str, list[str]] = {}
    for corpus in options.corpora:
        texts = sentences(corpus, 400)
        documents = [np.asarray(part) for part in model.encode_document(texts[:300], convert_to_numpy=True)]
        queries = [np.asarray(part) for part in model.encode_query(texts[300:], convert_to_numpy=True)]
        truth = nearest(queries, documents, None)
        for name, several in beginnings(ours.shape[1], np.concatenate(documents), ours).items():
            found = [nearest(queries, documents, one) for one in several]
            kept = [np.isin(a, b).mean() for one in found for a, b in zip(truth, one, strict=True)]
            rows.setdefault(name, []).append(f"{np.mean(kept):.3f}")
    print(f"| | {' | '.join(path.name.partition('.')[0] for path in options.corpora)} |")
    print(f"|---|{'---:|' * len(options.corpora)}")
    for name, figures in rows.items():
        print(f"| {name} | {' | '.join(figures)} |")


if __name__ == "__main__":
    main()
