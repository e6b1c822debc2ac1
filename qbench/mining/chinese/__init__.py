"""Descriptions of quantities in Chinese text: the parser by rules, and what their words say.

In: sentences with their mentions. Out: segments, reasons why words describe nothing, times.
Follows *Quantity Retrieval*, sections 2 and 3.
"""
