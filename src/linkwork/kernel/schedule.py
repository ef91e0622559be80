"""The order of operations that keeps few values at a time: what ends the life of a value comes before what begins another.

Values in order of first use are near those that use them, as a rule. Not so where many numbers are gathered from a table for
several results (a spline's value, slopes and bends): each would be kept from the first result to the last, most of them outside
of registers. Rounding does not depend on the order.
"""

from __future__ import annotations

import heapq

from .graph import Op, operands

FREE = ("const", "input")  # at hand again at any time


def few_at_a_time(ops: list[Op], results: list[int]) -> tuple[list[Op], list[int]]:
    """The same operations in an order in which each next one is, of those that are possible, one after which the fewest values
    are waited for; among equals the first as it was."""
    kept = [() if op[0] in FREE else tuple({i for i in operands(op) if ops[i][0] not in FREE}) for op in ops]
    users: list[list[int]] = [[] for _ in ops]
    for k, found in enumerate(kept):
        for i in found:
            users[i].append(k)
    left = [len(x) for x in users]
    for r in results:
        left[r] += 1  # stored at its end, and it may be waited for until then
    missing = [len(x) for x in kept]
    done = [False] * len(ops)

    def growth(k: int) -> int:
        return 1 - sum(left[i] == 1 for i in kept[k])

    ready = [(growth(k), k) for k in range(len(ops)) if not missing[k] and ops[k][0] not in FREE]
    heapq.heapify(ready)
    order = [k for k, op in enumerate(ops) if op[0] in FREE]
    while ready:
        _, k = heapq.heappop(ready)
        if done[k]:
            continue
        done[k] = True
        order.append(k)
        for i in kept[k]:
            left[i] -= 1
            if left[i] == 1:  # its last user now ends its life
                for last in (u for u in users[i] if not done[u] and not missing[u]):
                    heapq.heappush(ready, (growth(last), last))
        for u in users[k]:
            missing[u] -= 1
            if not missing[u]:
                heapq.heappush(ready, (growth(u), u))
    new = {k: n for n, k in enumerate(order)}
    moved = [ops[k] if ops[k][0] in FREE else (ops[k][0], *(new[i] for i in ops[k][1:])) for k in order]
    return moved, [new[r] for r in results]
