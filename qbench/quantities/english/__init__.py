"""English text -> quantities: numbers, units, comparators and concepts, by rules over tokens and a parse.

In: sentences, or typed queries. Out: `Quantity` values with character spans, and parsed queries.
Follows *Numbers Matter*, section 3.1 (CQE).
"""
