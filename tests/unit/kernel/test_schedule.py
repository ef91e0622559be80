"""Another order of operations: the same values, and fewer of them at a time."""

from __future__ import annotations

import numpy as np

from linkwork.joints.spline_surface import blended
from linkwork.kernel import graph
from linkwork.kernel.graph import Op, operands
from linkwork.kernel.schedule import FREE, few_at_a_time
from linkwork.kernel.symbol import variable


def evaluated(ops: list[Op], inputs: np.ndarray) -> list[float]:
    """The value of every operation, one after the other."""
    compute = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "fma": lambda a, b, c: a * b + c}
    compute["gather"] = lambda data, _, k: data + 3.0 * k
    found: list[float] = []
    for name, *args in ops:
        if name in FREE:
            found.append(args[0] if name == "const" else float(inputs[args[0]]))
        else:
            found.append(compute[name](*(found[i] for i in args)))
    return found


def most_at_once(ops: list[Op], results: list[int]) -> int:
    """How many values are waited for at a time, at most."""
    last = {i: k for k, op in enumerate(ops) for i in operands(op)} | dict.fromkeys(results, len(ops))
    ends = np.zeros(len(ops) + 1, int)
    for i, op in enumerate(ops):
        if op[0] not in FREE:
            ends[i] += 1
            ends[last.get(i, i)] -= 1
    return int(np.cumsum(ends).max())


def test_polynomials_in_two_variables() -> None:
    """Six of them with their derivatives, whose coefficients are gathered."""
    table, place, u, v = (variable(name) for name in ("table", "place", "u", "v"))
    C = np.array([table.gather(place, k) for k in range(96)], dtype=object).reshape(6, 4, 4)
    functions = [blended(c, [u, v], 2) for c in C]
    outputs = [f[orders] for orders in functions[0] for f in functions]
    ops, results = graph.build([table, place, u, v], outputs)
    moved, places = few_at_a_time(ops, results)
    assert all(i < k for k, op in enumerate(moved) for i in operands(op))
    assert sorted(op[0] for op in moved) == sorted(op[0] for op in ops)
    x = np.array([0.3, 0.0, 0.7, -1.2])
    before, after = evaluated(ops, x), evaluated(moved, x)
    assert [after[k] for k in places] == [before[k] for k in results]
    assert most_at_once(ops, results) >= 96
    assert most_at_once(moved, places) < 36 + 16  # results, and what one polynomial needs
