"""Questions to paid servers -> their answers, recorded so that none is asked for again, and counted against a budget.

Serves the embeddings that retrieval asks for, and the chat models that name concepts and phrase queries (*Numbers
Matter* 3.3.2, B.5, C.2). In: inputs that JSON can say. Out: arrays, or what a model wrote.
"""
