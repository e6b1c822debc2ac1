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
from qbench.training.outputs import Embedded
from qbench.training.students import LateInteractionStudent

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
        """MarginMSE against the uncompressed MaxSim (eq. 4.7)."""
        import torch

        distinct, places = self.texts(batch)
        rows, lengths = self._rows(distinct)
        given = torch.from_numpy(self.sampled(rows))
        queries = Embedded(torch.from_numpy(self.data.pairs.queries[batch]))

        def scores(vectors: Tensor) -> Tensor:
            parts = torch.split(vectors, lengths.tolist())
            padded = torch.nn.utils.rnn.pad_sequence(list(parts), batch_first=True)
            there = torch.arange(padded.shape[1]) < torch.from_numpy(lengths)[:, None]
            found = LateInteractionStudent(None).scores(queries, Embedded(padded, there))
            return found.gather(1, places.flatten(start_dim=1)).reshape(places.shape)

        quantised = self.network(given)
        return margin_mse(scores(given[:, : quantised.shape[1]]), scores(quantised))

    def quantised(self) -> Quantised:
        """The network, whose decoder is what an index has."""
        import torch

        def decoded(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
            with torch.no_grad():
                made: NDArray[np.float32] = self.network(torch.from_numpy(vectors)).numpy()
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
