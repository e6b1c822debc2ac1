"""The golden outputs stay what they are; `python -m tests.golden FOLDER --update` writes them anew on purpose."""

import json

from tests import golden


def test_every_golden_output_is_as_it_was(tmp_path):
    golden.make(tmp_path)
    found = golden.differences(json.loads(golden.GOLDEN.read_text(encoding="utf-8")), golden.digests(tmp_path))
    assert not found, "results changed; if that is meant, see 'Keys' in CONTRIBUTING.md"
