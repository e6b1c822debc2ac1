"""Requests to servers of models: recorded and replayed, so that none is repeated, and limited by a budget.

In: inputs as JSON. Out: vectors for retrieval, or the texts of chat models that name concepts and phrase queries
(*Numbers Matter* 3.3.2, B.5, C.2).
"""
