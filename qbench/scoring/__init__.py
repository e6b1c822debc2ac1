"""Pure functions on arrays: BM25, posting lists, the Phi scores of quantities, normalisation, the best k of many.

In: token ids, values, scores. Out: scores. Nothing here reads files or uses document ids.
Follows *Numbers Matter*, section 3.2, and the BM25 of the rank-bm25 package.
"""
