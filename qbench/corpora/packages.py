"""Data sets that come through a package: `datasets` folders, hub data sets, ir_datasets. Imported when asked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from qbench.corpora.fields import choose
from qbench.corpora.formats import BATCH_BYTES, rows_of, used_columns
from qbench.corpora.streams import Meter
from qbench.corpora.types import Problems, ReadOptions, Record
from qbench.errors import InputError
from qbench.extras import needed
from qbench.store import file_digest


class DatasetSource:
    """The splits of a `datasets` data set, memory-mapped from disk."""

    def __init__(self, name: str, splits: dict[str, Any], licence: str = "") -> None:
        self.name = name
        stated = (getattr(split.info, "license", None) for split in splits.values())
        self.licence = licence or next((str(text) for text in stated if text), "")
        self.meter = Meter(total=sum(split.num_rows for split in splits.values()))
        self._splits = splits

    def fingerprint(self) -> object:
        """Digests of the Arrow files; the package's own fingerprint depends on when they were written."""
        return [
            [name, split.num_rows, [file_digest(Path(part["filename"])) for part in split.cache_files]]
            for name, split in self._splits.items()
        ]

    def records(self, options: ReadOptions, problems: Problems) -> Iterator[Record]:
        """The rows of all splits, in their order."""
        self.meter.done = 0
        for name, split in self._splits.items():
            file = self.name if len(self._splits) == 1 else f"{self.name}/{name}"
            try:
                fields = choose(split.column_names, options, file)
            except InputError as error:
                problems.bad("no text field", error)
                continue
            rows = split.select_columns(used_columns(fields)).with_format("arrow")
            size = max(1, min(1000, BATCH_BYTES * split.num_rows // max(1, split.data.nbytes)))
            number = 0
            for table in rows.iter(batch_size=size):
                for batch in table.to_batches():
                    for values in rows_of(batch):
                        number += 1
                        yield fields.record(file, number, number, values)
                        self.meter.done += 1


def is_datasets_folder(folder: Path) -> bool:
    """Whether `save_to_disk` of the `datasets` package made this folder."""
    return (folder / "dataset_dict.json").is_file() or (
        (folder / "dataset_info.json").is_file() and (folder / "state.json").is_file()
    )


def open_datasets_folder(folder: Path) -> DatasetSource:
    """A folder that `save_to_disk` made.

    Raises:
        MissingPackageError: datasets is not installed.
        InputError: it cannot be loaded.
    """
    datasets = needed("datasets", "datasets", "a folder of save_to_disk")
    try:
        loaded = datasets.load_from_disk(str(folder))
    except Exception as fault:
        raise InputError(f"not a readable datasets folder: {_first_line(fault)}", file=folder) from fault
    return DatasetSource(folder.resolve().name, _splits(loaded))


def open_hub(spec: str) -> DatasetSource:
    """A hub data set, `NAME[:CONFIG][:SPLIT]` (an empty CONFIG is the default one); without SPLIT, all of them.

    Raises:
        MissingPackageError: datasets is not installed.
        InputError: it cannot be loaded (unknown, private, no network).
    """
    datasets = needed("datasets", "datasets", "hf:")
    name, _, rest = spec.partition(":")
    config, _, split = rest.partition(":")
    try:
        loaded = datasets.load_dataset(name, config or None, split=split or None)
    except Exception as fault:
        raise InputError(
            f"the data set cannot be loaded: {_first_line(fault)}",
            file=f"hf:{spec}",
            remedy="Write hf:NAME, hf:NAME:CONFIG, hf:NAME:CONFIG:SPLIT or hf:NAME::SPLIT",
        ) from fault
    return DatasetSource(name, {split: loaded} if split else _splits(loaded), _card_licence(name))


def _card_licence(name: str) -> str:
    """What the card of a hub data set says of its licence; "" where there is none, or no one to ask."""
    import huggingface_hub

    if Path(name).exists():
        return ""
    try:
        card = huggingface_hub.dataset_info(name).card_data
    except Exception:  # no network, or no right to look: the data came from the cache, and nobody stated a licence
        return ""
    stated = getattr(card, "license", None)
    if stated == "other":
        stated = getattr(card, "license_name", None) or stated
    return str(stated) if isinstance(stated, str) else ""


def _splits(loaded: Any) -> dict[str, Any]:
    return dict(loaded) if isinstance(loaded, dict) else {"all": loaded}


class IrDatasetsSource:
    """The documents of one ir_datasets id."""

    licence = ""  # the package knows none

    def __init__(self, name: str, dataset: Any, version: str) -> None:
        self.name = name
        self.meter = Meter(total=dataset.docs_count() or 0)
        self._dataset = dataset
        self._version = version

    def fingerprint(self) -> object:
        """Name, version and size: the package checks the digests of what it downloads."""
        return [self.name, self._version, self.meter.total]

    def records(self, options: ReadOptions, problems: Problems) -> Iterator[Record]:
        """Its documents, in their order."""
        self.meter.done = 0
        fields = choose(self._dataset.docs_cls()._fields, options, self.name)
        for number, document in enumerate(self._dataset.docs_iter(), start=1):
            yield fields.record(self.name, number, number, document._asdict())
            self.meter.done = number


def open_ir_datasets(name: str) -> IrDatasetsSource:
    """An ir_datasets id such as "beir/scifact".

    Raises:
        MissingPackageError: ir_datasets is not installed.
        InputError: the id is unknown or cannot be loaded, or has no documents.
    """
    ir_datasets = needed("ir_datasets", "ir-datasets", "irds:")
    try:
        dataset = ir_datasets.load(name)
        if not dataset.has_docs():
            raise InputError("this ir_datasets id has no documents", file=f"irds:{name}")
        return IrDatasetsSource(name, dataset, getattr(ir_datasets, "__version__", ""))
    except InputError:
        raise
    except Exception as fault:
        message = f"the data set cannot be loaded: {_first_line(fault)}"
        raise InputError(message, file=f"irds:{name}") from fault


def _first_line(fault: BaseException) -> str:
    return (str(fault).splitlines() or [type(fault).__name__])[0]
