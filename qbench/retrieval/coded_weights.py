"""Default weights of `CodedColBERT` (`qbench.retrieval.coded`), for search and training alike."""

CODE_WEIGHT = 10.0
"""What a mention that satisfies a condition adds to a score."""

TOKEN_WEIGHT = 10.0
"""Weight of how near a satisfying mention's tokens are to the words of the condition."""
