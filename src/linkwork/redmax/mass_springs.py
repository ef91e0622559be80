"""Deformables: point masses joined by springs, free or attached to bodies [Sueda, Eqs. 2.84-2.92; errata 004-17].

A node is a body of the model. A free one rides on a `Translational` joint, so that its coordinates are its position in the world:
the identity block of Eq. 2.89. An attached one is fixed at a point x of another body i and has no coordinates; it moves with

    x_dot = R (v_i + w_i x x) = J_am phi_i,

so that its mass adds J_am^T m J_am to the inertia of the body, J_dot_am included. Springs act between nodes, whichever they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise, product
from typing import Any

import numpy as np

from ..errors import ModelError
from ..forces import Force, SpringDamper
from ..geometry import Shape
from ..joints import Fixed, Translational
from ..model.builder import ModelBuilder, solids_of
from ..model.model import Model
from ..spatial.gate import listed, numbers, point, word
from ..spatial.inertia import Inertia
from ..spatial.kinds import explained
from ..spatial.se3 import SE3

Attached = Mapping[Any, tuple[str, Any]]


class MassSprings:
    """Nodes and springs of any pattern; `builder.add` brings them into a model.

    name                 of the whole; nodes are called "name 0", "name 1", ...
    points               where the nodes start, in the world (n, 3)
    springs              pairs of nodes that are joined (m, 2)
    mass                 of all nodes together, shared evenly; or one number per node
    stiffness, damping   of the springs (see `SpringDamper`: per relative stretch, N and N s); a number, or one per spring
    rest_length          of the springs; the distance at the start if not given
    attached             {node: (body, point in its axes)}; the body may be "world"
    radius               of the balls that nodes are: for drawing, and for maximal coordinates, which need bodies that resist
                         turning. Their own moment of inertia counts where they are attached. 0: points
    shapes               what every node touches others with, in its axes, as those of bodies do; with `group=0` nodes pass
                         through one another

    >>> corners = [(0, 0, 1), (1, 0, 1), (0, 1, 1)]
    >>> cloth = lw.MassSprings("cloth", corners, [(0, 1), (1, 2), (2, 0)], mass=0.1, stiffness=50.0)
    """

    @explained
    def __init__(
        self,
        name: str,
        points: Any,
        springs: Any,
        *,
        mass: Any,
        stiffness: Any,
        damping: Any = 0.0,
        rest_length: Any = None,
        attached: Attached | None = None,
        radius: float = 0.0,
        shapes: Iterable[Shape] = (),
    ) -> None:
        self.name = word(type(self).__name__, "name", name)
        owner = f"{type(self).__name__} {name!r}"
        self.points = np.array([point(owner, "a node", x) for x in listed(owner, "points", points)]).reshape(-1, 3)
        n = len(self.points)
        self.springs = _pairs(owner, springs, n)
        m = len(self.springs)
        self.mass = numbers(owner, "mass", mass, n, 0.0, spread=True) / (n if np.ndim(mass) == 0 else 1)
        self.stiffness, self.damping = (
            numbers(owner, what, x, m, 0.0, spread=True) for what, x in (("stiffness", stiffness), ("damping", damping))
        )
        given = self._distances() if rest_length is None else rest_length
        self.rest_length = numbers(owner, "rest_length", given, m, spread=True)
        self.attached = {self._node(owner, k): _place(owner, x) for k, x in ({} if attached is None else attached).items()}
        self.radius = float(numbers(owner, "radius", [radius], 1, 0.0)[0])
        self.shapes = solids_of(owner, shapes)
        if not self.mass.min(initial=1.0) > 0.0:
            raise ModelError(f"{owner}: mass must be above 0 at every node, not {mass!r}")
        if not self.rest_length.min(initial=1.0) > 0.0:
            k = int(np.argmin(self.rest_length))
            raise ModelError(f"{owner}: spring {k} between nodes {self.springs[k].tolist()} has no length; give rest_length")

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The bodies that the nodes are, in their order."""
        return tuple(f"{self.name} {k}" for k in range(len(self.points)))

    @property
    def free(self) -> list[int]:
        """The nodes that are not attached."""
        return [k for k in range(len(self.points)) if k not in self.attached]

    def spring(self, k: int) -> Force:
        """The force of spring k."""
        a, b = (self.names[i] for i in self.springs[k])
        given = {"stiffness": self.stiffness[k], "damping": self.damping[k], "rest_length": self.rest_length[k]}
        return SpringDamper(a, b, **given)

    def add_to(self, builder: ModelBuilder) -> None:
        """Add all nodes and springs."""
        for k, (name, mass) in enumerate(zip(self.names, self.mass, strict=True)):
            ball = Inertia(mass, tensor=0.4 * mass * self.radius**2 * np.eye(3))
            if k in self.attached:
                body, x = self.attached[k]
                builder.body(name, parent=body, joint=Fixed(), placement=SE3(p=x), inertia=ball, shapes=self.shapes)
            else:
                builder.body(name, joint=Translational(), inertia=ball, shapes=self.shapes)
        for k in range(len(self.springs)):
            builder.add(self.spring(k))

    def placed(self, model: Model, q: Any = None) -> np.ndarray:
        """The configuration q of the model (neutral if not given) with the free nodes where they start."""
        out = model.neutral() if q is None else np.array(q, float)
        for k in self.free:
            out[model.q_index(self.names[k])] = self.points[k]
        return out

    def positions(self, model: Model, poses: np.ndarray) -> np.ndarray:
        """Where the nodes are (..., n, 3), from the poses of all bodies (..., bodies, 4, 4)."""
        return poses[..., :3, 3][..., [model.body_index(name) for name in self.names], :]

    def _distances(self) -> np.ndarray:
        """Between the nodes of every spring, at the start."""
        a, b = self.points[self.springs].transpose(1, 0, 2)
        return np.linalg.norm(b - a, axis=1)

    def _node(self, owner: str, k: Any) -> int:
        """The number of a node that `attached` names."""
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or not -len(self.points) <= k < len(self.points):
            raise ModelError(f"{owner}: attached names node {k!r}; nodes are 0 to {len(self.points) - 1}")
        return int(k) % len(self.points)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {len(self.points)} nodes, {len(self.springs)} springs)"


class MassSpringChain(MassSprings):
    """Nodes on a line, each joined to the next; its ends are usually attached.

    start, end   where the first and the last node start, in the world
    nodes        how many
    others       see `MassSprings`; node -1 is the last

    >>> b = lw.ModelBuilder()
    >>> _ = b.add(lw.MassSpringChain("rope", (0, 0, 1), (1, 0, 1), nodes=5, mass=0.1, stiffness=100.0))
    >>> b.build().nb
    5
    """

    @explained
    def __init__(self, name: str, start: Any, end: Any, *, nodes: int, **others: Any) -> None:
        owner = f"{type(self).__name__} {name!r}"
        first, last, count = point(owner, "start", start), point(owner, "end", end), _count(owner, "nodes", nodes)
        points = first + (last - first) * np.arange(count)[:, None] / (count - 1)
        super().__init__(name, points, list(pairwise(range(count))), **others)


class MassSpringNet(MassSprings):
    """Nodes on a parallelogram in rows and columns, each joined to its neighbours.

    corner, along, across   its first corner in the world, and its sides: along the rows and across them
    shape                   (rows, columns); node (i, j) is in row i and column j, and is called "name i j"
    stiffness               of the springs along rows and columns
    shear                   stiffness of the springs along the diagonals of the meshes; 0: there are none
    others                  see `MassSprings`; `attached` names nodes as (i, j)

    >>> b = lw.ModelBuilder()
    >>> _ = b.add(lw.MassSpringNet("net", (0, 0, 1), (1, 0, 0), (0, 1, 0), shape=(3, 4), mass=0.1, stiffness=50.0))
    >>> b.build().nb
    12
    """

    @explained
    def __init__(
        self,
        name: str,
        corner: Any,
        along: Any,
        across: Any,
        *,
        shape: tuple[int, int],
        stiffness: float,
        shear: float = 0.0,
        **others: Any,
    ) -> None:
        owner = f"{type(self).__name__} {name!r}"
        across_nodes, along_nodes = listed(owner, "shape", shape, 2)
        self.shape = rows, columns = _count(owner, "rows", across_nodes), _count(owner, "columns", along_nodes)
        origin, u, w = point(owner, "corner", corner), point(owner, "along", along), point(owner, "across", across)
        points = [origin + u * j / (columns - 1) + w * i / (rows - 1) for i, j in product(range(rows), range(columns))]
        straight = self._joined([(0, 0, 0, 1), (0, 0, 1, 0)])
        diagonal = self._joined([(0, 0, 1, 1), (0, 1, 1, 0)]) if shear else []
        held = [stiffness] * len(straight) + [shear] * len(diagonal)
        super().__init__(name, points, straight + diagonal, stiffness=held, **others)

    def _joined(self, patterns: Sequence[tuple[int, int, int, int]]) -> list[tuple[int, int]]:
        """Pairs of nodes (i + a, j + b) and (i + c, j + d) for all i and j where both are in the net."""
        rows, columns = self.shape
        found = []
        for (a, b, c, d), i, j in product(patterns, range(rows), range(columns)):
            if max(i + a, i + c) < rows and max(j + b, j + d) < columns:
                found.append(((i + a) * columns + j + b, (i + c) * columns + j + d))
        return found

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{self.name} {i} {j}" for i, j in product(range(self.shape[0]), range(self.shape[1])))

    def _node(self, owner: str, k: Any) -> int:
        rows, columns = self.shape
        try:
            i, j = (int(x) for x in k)
            inside = -rows <= i < rows and -columns <= j < columns
        except (TypeError, ValueError):
            i = j = 0
            inside = False
        if not inside:
            raise ModelError(f"{owner}: attached names node {k!r}; nodes are (row, column) in {rows} rows and {columns} columns")
        return i % rows * columns + j % columns


def _count(owner: str, what: str, n: Any) -> int:
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 2:
        raise ModelError(f"{owner}: {what} must be a whole number, at least 2, not {n!r}")
    return int(n)


def _pairs(owner: str, springs: Any, n: int) -> np.ndarray:
    pairs = np.array([listed(owner, "a spring", pair, 2) for pair in listed(owner, "springs", springs)]).reshape(-1, 2)
    if not np.issubdtype(pairs.dtype, np.integer) and pairs.size:
        raise ModelError(f"{owner}: springs must be pairs of nodes")
    wrong = [pair for pair in pairs.tolist() if not 0 <= min(pair) <= max(pair) < n or pair[0] == pair[1]]
    if wrong:
        raise ModelError(f"{owner}: spring {wrong[0]} must join two different nodes of 0 to {n - 1}")
    return pairs.astype(int)


def _place(owner: str, where: Any) -> tuple[str, np.ndarray]:
    try:
        body, x = where
    except (TypeError, ValueError):
        raise ModelError(f"{owner}: a node is attached to (body, point), not to {where!r}") from None
    return word(owner, "a body", body), point(owner, "the point of an attached node", x)
