"""Text -> quantities: numbers, units, bounds, concepts; and whether a quantity meets a condition.

In: one sentence, or one query. Out: `Quantity` mentions with character spans, or `Condition`s and search words.
Follows *Numbers Matter*, section 3.1.
"""

from qbench.quantities.types import Comparator, Condition, Quantity

__all__ = ["Comparator", "Condition", "Quantity"]
