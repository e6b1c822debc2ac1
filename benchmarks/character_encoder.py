"""A small BERT of characters, trained from random weights as a masked language model on the texts of a corpus.

    python benchmarks/character_encoder.py CORPUS OUT [--epochs 6] [--threads 1]

CORPUS is a file of JSON lines with `text` (DuEE-fin, for one). The vocabulary is its characters; letters and digits
stand alone, too. It is a stand-in where no weights of the language are at hand: half a million characters teach it
which characters stand together, not what words mean. All texts are read, also those whose labels a later training
keeps for its test. OUT is a folder that every `--model` of qbench opens, as it opens `bert-base-chinese`.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from qbench.randomness import generator

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
MASKED, IGNORED = 0.15, -100


def main() -> None:
    options = arguments()
    texts = [json.loads(line) for line in options.corpus.read_text(encoding="utf-8").splitlines()]
    train([row["text"] for row in texts], options)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("output", type=Path)
    for name, default in {
        "epochs": 6, "batch_size": 32, "length": 128, "layers": 2, "hidden": 128, "heads": 4, "seed": 13, "threads": 1
    }.items():  # fmt: skip
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, default=default)
    parser.add_argument("--lr", type=float, default=1e-3, help="peak learning rate")
    parsed: argparse.Namespace = parser.parse_args()
    return parsed


def train(texts: list[str], options: argparse.Namespace) -> None:
    """Train, and write the folder."""
    import torch
    from transformers import BertConfig, BertForMaskedLM, BertTokenizerFast

    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    options.output.mkdir(parents=True, exist_ok=True)
    vocabulary = characters(texts)
    (options.output / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    tokenizer = BertTokenizerFast(vocab=str(options.output / "vocab.txt"), model_max_length=512)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=options.hidden,
        num_hidden_layers=options.layers,
        num_attention_heads=options.heads,
        intermediate_size=3 * options.hidden,
    )
    model = BertForMaskedLM(config)
    rows = torch.tensor(list(windows(tokenizer, texts, options.length)))
    steps = options.epochs * -(-len(rows) // options.batch_size)
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.lr, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, options.lr, total_steps=steps, pct_start=0.1)
    start = time.perf_counter()
    for epoch in range(options.epochs):
        losses = []
        order = generator(options.seed, "windows", str(epoch)).permutation(len(rows))
        for at in range(0, len(rows), options.batch_size):
            loss = masked_loss(model, tokenizer, rows[order[at : at + options.batch_size]])
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            losses.append(float(loss))
        seconds = time.perf_counter() - start
        print(f"epoch {epoch + 1}: loss {sum(losses) / len(losses):.3f}, {seconds:.0f} s", flush=True)
    model.eval().save_pretrained(options.output)
    tokenizer.save_pretrained(options.output)


def characters(texts: list[str]) -> list[str]:
    """The characters that occur twice or more, commonest first; letters and digits also as parts of words."""
    counts = Counter(char for text in texts for char in text.lower() if not char.isspace())
    kept = [char for char, number in sorted(counts.items(), key=lambda row: (-row[1], row[0])) if number > 1]
    return [*SPECIAL, *kept, *(f"##{char}" for char in kept if char.isascii() and char.isalnum())]


def windows(tokenizer: Any, texts: list[str], length: int) -> Iterator[list[int]]:
    """The texts, one after the other with [SEP] between them, in pieces of `length` tokens."""
    ids: list[int] = []
    for text in texts:
        ids += [*tokenizer(text, add_special_tokens=False)["input_ids"], tokenizer.sep_token_id]
        while len(ids) >= length - 1:
            yield [tokenizer.cls_token_id, *ids[: length - 1]]
            ids = ids[length - 1 :]


def masked_loss(model: Any, tokenizer: Any, batch: Any) -> Any:
    """Devlin et al.: of 15 % of the tokens 80 % are masked, 10 % replaced, 10 % left as they are."""
    import torch

    chosen = (torch.rand(batch.shape) < MASKED) & (batch >= len(SPECIAL))
    labels = torch.where(chosen, batch, IGNORED)
    how = torch.rand(batch.shape)
    replaced = torch.randint(len(SPECIAL), model.config.vocab_size, batch.shape)
    seen = torch.where(chosen & (how < 0.8), tokenizer.mask_token_id, batch)
    seen = torch.where(chosen & (how >= 0.9), replaced, seen)
    # The head is large: only what is asked goes through it.
    states = model.bert(input_ids=seen).last_hidden_state[labels != IGNORED]
    return torch.nn.functional.cross_entropy(model.cls(states), labels[labels != IGNORED])


if __name__ == "__main__":
    main()
