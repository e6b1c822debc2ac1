"""NumColBERT: a late-interaction model of sentence-transformers with numeric heads, and its folder.

The folder is that of a ColBERT, which sentence-transformers opens as it is, with the heads in two files of ours beside
it: documents' vectors do not depend on them. `qbench.models.multi_vector` opens both, so that a NumColBERT is indexed,
compressed and searched as every other ColBERT is.

Source: Fujimaki and Kato, *NumColBERT*, section 2.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qbench.errors import InputError
from qbench.models.folders import model_folder
from qbench.models.numbers import UnitList
from qbench.store import read_json, write_json

if TYPE_CHECKING:
    import sentence_transformers

    from qbench.models.numeric_heads import NumericHeads

CONFIG, WEIGHTS = "numeric_heads.json", "numeric_heads.safetensors"
"""What stands in a folder beside the files of a ColBERT."""


def has_numeric_heads(folder: Path) -> bool:
    """Whether a model's folder is that of a NumColBERT."""
    return (folder / CONFIG).is_file()


def require_numeric_heads(model: str) -> None:
    """Refuse a model without numeric heads, which would be searched as the ColBERT that it is.

    Args:
        model: a folder, or a name on the hub.

    Raises:
        InputError: it has none.
    """
    folder = model_folder(model)
    if not has_numeric_heads(folder):
        remedy = "Train it: qbench train numcolbert; the system ColBERT searches with a model without them"
        raise InputError("this model has no numeric heads, and a NumColBERT is needed", file=folder, remedy=remedy)


def heads_of(model: sentence_transformers.MultiVectorEncoder) -> NumericHeads | None:
    """The numeric heads of a model; None for a ColBERT without them."""
    from qbench.models.numeric_heads import NumericHeads

    last: Any = model[-1]
    return last if isinstance(last, NumericHeads) else None


def add_numeric_heads(
    model: sentence_transformers.MultiVectorEncoder, units: Iterable[str], *, gate: bool = True
) -> NumericHeads:
    """Give a late-interaction model heads, to be trained; heads that it has keep what they learnt.

    Args:
        model: is changed.
        units: those of the data; where the model has heads, units that they lack are added to theirs.
        gate: whether queries' numeric tokens get a norm.
    """
    from qbench.models.numeric_heads import HeadsConfig, NumericHeads

    before = heads_of(model)
    known = UnitList(before.config.units if before else ()).with_units(units)
    if before is None:
        size = int(model.transformers_model.config.hidden_size)  # type: ignore[union-attr]
        heads = NumericHeads(HeadsConfig(size, known.names, gate))
    else:
        heads = NumericHeads(HeadsConfig(before.config.hidden_size, known.names, gate))
        heads.take_over(before, known.places_in(UnitList(before.config.units)))
    _remove(model)
    _attach(model, heads)
    return heads


def save_numcolbert(model: sentence_transformers.MultiVectorEncoder, folder: Path) -> None:
    """Write a model with its heads into a folder; the model has none without it."""
    from safetensors.torch import save_file

    heads = heads_of(model)
    if heads is not None:
        _remove(model)
    try:
        model.save_pretrained(str(folder), create_model_card=False)
    finally:
        if heads is not None:
            _attach(model, heads)
    if heads is not None:
        write_json(folder / CONFIG, asdict(heads.config))
        weights = {name: tensor.cpu().contiguous() for name, tensor in heads.state_dict().items()}
        save_file(weights, folder / WEIGHTS)


def attach_saved(model: sentence_transformers.MultiVectorEncoder, folder: Path) -> None:
    """Give a model the heads in its folder.

    Raises:
        InputError: their files are missing or broken, or fit another model.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    from qbench.models.numeric_heads import HeadsConfig, NumericHeads

    try:
        heads = NumericHeads(HeadsConfig(**read_json(folder / CONFIG)))
    except (TypeError, AttributeError, RuntimeError) as fault:
        raise InputError(f"no configuration of numeric heads: {fault}", file=folder / CONFIG) from None
    path = folder / WEIGHTS
    if not path.is_file():
        raise InputError("this model has no weights of its numeric heads", file=path, remedy="Copy the folder whole")
    try:
        heads.load_state_dict(load_file(path))
    except (SafetensorError, RuntimeError) as fault:
        message = str(fault).splitlines()[0]
        raise InputError(f"the weights of the numeric heads cannot be read: {message}", file=path) from None
    size = int(model.transformers_model.config.hidden_size)  # type: ignore[union-attr]
    if heads.config.hidden_size != size:
        raise InputError(f"numeric heads for hidden states of another size than {size}", file=folder / CONFIG)
    _attach(model, heads.eval())


def _attach(model: sentence_transformers.MultiVectorEncoder, heads: NumericHeads) -> None:
    from qbench.models.numeric_heads import HiddenStates

    model.insert(1, HiddenStates())
    model.append(heads.to(model.device))


def _remove(model: sentence_transformers.MultiVectorEncoder) -> None:
    if heads_of(model) is not None:
        del model[-1]
        del model[1]
