"""Questions to paid servers -> their answers, recorded so that none is paid for twice, and counted against a budget.

Serves the embeddings that retrieval asks for, and the concept expansion of *Numbers Matter* 3.3.2.
"""
