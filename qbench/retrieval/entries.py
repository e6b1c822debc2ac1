"""The parts that systems are made of: first stages, rerankers, quantity scores, fusions."""

from __future__ import annotations

from qbench.retrieval.registry import Entry, Parameter, Registry, Role

_MODEL: tuple[Role, ...] = ("first stage", "reranker")

_TERMS = Parameter(
    "terms",
    "choice",
    "the quantity score counts where the document holds any, or all, of the search terms",
    "any",
    choices=("any", "all"),
)

_MAX_LENGTH = Parameter(
    "max_length", "integer", "tokens of a text that are read; 0: as many as the model was made for", 0, low=0
)


def _dense(name: str, what: str, source: str, model: str, default: str | None = None) -> Entry:
    """Dense search: one implementation, with a name for each kind of model that the papers compare."""
    parameter = Parameter("model", "text", f"{model}: a folder, or a name on the hub", default)
    needs = ("qbench[neural]", "a model")
    return Entry(name, _MODEL, what, source, (parameter, _MAX_LENGTH), "single-vector", needs=needs)


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
            "ranks by the cosine of query and document, each a vector of a sentence-transformers model",
            "sentence-transformers; *Quantity Retrieval* 3.3",
            "any single-vector model",
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
