"""The options of trained codebooks; light enough for `--help`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from qbench.options import again, option, refusal
from qbench.training.recipes import Recipe

Variant = Literal["WolfPQPre", "WolfPQ", "WolfPQSem", "WolfPQI", "WolfPQSemI", "DPQ", "RepCONC", "JPQ", "CQ"]


@dataclass(frozen=True)
class CodebookRecipe(Recipe):
    """How a codebook is trained (*WolfPQ* 5.3.4, 5.3.5, 6.4; 2.3.3 and 4.2 for the others).

    WolfPQPre is trained for distortion alone; WolfPQ and WolfPQSem further with MarginMSE on dense scores; WolfPQI and
    WolfPQSemI with MarginMSE and RankNet on scores interpolated with BM25's. Those with Sem select by semantic
    sampling. DPQ is trained as WolfPQ is; RepCONC for the share of positives beside negatives, and for distortion; JPQ
    for order under the compressed index, together with the encoder of queries. CQ is trained as DPQ is, for
    the token vectors of a ColBERT.
    """

    variant: Variant = option("WolfPQ", help="What is trained: the name of the compression in systems.")
    M: int = option(96, help="Number of parts of a vector; divides its dimension (16 for CQ of 128 numbers).", low=1)
    K: int = option(256, help="Number of codewords of each part.", low=2, high=2**16)
    start: Literal["PQ", "OPQ"] = option(
        "PQ", help="What training starts from; OPQ's rotation is kept as it is, and stored with the codewords."
    )
    pretraining: int = option(300, help="Steps of training for distortion before the rest; JPQ makes none.", low=0)
    epochs: int = again(Recipe, "epochs", 20, help="Passes over the training queries; WolfPQPre makes none.")
    batch_size: int = again(Recipe, "batch_size", 16, help="Queries per batch.")
    lr: float = again(
        Recipe, "lr", 3e-3, help="Peak learning rate, for any encoder: codewords are learnt in units of their size."
    )
    schedule: Literal["linear", "constant"] = again(Recipe, "schedule", "linear")
    weight_decay: float = again(Recipe, "weight_decay", 0.0)
    patience: int = again(Recipe, "patience", 5, help="Epochs without a better nDCG@10 on dev before training stops.")
    lip: float = option(
        0.7, help="Share of RankNet in the loss (LIP of eq. 5.30), of WolfPQI and WolfPQSemI.", low=0, high=1
    )
    alpha: float = option(
        0.1, help="Weight of BM25 in interpolated scores (eq. 5.10), of WolfPQI and WolfPQSemI.", low=0, high=1
    )
    factor: Literal["learnt", "none"] = option(
        "learnt",
        help="learnt: MarginMSE compares scores up to a factor, which changes no ranking; none: as in the thesis, so "
        "that codewords grow longer than what they stand for, and are selected for other parts.",
    )
    norm: Literal["max", "none"] = option(
        "max", help="max: divide scores by the query's highest before they are added or scaled; none: as in the thesis."
    )
    scale: float = option(
        10.0,
        help="Factor of interpolated scores, of which MarginMSE has the square, and of those in RepCONC's and JPQ's "
        "loss; 1 for norm=none, as in the thesis.",
        low=0,
        high=1e6,
    )
    mse: float = option(1.0, help="Weight of the distortion in RepCONC's loss (lambda of eq. 2.20).", low=0)
    query_lr: float = option(
        2e-5, help="Peak learning rate of JPQ's encoder of queries; 0: it stays as it is.", low=0, high=1
    )
    mdf: float = option(30.0, help="Logit of the nearest codeword (MDF), of semantic selections.", low=0)
    temperature: float = option(1.0, help="Of the softmax, of DPQ, CQ and semantic selections.", low=1e-3)
    negatives: Literal["lowest", "uniform", "highest", "both"] = option(
        "lowest",
        help="Which of BM25's best documents are negatives: the lowest-ranked as in the thesis, any, or the highest; "
        "both: both documents of a pair are any of them, for MarginMSE alone, which needs no judgments.",
    )
    pairs: int = option(32, help="Pairs of a positive and a negative for each query.", low=1)
    pool: int = option(100, help="BM25's best documents that negatives are from.", low=1)
    lowest_grade: int = option(1, help="Lowest grade of a positive (2 for TREC Deep Learning).", low=1)
    dev_queries: int = option(
        200, help="Dev queries whose best documents of BM25 are ranked, to choose the best epoch; 0: none.", low=0
    )

    choose: Literal["nDCG", "agreement"] = option(
        "nDCG",
        help="What chooses the best epoch on dev: nDCG@10 by its judgments, or by the uncompressed vectors' best ten, "
        "which suits queries that were made up, and counts in BM25 for interpolated variants.",
    )

    def check(self) -> None:
        """Refuse values outside their limits, and those that do not go together.

        Raises:
            OptionError: names the option and the values it allows.
        """
        super().check()
        if self.negatives == "both" and self.variant not in ("WolfPQ", "WolfPQSem", "DPQ"):
            raise refusal(self, "negatives", f"is no value for {self.variant}, whose loss needs positives", "both")
        if self.interpolated and (self.norm, self.factor) == ("none", "learnt"):
            message = "needs factor none too: scores that are added to BM25's as they are have the codewords' own size"
            raise refusal(self, "norm", message, "none")
        if self.start == "OPQ" and self.variant == "CQ":
            raise refusal(self, "start", "is no value for CQ", self.start)
        if self.choose == "agreement" and self.variant == "CQ":
            raise refusal(self, "choose", "is no value for CQ", self.choose)

    @property
    def semantic(self) -> bool:
        """Whether codewords are selected by semantic sampling."""
        return "Sem" in self.variant

    @property
    def interpolated(self) -> bool:
        """Whether it is trained on scores interpolated with BM25's."""
        return self.variant.endswith("I")
