"""What a quantity is, whatever the language: types, units, the extractor's protocol; does a quantity meet a condition?

In: one sentence, or one query. Out: `Quantity` mentions with character spans, or `Condition`s and search words.
Follows *Numbers Matter*, section 3.1. The rules for English are in `qbench.quantities.english`.
"""

from qbench.quantities.types import Comparator, Condition, Quantity

__all__ = ["Comparator", "Condition", "Quantity"]
