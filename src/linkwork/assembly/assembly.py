"""Assemblies: parts of any kind, held together by conditions of any kind, in O(n) [Baraff 1996]."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import InputError, ModelError, SolverError
from ..kernel.lanes import Lanes
from ..kernel.widths import SCALAR64
from ..model.state import State
from ..solvers.block_tree import SINGULAR
from ..spatial.gate import meant
from ..spatial.kinds import explained
from .aim import BELOW, TOUCHING, Aim, acceleration_aim
from .condition import Condition
from .interaction import Interaction, pushes
from .layout import Layout
from .linearised import Linearised, Solution, dependent_rows
from .measuring import measuring_algorithm
from .motion import AssemblyRun, Forces, Options, Stabilise, simulate
from .part import Part, moving
from .passes import pass_algorithm

NAMES = ("loads", "rate", "residual", "forces", "J")  # of what is known of a state
CONTRADICTION = 1e-7  # what may be left of an equality, relative to its terms


class Assembly:
    """Parts and the conditions between them.

    gravity   an acceleration, two or three numbers

    Conditions between parts that close no loop, and those on a part alone that always leave it what the others need, are primary:
    together they cost O(n). All others are auxiliary: k rows go up to the root of their tree, and make a k x k problem.

    >>> a = lw.Assembly(gravity=(0, 0, -9.81))
    >>> a.add("ball", lw.parts.Particle(mass=1.0), x=(0, 0, 1))
    """

    @explained
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
        self.interactions: list[Interaction] = []
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
        self._check_parts(condition)
        condition.check([self.parts[self.names[name]] for name in condition.parts])
        if auxiliary:
            self._forced.add(len(self.conditions))
        self.conditions.append(condition)
        self._layout = None

    def attach(self, interaction: Interaction) -> None:
        """Add an interaction between parts: a spring, a motor."""
        self._check_parts(interaction)
        self.interactions.append(interaction)
        self._layout = None

    def _check_parts(self, law: Condition | Interaction) -> None:
        for name in law.parts:
            if name not in self.names:
                raise ModelError(
                    f"{law!r}: there is no part {name!r}; add parts before what acts on them{meant(name, self.names)}"
                )
        if len(set(law.parts)) != len(law.parts):
            raise ModelError(f"{law!r}: it names a part twice")

    @property
    def layout(self) -> Layout:
        """The forest and what is compiled for it."""
        if self._layout is None:
            if not self.parts:
                raise ModelError("Assembly: it has no parts")
            x = [x for x, _ in self._start]
            self._layout = Layout(self.parts, x, self._on_parts(self.conditions), self._forced, self._on_parts(self.interactions))
        return self._layout

    def _on_parts(self, laws: Sequence[Any]) -> list[tuple[Any, tuple[int, ...]]]:
        return [(law, tuple(self.names[name] for name in law.parts)) for law in laws]

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
    def system(self, state: State) -> Linearised:
        """The conditions and forces at a state."""
        self._check(state)
        batch, layout = state.q.ndim == 2, self.layout
        q, v = np.atleast_2d(state.q, state.v)
        found = self.measured(q, v, np.full(len(q), state.t), NAMES)
        J = np.zeros((int(layout.row_starts[-1]), v.shape[1]))
        if not batch:
            J.put(layout.measured_places, found["J"])
        loads, rate, residual, forces = (x if batch else x[0] for x in (found[name] for name in NAMES[:-1]))
        return Linearised(loads, rate, residual, forces, J)

    def measured(self, q: np.ndarray, v: np.ndarray, t: np.ndarray, names: Sequence[str]) -> dict[str, np.ndarray]:
        """Quantities of conditions and parts by name, at states (batch, ...) with their times (batch,)."""
        algorithm = measuring_algorithm(self.layout.arity, self.layout.extent.pulls)
        wanted = [name for name in names if name in algorithm.fields]
        spare = tuple(name for name in algorithm.results if name not in wanted)
        plan = self.layout.measuring(algorithm, self.layout.measuring.lanes(algorithm, len(q)), absent=spare)
        out = {name: np.empty((len(q), plan.sizes[name])) for name in wanted}
        inputs = {"q": q, "v": v, "t": t.reshape(-1, 1), "gravity": self.gravity}
        plan.run({name: np.ascontiguousarray(x) for name, x in inputs.items()}, out, len(q))
        return out | {name: np.zeros((len(q), 0)) for name in names if name not in wanted}

    def _of_interaction(self, law: Interaction, state: State) -> tuple[Any, Any]:
        parts = [self.parts[self.names[name]] for name in law.parts]
        xs, vs = [state.q[self.q_index(name)] for name in law.parts], [state.v[self.v_index(name)] for name in law.parts]
        return pushes(law, parts, xs, vs, state.t)

    def _check(self, state: State) -> None:
        for what, a, starts in (("q", state.q, self.layout.q_starts), ("v", state.v, self.layout.v_starts)):
            if a.shape[-1:] != (starts[-1],) or a.ndim > 2 or not np.all(np.isfinite(a)):
                raise InputError(f"state.{what} must be {starts[-1]} finite numbers, or rows of as many, not of shape {a.shape}")
        if state.q.shape[:-1] != state.v.shape[:-1]:
            raise InputError(f"state.q has shape {state.q.shape}, state.v {state.v.shape}: not as many states")

    def _solve(self, state: State, forces: Any, aim: Aim) -> Solution:
        """What satisfies the conditions at a state, or at each state of a batch, with an aim."""
        self._check(state)
        layout, lead = self.layout, state.q.shape[:-1]
        algorithm, batch = pass_algorithm(layout.extent), len(state.q) if lead else 1
        names = ("z", "x", "growth", *(("mu", "off") if layout.auxiliary else ()))
        inputs = {"q": state.q, "v": state.v, "f": self.applied(forces, batch), "t": np.array([state.t])}
        inputs |= {"aim": aim.numbers, "gravity": self.gravity}
        inputs = {name: np.ascontiguousarray(x) for name, x in inputs.items()}
        if layout.directed and lead:  # Lemke's method takes state after state
            plan = layout.plans(algorithm, SCALAR64)
            found = {name: np.empty((batch, plan.sizes[name])) for name in names}
            plan.run(inputs, found, batch)
        else:
            found = layout.plans.run(algorithm, inputs, names, lead)
        self.check_solvable(found["growth"], found.get("off", np.zeros(0)))
        multipliers = np.zeros((*lead, int(layout.row_starts[-1])))
        multipliers[..., layout.primary] = -found["x"][..., layout.primary_at]
        if layout.auxiliary:
            multipliers[..., layout.auxiliary_rows] = found["mu"]
            if layout.directed and not np.isfinite(found["mu"]).all():
                raise SolverError("Lemke's method: what pushes cannot stop what it measures, or no forces do within its pivots")
        return Solution(found["z"], multipliers)

    def check_solvable(self, growth: np.ndarray, off: np.ndarray) -> None:
        """Raise if a pivot was lost, or an auxiliary equality is not met: growth (..., unknowns), off (..., auxiliary rows)."""
        if not growth.max(initial=0.0) < SINGULAR:
            lost = np.flatnonzero(~(growth < SINGULAR).reshape(-1, growth.shape[-1]).all(axis=0))
            owner = self.layout.owner(int(lost[-1]))
            if isinstance(owner, Part):
                raise SolverError(f"part number {self.parts.index(owner)} ({type(owner).__name__}): its mass is singular")
            raise SolverError(
                f"{owner!r}: its rows depend on one another, or not on the part that it adds to the tree; remove what is "
                "redundant, or connect it as auxiliary"
            )
        wrong = off > CONTRADICTION
        if wrong.any():
            row = int(np.flatnonzero(wrong.reshape(-1, off.shape[-1]).any(axis=0))[0])
            condition = self.layout.condition_of(int(self.layout.auxiliary_rows[row]))
            raise SolverError(f"{condition!r}: it contradicts the other conditions here")

    def accelerations(self, state: State, forces: Any = None, baumgarte: tuple[float, float] = (0.0, 0.0)) -> Solution:
        """f = m a: accelerations under applied forces (velocities,), gravity, interactions and the conditions.

        baumgarte   (b, c): residuals obey r_ddot = -2 b r_dot - c^2 r
        """
        return self._solve(state, forces, acceleration_aim(*baumgarte))

    def velocities(self, state: State, forces: Any, correction: float = 0.0) -> Solution:
        """f = m v: the velocities that forces cause in a world without inertia, in which what is pulled follows.

        correction   residuals obey r_dot = -correction r
        """
        resting = State(state.q, np.zeros_like(state.v), state.t)
        return self._solve(resting, forces, Aim(applied=1.0, rate=1.0, residual=correction, near=TOUCHING))

    def impulses(self, state: State, impulses: Any = None, restitution: float = 0.0) -> Solution:
        """j = m dv: the change of velocity by applied impulses and by those of the conditions.

        What touches and approaches leaves with `restitution` times its speed.
        """
        return self._solve(state, impulses, Aim(applied=1.0, rate=1.0, bounce=restitution, near=TOUCHING))

    def applied(self, forces: Any, batch: int = 1) -> np.ndarray:
        """Forces as programs take them: (velocities,) or (batch, velocities)."""
        n = int(self.layout.v_starts[-1])
        if forces is None:
            return np.zeros(n)
        f = np.ascontiguousarray(forces, float)
        if f.shape not in ((n,), (batch, n)):
            raise InputError(f"forces have shape {f.shape}; the assembly has {n} velocities")
        return f

    def acceleration_function(self) -> Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]:
        """A prepared function (q, v, forces) -> accelerations: own memory, no checks, least overhead."""
        layout = self.layout
        algorithm = pass_algorithm(layout.extent)
        work = layout.plans(algorithm, Lanes(1), absent=("x", "growth")).workspace()
        for name, value in {"t": np.zeros(1), "aim": acceleration_aim().numbers, "gravity": self.gravity}.items():
            work.views[name][:] = value
        return work.of_state(("q", "v", "f"), "z", (int(layout.v_starts[-1]),))[0]

    def redundant(self, state: State) -> list[Condition]:
        """Auxiliary conditions with rows that others imply at this state, so that their forces are not determined.

        A chain that is held at both ends has some when it is straight [Baraff, footnote 5].
        """
        self._check(state)
        layout = self.layout
        if not layout.auxiliary:
            return []
        plan = layout.plans(pass_algorithm(layout.extent), Lanes(1))
        u, y = (np.empty((1, plan.sizes[name])) for name in ("u", "y"))
        inputs = {"q": state.q[None], "v": state.v[None], "t": np.array([state.t]), "f": self.applied(None)}
        inputs |= {"gravity": self.gravity, "aim": Aim(straight=1.0).numbers}
        plan.run(inputs, {"u": u, "y": y}, 1)
        at = np.flatnonzero(~layout.unilateral[layout.auxiliary_rows])
        implied = dependent_rows(layout.ways.dense(u[0])[at], layout.ways.dense(y[0])[at])
        rows = np.searchsorted(layout.row_starts, layout.auxiliary_rows[at[implied]], side="right") - 1
        return [self.conditions[k] for k in np.unique(rows)]

    def simulate(
        self,
        duration: float,
        dt: float,
        forces: Forces | np.ndarray | None = None,
        *,
        state: State | None = None,
        stabilise: Stabilise = "project",
        baumgarte: tuple[float, float] = (10.0, 10.0),
        restitution: float = 0.0,
        every: int = 1,
        threads: int | None = 1,
    ) -> AssemblyRun:
        """The motion from a state (the start by default) or a batch of states, in steps of dt; see `stepping`.

        forces    applied ones (velocities,), or a function of the state, which is asked at every stage
        threads   for batches; None uses all cores. The result does not depend on it
        """
        state = state or self.start
        self._check(state)
        return simulate(self, state, duration, dt, every, Options(forces, stabilise, baumgarte, restitution, threads))

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
        found = self._solve(state, None, Aim(residual=1.0, one_sided=1.0, near=BELOW, straight=1.0))
        return self.normalised(state.q + self.rates(state.q, found.motion))

    def rates(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """q_dot = N(q) v."""
        parts = zip(self.names, self.parts, strict=True)
        return np.concatenate(
            [np.asarray(p.velocity_map(q[self.q_index(name)]), float) @ v[self.v_index(name)] for name, p in parts]
        )

    def energy(self, state: State) -> float:
        """Kinetic energy, energy in gravity and that of interactions."""
        total = sum(float(self._of_interaction(law, state)[0]) for law in self.interactions)
        for name, part in zip(self.names, self.parts, strict=True):
            x, v = state.q[self.q_index(name)], state.v[self.v_index(name)]
            total += 0.5 * float(v @ np.asarray(part.mass(x), float) @ v) + float(part.potential(x, self.gravity))
        return total
