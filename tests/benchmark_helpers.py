"""An extractor for tests that do not test extraction."""

import re

from qbench.quantities.types import Quantity
from qbench.quantities.units import load_units


class FakeExtractor:
    """Takes every run of digits for a bare number."""

    name = "fake"
    units = load_units()

    def extract(self, text):
        return [
            Quantity(float(m[0]), float(m[0]), "=", "", "", "", float(m[0]), float(m[0]), value_span=m.span())
            for m in re.finditer(r"\d+", text)
        ]

    def extract_many(self, texts):
        return [self.extract(text) for text in texts]
