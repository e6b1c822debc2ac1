"""Windows of a listwise reranker over a ranking, and scores from comparisons of pairs."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray


def windows(count: int, size: int, stride: int) -> list[tuple[int, int]]:
    """Half-open windows over a ranking, from its end to its start: good documents move up from each to the next.

    The first window ends with the ranking and each next one `stride` places before; the last one starts with the
    ranking, and is shorter where the places do not come out even. A ranking of fewer than two has none.

    Source: the sliding window of Sun et al. (2023) and RankZephyr (Pradeep et al. 2023). The windows are those of its
    authors' code, RankLLM, but for a window of one document, which it asks about.

    Args:
        count: number of documents.
        size: most documents of a window.
        stride: at most `size`.

    >>> windows(45, 20, 10), windows(5, 20, 10), windows(1, 20, 10)
    ([(25, 45), (15, 35), (5, 25), (0, 15)], [(0, 5)], [])
    """
    if count < 2:
        return []
    spans, end = [], count
    while end > size:
        spans.append((end - size, end))
        end -= stride
    return [*spans, (0, end)] if end > 1 else spans


def shares_won(count: int, comparisons: Iterable[tuple[int, int, float]]) -> NDArray[np.float64]:
    """The mean of what each document got in its comparisons; 0.5 where there was none.

    Args:
        count: number of documents.
        comparisons: (a, b, share of a, from 0 for "b is better" to 1); b gets the rest.

    Returns:
        shape (count,), from 0 to 1.

    >>> shares_won(3, [(0, 1, 1.0), (1, 0, 0.0), (0, 2, 0.5)])
    array([0.83333333, 0.        , 0.5       ])
    """
    won, played = np.zeros(count), np.zeros(count)
    for a, b, share in comparisons:
        won[a] += share
        won[b] += 1 - share
        played[[a, b]] += 1
    return np.where(played > 0, won / np.maximum(played, 1), 0.5)
