"""What JPQ learns from: the order of documents under the compressed index, searched anew for every batch.

    D_q = the best of all documents that are not judged relevant, by s(q, d) of the present codewords and encoder

Source: Zhan et al. (2021); *WolfPQ* 4.2, eq. 4.1 to 4.3. The loss, which both leave open, is LambdaRank.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qbench.compression.product import PQ
from qbench.compression.quantiser import QUERY_ENCODER
from qbench.progress import Progress, silent
from qbench.retrieval.vectors import StoredVectors
from qbench.scoring.nearest import ROWS
from qbench.scoring.product import packed
from qbench.training.codebook_data import CodebookData, Held
from qbench.training.codebook_recipe import CodebookRecipe
from qbench.training.codebook_task import CodebookTask, quantiser_of
from qbench.training.losses.quantisers import lambda_rank
from qbench.training.query_encoders import QueryEncoder, open_query_encoder
from qbench.training.trainer import adamw_with_head

if TYPE_CHECKING:
    from torch import Tensor
    from torch.optim import Optimizer

    from qbench.models.jpq import JPQ


class JpqTask(CodebookTask):
    """JPQ: the codes of all documents are made once, by PQ, and never change.

    Args:
        data, recipe, progress: as in `CodebookTask`.
    """

    network: JPQ

    def __init__(self, data: CodebookData, recipe: CodebookRecipe, progress: Progress = silent) -> None:
        self.queries: QueryEncoder | None = open_query_encoder(data.encoder) if recipe.query_lr else None
        super().__init__(data, recipe, progress)
        vectors, codes_of = data.vectors, quantiser_of(self.network).codes
        self.codes = np.empty((len(vectors), recipe.M), np.uint16)
        for first in range(0, len(vectors), ROWS):
            last = min(first + ROWS, len(vectors))
            self.codes[first:last] = codes_of(vectors.rows(first, last))
        self._packed = packed(self.codes, recipe.K)

    def started(self, codebook: NDArray[np.float32]) -> Any:
        """PQ's codewords above PQ's codes, and the encoder of queries as it is."""
        from qbench.models.jpq import JPQ

        return JPQ(codebook, self.queries.network if self.queries else None)

    def optimizer(self) -> Optimizer:
        """AdamW with a learning rate for the encoder and one for the codewords."""
        recipe = self.recipe
        if self.queries is None:
            return super().optimizer()
        return adamw_with_head(self.network, recipe.query_lr, recipe.lr, recipe.weight_decay)

    def loss(self, batch: NDArray[np.int64], step: int, steps: int) -> Tensor:
        """LambdaRank of each query's positives and the documents that stand highest in the compressed index."""
        import torch

        pairs = self.data.pairs
        if self.queries is None:
            queries = torch.from_numpy(pairs.queries[batch])
        else:
            queries = self.queries.embed([pairs.texts[query] for query in batch]).cpu()
        docs = np.concatenate([pairs.positives[batch], self.negatives(batch, queries.detach().numpy())], axis=1)
        distinct, back = np.unique(docs, return_inverse=True)
        quantised = self.network(torch.from_numpy(self.codes[distinct].astype(np.int64)))
        places = torch.from_numpy(back.reshape(docs.shape))
        scores = self.scaled((quantised[places] * queries[:, None]).sum(dim=-1), batch)
        split = pairs.positives.shape[1]
        return lambda_rank(scores[:, :split], scores[:, split:])

    def negatives(self, batch: NDArray[np.int64], queries: NDArray[np.float32]) -> NDArray[np.int64]:
        """The rows that score highest now and are not judged relevant (eq. 4.3), shape (queries, pairs).

        Args:
            batch: numbers of training queries.
            queries: their vectors, shape (queries, H).
        """
        pairs, count = self.data.pairs, self.recipe.pairs
        judged = [pairs.judged[query] for query in batch]
        best, _ = self.index().nearest(queries, count + max(len(rows) for rows in judged))
        chosen = np.empty((len(batch), count), np.int64)
        for number, (rows, known) in enumerate(zip(best, judged, strict=True)):
            clear = rows[~np.isin(rows, known)][:count]
            # Fewer where nearly all of a small corpus is judged: those again, or those of BM25.
            chosen[number] = np.resize(clear if clear.size else pairs.negatives[batch[number]], count)
        return chosen

    def index(self) -> StoredVectors:
        """The compressed index as it would be searched now."""
        vectors, recipe = self.data.vectors, self.recipe
        learnt = {"codebook": self.network.stored().detach().numpy()}
        if self.network.rotation is not None:
            learnt["rotation"] = self.network.rotation.numpy()
        codec = PQ(M=recipe.M, K=recipe.K).with_learnt(**learnt)
        return StoredVectors(codec, {"codes": self._packed}, vectors.shared, vectors.dimension, vectors.starts)

    def held_queries(self, held: Held) -> NDArray[np.float32]:
        """The vectors of held-out queries by the encoder as it is now."""
        if self.queries is None:
            return super().held_queries(held)
        import torch

        self.network.eval()
        with torch.no_grad():
            vectors: NDArray[np.float32] = self.queries.embed(held.texts).cpu().numpy()
        return vectors

    def save(self, folder: Path) -> None:
        """Write the quantiser, and the encoder of queries."""
        super().save(folder)
        if self.queries is not None:
            self.queries.save(folder / QUERY_ENCODER)

    def pretrain(self, sample: NDArray[np.float32], progress: Progress) -> None:
        """Nothing: the codewords are PQ's."""
