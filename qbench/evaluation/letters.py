"""Which figures of a column cannot be told apart: the compact letter display of pairwise tests."""

from __future__ import annotations

from collections.abc import Collection


def compact_letters(n: int, same: Collection[tuple[int, int]]) -> list[list[int]]:
    """Groups of items such that two items share a group if and only if they are the same.

    Not being told apart is not transitive: where a is the same as b and b as c, but not a as c, b is in two groups. A
    set of groups like this one is a clique cover of the graph of the pairs that are the same (Gramm et al. 2007). The
    cover here is greedy, and has no superfluous group, as Piepho (2004) asks for: a group is grown for the first pair
    that none holds yet, from the first item on, and a group all of whose pairs others hold is dropped in the end. Where
    whatever lies between two items that are the same is the same as both, these are the fewest groups.

    Args:
        n: number of items.
        same: pairs that cannot be told apart, each in any order; an item is the same as itself.

    Returns:
        the groups, each ascending, ordered by their items. An item that is the same as no other has one of its own.

    >>> compact_letters(4, [(0, 1), (1, 2)])
    [[0, 1], [1, 2], [3]]
    """
    near: list[set[int]] = [set() for _ in range(n)]
    for a, b in same:
        near[a].add(b)
        near[b].add(a)
    groups: list[set[int]] = []
    for a in range(n):
        for b in sorted(near[a]):
            if b > a and not any({a, b} <= group for group in groups):
                groups.append(_grown({a, b}, near))
    kept = list(groups)
    for group in groups:
        others = [other for other in kept if other is not group]
        if all(any({a, b} <= other for other in others) for a in group for b in group if a < b):
            kept = others
    alone = [{a} for a in range(n) if not near[a]]
    return sorted(sorted(group) for group in (*kept, *alone))


def _grown(group: set[int], near: list[set[int]]) -> set[int]:
    """The group with every further item, in order, that is the same as all that it holds by then."""
    for item in range(len(near)):
        if item not in group and group <= near[item]:
            group = group | {item}
    return group
