"""The options of the models, quantity scores and fusions that systems are made of, each declared once.

The grammar reads them in systems' names, the reference lists them, and openers get them typed. An option with
`only="first stage"` is none of a reranker's; `checkpoint=KIND` marks a model that runs on this machine, which keys
know by its files; `of_model=True` marks what a model adds to the options of a Q before its name.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from qbench.options import option
from qbench.scoring.phi import FAMILIES

DType = Literal["float32", "float16", "int8"]


def _checkpoint(kind: str) -> Any:
    return option(help="a folder, or a name on the hub", checkpoint=kind)


def _max_length() -> Any:
    return option(0, help="tokens of a text that are read; 0: as many as the model was made for", low=0)


@dataclass(frozen=True, kw_only=True)
class LexicalOptions:
    """Options of BM25."""

    k1: float = option(1.5, help="how slowly repeated words saturate", low=0)
    b: float = option(0.75, help="how much long documents are held back", low=0, high=1)
    epsilon: float = option(0.25, help="share of the mean idf that a negative idf becomes", low=0)
    engine: Literal["numpy", "rank-bm25"] = option("numpy", help="numpy is ours; rank-bm25 is the reference, slow")


@dataclass(frozen=True, kw_only=True)
class RunFileOptions:
    """Options of a run file."""

    path: Path = option(help="the run file")


@dataclass(frozen=True, kw_only=True)
class VectorOptions:
    """Options of single vectors, however they are made."""

    dtype: DType = option("float32", help="how the documents' vectors are stored: in 4, 2 or 1 byte a number")
    engine: Literal["exact", "faiss"] = option(
        "exact", help="exact looks at every vector; faiss at those of the nearest lists", only="first stage"
    )
    nprobe: int = option(32, help="lists that faiss looks into", low=1, only="first stage")


@dataclass(frozen=True, kw_only=True)
class _SentenceTransformer:
    model: str = _checkpoint("single-vector")
    max_length: int = _max_length()
    pooling: Literal["own", "mean", "max", "cls"] = option(
        "own", help="how tokens' vectors become one; own: as the model's files say, or the mean"
    )
    similarity: Literal["own", "cosine", "dot"] = option(
        "own", help="how vectors are compared; own: as the model's files say, or by cosine"
    )


@dataclass(frozen=True, kw_only=True)
class DenseOptions(VectorOptions, _SentenceTransformer):
    """Options of a model of sentence-transformers."""


@dataclass(frozen=True, kw_only=True)
class _TctColbert:
    model: str = _checkpoint("tct-colbert")
    max_length: int = _max_length()
    pooling: Literal["mean", "max"] = option("mean", help="what is taken of the tokens' vectors")
    markers: Literal["colbert", "none"] = option(
        "colbert",
        help="colbert puts [Q] or [D] before a text and fills queries with [MASK]; none takes texts as they are",
    )


@dataclass(frozen=True, kw_only=True)
class TctColbertOptions(VectorOptions, _TctColbert):
    """Options of TCT-ColBERT."""


@dataclass(frozen=True, kw_only=True)
class _Aggretriever:
    model: str = _checkpoint("aggretriever")
    max_length: int = _max_length()


@dataclass(frozen=True, kw_only=True)
class AggretrieverOptions(VectorOptions, _Aggretriever):
    """Options of Aggretriever."""


def _dimensions() -> Any:
    text = "numbers in a vector, where the server is to shorten them; 0: as the model gives"
    return option(0, help=text, low=0)


def _batch(most: int) -> Any:
    return option(most, help="texts of one request", low=1, high=most)


def _base_url(variable: str, default: str) -> Any:
    return option("auto", help=f"address of the server; auto: that in {variable}, else {default}")


@dataclass(frozen=True, kw_only=True)
class OpenAIOptions:
    """Options of embeddings of OpenAI, or of a server with its interface."""

    provider: ClassVar[Literal["OpenAI"]] = "OpenAI"
    model: str = option("text-embedding-3-small", help="as the server names it")
    dimensions: int = _dimensions()
    max_length: int = option(8191, help="tokens of a text that are sent, three bytes counted for each; 0: all", low=0)
    batch: int = _batch(2048)
    base_url: str = _base_url("OPENAI_BASE_URL", "https://api.openai.com/v1")


@dataclass(frozen=True, kw_only=True)
class CohereOptions:
    """Options of embeddings of Cohere."""

    provider: ClassVar[Literal["Cohere"]] = "Cohere"
    max_length: ClassVar[int] = 0
    model: str = option("embed-english-v3.0", help="as Cohere names it")
    dimensions: int = _dimensions()
    batch: int = _batch(96)
    base_url: str = _base_url("CO_API_URL", "https://api.cohere.com")


@dataclass(frozen=True, kw_only=True)
class MultiVectorOptions:
    """Options of late interaction."""

    model: str = _checkpoint("multi-vector")
    max_length: int = option(0, help="tokens of a document that are read; 0: as many as the model was made for", low=0)
    dtype: DType = option("float16", help="how token vectors are kept: 4, 2 or 1 bytes a number")
    engine: Literal["exact", "centroids"] = option(
        "exact",
        help="exact scores every document; centroids scores candidates, in PLAID's manner",
        only="first stage",
    )
    nprobe: int = option(
        4, help="of engine=centroids: centroids that each query token probes", low=1, only="first stage"
    )
    candidates: int = option(
        4096,
        help="of engine=centroids: documents that are scored exactly, at least as many as are retrieved",
        low=1,
        only="first stage",
    )


@dataclass(frozen=True, kw_only=True)
class SparseOptions:
    """Options of learned sparse search."""

    model: str = _checkpoint("sparse")
    max_length: int = _max_length()


@dataclass(frozen=True, kw_only=True)
class QuantityScoreOptions:
    """Options of Q."""

    alpha: float = option(1.0, help="weight of the quantity score", low=0)
    phi: str = option("ratio", help="how a value's distance becomes a score", choices=tuple(FAMILIES))


@dataclass(frozen=True, kw_only=True)
class LexicalScoreOptions(QuantityScoreOptions):
    """Options of Q before a lexical model."""

    terms: Literal["any", "all"] = option(
        "any", help="the quantity score counts where the document holds any, or all, of the search terms", of_model=True
    )


@dataclass(frozen=True, kw_only=True)
class InterpolationOptions:
    """Options of the fusion I."""

    alpha: float = option(0.5, help="weight of the score before the reranker", low=0, high=1)
    norm: Literal["max", "none"] = option(
        "max", help="max divides each score by the query's highest; none takes them as they are, as the thesis does"
    )


@dataclass(frozen=True, kw_only=True)
class ReciprocalRankOptions:
    """Options of the fusion RRF."""

    k: int = option(60, help="dampens the top ranks", low=0)
