"""Assemblies: parts of any kind, held together by conditions of any kind, in O(n) [Baraff 1996]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from ..errors import InputError, ModelError
from ..model.state import State
from .motion import AssemblyRun, Forces, Options, simulate
from .condition import Condition
from .layout import Layout
from .part import Part, moving
from .linearised import Solution, System

TOUCHING = 1e-9  # a gap, or a speed of approach, up to here counts as touching


class Assembly:
    """Parts and the conditions between them.

    gravity   an acceleration, two or three numbers

    Conditions between two parts that close no loop, and in every tree one that holds a part alone, are primary: together they
    cost O(n). All others are auxiliary: k rows cost k half solves and a k x k problem.
    """

    def __init__(self, gravity: Any = (0.0, 0.0, 0.0)) -> None:
        g = np.zeros(3)
        given = np.asarray(gravity, float)
        if given.shape not in ((2,), (3,)) or not np.all(np.isfinite(given)):
            raise ModelError(f"Assembly: gravity must be two or three finite numbers, not {gravity!r}")
        g[: len(given)] = given
        g.flags.writeable = False
        self._gravity = g
        self.names: dict[str, int] = {}
        self.parts: list[Part] = []
        self.conditions: list[Condition] = []
        self._start: list[tuple[np.ndarray, np.ndarray]] = []
        self._forced: set[int] = set()
        self._layout: Layout | None = None

    @property
    def gravity(self) -> np.ndarray:
        """The acceleration of gravity (3,)."""
        return self._gravity

    # --- building -----------------------------------------------------------------------------------------------------------
    def add(self, name: str, part: Part, x: Any, v: Any = None) -> None:
        """Add a part with its coordinates and velocities (at rest by default) at the start."""
        if name in self.names:
            raise ModelError(f"Assembly: there are two parts {name!r}")
        x = np.asarray(x, float)
        v = np.zeros(part.nv) if v is None else np.asarray(v, float)
        if x.shape != (part.nx,) or v.shape != (part.nv,):
            raise ModelError(f"part {name!r}: x has shape {x.shape} and v {v.shape}; it needs ({part.nx},) and ({part.nv},)")
        self.names[name] = len(self.parts)
        self.parts.append(part)
        self._start.append((x, v))
        self._layout = None

    def connect(self, condition: Condition, auxiliary: bool = False) -> None:
        """Add a condition; `auxiliary` keeps it from the tree even if it could be part of it."""
        for name in condition.parts:
            if name not in self.names:
                raise ModelError(f"{condition!r}: there is no part {name!r}; add parts before their conditions")
        if len(set(condition.parts)) != len(condition.parts):
            raise ModelError(f"{condition!r}: it names a part twice")
        condition.check([self.parts[self.names[name]] for name in condition.parts])
        if auxiliary:
            self._forced.add(len(self.conditions))
        self.conditions.append(condition)
        self._layout = None

    @property
    def layout(self) -> Layout:
        """The forest and what is compiled for it."""
        if self._layout is None:
            if not self.parts:
                raise ModelError("Assembly: it has no parts")
            places = [tuple(self.names[name] for name in c.parts) for c in self.conditions]
            self._layout = Layout(self.parts, self.conditions, places, self._forced)
        return self._layout

    @property
    def start(self) -> State:
        """The state in which the parts were added."""
        return State(np.concatenate([x for x, _ in self._start]), np.concatenate([v for _, v in self._start]))

    def q_index(self, name: str) -> slice:
        """Where a part's coordinates are in q."""
        return slice(*self.layout.q_starts[self._part(name) :][:2].tolist())

    def v_index(self, name: str) -> slice:
        """Where a part's velocities are in v, and the forces on it."""
        return slice(*self.layout.v_starts[self._part(name) :][:2].tolist())

    def row_index(self, condition: Condition) -> slice:
        """Where a condition's rows are among the multipliers."""
        return slice(*self.layout.row_starts[self.conditions.index(condition) :][:2].tolist())

    def _part(self, name: str) -> int:
        if name not in self.names:
            raise InputError(f"there is no part {name!r}")
        return self.names[name]

    # --- the three laws [Baraff, section 3] -----------------------------------------------------------------------------------
    def system(self, state: State) -> System:
        """The conditions and the factored primary system at a state."""
        self._check(state)
        return System(self.layout, self.gravity).update(state.q, state.v)

    def _solved(self, state: State, law: Callable[[System], Solution]) -> Solution:
        """The same with a system that is used again and again."""
        self._check(state)
        idle = self.layout.idle
        system = idle.pop() if idle else System(self.layout, self.gravity)
        try:
            return law(system.update(state.q, state.v))
        finally:
            idle.append(system)

    def _check(self, state: State) -> None:
        for what, a, starts in (("q", state.q, self.layout.q_starts), ("v", state.v, self.layout.v_starts)):
            if a.shape != (starts[-1],) or not np.all(np.isfinite(a)):
                raise InputError(f"state.{what} must be {starts[-1]} finite numbers, not of shape {a.shape}")

    def accelerations(self, state: State, forces: Any = None, baumgarte: tuple[float, float] = (0.0, 0.0)) -> Solution:
        """f = m a: accelerations under applied forces (velocities,), gravity and the conditions.

        baumgarte   (b, c): residuals obey r_ddot = -2 b r_dot - c^2 r
        """
        applied, (b, c) = self._force(forces), baumgarte

        def law(s: System) -> Solution:
            target = s.loads - 2.0 * b * s.rate - c * c * s.residual if b or c else s.loads
            return s.solve(s.forces + applied, target, self._resting(s))

        return self._solved(state, law)

    def velocities(self, state: State, forces: Any, correction: float = 0.0) -> Solution:
        """f = m v: the velocities that forces cause in a world without inertia, in which what is pulled follows.

        correction   residuals obey r_dot = -correction r
        """
        applied, one_sided = self._force(forces), self.layout.unilateral

        def law(s: System) -> Solution:
            target = np.where(one_sided, 0.0, -correction * s.residual)
            return s.solve(applied, target - s.rate, ~one_sided | (s.residual <= TOUCHING))

        return self._solved(State(state.q, np.zeros(len(state.v))), law)

    def impulses(self, state: State, impulses: Any = None, restitution: float = 0.0) -> Solution:
        """j = m dv: the change of velocity by applied impulses and by those of the conditions.

        What touches and approaches leaves with `restitution` times its speed.
        """
        applied, one_sided = self._force(impulses), self.layout.unilateral

        def law(s: System) -> Solution:
            bounce = np.where(one_sided, restitution * np.maximum(-s.rate, 0.0), 0.0)
            return s.solve(applied, bounce - s.rate, ~one_sided | (s.residual <= TOUCHING))

        return self._solved(state, law)

    @staticmethod
    def _resting(s: System) -> np.ndarray | None:
        """Rows that exert forces: of those that only push, where something touches and does not leave. None: all."""
        if not s.layout.one_sided:
            return None
        return ~s.layout.unilateral | ((s.residual <= TOUCHING) & (s.rate <= TOUCHING))

    def _force(self, forces: Any) -> np.ndarray:
        n = int(self.layout.v_starts[-1])
        if forces is None:
            return np.zeros(n)
        f = np.asarray(forces, float)
        if f.shape != (n,):
            raise InputError(f"forces have shape {f.shape}; the assembly has {n} velocities")
        return f

    def acceleration_function(self) -> Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]:
        """A prepared function (q, v, forces) -> accelerations: own memory, no checks, least overhead."""
        layout, gravity = self.layout, self.gravity
        if layout.auxiliary:
            system = System(layout, gravity)

            def all_conditions(q: np.ndarray, v: np.ndarray, forces: np.ndarray) -> np.ndarray:
                s = system.update(q, v)
                return s.solve(s.forces + forces, s.loads, self._resting(s)).motion

            return all_conditions
        run, rows = layout.primary_accelerations(), layout.part_rows
        x, u, f = layout.padded_q(self.start.q), layout.padded_v(self.start.v), layout.padded_v(self.start.v)

        def primary(q: np.ndarray, v: np.ndarray, forces: np.ndarray) -> np.ndarray:
            return run(layout.fill_q(x, q), layout.fill_v(u, v), layout.fill_v(f, forces), gravity)[rows]

        return primary

    def redundant(self, state: State) -> list[Condition]:
        """Auxiliary conditions with rows that others imply at this state, so that their forces are not determined.

        A chain that is held at both ends has some when it is straight [Baraff, footnote 5].
        """
        rows = self.system(state).redundant_rows() if self.layout.auxiliary else np.zeros(0, int)
        which = np.searchsorted(self.layout.row_starts, rows, side="right") - 1
        return [self.conditions[k] for k in np.unique(which)]

    def simulate(
        self,
        duration: float,
        dt: float,
        forces: Forces | None = None,
        *,
        state: State | None = None,
        stabilise: Literal["project", "baumgarte", "none"] = "project",
        baumgarte: tuple[float, float] = (10.0, 10.0),
        restitution: float = 0.0,
        every: int = 1,
    ) -> AssemblyRun:
        """The motion from a state (the start by default), in steps of dt; see `motion`."""
        options = Options(forces, stabilise, baumgarte, restitution)
        return simulate(self, state or self.start, duration, dt, every, options)

    # --- quantities of a state ----------------------------------------------------------------------------------------------
    def point(self, state: State, name: str, local: Any = ()) -> np.ndarray:
        """Where a material point of a part is."""
        part = self.parts[self._part(name)]
        return np.asarray(part.point(state.q[self.q_index(name)], np.asarray(local, float)), float)

    def point_force(self, state: State, name: str, force: Any, local: Any = ()) -> np.ndarray:
        """The forces (velocities,) of a force that acts at a material point, both in world axes."""
        part = self.parts[self._part(name)]
        jets = part.point(moving(part, state.q[self.q_index(name)], np.zeros(part.nv)), np.asarray(local, float))
        f = np.zeros(int(self.layout.v_starts[-1]))
        f[self.v_index(name)] = sum(np.array(j.grad, float) * x for j, x in zip(jets, np.asarray(force, float), strict=True))
        return f

    def normalised(self, q: np.ndarray) -> np.ndarray:
        """Coordinates brought back to what they may be."""
        parts = zip(self.names, self.parts, strict=True)
        return np.concatenate([part.normalised(q[self.q_index(name)]) for name, part in parts])

    def projected(self, state: State) -> np.ndarray:
        """Coordinates moved towards the conditions by one step of Newton's method, nearest in the metric of the mass."""
        always = ~self.layout.unilateral
        found = self._solved(state, lambda s: s.shortest(-s.residual, always | (s.residual < 0.0)))
        return self.normalised(state.q + self.rates(state.q, found.motion))

    def rates(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """q_dot = N(q) v."""
        parts = zip(self.names, self.parts, strict=True)
        return np.concatenate(
            [np.asarray(p.velocity_map(q[self.q_index(name)]), float) @ v[self.v_index(name)] for name, p in parts]
        )

    def energy(self, state: State) -> float:
        """Kinetic energy and energy in gravity."""
        total = 0.0
        for name, part in zip(self.names, self.parts, strict=True):
            x, v = state.q[self.q_index(name)], state.v[self.v_index(name)]
            total += 0.5 * float(v @ np.asarray(part.mass(x), float) @ v) + float(part.potential(x, self.gravity))
        return total
