"""What contextual quantisation learns from: token vectors, then differences of ColBERT's scores (MarginMSE).

Source: Yang, Qiao and Yang (2022); *WolfPQ* 4.3, eq. 4.7.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qbench.compression.contextual import save_context
from qbench.errors import OptionError
from qbench.models.multi_vector import WordEncoder
from qbench.progress import Progress, silent
from qbench.ranges import range_rows
from qbench.training.codebook_data import CodebookData
from qbench.training.codebook_recipe import CodebookRecipe
from qbench.training.codebook_task import CodebookTask, Quantised
from qbench.training.losses.quantisers import margin_mse

if TYPE_CHECKING:
    from torch import Tensor

    from qbench.models.contextual import ContextualQuantiser


class ContextualTask(CodebookTask):
    """CQ. What the quantiser gets for a token is its vector, and beside it that of the token alone.

    Args:
        data: of a ColBERT, with `tokens`.
        recipe, progress: as in `CodebookTask`.

    Raises:
        OptionError: the encoder has no vectors of tokens.
    """

    network: ContextualQuantiser

    def __init__(self, data: CodebookData, recipe: CodebookRecipe, progress: Progress = silent) -> None:
        if data.tokens is None or not isinstance(data.encoder, WordEncoder):
            raise OptionError("CQ needs the token vectors of a ColBERT", value=type(data.encoder).__name__)
        self.tokens, self.alone = data.tokens, data.encoder.alone()
        super().__init__(data, recipe, progress)

    def started(self, codebook: NDArray[np.float32]) -> Any:
        """PQ's codewords of what context adds, and a decoder that adds both."""
        from qbench.models.contextual import ContextualQuantiser

        return ContextualQuantiser(codebook, temperature=self.recipe.temperature)

    def sampled(self, rows: NDArray[np.integer[Any]]) -> NDArray[np.float32]:
        """Vectors, and beside them those of their tokens alone, shape (n, 2 H)."""
        return np.concatenate([self.data.vectors.chosen(rows), self.alone[self.tokens[rows]]], axis=1)

    def cut(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """What context adds, shape (n, H)."""
        whole, alone = np.split(vectors, 2, axis=1)
        return whole - alone

    def loss(self, batch: NDArray[np.int64], step: int, steps: int) -> Tensor:
        """MarginMSE against the uncompressed MaxSim (eq. 4.7).

        A score depends on those tokens alone that are nearest to one of the query's: which ones they are is found
        without gradients, and these are quantised with them.
        """
        import torch

        distinct, places = self.texts(batch)
        rows, lengths = self._rows(distinct)
        given = torch.from_numpy(self.sampled(rows))
        queries = torch.from_numpy(self.data.pairs.queries[batch])
        decoded = torch.from_numpy(self.quantised()(given.numpy()))
        whole = given[:, : decoded.shape[1]]
        nearest, back = torch.unique(_nearest(queries, decoded, lengths, places), return_inverse=True)
        learnt = _summed(queries, self.network(given[nearest])[back])
        if self.recipe.factor == "learnt":
            learnt = learnt * self.network.factor()
        return margin_mse(_summed(queries, whole[_nearest(queries, whole, lengths, places)]), learnt)

    def quantised(self) -> Quantised:
        """The network, whose decoder is what an index has."""
        import torch

        def decoded(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
            training = self.network.training
            self.network.eval()
            with torch.no_grad():
                made: NDArray[np.float32] = self.network(torch.from_numpy(vectors)).numpy()
            self.network.train(training)
            return made

        return decoded

    def relevance(self, query: NDArray[np.float32], texts: NDArray[np.intp], quantised: Quantised) -> Any:
        """MaxSim, shape (texts,)."""
        rows, lengths = self._rows(texts)
        products = query @ quantised(self.sampled(rows)).T
        return np.maximum.reduceat(products, np.cumsum(lengths) - lengths, axis=1).sum(axis=0)

    def save(self, folder: Path) -> None:
        """Write the quantiser, and the decoder."""
        import torch

        super().save(folder)
        with torch.no_grad():
            words = self.network.words(torch.from_numpy(self.alone)).numpy()
        save_context(folder, self.alone, words, self.network.of_context.detach().numpy())

    def _rows(self, texts: NDArray[np.integer[Any]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The rows of texts' vectors, one text after the other, and how many each has."""
        starts = self.data.vectors.starts
        lengths = starts[texts + 1] - starts[texts]
        return range_rows(starts[texts], lengths), lengths


def _nearest(queries: Tensor, vectors: Tensor, lengths: NDArray[np.int64], places: Tensor) -> Tensor:
    """The rows of the token vectors nearest to each query token, shape (queries, pairs, 2, tokens).

    Args:
        queries: shape (queries, tokens, H).
        vectors: shape (n, H), those of one text after the other.
        lengths: how many each text has, at least one.
        places: the texts of each query's pairs, shape (queries, pairs, 2).
    """
    import torch

    padded = torch.nn.utils.rnn.pad_sequence(list(torch.split(vectors, lengths.tolist())), batch_first=True)
    past = torch.arange(padded.shape[1]) >= torch.from_numpy(lengths)[:, None]
    firsts = torch.from_numpy(np.cumsum(lengths) - lengths)
    found = []
    for query, texts in zip(queries, places.flatten(start_dim=1), strict=True):
        products = torch.einsum("id,tjd->tij", query, padded[texts])
        best = products.masked_fill_(past[texts][:, None], float("-inf")).argmax(dim=2)
        found.append(best + firsts[texts, None])
    return torch.stack(found).reshape(*places.shape, -1)


def _summed(queries: Tensor, nearest: Tensor) -> Tensor:
    """MaxSim, shape (queries, pairs, 2), of the vectors nearest to query tokens: (queries, pairs, 2, tokens, H)."""
    scores: Tensor = (queries[:, None, None] * nearest).sum(dim=(3, 4))
    return scores
