"""Sources -> documents -> sentences with offsets.

In: a file, a folder, a `datasets` folder, a hub dataset or an ir_datasets id, named by a person. Out: a stream of
`Document`s in bounded memory, and the spans of their sentences. Follows *Numbers Matter*, section 3.2.1.
"""

from qbench.corpora.source import Source, open_source
from qbench.corpora.types import Document, ReadOptions

__all__ = ["Document", "ReadOptions", "Source", "open_source"]
