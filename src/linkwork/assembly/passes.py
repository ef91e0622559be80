"""The local rules of an assembly: blocks of parts and conditions on their forest, then block elimination.

    [M  J^T] [ z   ]   [force ]
    [J  0  ] [-lam ] = [target]

is ordered by the forest [Baraff, section 7]. A part's diagonal block is M, a condition's is zero; the rows J of a condition
lie between it and its two neighbours, one above and one below.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..kernel.sweep import Algorithm, Field, NodeClass, Sweep, each, inward, outward, pattern, vector
from ..kernel.symbol import traced_digest
from ..solvers.block_rules import back, elimination_fields, factor, forward, padded_matrix
from ..spatial.functions import shaped
from ..spatial.scalar import zeros
from .condition import Condition, ConditionRows, derive
from .part import Part, gravity_force

ROLES = tuple("abcdefgh")  # the parts of a condition
Sizes = tuple[int, int, int]  # of the largest block, of the most coordinates, of the most velocities


# --- rules --------------------------------------------------------------------------------------------------------------
def blocks(n: Any, parent: Any, a: Any, b: Any) -> None:
    """Diagonal block, rows of conditions, and the known terms of the equations (`loads`)."""
    if n.condition is not None:
        _condition_blocks(n, a, b)
        return
    (part,) = _bound_parts(n)
    x, v = a.q[: part.nx], a.v[: part.nv]
    n.D, h = part.inertia(x, v)
    n.loads = gravity_force(part, x, n.gravity) - h
    n.rate = n.residual = np.zeros(n.dim)


def _condition_blocks(n: Any, *parts: Any) -> None:
    rows = rows_at(n, parts[: len(n.parts)])
    cut = n.parts[0].nv
    sides = (rows.J[:, :cut], rows.J[:, cut:])
    n.D = zeros(n.dim, n.dim)
    n.J_below = sides[n.below]
    n.B = sides[1 - n.below] if n.parent_dim else zeros(n.dim, 0)
    n.loads, n.rate, n.residual = -rows.bias, rows.rate, rows.residual


def eliminate_node(n: Any, parent: Any) -> None:
    """Block elimination; a part finds its block to the parent among the rows of that condition."""
    if n.condition is None:
        n.B = parent.J_below[: n.parent_dim, : n.dim].T
    factor(n, parent)


def acceleration_load(n: Any, parent: Any, a: Any, b: Any) -> None:
    """Right-hand sides of f = m a."""
    n.b = n.loads + a.f[: n.dim] if n.condition is None else n.loads


def auxiliary_rows(n: Any, *parts: Any) -> None:
    """A condition by itself."""
    rows = rows_at(n, parts[: len(n.parts)])
    n.J, n.K_T = rows.J.reshape(-1), rows.K_T.reshape(-1)
    n.loads, n.rate, n.residual = -rows.bias, rows.rate, rows.residual


def rows_at(n: Any, at: Sequence[Any]) -> ConditionRows:
    """The rows of a node's condition, its parts being at these roles."""
    parts = _bound_parts(n)
    xs = [role.q[: part.nx] for role, part in zip(at, parts, strict=True)]
    return derive(n.condition.at_node(n), parts, xs, [role.v[: part.nv] for role, part in zip(at, parts, strict=True)])


def _bound_parts(n: Any) -> list[Part]:
    return [p.bound({name: getattr(n, _of_part(k, name)) for name in p.parameter_names}) for k, p in enumerate(n.parts)]


def _of_part(k: int, name: str) -> str:
    return f"{ROLES[k]}_{name}"


# --- algorithms ---------------------------------------------------------------------------------------------------------
def _state_fields(sizes: Sizes) -> dict[str, Field]:
    return {"q": Field("input", "part", vector(sizes[1])), "v": Field("input", "part", vector(sizes[2]))}


def _tree_fields(sizes: Sizes) -> dict[str, Field]:
    return {
        **_state_fields(sizes),
        "gravity": Field("input", "global", vector(3)),
        "J_below": Field("shared", codec=padded_matrix(sizes[0])),
        **elimination_fields(sizes[0]),
    }


def _outward(rule: Any) -> Sweep:
    return Sweep(rule, "outward", ("own", "parent", "a", "b"))


@functools.cache
def tree_algorithm(sizes: Sizes) -> Algorithm:
    """Factor an assembly's primary system at a state; then apply it to right-hand sides b."""
    known = {name: Field("output", "x") for name in ("loads", "rate", "residual")}
    return Algorithm(
        f"assembly_tree_{sizes}",
        {**_tree_fields(sizes), "b": Field("input", "x"), **known},
        {
            "factor": [_outward(blocks), inward(eliminate_node)],
            "apply": [inward(forward), outward(back)],
            "halfway": [inward(forward)],
        },
    )


@functools.cache
def acceleration_algorithm(sizes: Sizes) -> Algorithm:
    """Accelerations and (negative) multipliers of an assembly without auxiliary conditions, in one pass."""
    force = Field("input", "part", vector(sizes[2]))
    sweeps = [_outward(blocks), _outward(acceleration_load), inward(eliminate_node), inward(forward), outward(back)]
    return Algorithm(f"assembly_acceleration_{sizes}", {**_tree_fields(sizes), "f": force}, {"run": sweeps})


@functools.cache
def auxiliary_algorithm(sizes: Sizes, arity: int) -> Algorithm:
    """Rows of conditions on up to `arity` parts."""
    outputs = {"J": "J", "K_T": "J", "loads": "rows", "rate": "rows", "residual": "rows"}
    return Algorithm(
        f"assembly_rows_{sizes}_{arity}",
        {**_state_fields(sizes), **{name: Field("output", space) for name, space in outputs.items()}},
        {"run": [each(auxiliary_rows, *ROLES[:arity])]},
    )


# --- classes of nodes ---------------------------------------------------------------------------------------------------
def part_class(part: Part, parent_dim: int) -> tuple[NodeClass, dict[str, np.ndarray]]:
    """The class and the parameters of a part's node below a condition of so many rows (0: it is a root)."""
    patterns, values = _parameters(None, [part])
    signature = ("part", _signature(part), parent_dim, tuple(patterns.items()))
    attributes = {"condition": None, "parts": [part], **_dims(part.nv, parent_dim)}
    return NodeClass(signature, attributes, patterns, {"x": part.nv}), values


def condition_class(
    condition: Condition, parts: Sequence[Part], parent_dim: int, below: int
) -> tuple[NodeClass, dict[str, np.ndarray]]:
    """The class and the parameters of a condition's node; `below` is the place of the part that is its child."""
    patterns, values = _parameters(condition, parts)
    own = ("condition", _signature(condition, parts), *map(_signature, parts))
    attributes = {"condition": condition, "parts": list(parts), "below": below, **_dims(condition.size, parent_dim)}
    sizes = {"x": condition.size, "rows": condition.size, "J": condition.size * sum(p.nv for p in parts)}
    return NodeClass((*own, parent_dim, below, tuple(patterns.items())), attributes, patterns, sizes), values


def _dims(dim: int, parent_dim: int) -> dict[str, Any]:
    return {"dim": dim, "parent_dim": parent_dim, "symmetric": True}


def _parameters(condition: Condition | None, parts: Sequence[Part]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Patterns and values: zeros among a part's parameters (a centred mass) belong to its class."""
    values = {} if condition is None else {f"own_{name}": x for name, x in condition.parameters().items()}
    patterns: dict[str, Any] = {name: pattern(x, False) for name, x in values.items()}
    for k, part in enumerate(parts):
        for name, x in part.parameters().items():
            values[_of_part(k, name)] = x
            patterns[_of_part(k, name)] = (x.shape, tuple(0.0 if e == 0 else None for e in x.flat))
    return patterns, values


def _signature(thing: Part | Condition, parts: Sequence[Part] = ()) -> tuple[Any, ...]:
    """Of what a user wrote, also a digest of what it computes."""
    if all(law.built_in for law in (thing, *parts)):
        return thing.signature
    return (*thing.signature, _part_digest(thing) if isinstance(thing, Part) else _condition_digest(thing, parts))


def _part_digest(part: Part) -> str:
    given = part.parameters()

    def computed(x: Any, v: Any, g: Any, *flat: Any) -> list[Any]:
        bound = part.bound(shaped(given, flat))
        M, h = bound.inertia(x, v)
        return [*np.asarray(M).flat, *h, *gravity_force(bound, x, g)]

    return traced_digest(computed, part.nx, part.nv, 3, *(p.size for p in given.values()))


def _condition_digest(condition: Condition, parts: Sequence[Part]) -> str:
    given, n = condition.parameters(), len(parts)

    def computed(*flat: Any) -> list[Any]:
        rows = derive(condition.bound(shaped(given, flat[2 * n :])), parts, flat[:n], flat[n : 2 * n])
        return [*rows.residual, *rows.rate, *rows.bias, *np.asarray(rows.J).flat, *np.asarray(rows.K_T).flat]

    return traced_digest(computed, *(p.nx for p in parts), *(p.nv for p in parts), *(x.size for x in given.values()))
