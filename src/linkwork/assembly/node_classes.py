"""Laws on parts as nodes of sets: those that compute the same are one class and share kernels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..kernel.sweep import NodeClass, Tree, pattern
from ..kernel.symbol import traced_digest
from ..spatial.functions import shaped
from .condition import Condition, derive
from .extent import part_roles
from .interaction import Interaction, pushes
from .part import Part, gravity_force

Made = tuple[NodeClass, dict[str, np.ndarray]]  # the class of a node, and its parameters


class NodeClasses:
    """The classes of nodes on these parts."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = parts
        self._codes: dict[Any, Any] = {}

    def of(
        self,
        laws: Sequence[Condition | Interaction],
        at: tuple[int, ...],
        attributes: dict[str, Any] | None = None,
        sizes: dict[str, int] | None = None,
        role_sizes: dict[str, dict[str, int]] | None = None,
    ) -> Made:
        """A node of some laws on some parts: its class, and its parameters. Zeros of parts (a centred mass) are of the class."""
        parts = [self.parts[i] for i in at]
        values, patterns = {}, {}
        for k, law in enumerate(laws):
            for name, x in law.parameters().items():
                values[f"law{k}_{name}"], patterns[f"law{k}_{name}"] = x, pattern(x, False)
        for k, part in enumerate(parts):
            for name, x in part.parameters().items():
                values[f"p{k}_{name}"] = x
                patterns[f"p{k}_{name}"] = (x.shape, tuple(0.0 if e == 0 else None for e in x.flat))
        attributes, sizes = attributes or {}, sizes or {}
        seen = {f"p{k}": {"q": p.nx, "v": p.nv} for k, p in enumerate(parts)} | (role_sizes or {})
        spans = attributes.get("spans", [range(len(parts))] * len(laws))
        owners = ([parts[i] for i in span] for span in spans)
        code = (*map(self._code, laws, owners), "on", *map(self._part_code, parts))
        signature = (
            code,
            *(tuple(x.items()) for x in (attributes, sizes, patterns)),
            *((r, *s.items()) for r, s in seen.items()),
        )
        return NodeClass(signature, {"laws": list(laws), "parts": parts, **attributes}, patterns, sizes, seen), values

    def _part_code(self, part: Part) -> Any:
        """What identifies the machine code of a part; of what a user wrote, also a digest of what it computes."""
        if part.built_in:
            return part.signature
        key = id(part)
        if key not in self._codes:
            self._codes[key] = (*part.signature, part_digest(part))
        return self._codes[key]

    def _code(self, law: Condition | Interaction, parts: Sequence[Part]) -> Any:
        if law.built_in and all(p.built_in for p in parts):
            return law.signature
        key = (id(law), *map(id, parts))
        if key not in self._codes:
            self._codes[key] = (*law.signature, law_digest(law, parts))
        return self._codes[key]


def part_digest(part: Part) -> str:
    """A digest of what a part computes."""
    given = part.parameters()

    def computed(x: Any, v: Any, g: Any, *flat: Any) -> list[Any]:
        bound = part.bound(shaped(given, flat))
        M, h = bound.inertia(x, v)
        moved = [*np.asarray(bound.velocity_map(x) @ v).flat, *bound.normalised(x)]
        return [*np.asarray(M).flat, *h, *gravity_force(bound, x, g), *moved]

    return traced_digest(computed, part.nx, part.nv, 3, *(p.size for p in given.values()))


def law_digest(law: Condition | Interaction, parts: Sequence[Part]) -> str:
    """A digest of what a condition or an interaction computes on these parts."""
    given, n = law.parameters(), len(parts)

    def computed(t: Any, *flat: Any) -> list[Any]:
        bound, xs, vs = law.bound(shaped(given, flat[2 * n :])), flat[:n], flat[n : 2 * n]
        if isinstance(law, Interaction):
            V, f = pushes(bound, parts, xs, vs, t[0])
            return [V, *f]
        rows = derive(bound, parts, xs, vs, t[0])
        return [*rows.residual, *rows.rate, *rows.bias, *np.asarray(rows.J).flat, *np.asarray(rows.K_T).flat]

    return traced_digest(computed, 1, *(p.nx for p in parts), *(p.nv for p in parts), *(x.size for x in given.values()))


def tree_of(parents: Sequence[int], made: Iterable[Made], roles: dict[str, np.ndarray], **rest: Any) -> Tree:
    """Nodes of these classes, equal ones of which are one, with their parameters."""
    known: dict[Any, NodeClass] = {}
    pairs = [(known.setdefault(c.signature, c), values) for c, values in made]
    return Tree(np.array(parents, np.int64), [c for c, _ in pairs], [x for _, x in pairs], roles, **rest)


def roles_to(places: Sequence[Sequence[int]], most: int) -> dict[str, np.ndarray]:
    """The roles p0, p1, ... of nodes on these parts; where a node has fewer, its last part stands for the rest."""
    return {role: np.array([at[min(k, len(at) - 1)] for at in places], np.int64) for k, role in enumerate(part_roles(most))}
