"""Assemblies by another route: bodies as clouds of particles, rows by complex steps, one dense system.

A body is a list of particles (mass, local point). Only where its points are is asked of the part: its mass matrix is the sum of
m J^T J, its bias that of m J^T (J_dot v). Derivatives by coordinates are complex steps, exact to rounding; rates of Jacobians are
differences of those, extrapolated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import linkwork as lw
from linkwork.assembly.views import Placed

Cloud = list[tuple[float, np.ndarray]]
TINY = 1e-30


def numbers(x: Any) -> Any:
    return np.asarray(x, dtype=object).astype(complex)


def jacobian(function: Callable[[np.ndarray], Any], x: np.ndarray, N: np.ndarray) -> np.ndarray:
    """d function / dv with x_dot = N v."""
    columns = [numbers(function(x + 1j * TINY * N[:, k])).imag / TINY for k in range(N.shape[1])]
    return np.stack(columns, axis=-1)


def rate_of(function: Callable[[np.ndarray], np.ndarray], x: np.ndarray, x_dot: np.ndarray) -> np.ndarray:
    """d/dt function(x), by differences."""

    def central(h: float) -> np.ndarray:
        return (function(x + h * x_dot) - function(x - h * x_dot)) / (2.0 * h)

    return (64.0 * central(1e-3) - 20.0 * central(2e-3) + central(4e-3)) / 45.0


def map_of(part: Any, x: np.ndarray) -> np.ndarray:
    return np.asarray(part.velocity_map(x), float)


class View:
    """What a residual on velocities asks, in plain numbers; v may be complex."""

    def __init__(self, part: Any, x: np.ndarray, v: np.ndarray) -> None:
        self.part, self.x, self.v = part, x, v

    def point(self, local: Any = ()) -> np.ndarray:
        return np.asarray(self.part.point(self.x, np.asarray(local)), float)

    def direction(self, local: Any) -> np.ndarray:
        return self.point(local) - self.point(np.zeros(len(local)))

    def velocity(self, local: Any = ()) -> np.ndarray:
        J = jacobian(lambda x: self.part.point(x, np.asarray(local)), self.x, map_of(self.part, self.x))
        return J @ self.v

    @property
    def spin(self) -> Any:
        return self.part.spin(self.x, self.v)


class Dense:
    """M, h, J, c and K of an assembly at a state."""

    def __init__(self, assembly: lw.Assembly, clouds: dict[str, Cloud], state: lw.State) -> None:
        self.assembly = assembly
        n, rows = len(state.v), sum(c.size for c in assembly.conditions)
        self.M, self.force = np.zeros((n, n)), np.zeros(n)
        self.J, self.K_T, self.c, self.rate = np.zeros((rows, n)), np.zeros((rows, n)), np.zeros(rows), np.zeros(rows)
        for name, part in zip(assembly.names, assembly.parts, strict=True):
            at, x = assembly.v_index(name), state.q[assembly.q_index(name)]
            self.M[at, at], self.force[at] = self._part(part, clouds[name], x, state.v[at])
        row = 0
        for c in assembly.conditions:
            at = slice(row, row + c.size)
            columns = np.concatenate([np.arange(n)[assembly.v_index(name)] for name in c.parts])
            parts = [assembly.parts[assembly.names[name]] for name in c.parts]
            q = [state.q[assembly.q_index(name)] for name in c.parts]
            self._condition(c, parts, q, at, columns, state.v[columns])
            row += c.size

    def _part(self, part: Any, cloud: Cloud, x: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        M, force = np.zeros((part.nv, part.nv)), np.zeros(part.nv)
        x_dot = map_of(part, x) @ v
        for mass, local in cloud:

            def points(y: np.ndarray, local: np.ndarray = local) -> np.ndarray:
                return jacobian(lambda z: part.point(z, local), y, map_of(part, y))

            J = points(x)
            M += mass * J.T @ J
            force += mass * J.T @ (self.assembly.gravity[: part.space] - rate_of(lambda y, f=points: f(y) @ v, x, x_dot))
        return M, force

    def _condition(self, c: Any, parts: list[Any], q: list[np.ndarray], at: slice, columns: np.ndarray, v: np.ndarray) -> None:
        cuts = np.cumsum([p.nx for p in parts])[:-1]
        v_cuts = np.cumsum([p.nv for p in parts])[:-1]

        def maps(x: np.ndarray) -> np.ndarray:
            N = np.zeros((len(x), len(v)))
            r = s = 0
            for part, own in zip(parts, np.split(x, cuts), strict=True):
                N[r : r + part.nx, s : s + part.nv] = map_of(part, own)
                r, s = r + part.nx, s + part.nv
            return N

        def views(x: np.ndarray, w: np.ndarray) -> list[View]:
            return [View(p, y, u) for p, y, u in zip(parts, np.split(x, cuts), np.split(w, v_cuts), strict=True)]

        def by_velocity(f: Any, x: np.ndarray) -> np.ndarray:
            steps = v[None] + 1j * TINY * np.eye(len(v))
            return np.stack([numbers(f(*views(x, w))).imag / TINY for w in steps], axis=-1)

        def rows(x: np.ndarray) -> np.ndarray:
            if c.level == "velocity":
                return by_velocity(c.residual, x)
            placed = lambda y: c.residual(*(Placed(p, z) for p, z in zip(parts, np.split(y, cuts), strict=True)))  # noqa: E731
            return jacobian(placed, x, maps(x))

        x = np.concatenate(q)
        J = rows(x)
        self.J[at, columns] = J
        self.K_T[at, columns] = by_velocity(c.along, x) if c.directed else J
        speed = (lambda y: numbers(c.residual(*views(y, v))).real) if c.level == "velocity" else (lambda y: rows(y) @ v)
        self.rate[at] = speed(x)
        self.c[at] = rate_of(speed, x, maps(x) @ v)

    def solve(self, force: np.ndarray, target: np.ndarray, active: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """z and multipliers of M z = force + K lam, J z = target."""
        keep = np.ones(len(target), bool) if active is None else active
        J, K_T = self.J[keep], self.K_T[keep]
        H = np.block([[self.M, -K_T.T], [J, np.zeros((len(J), len(J)))]])
        x = np.linalg.solve(H, np.concatenate([force, target[keep]]))
        lam = np.zeros(len(target))
        lam[keep] = x[len(force) :]
        return x[: len(force)], lam
