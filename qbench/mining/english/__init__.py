"""Descriptions in English: the rules parser, and which words do not say what is measured.

In: sentences with their mentions. Out: the words that describe each mention. Another language has its own package.
Follows *Quantity Retrieval*, section 3.1.
"""
