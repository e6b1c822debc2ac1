"""The extractor "neural": as `rules`, but a trained BERT does what the binder does there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from qbench.errors import OptionError
from qbench.models.encoders import choose_device, require_neural
from qbench.models.folders import model_digest, require_whole
from qbench.quantities.english.binder.concepts import Binding, bind
from qbench.quantities.english.binder.features import MENTION_COLUMNS, WORD_COLUMNS, Labels, Pivot, Sentence
from qbench.quantities.english.binder.model import OUTPUTS, Request
from qbench.quantities.english.parsers.dense import Array
from qbench.quantities.english.rules import RulesExtractor
from qbench.quantities.languages import EMBEDDED, NO_PARSER
from qbench.quantities.units import Units
from qbench.store import read_manifest

if TYPE_CHECKING:
    from qbench.models.word_binder import Pointed

KIND = "extractor"
"""Kind of the checkpoints, as in `qbench.store.Manifest`."""


class NeuralExtractor(RulesExtractor):
    """Numbers, units and comparators by the rules; what the binder decides, by a model of `qbench train extractor`.

    Args:
        units: the known units.
        model: folder of the model.
        years: report calendar years too.
        p_values: report p-values too.
        spacy_model: what parses the sentences, as in `RulesExtractor`; the model was trained on the embedded parser.
        device: a torch device; "auto" is a GPU where there is one.

    Raises:
        MissingPackageError: the extra `neural` is not installed.
        InputError: the folder holds no finished model of this kind, or a broken one.
        OptionError: there is no such parser, or none; no such device; or the model is one of other features.
    """

    name = "neural"

    def __init__(
        self,
        units: Units,
        model: Path,
        *,
        years: bool = False,
        p_values: bool = True,
        spacy_model: str = EMBEDDED,
        device: str = "auto",
    ) -> None:
        if spacy_model == NO_PARSER:
            remedy = "Leave --spacy-model out, or choose --extractor rules"
            raise OptionError("the extractor neural needs a parser", value=spacy_model, remedy=remedy)
        super().__init__(units, years=years, p_values=p_values, spacy_model=spacy_model)
        self._binder = NeuralBinder(model, device=device)

    def bind(self, sentences: Sequence[Sentence]) -> list[list[Binding]]:
        """What belongs to each mention of texts with a parse."""
        return bind(sentences, self._binder)


class NeuralBinder:
    """A trained model, as `bind` asks it.

    Args:
        folder: the checkpoint.
        device: a torch device; "auto" is a GPU where there is one.

    Attributes:
        labels: numbers of the strings in its features.
        threshold: probability from which a word is taken to be of the concept.

    Raises:
        MissingPackageError: the extra `neural` is not installed.
        InputError: the folder holds no finished model of this kind, or a broken one.
        OptionError: there is no such device, or the model is one of other features.
    """

    def __init__(self, folder: Path, *, device: str = "auto") -> None:
        require_neural()
        from qbench.models.word_binder import WordBinder

        checkpoint_digest(folder)
        self._model = WordBinder.load(folder).to(choose_device(device))
        config = self._model.config
        same = (config.words, config.mentions, config.outputs) == (*COLUMNS, len(OUTPUTS))
        if not same or len(config.labels) != len(Labels._fields):
            raise OptionError(
                "this model was trained by another version of qbench, which saw other things of each word",
                value=str(folder),
                remedy="Train it again with `qbench train extractor`",
            )
        self.labels = Labels.of(*config.labels)
        self.threshold = config.threshold

    def probabilities(self, requests: Sequence[Request]) -> list[Array]:
        """For each mention, an array of shape (tokens of its window, `OUTPUTS`)."""
        found: list[Array] = list(self._model.probabilities([pointed(*request) for request in requests]))
        return found


COLUMNS = list(WORD_COLUMNS.values()), list(MENTION_COLUMNS.values())
"""Number of values of each feature of a word and of a mention."""


def checkpoint_digest(folder: Path) -> str:
    """Digest of a model's files, for keys.

    Raises:
        InputError: the folder holds no finished model of this kind, or not all of it.
    """
    read_manifest(folder, KIND)
    require_whole(folder)
    return model_digest(folder)


def pointed(view: Pivot, sentence: Sentence) -> Pointed:
    """A mention as the model takes it."""
    from qbench.models.word_binder import Pointed

    words = [token.text for token in sentence.tokens[view.start : view.start + len(view.words)]]
    (own,) = (view.words[:, _OWN] == 1).nonzero()
    return Pointed(words, (int(own[0]), int(own[-1]) + 1), view.words, view.mention)


_OWN = list(WORD_COLUMNS).index("mention")
