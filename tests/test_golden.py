"""The golden outputs stay what they are; `python -m tests.golden FOLDER --update` writes them anew on purpose.

What models make is compared by `python -m tests.golden FOLDER` alone, on one machine before and after a change:
between processors near ties among their scores fall either way. The parser's arithmetic is one and the same on
processors with AVX-512 VNNI, of whatever maker, and another one on others, where near ties fall otherwise.
"""

import pytest

from qbench.quantities.english.parsers.dense import kernel
from tests import golden


@pytest.mark.skipif(kernel() is None, reason="the golden outputs were made with the arithmetic of AVX-512 VNNI")
def test_every_golden_output_is_as_it_was(tmp_path):
    golden.make(tmp_path, neural=False)
    found = golden.differences(golden.expected(neural=False), golden.digests(tmp_path))
    assert not found, "results changed; if that is meant, see 'Keys' in CONTRIBUTING.md"
