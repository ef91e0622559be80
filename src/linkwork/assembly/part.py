"""Parts: bodies of any kind, as Lagrange multipliers see them [Baraff, section 4].

A part is its coordinates x, its velocities v with x_dot = N(x) v, and its kinetic energy v^T M(x) v / 2. What conditions may ask
of it (where a material point is, how fast it spins) are methods of x. Its equation of motion

    M v_dot + h = f,    h_i = (M_dot v)_i - X_i(v^T M v / 2) + p . N^+ [X_i, N v],    p = M v,

is derived (Hamel; with N = 1 it is Lagrange's), X_i being the columns of N: the directions in which the velocities lead.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..elements.law import Law
from ..errors import ModelError
from ..spatial.dual import Dual, split
from ..spatial.jet import Jet, biases, gradients, lift
from ..spatial.scalar import Scalar, Vector, dot, is_zero, numeric, solve_spd, stack


class Part(Law):
    """Base of all parts; a part of one's own defines `nx`, `nv` and `mass`, and what its conditions use.

    nx, nv   numbers of coordinates and of velocities
    space    dimension of the world that its points live in
    """

    nx: int
    nv: int
    space: int = 3

    def velocity_map(self, x: Vector) -> np.ndarray:
        """N(x) (nx, nv): how velocities change the coordinates; by default they are their rates."""
        return np.eye(self.nx)

    def mass(self, x: Vector) -> np.ndarray:
        """M(x) (nv, nv)."""
        raise TypeError(f"{type(self).__name__} must define mass(x)")

    def inertia(self, x: Vector, v: Vector) -> tuple[np.ndarray, Vector]:
        """M and h of the equation of motion."""
        M = self.mass(x)
        return M, hamel_bias(self, x, v)

    def point(self, x: Vector, local: Vector) -> Vector:
        """Where a material point is."""
        raise TypeError(f"{type(self).__name__} must define point(x, local) for conditions that ask for points")

    def spin(self, x: Vector, v: Vector) -> Any:
        """The angular velocity, in world axes: a number in the plane, a vector in space."""
        raise TypeError(f"{type(self).__name__} must define spin(x, v) for conditions that ask for it")

    def potential(self, x: Vector, gravity: Vector) -> Scalar:
        """The energy in uniform gravity (an acceleration)."""
        return 0.0

    def normalised(self, x: np.ndarray) -> np.ndarray:
        """Coordinates that drifted off what they may be (a rotation matrix), brought back."""
        return x

    @property
    def signature(self) -> tuple[Any, ...]:
        """What identifies the part's machine code, besides the shapes of its parameters."""
        return (type(self).__qualname__, self.nx, self.nv, self.space)


class Framed(Part):
    """A part whose material points move linearly with a frame: point = F(x) (local, 1).

    moments   (k, k) integrals of density times (local, 1)(local, 1)^T: second moments, first moments, mass

    With rows F_r of the frame, M = sum_r (dF_r/dv)^T moments (dF_r/dv), and h is the same with F_r's bias on the right.
    """

    moments: np.ndarray
    parameter_names: ClassVar[tuple[str, ...]] = ("moments",)

    def frame(self, x: Vector) -> np.ndarray:
        """F(x) (space, k)."""
        raise TypeError(f"{type(self).__name__} must define frame(x)")

    def point(self, x: Vector, local: Vector) -> Vector:
        F = self.frame(x)
        size = F.shape[1] - 1
        if len(local) not in (0, size):
            raise ModelError(f"{type(self).__name__}: a local point has {size} coordinates, not {len(local)}")
        return numeric(F @ stack(*(local if len(local) else np.zeros(size)), 1.0))

    def mass(self, x: Vector) -> np.ndarray:
        return self.inertia(x, np.zeros(self.nv))[0]

    def inertia(self, x: Vector, v: Vector) -> tuple[np.ndarray, Vector]:
        M, h = np.full((self.nv, self.nv), 0.0, dtype=object), np.full(self.nv, 0.0, dtype=object)
        for row in self.frame(moving(self, x, v)):
            G = gradients(row, self.nv)
            weighted = self.moments @ G
            M, h = M + G.T @ weighted, h + weighted.T @ biases(row)
        return M, h

    def potential(self, x: Vector, gravity: Vector) -> Scalar:
        return -dot(gravity[: self.space], self.frame(x) @ self.moments[:, -1])


def moving(part: Part, x: Vector, v: Vector, first: int = 0, count: int | None = None) -> Vector:
    """The coordinates as jets; the part's velocities are number `first`, ... of `count`."""
    count = part.nv if count is None else count
    N, N_dot = _map_and_rate(part, x, v)
    rate, bias = N @ v, N_dot @ v

    def padded(row: Vector) -> tuple[Scalar, ...]:
        return (*[0.0] * first, *row, *[0.0] * (count - first - part.nv))

    return stack(*(Jet(x[k], padded(N[k]), rate[k], bias[k], padded(N_dot[k])) for k in range(part.nx)))


def _map_and_rate(part: Part, x: Vector, v: Vector) -> tuple[np.ndarray, np.ndarray]:
    """N and its time derivative."""
    N = part.velocity_map(x)
    along = N @ v
    _, slopes = split(part.velocity_map(stack(*(Dual(x[k], (along[k],)) for k in range(part.nx)))), 1)
    return N, slopes[..., 0]


def hamel_bias(part: Part, x: Vector, v: Vector) -> Vector:
    """h of the equation of motion, from M(x) and N(x) alone; see the module's text."""
    n = part.nv
    N, N_dot = _map_and_rate(part, x, v)
    along = N @ v
    _, M_dot = split(part.mass(stack(*(Dual(x[k], (along[k],)) for k in range(part.nx)))), 1)
    displaced = stack(*(Dual(x[k], tuple(N[k])) for k in range(part.nx)))
    M, M_slopes = split(part.mass(displaced), n)
    h = M_dot[..., 0] @ v - 0.5 * stack(*(dot(v, M_slopes[..., i] @ v) for i in range(n)))
    _, slopes = split(part.velocity_map(displaced) @ v, n)
    bracket = np.asarray(slopes - N_dot, dtype=object)
    if all(is_zero(e) for e in bracket.flat):
        return h
    return h + solve_spd(N.T @ N, N.T @ bracket).T @ (M @ v)


def gravity_force(part: Part, x: Vector, gravity: Vector) -> Vector:
    """-dV/dv, the force of gravity along the velocities."""
    V = part.potential(moving(part, x, np.zeros(part.nv)), gravity)
    return -stack(*lift(V, part.nv).grad)
