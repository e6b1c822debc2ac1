"""The components that systems are made of: first stages, rerankers, quantity scores, fusions."""

from __future__ import annotations

from qbench.compression.coalescing import Coalesced
from qbench.compression.contextual import Contextual
from qbench.compression.lexical import LexPQ
from qbench.compression.plain import Float16, Int8
from qbench.compression.product import OPQ, PQ, KMeans
from qbench.compression.trained import Trained
from qbench.retrieval.ranker_options import (
    AggretrieverOptions,
    BindOptions,
    CodedOptions,
    CohereOptions,
    DeepQuantOptions,
    DenseOptions,
    InterpolationOptions,
    ItemwiseOptions,
    LanguageModelOptions,
    LexicalOptions,
    LexicalScoreOptions,
    ListwiseOptions,
    MultiVectorOptions,
    OpenAIOptions,
    OpenSearchOptions,
    PairwiseOptions,
    PgVectorOptions,
    PostgresOptions,
    QuantityScoreOptions,
    ReciprocalRankOptions,
    RunFileOptions,
    SparseOptions,
    TctColbertOptions,
)
from qbench.retrieval.registry import Entry, Registry, Role

_MODEL: tuple[Role, ...] = ("first stage", "reranker")
_NEURAL = ("qbench[neural]", "a model")


def _checkpoint(
    name: str, what: str, source: str, options: type, opener: str, steps: tuple[str, ...], model: str, default: str = ""
) -> Entry:
    """A neural model. An implementation has one name for each way in which the papers trained it."""
    return Entry(
        name,
        _MODEL,
        what,
        source,
        options,
        opener,
        steps=steps,
        defaults={"model": default} if default else {},
        helps={"model": f"{model}: a folder, or a name on the hub"},
        needs=_NEURAL,
    )


def _dense(name: str, what: str, source: str, model: str, default: str = "") -> Entry:
    opener = "qbench.retrieval.dense:open_dense"
    return _checkpoint(name, what, source, DenseOptions, opener, ("dense", "faiss"), model, default)


def _late_interaction(
    name: str, what: str, source: str, model: str, default: str = "", opener: str = "open_multi_vector"
) -> Entry:
    opener = f"qbench.retrieval.late_interaction:{opener}"
    steps = ("token vectors", "centroid index", "faiss")
    return _checkpoint(name, what, source, MultiVectorOptions, opener, steps, model, default)


def _splade(name: str, what: str, source: str, model: str) -> Entry:
    return _checkpoint(name, what, source, SparseOptions, "qbench.retrieval.sparse:open_sparse", ("sparse",), model)


def _language_model(name: str, what: str, source: str, options: type[LanguageModelOptions], k: int) -> Entry:
    return Entry(
        name,
        ("reranker",),
        what,
        source,
        options,
        "qbench.retrieval.language_models:open_language_model",
        needs=("a chat model; a key in OPENAI_API_KEY, or a server of your own",),
        k=k,
    )


def _trained(name: str, how: str, section: str) -> Entry:
    what = f"PQ with a codebook that `qbench train codebook --variant {name}` trained {how}"
    return Entry(name, ("compression",), what, f"*WolfPQ* {section}", Trained, needs=("a trained codebook",))


BUILT_IN = Registry(
    (
        Entry(
            "BM25",
            _MODEL,
            "ranks by the words that query and document share",
            "BM25Okapi of rank-bm25; *Numbers Matter* C.3",
            LexicalOptions,
            "qbench.retrieval.lexical:open_lexical",
            LexicalScoreOptions,
            presets={"as_published": {"alpha": 2.0, "terms": "all", "k1": 1.2}},
            steps=("bm25", "analysis"),
        ),
        Entry(
            "Postgres",
            ("first stage",),
            "BM25 on a PostgreSQL server, which with _filter applies the conditions, too",
            "as BM25; tables of `qbench serve-index`",
            PostgresOptions,
            "qbench.retrieval.engines.postgres:open_postgres",
            LexicalScoreOptions,
            reads=("quantities",),
            steps=("bm25", "analysis", "served tables"),
            needs=("qbench[postgres]", "a server"),
            filters=True,
        ),
        Entry(
            "PgVector",
            ("first stage",),
            "dense search on a PostgreSQL server with pgvector, which with _filter applies the conditions, too; with "
            "hybrid=bm25 fused with BM25",
            "pgvector; RRF of Cormack et al. (2009)",
            PgVectorOptions,
            "qbench.retrieval.engines.pgvector:open_pgvector",
            reads=("quantities",),
            steps=("dense", "bm25", "analysis", "served tables"),
            helps={"model": "any single-vector model: a folder, or a name on the hub"},
            needs=("qbench[neural,postgres]", "a model", "a server with pgvector"),
            filters=True,
        ),
        Entry(
            "OpenSearch",
            ("first stage",),
            "BM25 on an OpenSearch or Elasticsearch server, which with _filter applies the conditions, too",
            "as BM25; indices of `qbench serve-index`",
            OpenSearchOptions,
            "qbench.retrieval.engines.opensearch:open_opensearch",
            LexicalScoreOptions,
            reads=("quantities",),
            steps=("bm25", "analysis", "served tables"),
            needs=("a server",),
            filters=True,
        ),
        Entry(
            "Run",
            _MODEL,
            "reads a ranking that another tool produced",
            "TREC run file, or Parquet with query_id, doc_id, score",
            RunFileOptions,
            "qbench.retrieval.given_run:open_run",
        ),
        _dense(
            "SBERT",
            "ranks by the cosine (or dot product, if the model specifies it) of query and document vectors from a "
            "sentence-transformers model",
            "sentence-transformers; *Quantity Retrieval* 3.3",
            "any single-vector model",
        ),
        _dense(
            "SBERT_ft",
            "SBERT with a model fine-tuned on this benchmark's triples",
            "the _ft models of *Numbers Matter* 3.3",
            "the checkpoint of a training on this benchmark",
        ),
        _dense(
            "SBERT_out",
            "SBERT with a model fine-tuned on another benchmark's triples",
            "cross-dataset rows, *Numbers Matter* 4.3",
            "the checkpoint of a training on another benchmark",
        ),
        _dense(
            "BERT",
            "SBERT with a BERT without fine-tuning, mean pooling",
            "*Quantity Retrieval* 5.2",
            "a plain BERT, such as bert-base-chinese",
        ),
        _dense(
            "BERT-P",
            "SBERT with a model fine-tuned on general paraphrases",
            "*Quantity Retrieval* 5.2",
            "a paraphrase model",
            "sentence-transformers/paraphrase-multilingual-mpnet-base-v2",
        ),
        _dense(
            "BERT-WS",
            "SBERT with a model fine-tuned on mined paraphrases",
            "*Quantity Retrieval* 5.1, 5.2",
            "the checkpoint of `qbench train bi-encoder`",
        ),
        _checkpoint(
            "TCT-ColBERT",
            "ranks by the dot product of the query's and the document's mean token vectors",
            "*WolfPQ* eq. 2.8; Lin, Yang and Lin (2021)",
            TctColbertOptions,
            "qbench.retrieval.dense:open_tct_colbert",
            ("dense", "faiss"),
            "a BERT, such as castorini/tct_colbert-v2-hnp-msmarco",
        ),
        _checkpoint(
            "Aggretriever",
            "ranks by the dot product of vectors that join [CLS] with the pooled MLM predictions of all tokens",
            "*WolfPQ* eq. 2.10-2.11; Lin, Li and Lin (2023)",
            AggretrieverOptions,
            "qbench.retrieval.dense:open_aggretriever",
            ("dense", "faiss"),
            "an Aggretriever, or a BERT to start from",
        ),
        Entry(
            "OpenAI",
            _MODEL,
            "ranks by the cosine of embeddings from OpenAI, or from a server with the same interface",
            "OpenAI's API, /embeddings",
            OpenAIOptions,
            "qbench.retrieval.api:open_api",
            steps=("dense",),
            needs=("a key in OPENAI_API_KEY",),
        ),
        Entry(
            "Cohere",
            _MODEL,
            "ranks by the cosine of embeddings from Cohere",
            "Cohere's API, /v2/embed",
            CohereOptions,
            "qbench.retrieval.api:open_api",
            steps=("dense",),
            needs=("a key in COHERE_API_KEY",),
        ),
        _late_interaction(
            "ColBERT",
            "late interaction (MaxSim): sums over query tokens the highest cosine with any document token",
            "Khattab and Zaharia (2020); *Numbers Matter* eq. 6",
            "a ColBERT, single-vector or plain BERT model",
            "colbert-ir/colbertv2.0",
        ),
        _late_interaction(
            "ColBERT_ft",
            "ColBERT with a model fine-tuned on this benchmark's training samples",
            "*Numbers Matter* 3.3",
            "the checkpoint of `qbench train colbert`",
        ),
        _late_interaction(
            "ColBERT_out",
            "ColBERT with a model fine-tuned on another benchmark",
            "*Numbers Matter* 4.3",
            "the checkpoint of `qbench train colbert` on another benchmark",
        ),
        _late_interaction(
            "NumColBERT",
            "late interaction (MaxSim) of a ColBERT that learnt to compare numbers; a gate sets the norm of a query's "
            "numeric tokens",
            "Fujimaki and Kato, *NumColBERT*, section 2",
            "the checkpoint of `qbench train numcolbert`",
            opener="open_numcolbert",
        ),
        Entry(
            "DeepQuant",
            _MODEL,
            "late interaction over words, and beside it a learnt comparison of the query's numbers with the "
            "document's; how much each counts depends on the query",
            "Agrawal and others, *Dense Retrieval with Quantity Comparison Intent*, eq. 4-12",
            DeepQuantOptions,
            "qbench.retrieval.deepquant:open_deepquant",
            steps=("token vectors",),
            reads=("conditions", "quantities"),
            helps={"model": "the checkpoint of `qbench train deepquant`: a folder, or a name on the hub"},
            needs=(*_NEURAL, "conditions"),
        ),
        Entry(
            "CodedColBERT",
            _MODEL,
            "late interaction (MaxSim) with reserved dimensions that compare quantities: a condition's words look for "
            "tokens of mentions that satisfy it",
            "qbench",
            CodedOptions,
            "qbench.retrieval.coded:open_coded",
            steps=("coded token vectors", "centroid index", "faiss"),
            reads=("conditions", "quantities"),
            helps={"model": "a ColBERT, single-vector or plain BERT model: a folder, or a name on the hub"},
            needs=_NEURAL,
        ),
        _splade(
            "SPLADE",
            "ranks by the weighted terms that query and document share, both expanded by a masked language model",
            "Formal et al. (2021); *Numbers Matter* eq. 8",
            "a SPLADE model, or a BERT to start from",
        ),
        _splade(
            "SPLADE_ft",
            "SPLADE trained on this benchmark's triples",
            "*Numbers Matter* 3.3 and C.3",
            "the checkpoint of `qbench train splade`",
        ),
        _splade(
            "SPLADE_out",
            "SPLADE trained on another benchmark's triples",
            "*Numbers Matter* 4.3",
            "the checkpoint of `qbench train splade` on another benchmark",
        ),
        _language_model(
            "LLM-itemwise",
            "a chat model scores each document from 1 to 5",
            "*DeepQuant* 4.2, appendix F",
            ItemwiseOptions,
            k=100,
        ),
        _language_model(
            "LLM-listwise",
            "a chat model puts windows of documents in order, from the end of the ranking to its start",
            "*DeepQuant* 4.2, appendix F; RankZephyr, Pradeep et al. (2023)",
            ListwiseOptions,
            k=100,
        ),
        _language_model(
            "LLM-pairwise",
            "a chat model compares every two documents, in both orders; the share of comparisons won ranks",
            "pairwise ranking prompting, Qin et al. (2024)",
            PairwiseOptions,
            k=10,
        ),
        Entry(
            "Q",
            ("quantity score",),
            "plus a score for how near the document's quantities are to the condition",
            "*Numbers Matter* eq. 3-5 and 7",
            QuantityScoreOptions,
            presets={"as_published": {"norm": "unit"}},
            extended=True,
            needs=("conditions",),
        ),
        Entry(
            "Bind",
            ("quantity score",),
            "plus a score for whether the value that satisfies the condition is the one that the query's words name",
            "qbench",
            BindOptions,
            needs=("conditions",),
        ),
        Entry(
            "_filter",
            ("quantity score",),
            "without the documents in which no quantity meets the condition",
            "*Numbers Matter* section 4, baselines",
            needs=("conditions",),
        ),
        Entry(
            "float16",
            ("compression",),
            "keeps 2 bytes of each number of the stored vectors",
            "half precision of IEEE 754",
            Float16,
        ),
        Entry(
            "int8",
            ("compression",),
            "keeps each number of the stored vectors in 1 byte, with a scale for each vector",
            "scalar quantisation, symmetric, per vector",
            Int8,
        ),
        Entry(
            "PQ",
            ("compression",),
            "cuts vectors into M parts and keeps for each the number of the nearest of K codewords",
            "Jégou, Douze and Schmid (2011); *WolfPQ* eq. 5.2-5.9",
            PQ,
        ),
        Entry(
            "OPQ",
            ("compression",),
            "PQ of rotated vectors, with the rotation learnt by turns with the codewords",
            "Ge, He, Ke and Sun (2013); *WolfPQ* 2.3.2",
            OPQ,
        ),
        Entry(
            "KMeans",
            ("compression",),
            "keeps for each vector the number of the nearest of K centroids",
            "Lloyd (1982); *WolfPQ* 2.3.2",
            KMeans,
        ),
        Entry(
            "LexPQ",
            ("compression",),
            "OPQ of what is left of vectors when what the words of their texts tell is taken away; the words are read"
            " in the texts, and are no part of the index",
            "qbench; *WolfPQ* 8.3 asks for a quantiser that is given what BM25 knows",
            LexPQ,
        ),
        _trained("WolfPQPre", "for distortion", "5.3.4"),
        _trained("WolfPQ", "with MarginMSE", "5.3.2, 5.3.5"),
        _trained("WolfPQSem", "with MarginMSE, codewords selected by a network that sees the whole vector", "5.3.3"),
        _trained("WolfPQI", "with MarginMSE and RankNet on scores interpolated with BM25's", "5.3.5"),
        _trained("WolfPQSemI", "as WolfPQI's, codewords selected as WolfPQSem's", "5.3.3, 5.3.5"),
        _trained("DPQ", "with MarginMSE, codewords selected by keys of their own", "2.3.3; Chen, Li and Sun (2020)"),
        _trained("JPQ", "with LambdaRank below PQ's codes, with an encoder of queries", "4.2; Zhan et al. (2021)"),
        _trained("RepCONC", "for ranking and distortion, codewords used equally often", "2.3.3; Zhan et al. (2022)"),
        Entry(
            "CQ",
            ("compression",),
            "codes of what its context adds to a token's vector, joined with the token's own part by a decoder that"
            " `qbench train codebook --variant CQ` trained",
            "Yang, Qiao and Yang (2022); *WolfPQ* 4.3",
            Contextual,
            needs=("a trained codebook",),
        ),
        Entry(
            "Coalesced",
            ("compression",),
            "keeps one vector, the mean, for neighbouring passages of a document whose vectors are alike",
            "Leonhardt et al. (2022), sequential coalescing; *WolfPQ* 4.1",
            Coalesced,
        ),
        Entry(
            "I",
            ("fusion",),
            "(1 - alpha) * reranker + alpha * the ranking before it",
            "*WolfPQ* eq. 5.10",
            InterpolationOptions,
        ),
        Entry(
            "RRF",
            ("fusion",),
            "reciprocal rank fusion: the sum of 1 / (k + rank) in both rankings",
            "Cormack, Clarke and Büttcher (2009)",
            ReciprocalRankOptions,
        ),
    )
)
"""The components that come with qbench."""

REGISTRY = Registry(BUILT_IN.entries, "qbench.retrieval.registration:add_installed")
"""The built-in components, and the systems registered by users and installed packages."""
