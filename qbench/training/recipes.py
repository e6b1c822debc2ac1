"""Recipes: the options of each training, with their defaults, limits and helps; light enough for `--help`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from qbench.benchmark.types import Kind as QueryKind
from qbench.options import again, check, option, refusal
from qbench.retrieval.coded_weights import CODE_WEIGHT, TOKEN_WEIGHT
from qbench.training.kinds import METHODS, Kind, Method
from qbench.training.losses import LOSSES
from qbench.training.losses.numeric import Contrast

LEARNING_RATES: dict[Kind, float] = {
    "bi-encoder": 2e-5,
    "colbert": 1e-5,
    "splade": 2e-5,
    "aggretriever": 2e-5,
    "numcolbert": 1e-5,
    "deepquant": 5e-5,
    "codedcolbert": 1e-5,
}
"""Peak learning rates of *Numbers Matter* C.3 for ColBERT and SPLADE, which tuned a BERT of 110 million weights."""

Precision = Literal["auto", "float32", "bfloat16"]
"""In which numbers matrix products are computed in training; weights are float32."""


@dataclass(frozen=True)
class Recipe:
    """Options of every training; `check` refuses values outside their limits.

    An option that only some kinds of models have names them in `extra["models"]`. With `extra["keyed"]` False it is in
    a checkpoint's key only with another value than its default: it came when there were checkpoints.
    """

    epochs: int = option(2, help="Passes over the training data.", low=1)
    batch_size: int = option(32, help="Examples per batch.", low=1)
    accumulation: int = option(1, help="Batches per step of the optimiser.", low=1)
    lr: float = option(2e-5, help="Peak learning rate.", low=0, high=1)
    schedule: Literal["linear", "constant"] = option(
        "linear", help="Learning rate after the warm-up: linear falls to 0, constant stays."
    )
    warmup: float = option(0.1, help="Share of the steps in which the learning rate rises from 0.", low=0, high=1)
    weight_decay: float = option(0.01, help="Weight decay of AdamW; biases and norms have none.", low=0, high=1)
    clip: float = option(1.0, help="Largest norm of the gradients, which are scaled down to it; 0: no limit.", low=0)
    patience: int = option(2, help="Epochs without a better figure on dev before training stops.", low=1)
    evaluations: int = option(
        1, help="Evaluations on dev in an epoch, after each of which an interrupted training can resume.", low=1
    )
    seed: int = option(13, help="Seed of every random choice.")

    def check(self) -> None:
        """Refuse values outside their limits.

        Raises:
            OptionError: names the option and the values it allows.
        """
        check(self)


@dataclass(frozen=True)
class ContrastiveRecipe(Recipe):
    """How a retriever is trained on triples (*Numbers Matter* 3.3 and C.3)."""

    epochs: int = again(Recipe, "epochs", help="Passes over the positives.")
    batch_size: int = again(
        Recipe, "batch_size", help="Positives scored together; each text is a negative of the others."
    )
    lr: float = again(
        Recipe,
        "lr",
        0.0,
        help="Peak learning rate; 0 uses the model's default: 1e-5 for ColBERT, NumColBERT and CodedColBERT, 5e-5 for "
        "DeepQuant, 2e-5 for others.",
    )
    patience: int = again(Recipe, "patience", help="Epochs without a better nDCG@10 on dev before training stops.")
    evaluations: int = again(Recipe, "evaluations", 4)
    precision: Precision = option(
        "auto",
        help="Matrix products in training: bfloat16 is quicker where the processor has it (avx512_bf16, amx); auto "
        "takes it on a GPU that can, and float32 on a CPU.",
    )
    chunk: int = option(
        0,
        help="Gradient caching: so many texts of a batch have their gradients computed at a time, such that memory "
        "does not grow with the batch, for a third more time; 0: all at once.",
        low=0,
    )
    by_length: bool = option(False, help="Positives of similar length in a batch, which saves padding.")
    loss: str = option("infonce", help="; ".join(f"{name}: {loss.help}" for name, loss in LOSSES.items()) + ".")
    negatives: int = option(1, help="Own negatives of a positive, drawn again in each epoch.", low=0)
    satisfying: int = option(
        0,
        help="Further negatives of a positive: texts whose quantities satisfy the query, and are of something else.",
        low=0,
        keyed=False,
    )
    temperature: float = option(
        1.0,
        help="Divisor of the teacher's scores (tau of WolfPQ eq. 2.7).",
        low=1e-6,
        high=1e6,
        models=("bi-encoder",),
    )
    scale: float = option(
        0.0,
        help="Factor of the scores in the softmax; 0 uses the model's default: 20 for cosines, 1 for MaxSim and dot "
        "products, 50 for DeepQuant, 0.1 for a SPLADE without a trained head.",
        low=0,
        high=1e6,
    )
    methods: tuple[Method, ...] = option(
        METHODS,
        help="Samples to learn from: original, unit or value (Numbers Matter C.5); repeat it for more.",
        flag="--method",
    )
    kinds: tuple[QueryKind, ...] = option(
        (), help="Kinds of queries to learn from (seen, expansion); repeat it for more. Default: all.", flag="--kind"
    )
    query_flops: float = option(
        5e-5, help="Weight of the FLOPS regularisation of queries.", low=0, high=1, models=("splade",)
    )
    text_flops: float = option(
        3e-5, help="Weight of the FLOPS regularisation of documents.", low=0, high=1, models=("splade",)
    )
    agg_dimension: int = option(
        0,
        help="Dimensions of agg*, where the model is a BERT; 0 uses the paper's 640.",
        low=0,
        models=("aggretriever",),
    )
    cls_dimension: int = option(
        0,
        help="Dimensions that [CLS] is projected to (128 in the paper); 0: no projection.",
        low=0,
        models=("aggretriever",),
    )
    gate: bool = option(True, help="A gate sets the norm of queries' numeric tokens.", models=("numcolbert",))
    detect_weight: float = option(
        1.0, help="Weight of the detection of numeric tokens (lambda_1).", low=0, high=100, models=("numcolbert",)
    )
    info_weight: float = option(
        0.1,
        help="Weight of the prediction of mantissas, exponents, units and operators (lambda_2); 0: without.",
        low=0,
        high=100,
        models=("numcolbert",),
    )
    contrast_weight: float = option(
        0.1,
        help="Weight of the numeric contrastive loss (lambda_3); 0: without.",
        low=0,
        high=100,
        models=("numcolbert",),
    )
    contrast: Contrast = option(
        "unit",
        help="Positives of the numeric contrastive loss: numbers of the unit that is asked for, that satisfy the "
        "comparator (numeric), both at once (joint), or each for itself (separate).",
        models=("numcolbert",),
    )
    contrast_temperature: float = option(
        0.1,
        help="Temperature of the numeric contrastive loss.",
        low=1e-3,
        high=100,
        models=("numcolbert",),
    )
    head_lr: float = option(
        1e-3, help="Peak learning rate of the layers of numbers.", low=0, high=1, models=("numcolbert", "deepquant")
    )
    number_weight: float = option(
        0.1,
        help="Weight of the reconstruction of mantissas and exponents, 1 in the paper; 0: without.",
        low=0,
        models=("deepquant",),
    )
    unit_weight: float = option(
        1.0, help="Weight of the prediction of units; 0: without.", low=0, models=("deepquant",)
    )
    comparison_weight: float = option(
        1.0, help="Weight of the supplementary comparison of numbers; 0: without.", low=0, models=("deepquant",)
    )
    regular_weight: float = option(
        1.0, help="Weight of the regulariser of comparisons; 0: without.", low=0, models=("deepquant",)
    )
    satisfaction_weight: float = option(
        1.0,
        help="Weight of learning, from made-up numbers, whether a number satisfies what is asked; 0: without.",
        low=0,
        models=("deepquant",),
        keyed=False,
    )
    numbers_first: float = option(
        0.0,
        help="Share of the steps, the first, that learn to read and compare made-up numbers of all magnitudes.",
        low=0,
        high=1,
        models=("deepquant",),
        keyed=False,
    )
    numbers_every: int = option(
        0,
        help="After those, one of so many steps is on made-up numbers, in place of samples; 0: none.",
        low=0,
        models=("deepquant",),
        keyed=False,
    )
    as_printed: bool = option(
        False, help="Compare numbers with the loss as it is printed, which has no negatives.", models=("deepquant",)
    )
    text_score: Literal["sum", "mean"] | None = option(
        None,
        help="MaxSim of the words: its sum over the query's tokens, or its mean. [default: what the model has, mean in "
        "a new one]",
        models=("deepquant",),
    )
    centred_units: bool | None = option(
        None,
        help="Take their mean from the logits of units before they are compared. [default: as the model does, no in a "
        "new one]",
        models=("deepquant",),
        keyed=False,
    )
    code_weight: float = option(
        CODE_WEIGHT,
        help="What a mention that satisfies a condition adds to a score.",
        low=0,
        models=("codedcolbert",),
        keyed=False,
    )
    token_weight: float = option(
        TOKEN_WEIGHT,
        help="Weight of how near its tokens are to the condition's words.",
        low=0,
        models=("codedcolbert",),
        keyed=False,
    )
    joint_share: float = option(0.25, help="Share of the batches that come from --joint.", low=0, high=0.9)
    lowest_grade: int = option(
        1, help="Lowest grade of a positive, for benchmarks without triples (2 for TREC Deep Learning).", low=1
    )
    max_length: int = option(
        0, help="Tokens read of a text in training, but for dev; 0: the model's own maximum.", low=0
    )
    max_pairs: int = option(0, help="Positives per epoch, every query's first before any second; 0: all.", low=0)
    limit: int = option(
        0,
        help="Positives to learn from, the same ones in every epoch, for a learning curve; more contain fewer. 0: all.",
        low=0,
    )
    dev_queries: int = option(
        200, help="Number of dev queries that choose the best weights by nDCG@10; 0: none, the last are kept.", low=0
    )

    def check(self) -> None:
        """Refuse values outside their limits, and a loss that is not in the table.

        Raises:
            OptionError: names the option and the values it allows.
        """
        check(self)
        if self.loss not in LOSSES:
            raise refusal(self, "loss", f"is one of {', '.join(LOSSES)}", self.loss)
        if self.negatives == 0 and not LOSSES[self.loss].batch_negatives:
            raise refusal(self, "negatives", f"is at least 1 with the loss {self.loss}", self.negatives)
        if self.numbers_every == 1:
            error = refusal(self, "numbers_every", "is 0 or at least 2: with 1 no step is left for the samples", 1)
            error.remedy = "To learn from made-up numbers alone, use numbers_first 1"
            raise error


@dataclass(frozen=True)
class PairRecipe(Recipe):
    """How a bi-encoder is trained on mined pairs; defaults of *Quantity Retrieval* 5.1 where it gives any."""

    epochs: int = again(Recipe, "epochs", 20, help="Passes over the paraphrases.")
    batch_size: int = again(Recipe, "batch_size", 120, help="Pairs per batch.", low=2)
    patience: int = again(Recipe, "patience", 5, help="Epochs without a better F1 on dev before training stops.")
    precision: Precision = again(ContrastiveRecipe, "precision")
    margin: float = option(0.5, help="Cosine distance that confusing pairs are pushed apart to.", low=0, high=2)
    negatives: int = option(5, help="Confusing pairs per query and epoch, drawn again in each epoch.", low=1)
    max_length: int = option(0, help="Tokens read of a description; 0: the model's own maximum.", low=0)
    max_pairs: int = option(0, help="Pairs per epoch, those of queries with a paraphrase first; 0: all.", low=0)
    dev_share: float = option(
        0.1,
        help="Share of the training documents held out as dev, which chooses the best epoch; 0: none.",
        low=0,
        high=0.5,
    )


@dataclass(frozen=True)
class TaggerRecipe(Recipe):
    """How a description parser is trained (*Quantity Retrieval*, sections 4.2 and 4.3).

    The paper has one learning rate, 2e-5, for a BERT-base and 80,000 quantities; on a thousand the new layers hardly
    move at it. Its optimiser is Adam at a constant rate.
    """

    epochs: int = again(Recipe, "epochs", 20, help="Passes over the training split.")
    batch_size: int = again(
        Recipe, "batch_size", 16, help="Quantities per batch; those of a batch have texts of similar length."
    )
    lr: float = again(Recipe, "lr", help="Learning rate of the encoder. Small ones (MiniLM) learn faster with 1e-4.")
    head_lr: float = option(
        1e-3,
        help="Learning rate of the new layers. The paper has 2e-5; small gold sets need more.",
        low=0,
        high=1,
    )
    schedule: Literal["linear", "constant"] = again(Recipe, "schedule", "constant")
    warmup: float = again(Recipe, "warmup", 0.0)
    weight_decay: float = again(Recipe, "weight_decay", 0.0)
    clip: float = again(Recipe, "clip", 0.0)
    patience: int = again(PairRecipe, "patience", 4)
    hidden_size: int = option(512, help="Size of the LSTM in each direction.", low=1)
    limit: int | None = option(None, help="Number of training sentences, for a learning curve. Default: all.", low=1)
    seed: int = again(Recipe, "seed", help="Seed of the split and of every random choice.")


@dataclass(frozen=True)
class ExtractorRecipe(Recipe):
    """How the model of the extractor "neural" is trained."""

    epochs: int = again(Recipe, "epochs", 4, help="Passes over the annotated quantities.")
    batch_size: int = again(TaggerRecipe, "batch_size", 32)
    lr: float = again(Recipe, "lr", 1e-4, help="Peak learning rate of the encoder; a BERT-base wants 2e-5 to 5e-5.")
    head_lr: float = again(TaggerRecipe, "head_lr", help="Peak learning rate of the new layers.")
    patience: int = again(PairRecipe, "patience", 2)
    precision: Precision = again(ContrastiveRecipe, "precision")
    hidden: float = option(
        0.15, help="Share of the quantities of a batch for which the rules' answer is hidden.", low=0, high=1
    )
    dev_share: float = again(
        PairRecipe, "dev_share", help="Share of the documents held out as dev, which chooses the best epoch; 0: none."
    )
