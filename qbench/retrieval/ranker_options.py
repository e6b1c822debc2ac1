"""The options of the models, quantity scores and fusions that systems are made of, each declared once.

The grammar reads them in systems' names, the reference lists them, and openers get them typed. An option with
`only="first stage"` does not apply to rerankers; `checkpoint=KIND` marks a model that runs on this machine, identified
in keys by its files; `of_model=True` marks an option that a model adds to those of a Q before its name;
`needs=(OTHER, WORD)` one that changes nothing unless the option OTHER has that value, or with a WORD "not X" another
than X, and is refused then; `of_score=AFFIX` one that changes nothing without that quantity score, likewise; with
`reads=(WORD, WHAT)` a model with that word reads WHAT, as an entry's `reads` says;
`address=True` marks the address of a server that computes the same wherever it is: it is in no key.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from qbench.errors import OptionError
from qbench.llm.api_keys import without_secrets
from qbench.options import again, option
from qbench.retrieval.coded_weights import CODE_WEIGHT, TERM_WEIGHT, TOKEN_WEIGHT
from qbench.scoring.phi import FAMILIES

DType = Literal["float32", "float16", "int8"]
Concepts = Literal["ignored", "shared"]
"""Whether the concept of a mention that meets a condition has to share a word with the condition's."""


def _checkpoint(kind: str) -> Any:
    return option(help="Folder, or name on the hub", checkpoint=kind)


Products = Literal["float32", "bfloat16"]
"""The precision of a model's matrix products."""

_PRODUCTS = "Matrix products of the model{}; bfloat16 is quicker where the processor has it (avx512_bf16, amx, GPUs)"


def _max_length() -> Any:
    return option(0, help="Maximum number of tokens read of a text; 0: the model's own maximum", low=0)


@dataclass(frozen=True, kw_only=True)
class LexicalOptions:
    """Options of BM25."""

    k1: float = option(1.5, help="Saturation of term frequency: the higher, the more repeated words count", low=0)
    b: float = option(
        0.75,
        help="Strength of length normalisation: 0 is none, 1 is full",
        low=0,
        high=1,
        needs=("k1", "not 0"),
    )
    epsilon: float = option(0.25, help="Negative idfs are replaced by this share of the mean idf", low=0)
    engine: Literal["numpy", "rank-bm25"] = option(
        "numpy", help="numpy: qbench's own implementation; rank-bm25: the reference implementation, slow"
    )


@dataclass(frozen=True, kw_only=True)
class _Served:
    k1: float = again(LexicalOptions, "k1")
    b: float = again(LexicalOptions, "b")
    epsilon: float = again(LexicalOptions, "epsilon")
    concepts: Concepts = option(
        "ignored",
        help="Whether _filter also asks that the mention's concept shares a word with the condition's",
        of_score="_filter",
    )


@dataclass(frozen=True, kw_only=True)
class PostgresOptions(_Served):
    """Options of a PostgreSQL server."""

    dsn: str = option(
        "auto",
        help="Address of the server, as libpq reads it, without a password; auto: what the environment names (PGHOST, "
        "PGSERVICE, ...)",
        address=True,
    )

    def __post_init__(self) -> None:
        refuse_password(self.dsn)


@dataclass(frozen=True, kw_only=True)
class OpenSearchOptions(_Served):
    """Options of an OpenSearch or Elasticsearch server."""

    score: Literal["exact", "lucene"] = option(
        "exact",
        help="exact: the scores of BM25, to the last bit; lucene: the server's own BM25, quicker on a large index",
    )
    url: str = option(
        "auto",
        help="Address of the server, without a password; auto: the one in OPENSEARCH_URL, else http://localhost:9200",
        address=True,
    )


def refuse_password(address: str) -> None:
    """Refuse a server's address with a password: names of systems are shown on boards.

    Raises:
        OptionError: it has one.
    """
    if without_secrets(address) != address:
        raise OptionError(
            "the address holds a password, which would be shown on boards",
            remedy="Leave it out, and set PGPASSWORD or write it into ~/.pgpass",
        )


@dataclass(frozen=True, kw_only=True)
class RunFileOptions:
    """Options of a run file."""

    path: Path = option(help="Run file")


@dataclass(frozen=True, kw_only=True)
class VectorOptions:
    """Options of all models with one vector per text."""

    dtype: DType = option("float32", help="Storage of the documents' vectors: 4, 2 or 1 byte per number")
    engine: Literal["exact", "faiss"] = option(
        "exact",
        help="exact: compare with every vector; faiss: only with those of the nearest lists",
        only="first stage",
    )
    nprobe: int = option(
        32, help="Number of lists that faiss searches", low=1, only="first stage", needs=("engine", "faiss")
    )
    copy: Literal["whole", "pq"] = option(
        "whole",
        help="What faiss keeps of a vector: whole, at least 8 bits a number; pq: product-quantised, 2 bits a number",
        only="first stage",
        needs=("engine", "faiss"),
    )


@dataclass(frozen=True, kw_only=True)
class _SentenceTransformer:
    model: str = _checkpoint("single-vector")
    max_length: int = _max_length()
    pooling: Literal["own", "mean", "max", "cls"] = option(
        "own", help="Pooling of token vectors into one; own: as in the model's files, else mean"
    )
    similarity: Literal["own", "cosine", "dot"] = option(
        "own", help="Similarity of vectors; own: as in the model's files, else cosine"
    )


@dataclass(frozen=True, kw_only=True)
class DenseOptions(VectorOptions, _SentenceTransformer):
    """Options of a model of sentence-transformers."""

    precision: Products = option("float32", help=_PRODUCTS.format(""))


@dataclass(frozen=True, kw_only=True)
class _TctColbert:
    model: str = _checkpoint("tct-colbert")
    max_length: int = _max_length()
    pooling: Literal["mean", "max"] = option("mean", help="Pooling of token vectors into one")
    markers: Literal["colbert", "none"] = option(
        "colbert",
        help="colbert: put [Q] or [D] before a text and pad queries with [MASK]; none: use texts unchanged",
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


@dataclass(frozen=True, kw_only=True)
class PgVectorOptions(_SentenceTransformer):
    """Options of vectors on a PostgreSQL server."""

    engine: Literal["exact", "hnsw"] = option(
        "exact", help="exact: compare with every vector; hnsw: walk through a graph of pgvector, without conditions"
    )
    ef: int = option(
        1000,
        help="Number of documents that hnsw keeps on its way, and the most that it finds",
        low=1,
        high=1000,
        needs=("engine", "hnsw"),
    )
    hybrid: Literal["none", "bm25"] = option(
        "none", help="bm25: the documents with the best BM25 are found as well, and the ranks of both are fused"
    )
    candidates: int = option(
        1000, help="Number of documents of each ranking that are fused", low=1, needs=("hybrid", "bm25")
    )
    rank_constant: int = option(
        60,
        help="Constant added to each rank; the higher, the less the top ranks dominate",
        low=0,
        needs=("hybrid", "bm25"),
    )
    k1: float = again(LexicalOptions, "k1", needs=("hybrid", "bm25"))
    b: float = again(LexicalOptions, "b", needs=("hybrid", "bm25"))
    epsilon: float = again(LexicalOptions, "epsilon", needs=("hybrid", "bm25"))
    concepts: Concepts = again(_Served, "concepts")
    dsn: str = again(PostgresOptions, "dsn")

    def __post_init__(self) -> None:
        refuse_password(self.dsn)


def _dimensions() -> Any:
    text = "Dimension to which the server shortens vectors; 0: the model's own"
    return option(0, help=text, low=0)


def _batch(most: int) -> Any:
    return option(most, help="Number of texts per request", low=1, high=most)


def _base_url(variable: str, default: str) -> Any:
    return option("auto", help=f"Address of the server; auto: the one in {variable}, else {default}")


@dataclass(frozen=True, kw_only=True)
class OpenAIOptions:
    """Options of embeddings of OpenAI, or of a server with its interface."""

    provider: ClassVar[Literal["OpenAI"]] = "OpenAI"
    model: str = option("text-embedding-3-small", help="Model name at the server")
    dimensions: int = _dimensions()
    max_length: int = option(
        8191, help="Maximum number of tokens sent of a text, estimated as three bytes each; 0: all", low=0
    )
    batch: int = _batch(2048)
    base_url: str = _base_url("OPENAI_BASE_URL", "https://api.openai.com/v1")


@dataclass(frozen=True, kw_only=True)
class CohereOptions:
    """Options of embeddings of Cohere."""

    provider: ClassVar[Literal["Cohere"]] = "Cohere"
    max_length: ClassVar[int] = 0
    model: str = option("embed-english-v3.0", help="Model name at Cohere")
    dimensions: int = _dimensions()
    batch: int = _batch(96)
    base_url: str = _base_url("CO_API_URL", "https://api.cohere.com")


def _shown(most: int) -> Any:
    text = "Maximum number of tokens shown of a document, estimated as three bytes each; 0: all"
    return option(most, help=text, low=0)


@dataclass(frozen=True, kw_only=True)
class LanguageModelOptions:
    """Options of rerankers that ask a chat model; `task` is that of their prompts."""

    task: ClassVar[str]
    model: str = option(help="Chat model, as its server names it")
    condition: Literal["text", "stated"] = option(
        "text",
        help="text: the model reads the query's bounds in its text; stated: it is also told the conditions, given or "
        "parsed",
        reads=("stated", "conditions"),
    )
    quantities: Literal["none", "listed"] = option(
        "none",
        help="listed: the quantities that the extractor found in a document stand below it",
        reads=("listed", "quantities"),
    )
    prompt: str = option("general", help="Prompt: a name of `qbench`'s own, or a TOML file")
    max_length: int = _shown(500)
    temperature: float = option(0.0, help="Temperature of the model", low=0, high=2)
    max_tokens: int = option(
        0, help="Maximum number of tokens of an answer; 0: enough for the form asked for, without thinking first", low=0
    )
    base_url: str = _base_url("OPENAI_BASE_URL", "https://api.openai.com/v1")


@dataclass(frozen=True, kw_only=True)
class ItemwiseOptions(LanguageModelOptions):
    """Options of a score for each document."""

    task: ClassVar[str] = "score"


@dataclass(frozen=True, kw_only=True)
class ListwiseOptions(LanguageModelOptions):
    """Options of an order of several documents at once."""

    task: ClassVar[str] = "rank"
    window: int = option(20, help="Number of documents that are put in order at once", low=2)
    stride: int = option(10, help="Number of places by which the window moves, from the end to the start", low=1)
    max_length: int = _shown(150)

    def __post_init__(self) -> None:
        if self.stride > self.window:
            remedy = f"Use at most {self.window}"
            raise OptionError("a stride above the window leaves documents out", value=self.stride, remedy=remedy)


@dataclass(frozen=True, kw_only=True)
class PairwiseOptions(LanguageModelOptions):
    """Options of comparisons of all pairs."""

    task: ClassVar[str] = "compare"


@dataclass(frozen=True, kw_only=True)
class MultiVectorOptions:
    """Options of late interaction."""

    model: str = _checkpoint("multi-vector")
    max_length: int = option(0, help="Maximum number of tokens read of a document; 0: the model's own maximum", low=0)
    dtype: DType = option("float16", help="Storage of token vectors: 4, 2 or 1 byte per number")
    precision: Products = option("float32", help=_PRODUCTS.format(" for documents"))
    engine: Literal["exact", "centroids", "faiss"] = option(
        "exact",
        help="exact: score every document; centroids: score candidates only, as PLAID does; faiss: candidates are "
        "found among faiss' copies of token vectors",
        only="first stage",
    )
    nprobe: int = option(
        4,
        help="Number of centroids, or of lists of faiss, that are probed per query token",
        low=1,
        only="first stage",
        needs=("engine", "not exact"),
    )
    candidates: int = option(
        4096,
        help="Number of documents scored exactly; at least the number retrieved",
        low=1,
        only="first stage",
        needs=("engine", "not exact"),
    )
    copy: Literal["whole", "pq"] = again(VectorOptions, "copy")


@dataclass(frozen=True, kw_only=True)
class CodedOptions(MultiVectorOptions):
    """Options of coded late interaction."""

    code_weight: float = option(CODE_WEIGHT, help="What a mention that satisfies a condition adds to a score", low=0)
    token_weight: float = option(TOKEN_WEIGHT, help="Weight of how near its tokens are to the condition's words", low=0)
    term_weight: float = option(TERM_WEIGHT, help="What a rare word of the query adds in texts that have it", low=0)

    def __post_init__(self) -> None:
        if self.code_weight == self.token_weight == self.term_weight == 0:
            remedy = "Leave one out, or write ColBERT"
            raise OptionError("all weights of CodedColBERT are 0: codes change nothing", remedy=remedy)


@dataclass(frozen=True, kw_only=True)
class DeepQuantOptions:
    """Options of DeepQuant."""

    model: str = _checkpoint("deepquant")
    max_length: int = option(0, help="Maximum number of tokens read of a document; 0: the model's own maximum", low=0)
    dtype: DType = option("float16", help="Storage of token vectors: 4, 2 or 1 byte per number")
    precision: Products = option("float32", help=_PRODUCTS.format(" for documents"))


@dataclass(frozen=True, kw_only=True)
class SparseOptions:
    """Options of learned sparse search."""

    model: str = _checkpoint("sparse")
    max_length: int = _max_length()


@dataclass(frozen=True, kw_only=True)
class QuantityScoreOptions:
    """Options of Q."""

    alpha: float = option(1.0, help="Weight of the quantity score; with 0 all other options change nothing", low=0)
    phi: str = option(
        "ratio",
        help="Function that turns the distance of two values into a score",
        choices=tuple(FAMILIES),
        needs=("alpha", "not 0"),
    )
    norm: Literal["all", "unit", "none"] = option(
        "unit",
        help="What the sum of a document's scores is divided by: the number of its quantities in the unit asked for "
        "(unit), of all its quantities (all, eq. 3), or nothing (none)",
        needs=("alpha", "not 0"),
    )
    scale: Literal["max", "minmax"] = option(
        "max",
        help="How the model's scores are scaled: divided by the query's highest, or its lowest and highest made "
        "0 and 1",
        needs=("alpha", "not 0"),
    )


@dataclass(frozen=True, kw_only=True)
class LexicalScoreOptions(QuantityScoreOptions):
    """Options of Q before a lexical model."""

    terms: Literal["any", "all"] = option(
        "any",
        help="Add the quantity score to documents with any, or all, of the search terms",
        of_model=True,
        needs=("alpha", "not 0"),
    )


def _part(weight: float, what: str) -> Any:
    return option(weight, help=f"Weight of {what}", low=0)


@dataclass(frozen=True, kw_only=True)
class BindOptions:
    """Options of Bind: the weights of its parts, chosen on development queries, and how far it looks."""

    own: float = _part(0.25, "the model's own score, divided by the query's highest")
    words: float = _part(4.0, "the share of the query's words, by idf, that the document holds")
    pairs: float = _part(4.0, "the share of the query's pairs of neighbouring words that it holds")
    satisfied: float = _part(1.5, "whether it holds a comparable value that satisfies the condition")
    binding: float = _part(0.25, "how many of the condition's words stand with such a value")
    ratio: float = _part(6.0, "how well that value fits the condition's words beside the best one of the document")
    encoder: str = option(
        "",
        help="Folder, or name on the hub, of a single-vector model for the part `meaning`; none by default",
        checkpoint="single-vector",
        needs=("meaning", "not 0"),
    )
    meaning: float = option(
        2.0,
        help="Weight of how near the query's words are in meaning to such a value and the text around it",
        low=0,
        needs=("encoder", "not "),
    )
    pool: int = option(
        1000,
        help="Number of documents scored in full, the best by `own` and `satisfied`",
        low=1,
        only="first stage",
    )

    def __post_init__(self) -> None:
        if not any(self.weights().values()):
            raise OptionError("no part of Bind has a weight", remedy="Give own, or another part, a weight above 0")

    def weights(self) -> dict[str, float]:
        """The weight of each part."""
        left_out = ("pool", "encoder") if self.encoder else ("pool", "encoder", "meaning")
        return {name: float(value) for name, value in vars(self).items() if name not in left_out}


@dataclass(frozen=True, kw_only=True)
class InterpolationOptions:
    """Options of the fusion I."""

    alpha: float = option(0.5, help="Weight of the score before the reranker", low=0, high=1)
    norm: Literal["max", "none"] = option(
        "max", help="max: divide scores by the query's highest; none: use scores unchanged, as in the thesis"
    )


@dataclass(frozen=True, kw_only=True)
class ReciprocalRankOptions:
    """Options of the fusion RRF."""

    k: int = option(60, help="Constant added to each rank; the higher, the less the top ranks dominate", low=0)
