"""The course of a training: epochs that are kept, resumed and stopped early; the best one at the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from qbench.models.limits import refusing_a_full_gpu
from qbench.training.checkpoints import best_epoch, load_best, resume, save_epoch

if TYPE_CHECKING:
    from pathlib import Path

    from torch import nn
    from torch.optim import Optimizer

Record = dict[str, Any]
"""What is written down of an epoch: its number (0: before training), mean loss, figures on the held-out split."""


def train_epochs(
    folder: Path,
    network: nn.Module,
    optimizer: Optimizer,
    epoch: Callable[[int], Record],
    figure: Callable[[Record], float | None],
    *,
    epochs: int,
    patience: int,
    tell: Callable[[Record], None],
) -> tuple[list[Record], int]:
    """Train epoch by epoch, from where a killed call was; leave the weights of the best epoch in the network.

    Args:
        folder: of the draft, where each epoch's state is kept.
        network, optimizer: what is trained.
        epoch: trains the epoch of a number (from 1), and gives its record, without the number.
        figure: of a record: what should be high; None where nothing was held out, and then the last epoch is kept.
        epochs: how many, at most.
        patience: stop after so many epochs without a better figure.
        tell: told the record of every epoch, of those behind us too.

    Returns:
        the records, and the number of the best epoch.

    Raises:
        OptionError: a batch does not fit into the GPU's memory.
    """
    import torch

    with torch.random.fork_rng(), refusing_a_full_gpu("Lower batch_size (accumulation makes up for it), or max_length"):
        history = resume(folder, network, optimizer)
        for record in history:
            tell(record)
        while len(history) < epochs and not _stalled(history, figure, patience):
            number = len(history) + 1
            history.append({"epoch": number, **epoch(number)})
            save_epoch(folder, network, optimizer, history, best=best_epoch(history, figure) == number)
            tell(history[-1])
    best = best_epoch(history, figure)
    load_best(folder, network, best)
    return history, best


def _stalled(history: list[Record], figure: Callable[[Record], float | None], patience: int) -> bool:
    known = bool(history) and figure(history[-1]) is not None
    return known and len(history) - best_epoch(history, figure) >= patience


def adamw(network: nn.Module, lr: float, weight_decay: float) -> Optimizer:
    """AdamW; biases and norms do not decay."""
    import torch

    named = [(name, parameter) for name, parameter in network.named_parameters() if parameter.requires_grad]
    still = [p for name, p in named if name.endswith("bias") or "norm" in name.lower()]
    decaying = [p for name, p in named if not (name.endswith("bias") or "norm" in name.lower())]
    groups = [{"params": decaying, "weight_decay": weight_decay}, {"params": still, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=lr)


def set_rate(optimizer: Optimizer, lr: float, step: int, steps: int, warmup: float) -> None:
    """Set the learning rate of a step: up in a straight line to `lr`, then down to 0.

    Args:
        optimizer: all its groups get the rate.
        lr: the highest.
        step: from 0.
        steps: of the whole training.
        warmup: share of the steps that it rises.
    """
    rising = round(warmup * steps)
    share = (step + 1) / rising if step < rising else (steps - step) / max(steps - rising, 1)
    for group in optimizer.param_groups:
        group["lr"] = lr * share
