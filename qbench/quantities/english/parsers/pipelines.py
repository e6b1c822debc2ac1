"""spaCy pipelines that are installed, or lie in a folder, as parsers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from qbench.errors import OptionError
from qbench.extras import needed
from qbench.quantities.english.parsers.words import Cut, Reading

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

NEEDED = ("tagger", "parser")


class PipelineParser:
    """Tags and trees by a spaCy pipeline.

    Relations of CLEAR (en_core_web_*) are brought to those of Universal Dependencies, so that rules see one scheme.

    Args:
        pipeline: has a tagger (Penn Treebank tags) and a dependency parser.
    """

    def __init__(self, pipeline: Language) -> None:
        self._nlp = pipeline
        self._clear = "pobj" in pipeline.get_pipe("parser").labels  # type: ignore[attr-defined]

    def cut(self, text: str) -> Cut:
        """The words of a text, and where each begins."""
        return [(word.text, word.idx) for word in self._nlp.make_doc(text)]

    def read(self, sentences: Sequence[Sequence[str]]) -> list[Reading]:
        """The parse of each sentence."""
        from spacy.tokens import Doc

        docs = (Doc(self._nlp.vocab, words=list(words)) for words in sentences)
        return [self._reading(doc) for doc in self._nlp.pipe(docs)]

    def _reading(self, doc: Doc) -> Reading:
        words = _clear_to_universal(doc) if self._clear else [(w.head.i, w.dep_) for w in doc]
        return Reading(
            [w.tag_ for w in doc],
            [head for head, _ in words],
            ["root" if relation == "ROOT" else relation for _, relation in words],
        )


def unknown(name: str) -> OptionError:
    """The error for a name without a pipeline."""
    return OptionError(
        "no such spaCy pipeline",
        value=name,
        remedy="Use `embedded`, `none`, a folder, or the name of a pipeline that is installed, "
        "such as en_core_web_sm (pip install 'qbench[spacy]' && python -m spacy download en_core_web_sm)",
    )


def load_pipeline(name: str) -> PipelineParser:
    """The pipeline of a name, or in a folder.

    Raises:
        MissingPackageError: spaCy is not installed.
        OptionError: there is no such pipeline, or it has no tagger or no parser.
    """
    spacy = needed("spacy", "spacy", "this parser", otherwise="or use `embedded`")
    try:
        pipeline: Any = spacy.load(name)
    except OSError as fault:
        raise unknown(name) from fault
    except Exception as fault:  # what a damaged folder raises is spaCy's own choice, and has no common class
        raise OptionError(f"spaCy cannot load this pipeline: {fault}", value=name) from fault
    missing = [component for component in NEEDED if component not in pipeline.pipe_names]
    if missing:
        raise OptionError(
            f"the spaCy pipeline has no {' and no '.join(missing)}",
            value=name,
            remedy="Use `embedded`, or a pipeline that has both, such as en_core_web_sm",
        )
    enabled = {*NEEDED, "tok2vec", "transformer"}
    pipeline.select_pipes(disable=[component for component in pipeline.pipe_names if component not in enabled])
    return PipelineParser(pipeline)


def _clear_to_universal(doc: Doc) -> list[tuple[int, str]]:
    """Head and relation of each word, prepositions hung below their objects as Universal Dependencies has them."""
    words = [(w.head.i, _UNIVERSAL.get(w.dep_, w.dep_)) for w in doc]
    for w in doc:
        if w.dep_ in ("pobj", "pcomp") and w.head.dep_ in ("prep", "agent"):
            over = w.head.head
            words[w.i] = (over.i, "nmod" if over.tag_.startswith(("NN", "CD", "PRP", "$")) else "obl")
            words[w.head.i] = (w.i, "case")
    return words


_UNIVERSAL = {
    "nsubjpass": "nsubj:pass", "dobj": "obj", "poss": "nmod:poss", "relcl": "acl:relcl", "npadvmod": "obl:unmarked",
    "quantmod": "advmod", "auxpass": "aux:pass", "dative": "iobj", "attr": "obj", "acomp": "xcomp", "neg": "advmod",
    "nn": "compound", "prt": "compound:prt",
}  # fmt: skip
