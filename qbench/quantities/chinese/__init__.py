"""Chinese text -> quantities: numbers, units, comparators and concepts, by rules over characters.

In: sentences, or typed queries. Out: `Quantity` values with character spans, and parsed queries.
The texts of *Quantity Retrieval* are Chinese; its quantities, too, are found by rules (section 4.1).
"""
