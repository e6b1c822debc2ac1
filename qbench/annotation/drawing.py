"""Stratified samples of labels, in which every query counts alike.

A label is a pair of ids, of a query and of what is labelled for it. Strata are sets of queries. Each stratum has a
share of the sample in proportion to its queries, and within it queries take turns, one label each in a round: figures
of the sample are then means over queries, as those of the leaderboard are, and no query with thousands of judgments
decides. Queries of one topic stand far apart in the order in which they take turns, and one text is drawn once.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence

from qbench.randomness import generator, shuffled


def draw(
    labels: Mapping[str, Sequence[str]],
    strata: Mapping[str, str],
    number: int,
    seed: int,
    kind: str = "",
    *,
    topics: Mapping[str, str] | None = None,
    texts: Mapping[str, str] | None = None,
) -> list[tuple[str, str]]:
    """Draw labels at random.

    The same seed gives the same sample, in whatever order the labels come, and a larger sample holds every smaller one.

    Args:
        labels: query -> what is labelled for it, each at most once.
        strata: query -> stratum.
        number: size of the sample; all labels where there are no more.
        seed: of the choice.
        kind: of the labels; each draws queries of its own, so that a bad query does not spoil several figures.
        topics: query -> what it is about; a bad topic has no more than its share of any sample. None for each its own.
        texts: what is labelled -> its text; of equal texts one is drawn. None where all differ.

    Returns:
        (query, labelled) in the order in which they are drawn.
    """
    members: dict[str, list[str]] = {}
    known = [query for query, some in labels.items() if some]
    for query in _apart(known, topics or {}, seed, kind):
        members.setdefault(strata[query], []).append(query)
    streams = {name: _rounds(queries, labels, seed) for name, queries in members.items()}
    sizes = {name: (len(queries), sum(len(labels[query]) for query in queries)) for name, queries in members.items()}
    drawn: list[tuple[str, str]] = []
    seen: set[str] = set()
    for name in seats(sizes, sum(size for _, size in sizes.values())):
        if len(drawn) == number:
            break
        for query, one in streams[name]:
            text = texts.get(one) if texts is not None else None
            if text is None or text not in seen:
                seen.update(() if text is None else (text,))
                drawn.append((query, one))
                break
    return drawn


def _apart(queries: Sequence[str], topics: Mapping[str, str], seed: int, kind: str) -> list[str]:
    """The queries in random order, those of each topic evenly spaced in it, with a random start."""
    groups: dict[str, list[str]] = {}
    for query in shuffled(queries, seed, f"audited queries {kind}", str):
        groups.setdefault(topics.get(query, "") or f"query {query}", []).append(query)
    place = {
        query: (at + start) / len(members)
        for topic, members in groups.items()
        for start in [float(generator(seed, f"audited topics {kind}", topic).random())]
        for at, query in enumerate(members)
    }
    return sorted(place, key=lambda query: (place[query], query))


def seats(sizes: Mapping[str, tuple[int, int]], number: int) -> list[str]:
    """The stratum of each draw: shares in proportion to weights, by the method of Webster and Sainte-Lague.

    Each draw goes to the stratum with the highest weight / (2 drawn + 1). No other order comes nearer to the shares at
    every number at once, and none is taken back when the number grows.

    Args:
        sizes: stratum -> its weight, and how many it has to give.
        number: of draws.

    >>> seats({"a": (6, 100), "b": (3, 100), "c": (1, 1)}, 8)
    ['a', 'b', 'a', 'a', 'b', 'c', 'a', 'a']
    """
    waiting = [(-float(weight), name, 0) for name, (weight, most) in sizes.items() if most]
    heapq.heapify(waiting)
    turns: list[str] = []
    while waiting and len(turns) < number:
        _, name, drawn = heapq.heappop(waiting)
        turns.append(name)
        weight, most = sizes[name]
        if drawn + 1 < most:
            heapq.heappush(waiting, (-weight / (2 * drawn + 3), name, drawn + 1))
    return turns


def _rounds(queries: Sequence[str], labels: Mapping[str, Sequence[str]], seed: int) -> Iterator[tuple[str, str]]:
    """One label of each query, then a second of each that has one, and so on."""
    orders: dict[str, list[str]] = {}
    longest = max(len(labels[query]) for query in queries)
    for place in range(longest):
        for query in queries:
            if place < len(labels[query]):
                if query not in orders:
                    orders[query] = shuffled(labels[query], seed, f"audited labels of {query}", str)
                yield query, orders[query][place]
