"""Default weights of `CodedColBERT` (`qbench.retrieval.coded`), for search and training alike."""

CODE_WEIGHT = 10.0
"""What a mention that satisfies a condition adds to a score."""

TOKEN_WEIGHT = 3.0
"""Weight of how near a satisfying mention's tokens are to the words of the condition."""

TERM_WEIGHT = 10.0
"""What a word of the query adds in texts that have it, if few have."""
