"""Search engines that serve an index: what they store, and first stages that search them.

In: passages and their mentions of quantities. Out: tables of an engine, queries to it, and rankers. Scores of words are
those of BM25 (*Numbers Matter*, C.3), the filter is that of its section 4.
"""
