"""The parts that systems are made of: first stages, rerankers, quantity scores, fusions."""

from __future__ import annotations

from qbench.retrieval.registry import Entry, Family, Parameter, Registry, Role

_MODEL: tuple[Role, ...] = ("first stage", "reranker")

_TERMS = Parameter(
    "terms",
    "choice",
    "the quantity score counts where the document holds any, or all, of the search terms",
    "any",
    choices=("any", "all"),
)

_DIMENSIONS = Parameter(
    "dimensions", "integer", "numbers in a vector, where the server is to shorten them; 0: as the model gives", 0, low=0
)


def _batch(most: int) -> Parameter:
    return Parameter("batch", "integer", "texts of one request", most, low=1, high=most)


def _base_url(variable: str, default: str) -> Parameter:
    text = f"address of the server; auto: that in {variable}, else {default}"
    return Parameter("base_url", "text", text, "auto")


_MAX_LENGTH = Parameter(
    "max_length", "integer", "tokens of a text that are read; 0: as many as the model was made for", 0, low=0
)


_DTYPE = Parameter(
    "dtype",
    "choice",
    "how the documents' vectors are stored: in 4, 2 or 1 byte a number",
    "float32",
    choices=("float32", "float16", "int8"),
)

_SEARCH = (
    Parameter(
        "engine",
        "choice",
        "exact looks at every vector; faiss at those of the nearest lists",
        "exact",
        choices=("exact", "faiss"),
    ),
    Parameter("nprobe", "integer", "lists that faiss looks into", 32, low=1),
)

_POOLING = Parameter(
    "pooling",
    "choice",
    "how tokens' vectors become one; own: as the model's files say, or the mean",
    "own",
    choices=("own", "mean", "max", "cls"),
)

_SIMILARITY = Parameter(
    "similarity",
    "choice",
    "how vectors are compared; own: as the model's files say, or by cosine",
    "own",
    choices=("own", "cosine", "dot"),
)


def _model(model: str, default: str | None = None) -> Parameter:
    return Parameter("model", "text", f"{model}: a folder, or a name on the hub", default)


def _single(
    name: str, what: str, source: str, parameters: tuple[Parameter, ...], family: Family = "single-vector"
) -> Entry:
    needs = ("qbench[neural]", "a model")
    return Entry(name, _MODEL, what, source, (*parameters, _DTYPE), family, _SEARCH, needs=needs)


def _dense(name: str, what: str, source: str, model: str, default: str | None = None) -> Entry:
    """Dense search: one implementation, with a name for each kind of model that the papers compare."""
    return _single(name, what, source, (_model(model, default), _MAX_LENGTH, _POOLING, _SIMILARITY))


_MULTI_VECTOR = (
    Parameter(
        "max_length", "integer", "tokens of a document that are read; 0: as many as the model was made for", 0, low=0
    ),
    Parameter(
        "dtype",
        "choice",
        "how token vectors are kept: 4, 2 or 1 bytes a number",
        "float16",
        choices=("float32", "float16", "int8"),
    ),
)

_MULTI_VECTOR_SEARCH = (
    Parameter(
        "engine",
        "choice",
        "exact scores every document; centroids scores candidates, in PLAID's manner",
        "exact",
        choices=("exact", "centroids"),
    ),
    Parameter("nprobe", "integer", "of engine=centroids: centroids that each query token probes", 4, low=1),
    Parameter(
        "candidates",
        "integer",
        "of engine=centroids: documents that are scored exactly, at least as many as are retrieved",
        4096,
        low=1,
    ),
)


def _late_interaction(name: str, what: str, source: str, model: str, default: str | None = None) -> Entry:
    """Late interaction: one implementation, with a name for each kind of model that the papers compare."""
    parameter = Parameter("model", "text", f"{model}: a folder, or a name on the hub", default)
    return Entry(
        name,
        _MODEL,
        what,
        source,
        (parameter, *_MULTI_VECTOR),
        "multi-vector",
        _MULTI_VECTOR_SEARCH,
        needs=("qbench[neural]", "a model"),
    )


def _splade(name: str, what: str, source: str, model: str) -> Entry:
    """Learned sparse search: one implementation, with a name for each way that the paper's model was trained."""
    parameter = Parameter("model", "text", f"{model}: a folder, or a name on the hub")
    needs = ("qbench[neural]", "a model")
    return Entry(name, _MODEL, what, source, (parameter, _MAX_LENGTH), "sparse", needs=needs)


REGISTRY = Registry(
    (
        Entry(
            "BM25",
            _MODEL,
            "ranks by the words that query and document share",
            "BM25Okapi of rank-bm25; *Numbers Matter* C.3",
            (
                Parameter("k1", "number", "how slowly repeated words saturate", 1.5, low=0),
                Parameter("b", "number", "how much long documents are held back", 0.75, low=0, high=1),
                Parameter("epsilon", "number", "share of the mean idf that a negative idf becomes", 0.25, low=0),
                Parameter(
                    "engine",
                    "choice",
                    "numpy is ours; rank-bm25 is the reference, slow",
                    "numpy",
                    choices=("numpy", "rank-bm25"),
                ),
            ),
            "lexical",
            score_parameters=(_TERMS,),
        ),
        Entry(
            "Run",
            _MODEL,
            "takes a ranking that another tool made",
            "TREC run file, or Parquet with query_id, doc_id, score",
            (Parameter("path", "file", "the run file"),),
            "run",
        ),
        _dense(
            "SBERT",
            "ranks by the cosine (or the dot product, if the model says so) of query and document, each a vector of a "
            "sentence-transformers model",
            "sentence-transformers; *Quantity Retrieval* 3.3",
            "any single-vector model",
        ),
        _dense(
            "SBERT_ft",
            "SBERT with a model tuned on this benchmark's triples",
            "the _ft models of *Numbers Matter* 3.3",
            "the checkpoint of a training on this benchmark",
        ),
        _dense(
            "SBERT_out",
            "SBERT with a model tuned on another benchmark's triples",
            "cross-dataset rows, *Numbers Matter* 4.3",
            "the checkpoint of a training on another benchmark",
        ),
        _dense(
            "BERT",
            "SBERT with a BERT that was not tuned, mean pooling",
            "*Quantity Retrieval* 5.2",
            "a plain BERT, such as bert-base-chinese",
        ),
        _dense(
            "BERT-P",
            "SBERT with a model tuned on other paraphrases",
            "*Quantity Retrieval* 5.2",
            "a paraphrase model",
            "sentence-transformers/paraphrase-multilingual-mpnet-base-v2",
        ),
        _dense(
            "BERT-WS",
            "SBERT with a model tuned on mined paraphrases",
            "*Quantity Retrieval* 5.1, 5.2",
            "the checkpoint of `qbench train bi-encoder`",
        ),
        _single(
            "TCT-ColBERT",
            "ranks by the dot product of the means of query's and document's token vectors",
            "*WolfPQ* eq. 2.8; Lin, Yang and Lin (2021)",
            (
                _model("a BERT, such as castorini/tct_colbert-v2-hnp-msmarco"),
                _MAX_LENGTH,
                Parameter("pooling", "choice", "what is taken of the tokens' vectors", "mean", choices=("mean", "max")),
                Parameter(
                    "markers",
                    "choice",
                    "colbert puts [Q] or [D] before a text and fills queries with [MASK]; none takes texts as they are",
                    "colbert",
                    choices=("colbert", "none"),
                ),
            ),
            "tct-colbert",
        ),
        _single(
            "Aggretriever",
            "ranks by the dot product of vectors made of [CLS] and of what BERT's MLM head says of every token",
            "*WolfPQ* eq. 2.10-2.11; Lin, Li and Lin (2023)",
            (_model("an Aggretriever, or a BERT to start from"), _MAX_LENGTH),
            "aggretriever",
        ),
        Entry(
            "OpenAI",
            _MODEL,
            "ranks by the cosine of query and document, with embeddings of OpenAI or of a server with its interface",
            "OpenAI's API, /embeddings",
            (
                Parameter("model", "text", "as the server names it", "text-embedding-3-small"),
                _DIMENSIONS,
                Parameter(
                    "max_length",
                    "integer",
                    "tokens of a text that are sent, three bytes counted for each; 0: all",
                    8191,
                    low=0,
                ),
                _batch(2048),
                _base_url("OPENAI_BASE_URL", "https://api.openai.com/v1"),
            ),
            "api",
            needs=("a key in OPENAI_API_KEY",),
        ),
        Entry(
            "Cohere",
            _MODEL,
            "ranks by the cosine of query and document, with embeddings of Cohere",
            "Cohere's API, /v2/embed",
            (
                Parameter("model", "text", "as Cohere names it", "embed-english-v3.0"),
                _DIMENSIONS,
                _batch(96),
                _base_url("CO_API_URL", "https://api.cohere.com"),
            ),
            "api",
            needs=("a key in COHERE_API_KEY",),
        ),
        _late_interaction(
            "ColBERT",
            "late interaction: each query token takes the cosine of its best document token, and these are summed",
            "Khattab and Zaharia (2020); *Numbers Matter* eq. 6",
            "a ColBERT, single-vector or plain BERT model",
            "colbert-ir/colbertv2.0",
        ),
        _late_interaction(
            "ColBERT_ft",
            "ColBERT with a model tuned on the benchmark's own training samples",
            "*Numbers Matter* 3.3",
            "the checkpoint of `qbench train colbert`",
        ),
        _late_interaction(
            "ColBERT_out",
            "ColBERT with a model tuned on another benchmark",
            "*Numbers Matter* 4.3",
            "the checkpoint of `qbench train colbert` on another benchmark",
        ),
        _splade(
            "SPLADE",
            "ranks by the weighted terms that query and document share, both expanded by a masked language model",
            "Formal et al. (2021); *Numbers Matter* eq. 8",
            "a SPLADE model, or a BERT to make one of",
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
        Entry(
            "Q",
            ("quantity score",),
            "plus a score for how near the document's quantities are to the condition",
            "*Numbers Matter* eq. 3-5 and 7",
            (
                Parameter("alpha", "number", "weight of the quantity score", 1.0, low=0),
                Parameter(
                    "phi",
                    "choice",
                    "how a value's distance becomes a score",
                    "ratio",
                    choices=("ratio", "exponential", "relative"),
                ),
            ),
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
            "I",
            ("fusion",),
            "(1 - alpha) * reranker + alpha * first stage",
            "*WolfPQ* eq. 5.10",
            (
                Parameter("alpha", "number", "weight of the first stage's score", 0.5, low=0, high=1),
                Parameter(
                    "norm",
                    "choice",
                    "max divides each score by the query's highest; none takes them as they are, as the thesis does",
                    "max",
                    choices=("max", "none"),
                ),
            ),
        ),
        Entry(
            "RRF",
            ("fusion",),
            "reciprocal rank fusion: the sum of 1 / (k + rank) in both rankings",
            "Cormack, Clarke and Büttcher (2009)",
            (Parameter("k", "integer", "dampens the top ranks", 60, low=0),),
        ),
    )
)
"""The parts that exist now."""
