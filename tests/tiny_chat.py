"""A tiny chat model with random weights, answered by transformers on this machine, behind the tests' server."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SIGNS = ("<pad>", "<s>", "</s>", "<unk>", "1", "2", "3", "4", "5", "[", "]", ">")
TEMPLATE = "{% for message in messages %}<s> {{ message['content'] }} </s> {% endfor %}"


def tiny_chat_model(folder: Path, words: Iterable[str]) -> Path:
    """A Llama of two layers in a folder; its tokenizer knows these words, five digits and a few signs."""
    import torch
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    vocabulary = list(dict.fromkeys([*SIGNS, *sorted(set(words))]))
    inner = Tokenizer(WordLevel({word: i for i, word in enumerate(vocabulary)}, unk_token="<unk>"))
    inner.pre_tokenizer = Whitespace()
    special = {"pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=inner, **special)
    tokenizer.chat_template = TEMPLATE
    config = LlamaConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=2048,
        initializer_range=0.5,
        bos_token_id=1,
        eos_token_id=2,
        pad_token_id=0,
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = LlamaForCausalLM(config)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@dataclass
class LocalChat:
    """Answers with the likeliest tokens of a model in a folder, and their log-probabilities, as chat servers do.

    Attributes:
        folder: of `tiny_chat_model`.
        only: tokens that it may write; all by default.
        length: tokens of an answer.
    """

    folder: Path
    only: tuple[str, ...] = ()
    length: int = 1

    def __post_init__(self) -> None:
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self.tokenizer = AutoTokenizer.from_pretrained(self.folder)
        self.model = AutoModelForCausalLM.from_pretrained(self.folder).eval()

    def __call__(self, asked: str) -> dict[str, Any]:
        """The choice of an answer to a message."""
        tokens = self.encoded(asked)
        allowed = self.tokenizer.convert_tokens_to_ids(list(self.only))
        suppressed = [i for i in range(len(self.tokenizer)) if allowed and i not in allowed]
        made = self.model.generate(
            **tokens,
            max_new_tokens=self.length,
            do_sample=False,
            suppress_tokens=suppressed or None,
            output_scores=True,
            return_dict_in_generate=True,
        )
        new = made.sequences[0, tokens["input_ids"].shape[1] :]
        rows = [row[0].log_softmax(-1) for row in made.scores]
        content = [self._token(token, row) for token, row in zip(new.tolist(), rows, strict=True)]
        return {"message": {"content": self.tokenizer.decode(new)}, "logprobs": {"content": content}}

    def encoded(self, asked: str) -> Any:
        """A message as the model reads it."""
        messages = [{"role": "user", "content": asked}]
        return self.tokenizer.apply_chat_template(messages, return_tensors="pt", return_dict=True)

    def _token(self, token: int, row: Any) -> dict[str, Any]:
        most = row.topk(20)
        among = [
            {"token": self.tokenizer.decode([i]), "logprob": max(value, -9999.0)}
            for i, value in zip(most.indices.tolist(), most.values.tolist(), strict=True)
        ]
        return {"token": self.tokenizer.decode([token]), "logprob": row[token].item(), "top_logprobs": among}
