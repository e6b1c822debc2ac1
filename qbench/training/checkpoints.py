"""The state of a training after each evaluation, from which it resumes: weights, optimiser, history, best weights.

It lies in hidden files of the draft, which the finished checkpoint does not have.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from qbench.store import atomic_file
from qbench.work.journal import Journal

if TYPE_CHECKING:
    from pathlib import Path

    from torch import Tensor, nn
    from torch.optim import Optimizer

_JOURNAL = ".history.json"


def save_untrained(folder: Path, model: nn.Module) -> None:
    """Write the weights before training, the first candidate for the best ones; nothing where they are written."""
    if not _best(folder, 0).is_file() and Journal(folder / _JOURNAL).read() is None:
        _write(_best(folder, 0), _weights(model))


def save_state(
    folder: Path, model: nn.Module, optimizer: Optimizer, history: list[dict[str, Any]], *, best: bool
) -> None:
    """Write the state after the last evaluation of `history`.

    Args:
        folder: of the draft.
        model, optimizer: whose state is written.
        history: a record of each evaluation, written last: where it is, the state is complete.
        best: whether these weights are the best so far.
    """
    weights = {f"model.{name}": tensor for name, tensor in _weights(model).items()}
    for name, parameter in model.named_parameters():
        for key, tensor in optimizer.state.get(parameter, {}).items():
            weights[f"optimizer.{key}.{name}"] = tensor
    _write(_state(folder, len(history)), weights)
    if best:
        _write(_best(folder, len(history)), _weights(model))
    Journal(folder / _JOURNAL).write(history=history)
    for path in folder.glob(".state-*"):
        if path != _state(folder, len(history)):
            path.unlink()
    for path in folder.glob(".best-*") if best else ():
        if path != _best(folder, len(history)):
            path.unlink()


def resume(folder: Path, model: nn.Module, optimizer: Optimizer) -> list[dict[str, Any]]:
    """Load the last state into model and optimiser.

    Returns:
        the history of the finished evaluations; [] for none.
    """
    state = Journal(folder / _JOURNAL).read()
    if state is None:
        return []
    history: list[dict[str, Any]] = state["history"]
    tensors = _read(_state(folder, len(history)))
    _put(model, {name.removeprefix("model."): t for name, t in tensors.items() if name.startswith("model.")})
    parameters = dict(model.named_parameters())
    for full, tensor in tensors.items():
        kind, _, rest = full.partition(".")
        if kind == "optimizer":
            key, _, name = rest.partition(".")
            owner = parameters[name]
            optimizer.state[owner][key] = tensor if key == "step" else tensor.to(owner.device)
    return history


def load_best(folder: Path, model: nn.Module, number: int) -> None:
    """Put the weights of an evaluation (from 1; 0 for the untrained ones), the best one, into the model."""
    _put(model, _read(_best(folder, number)))


def best_evaluation(
    untrained: list[dict[str, Any]],
    trained: list[dict[str, Any]],
    figure: Callable[[dict[str, Any]], float | None],
) -> int:
    """The evaluation with the highest figure; of equal ones the earliest, and the last where there is none.

    Args:
        untrained: the record before training; [] for none.
        trained: those of the evaluations since.
        figure: of a record.

    Returns:
        its number in `trained`, from 1; 0 for the untrained model.

    >>> best_evaluation([{"f": 0.5}], [{"f": 0.4}, {"f": 0.6}, {"f": 0.6}], lambda record: record["f"])
    2
    """
    numbered = [*((0, record) for record in untrained), *enumerate(trained, 1)]
    measured = [(value, -number) for number, record in numbered if (value := figure(record)) is not None]
    return -max(measured)[1] if measured else len(trained)


def _state(folder: Path, number: int) -> Path:
    return folder / f".state-{number}.safetensors"


def _best(folder: Path, number: int) -> Path:
    return folder / f".best-{number}.safetensors"


def _weights(model: nn.Module) -> dict[str, Tensor]:
    return {name: parameter.detach() for name, parameter in model.named_parameters()}


def _put(model: nn.Module, weights: dict[str, Tensor]) -> None:
    import torch

    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(weights[name])


def _write(path: Path, tensors: dict[str, Tensor]) -> None:
    from safetensors.torch import save_file

    with atomic_file(path) as temporary:
        save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, temporary)


def _read(path: Path) -> dict[str, Tensor]:
    from safetensors.torch import load_file

    tensors: dict[str, Tensor] = load_file(path)
    return tensors
