"""Gold sets for the quantity extractor: one module for each, read by benchmarks/extraction.py.

Every module has `TITLE`, `ABOUT` (what is counted, how units are mapped, the limits of the comparison; it goes into the
page as it is) and `measure(data, system, scorer)`, which gives the figures of one system. Gold text is read from the
data's folder and never written anywhere.
"""
