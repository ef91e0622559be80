"""What is known of an assembly at a state without solving anything: forces, and the rows of all conditions."""

from __future__ import annotations

import functools
from typing import Any

from ..kernel.sweep import SCALAR, Algorithm, Field, each, vector
from .aim import rows_at
from .extent import part_roles
from .part import gravity_force
from .passes import interact
from .views import bound_parts


def measure_part(n: Any) -> None:
    """What acts on a part by itself: gravity less the bias; interactions add to it."""
    (part,) = bound_parts(n)
    n.forces = gravity_force(part, n.q, n.gravity) - part.inertia(n.q, n.v)[1]


def measure_condition(n: Any, *at: Any) -> None:
    """A condition by itself."""
    rows = rows_at(n, at)
    n.J, n.loads, n.rate, n.residual = rows.J.reshape(-1), -rows.bias, rows.rate, rows.residual


@functools.cache
def measuring_algorithm(arity: int, pulls: int) -> Algorithm:
    """Forces, and rows of all conditions; the parts are the tree, conditions have up to `arity` of them, interactions `pulls`."""
    rows = {"J": "J", "loads": "rows", "rate": "rows", "residual": "rows"}
    fields = {
        "q": Field("input", "q"),
        "v": Field("input", "v"),
        "t": Field("input", "global", SCALAR),
        "gravity": Field("input", "global", vector(3)),
        "forces": Field("output", "v"),
        **({name: Field("output", space, of="condition") for name, space in rows.items()} if arity else {}),
    }
    steps = [each(measure_part)]
    steps += [each(interact, *part_roles(pulls), on="interaction")] if pulls else []
    steps += [each(measure_condition, *part_roles(arity), on="condition")] if arity else []
    return Algorithm(f"assembly_measure_{arity}_{pulls}", fields, {"run": steps})
