"""Numbers in 4, 2 or 1 byte, as `dtype=` of a system or as a component of its name. These codecs learn nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qbench.compression.codec import Arrays, Codec
from qbench.errors import OptionError
from qbench.scoring.maxsim import single_precision
from qbench.scoring.nearest import products
from qbench.scoring.product import refuse_broken
from qbench.scoring.quantised import Precision, quantised, restored


@dataclass(frozen=True)
class Float32(Codec):
    """Vectors as the encoder gives them."""

    def encode(self, vectors: NDArray[np.float32]) -> Arrays:
        """`vectors`, shape (n, d), as they are."""
        return {"vectors": vectors.astype(np.float32, copy=False)}

    def decode(self, arrays: Arrays) -> NDArray[np.float32]:
        """The vectors, shape (n, d)."""
        return arrays["vectors"]


@dataclass(frozen=True)
class Float16(Codec):
    """Vectors with 11 bits for a number."""

    def encode(self, vectors: NDArray[np.float32]) -> Arrays:
        """`vectors`, shape (n, d), in half precision.

        Raises:
            InputError: a vector is not finite.
            OptionError: a number is too large for it.
        """
        refuse_broken(vectors)
        highest = float(np.abs(vectors).max(initial=0.0))
        if highest > float(np.finfo(np.float16).max):
            remedy = "Use float32 or int8"
            raise OptionError("a number of a vector is too large for float16", value=highest, remedy=remedy)
        return {"vectors": vectors.astype(np.float16)}

    def decode(self, arrays: Arrays) -> NDArray[np.float32]:
        """The vectors in single precision, shape (n, d)."""
        return single_precision(arrays["vectors"])


@dataclass(frozen=True)
class Int8(Codec):
    """Vectors as 8-bit integers with a scale each: see `qbench.scoring.quantised`."""

    def encode(self, vectors: NDArray[np.float32]) -> Arrays:
        """`vectors`, shape (n, d), int8, and `scales`, shape (n,).

        Raises:
            InputError: a vector is not finite.
        """
        refuse_broken(vectors)
        codes, scales = quantised(vectors)
        return {"vectors": codes, "scales": scales}

    def decode(self, arrays: Arrays) -> NDArray[np.float32]:
        """Each vector times its scale, shape (n, d)."""
        return restored(arrays["vectors"], arrays["scales"])

    def scores(self, tables: NDArray[np.float32], arrays: Arrays) -> NDArray[np.floating[Any]]:
        """Codes are multiplied as they are, and the few products scaled: half the work."""
        return products(tables, arrays["vectors"], arrays["scales"])


DTYPES: Mapping[Precision, Codec] = {"float32": Float32(), "float16": Float16(), "int8": Int8()}
"""By the value of `dtype=`."""
