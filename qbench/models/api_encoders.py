"""Embeddings of a provider as a single-vector encoder: requested over HTTP, recorded, of length 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from qbench.errors import ServerError
from qbench.llm.client import Access, ask
from qbench.llm.embeddings import CohereEmbeddings, OpenAIEmbeddings, cohere_url, openai_url
from qbench.models.single_vector import Role, Similarity

EmbeddingServer = OpenAIEmbeddings | CohereEmbeddings

Provider = Literal["OpenAI", "Cohere"]

BYTES = 3
"""Bytes that we count for a token where texts are cut: fewer than English has, so that numbers and names fit too."""

_PROBE = "How many numbers has a vector?"
"""Sent once for each model whose dimension is not given."""


def embedding_servers(
    provider: Provider, model: str, *, base_url: str = "auto", dimensions: int = 0, batch: int = 0
) -> dict[Role, EmbeddingServer]:
    """The servers that embed queries and documents.

    Args:
        provider: whose interface the server has.
        model: as the server names it.
        base_url: its address; "auto" is that of the environment, or else the provider's own.
        dimensions: numbers in a vector, where the server is to shorten them; 0: as many as the model gives.
        batch: largest number of texts of a request; 0 for as many as the provider takes.

    Raises:
        OptionError: `base_url` is no address.
    """
    if provider == "OpenAI":
        server = OpenAIEmbeddings(model, openai_url(base_url), dimensions, batch)
        return {"query": server, "document": server}
    documents = CohereEmbeddings(model, cohere_url(base_url), dimensions, batch)
    return {"query": replace(documents, side="search_query"), "document": documents}


def prepared_text(text: str, max_length: int) -> str:
    """A text as it is sent: cut after `max_length` tokens of three bytes each, 0 for none; "" where nothing is left."""
    raw = text.encode()
    if max_length and len(raw) > BYTES * max_length:
        text = raw[: BYTES * max_length].decode(errors="ignore")
    return text if text.strip() else ""


@dataclass
class ApiEncoder:
    """An encoder whose vectors a provider makes.

    Attributes:
        servers: for queries and for documents.
        access: recording, budget, patience.
        max_length: tokens of a text that are sent, three bytes counted for each; 0 for all.
        size: numbers in a vector; 0 until an answer shows it.
    """

    servers: Mapping[Role, EmbeddingServer]
    access: Access
    max_length: int = 0
    size: int = 0

    @property
    def similarity(self) -> Similarity:
        """The cosine: providers' vectors are made for it."""
        return "cosine"

    def cut(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Which texts are not sent whole; shape (texts,)."""
        longest = BYTES * self.max_length
        return np.array([0 < longest < len(text.encode()) for text in texts], dtype=bool)

    @property
    def dimension(self) -> int:
        """Numbers in a vector; where no option says so, a short text is sent, and recorded like any other.

        Raises:
            QbenchError: as in `qbench.llm.client.ask`.
        """
        if not self.size:
            server = self.servers["document"]
            self.size = server.dimensions or int(ask(server, [_PROBE], self.access)[0].size)
        return self.size

    def probes(self) -> list[str]:
        """The texts that are sent only to learn the dimension."""
        return [] if self.size or self.servers["document"].dimensions else [_PROBE]

    def encode(self, texts: Sequence[str], role: Role = "document") -> NDArray[np.float32]:
        """One vector per text, shape (texts, dimension), each of length 1; of zeros for a text without any sign.

        Raises:
            BudgetError: the budget is spent.
            ServerError: the server does not answer, or with vectors of another size, or that are not finite.
            InputError: an answer is missing in replay, or the recording cannot be used.
            OptionError: there is no key.
        """
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        sent = {i: text for i, text in enumerate(prepared_text(t, self.max_length) for t in texts) if text}
        server = replace(self.servers[role], size=self.dimension)
        for i, vector in zip(sent, ask(server, list(sent.values()), self.access), strict=True):
            if vector.size != self.dimension or not np.isfinite(vector).all() or not vector.any():
                raise ServerError(
                    f"{server.name}: a recorded vector has {vector.size:,} numbers, and {self.dimension:,} that are "
                    "finite are needed",
                    value=sent[i],
                    remedy="The model may have changed under its name: use another recording, and remove the index",
                )
            wide = vector.astype(np.float64)
            vectors[i] = wide / np.linalg.norm(wide)
        return vectors
