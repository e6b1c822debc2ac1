"""The description parser of *Quantity Retrieval*, section 3.1: BERT and a BiLSTM tag each token as B, I, E or O.

The quantity that is asked about, the pivot, stands between the special tokens [START] and [END]; a sentence with three
quantities goes through the model three times. Token spans come from the tokeniser, so that nothing here assumes a
language, or spaces between words.

This module imports torch: import it inside functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from qbench.models.bieo import TAGS, Span, segments_of
from qbench.models.folders import TAGGER
from qbench.models.marked import MARKS, MarkedModel, new_model, window


@dataclass(frozen=True, slots=True)
class TaggerConfig:
    """What stands above the encoder.

    Attributes:
        hidden_size: of the LSTM, in each direction. The paper's 512 leaves open whether it is that or both together; we
            read it as torch's `LSTM(hidden_size=512, bidirectional=True)` does.
        layers: of the LSTM.
        dropout: between them.
        max_tokens: longest sequence, special tokens included; of a longer text the model sees a window.
    """

    hidden_size: int = 512
    layers: int = 2
    dropout: float = 0.1
    max_tokens: int = 512


@dataclass(frozen=True, slots=True)
class Encoded:
    """A text with its pivot marked, in tokens.

    Attributes:
        ids: of the tokens, special ones included.
        spans: of each token in the text; None for special tokens and those of the pivot.
        cut: whether the text was too long, and these are a window around the pivot.
    """

    ids: list[int]
    spans: list[Span | None]
    cut: bool


class Tagger(MarkedModel):
    """The model, with its tokeniser.

    Args:
        encoder: a transformers encoder, its embeddings as many as the tokeniser's tokens.
        tokenizer: a fast tokeniser that knows `MARKS`.
        config: the layers above.
    """

    FILE, CONFIG, KIND = TAGGER, TaggerConfig, "description parser"
    REMEDY = "Make one with `qbench train description-parser`"

    def __init__(self, encoder: Any, tokenizer: Any, config: TaggerConfig) -> None:
        super().__init__()
        self.config = config
        self.tokenizer = tokenizer
        self.encoder = encoder
        self.lstm = nn.LSTM(
            2 * encoder.config.hidden_size,
            config.hidden_size,
            num_layers=config.layers,
            dropout=config.dropout if config.layers > 1 else 0.0,
            bidirectional=True,
            batch_first=True,
        )
        self.tags = nn.Linear(2 * config.hidden_size, len(TAGS))

    @classmethod
    def new(cls, folder: Path, seed: int, hidden_size: int = 512) -> Tagger:
        """A tagger to be trained, see `new_model`; `hidden_size` as in `TaggerConfig`."""

        def make(encoder: Any, tokenizer: Any, longest: int) -> Tagger:
            return cls(encoder, tokenizer, TaggerConfig(hidden_size=hidden_size, max_tokens=longest))

        return new_model(folder, seed, make)

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """Scores of the tags.

        Args:
            ids: token ids of shape (texts, tokens), padded at the end.
            lengths: number of tokens of each text, of shape (texts,), on the CPU.

        Returns:
            logits of shape (texts, tokens, 4), in the order of `qbench.models.bieo.TAGS`.
        """
        mask = torch.arange(ids.shape[1])[None, :] < lengths[:, None]
        read = self.encoder(input_ids=ids, attention_mask=mask.to(ids.device), output_hidden_states=True)
        both = torch.cat(read.hidden_states[-2:], dim=-1)
        # Packed, so that what is read backwards starts at a text's own last token.
        packed = pack_padded_sequence(both, lengths, batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=ids.shape[1])
        scores: Tensor = self.tags(states)
        return scores

    def encode(self, items: Sequence[tuple[str, Span]]) -> list[Encoded]:
        """Texts with a pivot each, in tokens.

        What stands before, in and after the pivot is cut into tokens by itself: the marks would part it anyway.
        """
        pieces = [piece for text, (a, b) in items for piece in (text[:a], text[a:b], text[b:])]
        if not pieces:
            return []
        tokens = self.token_ids(pieces, offsets=True)
        ids, spans = tokens["input_ids"], tokens["offset_mapping"]
        return [
            self._marked(ids[3 * n : 3 * n + 3], spans[3 * n], spans[3 * n + 2], pivot[1])
            for n, (_, pivot) in enumerate(items)
        ]

    def _marked(self, ids: Sequence[list[int]], before: list[Span], after: list[Span], end: int) -> Encoded:
        start_mark, end_mark = self.tokenizer.convert_tokens_to_ids(list(MARKS))
        first, last = self.tokenizer.cls_token_id, self.tokenizer.sep_token_id
        left, middle, right = window(len(ids[0]), len(ids[1]), len(ids[2]), self.config.max_tokens - 4)
        skipped = len(ids[0]) - left
        numbers = [first, *ids[0][skipped:], start_mark, *ids[1][:middle], end_mark, *ids[2][:right], last]
        spans: list[Span | None] = [None, *((a, b) for a, b in before[skipped:])]
        spans += [None] * (middle + 2)
        spans += [(a + end, b + end) for a, b in after[:right]]
        return Encoded(numbers, [*spans, None], left + middle + right < sum(map(len, ids)))

    def batch(self, encoded: Sequence[Encoded]) -> tuple[Tensor, Tensor]:
        """What `forward` takes: padded ids on the model's device, and lengths."""
        lengths = torch.tensor([len(text.ids) for text in encoded])
        ids = torch.full((len(encoded), int(lengths.max())), self.tokenizer.pad_token_id or 0)
        for row, text in zip(ids, encoded, strict=True):
            row[: len(text.ids)] = torch.tensor(text.ids)
        return ids.to(self.tags.weight.device), lengths

    @torch.inference_mode()
    def segments(self, items: Sequence[tuple[str, Span]], batch_size: int = 32) -> list[tuple[Span, ...]]:
        """The description of each pivot.

        Args:
            items: texts, each with a pivot in it. Put the model into `eval` mode before.
            batch_size: number of texts that go through the model together; they are sorted by length for that.

        Returns:
            for each item the segments, in order, apart from each other and from the pivot; () where it states no fact.
        """
        encoded = self.encode(items)
        order = sorted(range(len(items)), key=lambda n: len(encoded[n].ids))
        segments: list[tuple[Span, ...]] = [()] * len(items)
        for start in range(0, len(order), batch_size):
            batch = order[start : start + batch_size]
            rows = self(*self.batch([encoded[n] for n in batch])).argmax(dim=-1).tolist()
            for n, row in zip(batch, rows, strict=True):
                spans = encoded[n].spans
                segments[n] = segments_of(items[n][0], spans, row[: len(spans)])
        return segments
