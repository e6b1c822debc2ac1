"""Text -> spans of sentences: cut after 。！？； and line ends, not within quotation marks or brackets."""

from __future__ import annotations

import re

LONGEST = 1_000
"""Longest sentence in characters; longer ones are cut at a comma."""

_END = re.compile(r"[。！？!?；;…]+[”’」』）)\]】》\"']*|(?<=[^\d\s])\.(?=\s|$)|\n+")
_CLOSED = {"“": "”", "「": "」", "『": "』", "《": "》", "（": "）", "(": ")", "【": "】"}
_FAR = 300
"""Characters within which an opened bracket must be closed for the sentence to go on."""
_WORD = re.compile(r"\w")
_COMMA = re.compile(r"[，,、：: ]")


class ChineseSplitter:
    """Cuts texts into sentences. Deterministic, free of state."""

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Half-open character spans of the sentences of `text`, in order, without overlap.

        No sentence starts or ends with white space, is longer than `LONGEST`, or is without a letter or digit.
        """
        spans: list[tuple[int, int]] = []
        start = 0
        for match in _END.finditer(text):
            if "\n" not in match[0] and _opened(text, start, match.start()):
                continue
            spans += _trimmed(text, start, match.end())
            start = match.end()
        return spans + _trimmed(text, start, len(text))


def _opened(text: str, start: int, end: int) -> bool:
    """Whether a bracket is open at `end` that is closed soon after."""
    start = max(start, end - _FAR)
    for opening, closing in _CLOSED.items():
        at = text.rfind(opening, start, end)
        if at >= 0 and text.rfind(closing, at, end) < 0:
            close = text.find(closing, end, end + _FAR)
            line = text.find("\n", end, end + _FAR)
            # What follows a mark that the quotation ends with is another sentence.
            if close > end + 1 and not 0 <= line < close:
                return True
    return False


def _trimmed(text: str, start: int, end: int) -> list[tuple[int, int]]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    spans: list[tuple[int, int]] = []
    while end - start > LONGEST:
        commas = [match.end() for match in _COMMA.finditer(text, start + LONGEST // 2, start + LONGEST)]
        cut = commas[-1] if commas else start + LONGEST
        spans += _trimmed(text, start, cut)
        start = cut
        while start < end and text[start].isspace():
            start += 1
    return [*spans, (start, end)] if _WORD.search(text, start, end) else spans
