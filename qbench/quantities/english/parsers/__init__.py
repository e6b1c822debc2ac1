"""What parses sentences for the extractor: our own small parser, or a spaCy pipeline that is installed.

In: words of sentences. Out: for each word its Penn Treebank tag, its head, and its Universal Dependencies relation.
"""
