"""Quantities -> descriptions of quantities -> pairs of descriptions of the same fact.

In: an index, or a table of descriptions. Out: descriptions (C_q), paraphrase pairs, test sets for quantity retrieval.
Follows *Quantity Retrieval*: sections 2 and 3.1 (description parsing), 3.2 (value coincidence), 5 (test sets).
"""
