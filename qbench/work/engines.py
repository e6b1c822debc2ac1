"""Which engine runs the tasks of a command: processes of this machine, or a Ray cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from qbench.errors import OptionError
from qbench.options import option
from qbench.work.tasks import Engine


@dataclass(frozen=True)
class EngineOptions:
    """Where tasks run; none of it changes a result."""

    engine: Literal["local", "ray"] = option(
        "local", help="What runs the tasks: processes of this machine, or Ray (extra: ray).", recorded=False
    )
    address: str = option(
        "",
        help="Ray cluster to run on, HOST:PORT, ray://HOST:PORT or auto. [default: RAY_ADDRESS, else one that is "
        "started on this machine and ends with the command]",
        metavar="ADDRESS",
        recorded=False,
    )

    def chosen(self, workers: int | None) -> Engine | None:
        """The engine, of at most this number of tasks at a time; None for processes of this machine.

        Raises:
            OptionError: an address is given, and the engine is not Ray.
            MissingPackageError: Ray is not installed.
            ServerError: no cluster answers at the address.
        """
        if self.engine == "ray":
            from qbench.work.on_ray import on_ray

            return on_ray(self.address, workers)
        if self.address:
            remedy = "Add --engine ray, or leave the address out"
            raise OptionError("an address is that of a Ray cluster", value=self.address, remedy=remedy)
        return None
