"""Training of the model of the extractor "neural": a BERT says which words name what each number measures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from qbench.errors import InputError
from qbench.models.encoders import choose_device, require_neural
from qbench.models.folders import model_folder
from qbench.progress import Progress, silent
from qbench.quantities.english.binder.concepts import named
from qbench.quantities.english.binder.model import OUTPUTS
from qbench.quantities.english.concepts import find_concepts
from qbench.quantities.english.neural import COLUMNS, KIND, pointed
from qbench.quantities.english.rules import RulesExtractor
from qbench.quantities.extractors import ExtractorOptions
from qbench.quantities.languages import ENGLISH
from qbench.quantities.units import load_units
from qbench.randomness import generator
from qbench.store import Manifest
from qbench.training.annotations import (
    LOSSES,
    AnnotatedText,
    Target,
    hide_rules,
    key_of,
    labels_of,
    targets,
    word_scores,
)
from qbench.training.recipes import ExtractorRecipe
from qbench.training.trainer import (
    EncoderTask,
    History,
    Record,
    mixed_precision,
    train_checkpoint,
    training_params,
)

if TYPE_CHECKING:
    from torch import Tensor

    from qbench.models.word_binder import Encoded, Pointed, WordBinder


@dataclass(frozen=True, slots=True)
class Example:
    """A mention, and its words.

    Attributes:
        group: name of what must stay in one split.
        item: the mention as the model takes it.
        target: what the model should say of it.
    """

    group: str
    item: Pointed
    target: Target


def train_extractor(
    texts: Sequence[AnnotatedText],
    output: Path,
    model: str,
    recipe: ExtractorRecipe = ExtractorRecipe(),
    *,
    device: str = "auto",
    overwrite: bool = False,
    progress: Progress = silent,
    on_epoch: Callable[[Record], None] | None = None,
) -> Manifest:
    """Train the model of the extractor "neural"; keep the epoch that is best on dev.

    Mentions are read by the rules, with the parser that comes with qbench; what the rules say of a mention is an
    input. An interrupted call resumes after its last epoch (see `Trainer`). A finished checkpoint is left as it is.

    Args:
        texts: annotated sentences, from `read_annotations`.
        output: folder of the checkpoint, which `ExtractorOptions(name="neural", model=output)` opens.
        model: the encoder, a folder or a name on the hub.
        recipe: the options of the training.
        device: a torch device; "auto" is a GPU where there is one.
        overwrite: replace another checkpoint in `output`.
        progress: is given the number of batches done.
        on_epoch: is called with the record of each epoch.

    Returns:
        the manifest; `counts` holds the number of sentences and quantities, of the mentions that the rules found among
        them and elsewhere (no quantities), and of those in each split; and the scores of the best epoch on dev.

    Raises:
        MissingPackageError: the extra `neural` is not installed.
        InputError: the model cannot be opened, or no quantity of the sentences is one that the rules find.
        OptionError: the recipe makes no sense, there is no such device, or `output` holds something else.
        BusyError: another process is writing there.
    """
    recipe.check()
    require_neural()
    from qbench.models.word_binder import WordBinder

    device = choose_device(device)
    inputs = {"annotations": key_of(texts), "reading": ExtractorOptions(language=ENGLISH).key()}
    params = training_params(KIND, inputs, model, recipe, device=device)

    def make() -> ExtractorTask:
        progress(0, None, "reading sentences")
        examples, labels = _examples(texts)
        words, mentions = COLUMNS
        network = WordBinder.new(
            model_folder(model), recipe.seed, words=words, mentions=mentions, outputs=len(OUTPUTS), labels=labels
        )
        return ExtractorTask(network.to(device), texts, examples, recipe)

    return train_checkpoint("extractor training", params, output, make, overwrite, progress, on_epoch)


def _examples(texts: Sequence[AnnotatedText]) -> tuple[list[Example], list[list[str]]]:
    """The mentions that the rules find, and the strings that stand behind the numbers in their features."""
    options = ExtractorOptions()
    extractor = RulesExtractor(load_units(None), spacy_model=options.spacy_model)
    parsed = [None if read is None else read.sentence() for read in extractor.read_many(text.text for text in texts)]
    concepts = [[] if sentence is None else find_concepts(*sentence) for sentence in parsed]
    labels = labels_of(parsed, concepts)
    examples = []
    for target in targets(texts, parsed, concepts, labels):
        sentence = parsed[target.sentence]
        if sentence is not None:
            examples.append(Example(texts[target.sentence].group, pointed(target.view, sentence), target))
    if not any(example.target.quantity for example in examples):
        remedy = "Check the spans: each holds the characters of a number"
        raise InputError("the rules find no number that is annotated", remedy=remedy)
    return examples, [list(names) for names in labels]


class ExtractorTask(EncoderTask):
    """A model that learns the words of concepts.

    Args:
        network: the model.
        texts: annotated sentences.
        examples: annotated mentions, split by their groups.
        recipe: the options of the training.
    """

    name = "extractor"

    def __init__(
        self,
        network: WordBinder,
        texts: Sequence[AnnotatedText],
        examples: Sequence[Example],
        recipe: ExtractorRecipe,
    ) -> None:
        self.network, self.texts, self.recipe = network, texts, recipe
        held = {
            group
            for group in {example.group for example in examples}
            if generator(recipe.seed, "extractor split", group).random() < recipe.dev_share
        }
        self.train = [example for example in examples if example.group not in held]
        self.dev = [example for example in examples if example.group in held]
        if not self.train:
            raise InputError("nothing is left to train on", value=f"{len(held)} groups", remedy="Lower --dev-share")
        self._encoded: Sequence[Encoded] = network.encode([example.item for example in self.train])
        self.lengths = [len(text.ids) for text in self._encoded]

    def loss(self, batch: list[int], step: int, steps: int) -> Tensor:
        """Binary cross-entropy of what is asked of the words of a mention, summed over them.

        The answers of the rules are hidden from a share of the mentions.
        """
        import torch

        from qbench.models.word_binder import first_tokens

        encoded = [self._encoded[n] for n in batch]
        ids, mask, columns, mentions = self.network.batch([self.train[n].item for n in batch], encoded)
        shown = (torch.rand(2, len(batch), 1) >= self.recipe.hidden).long().to(ids.device)
        hide_rules(columns, mentions, shown[:, :, 0])
        wanted = np.zeros((*ids.shape, len(OUTPUTS)), dtype=np.float32)
        counted = np.zeros_like(wanted)
        for row, n in enumerate(batch):
            words, places = first_tokens(encoded[row])
            target = self.train[n].target
            wanted[row, places], counted[row, places] = target.marks[words], target.counted[words] * LOSSES
        with mixed_precision(ids.device, self.recipe.precision):
            scores = self.network(ids, mask, columns, mentions)
        losses = torch.nn.functional.binary_cross_entropy_with_logits(
            scores.float(), torch.from_numpy(wanted).to(ids.device), reduction="none"
        )
        return (losses * torch.from_numpy(counted).to(ids.device)).sum() / len(batch)

    def evaluate(self) -> Record:
        """Precision, recall and F1 of the concepts' words on dev; {} without dev."""
        return {"dev": self.scores()} if self.dev else {}

    def figure(self, record: Record) -> float | None:
        """F1 on dev; None without dev."""
        return float(record["dev"]["f1"]) if self.dev else None

    def save(self, folder: Path) -> None:
        """Write a folder that `WordBinder.load` opens."""
        self.network.save(folder)

    def counts(self, history: History) -> dict[str, Any]:
        """Counts of the manifest; the network has the weights of the best epoch."""
        quantities = sum(example.target.quantity for example in (*self.train, *self.dev))
        return {
            "sentences": len(self.texts),
            "quantities": sum(len(text.quantities or ()) for text in self.texts),
            "found": quantities,
            "no_quantity": len(self.train) + len(self.dev) - quantities,
            "train": len(self.train),
            "dev": len(self.dev),
            **super().counts(history),
            "scores": self.evaluate().get("dev", {}),
        }

    def scores(self) -> dict[str, float]:
        """Precision, recall and F1 of the concepts' words on dev."""
        self.network.eval()
        dev = [example for example in self.dev if example.target.quantity]
        likely = self.network.probabilities([example.item for example in dev], self.recipe.batch_size)
        threshold = self.network.config.threshold
        return word_scores(
            (named(scores, threshold), example.target.marks, example.target.counted)
            for example, scores in zip(dev, likely, strict=True)
        )
