"""Friction inside joints by three projections: rounds and time per step, cold and from the friction of the step before.

    staggered     plain staggered projections [Sueda, Alg. 7]: every contact of every pin pushes, all in one quadratic program
    bisp          bilateral staggered projections [Sueda, Alg. 8]: reactions by a reduced solve, contacts joint by joint
    joint         friction with all constraints at once, in joint velocities (`redmax.reduced_friction`)
    program       a whole compiled step of `simulate` with `JointFriction`, on pins, guides and balls instead of points

All see the same states, those of a run by `joint`, and the same contacts: eight points on a pin or a guide, six on a ball. Where
contacts push, their forces are not unique, and so are the limits of friction: plain projections may end at another motion.
Kinematics and mass matrices are computed before; the time is that of the projections.
"""

from __future__ import annotations

import json as encoder
from collections.abc import Callable, Sequence
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from ..constraints import JointFriction, Loop
from ..errors import InputError
from ..io.redmax.bearings import Geometry, ball, box, cylinder
from ..joints import Joint, Prismatic, Revolute, Spherical
from ..model import Model, ModelBuilder, State
from ..redmax.bisp import Rubbing, StaggeredStep, Stop
from ..redmax.joint_friction import friction_step
from ..redmax.reduced_friction import ReducedStep
from ..simulate import simulate
from ..spatial.gate import meant
from ..spatial.inertia import Inertia
from ..spatial.se3 import SE3, Ad
from ..steppers.tangent import recharted

STOP = Stop(rounds=100, enough=1e-6, regular=1e-6)  # a change of the reactions of a thousandth
H = 5e-3
SETTLED = 1e-9  # m/s
Case = tuple[Model, State, list[Rubbing]]


class PlainStep(StaggeredStep):
    """Contacts of all joints as rows that push, on bodies that nothing else joins."""

    def reactions(self, friction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """N^T alpha / h, of one program for all normals (Lawson and Hanson's), regularised as the joints of `bisp` are.

        Pins that close loops are contacts, too.
        """
        from scipy.optimize import nnls

        N, root = np.concatenate(self.normals), np.linalg.cholesky(self.mass)
        push, free = np.linalg.solve(root, N.T), np.linalg.solve(root, self.momentum - self.turning + self.h * friction)
        regular = np.sqrt(self.stop.regular) * np.eye(len(N))
        self.alpha = nnls(np.concatenate([push, regular]), np.concatenate([-free, np.zeros(len(N))]), maxiter=100 * len(N))[0]
        return N.T @ self.alpha / self.h, np.zeros(len(self.G_m))

    def pressures(self, reactions: np.ndarray, lam: np.ndarray) -> list[np.ndarray]:
        """Those of the program."""
        return np.split(self.alpha, np.cumsum([len(N) for N in self.normals])[:-1])


METHODS: dict[str, type[StaggeredStep]] = {"staggered": PlainStep, "bisp": StaggeredStep, "joint": ReducedStep}


# --- cases ----------------------------------------------------------------------------------------------------------------------
def chain(count: int, joint: Callable[[], Joint], geometry: Geometry, mu: float, tilt: float = 0.0) -> Case:
    """Rods of 0.1 kg and 0.1 m, one behind the other, from rest; gravity is tilted out of their plane."""
    b = ModelBuilder(gravity=9.81 * np.array([0.0, np.sin(tilt), -np.cos(tilt)]))
    rod = Inertia.cuboid(0.1, (0.1, 0.01, 0.01), (0.05, 0, 0))
    for k in range(count):
        place = SE3(p=(0.1, 0, 0)) if k else SE3()
        b.body(f"rod {k}", parent=f"rod {k - 1}" if k else "world", joint=joint(), placement=place, inertia=rod)
    model = b.build()
    N, T, pressing = geometry
    rubbing = [Rubbing(k, k - 1, N, T, mu * pressing) for k in range(count)]
    return model, State(model.neutral(), np.zeros(model.nv)), rubbing


def revolute(count: int = 2, mu: float = 0.6) -> Case:
    """As scene 27: two rods on pins, in a tilted plane."""
    return chain(count, lambda: Revolute((0, 1, 0)), cylinder(0.005, 0.01, np.array([0.0, 1.0, 0.0])), mu, 0.7)


def spherical() -> Case:
    """As scene 28."""
    return chain(2, Spherical, ball(0.01), 0.6)


def prismatic() -> Case:
    """As scene 29: two sliders on a slope."""
    model, state, rubbing = chain(
        2, lambda: Prismatic((1, 0, 0)), box(np.array([0.05, 0.005, 0.05]), np.array([1.0, 0.0, 0.0])), 0.3
    )
    return model.replace(gravity=9.81 * np.array([np.sin(0.6), 0.0, -np.cos(0.6)])), state, rubbing


def four_bar() -> Case:
    """As scene 30: a linkage, the pin that closes it included."""
    rod = Inertia.cuboid(0.1, (0.01, 0.01, 0.1), (0, 0, -0.05))
    b = ModelBuilder(gravity=(0.0, 0.0, -9.81))
    b.body("left", joint=Revolute((0, 1, 0)), inertia=rod)
    bar = Inertia.cuboid(0.1, (0.1, 0.01, 0.01), (0.05, 0, 0))
    b.body("bar", parent="left", joint=Revolute((0, 1, 0)), placement=SE3(p=(0, 0, -0.1)), inertia=bar)
    b.body("right", joint=Revolute((0, 1, 0)), placement=SE3(p=(0.1, 0, 0)), inertia=rod)
    model = b.add(Loop("bar", "right", (0.1, 0, 0), (0, 0, -0.1))).build()
    N, T, pressing = cylinder(0.005, 0.01, np.array([0.0, 1.0, 0.0]))
    names = {name: model.body_index(name) for name in ("left", "bar", "right")}
    rubbing = [Rubbing(i, int(model.parents[i]), N, T, 0.3 * pressing) for i in names.values()]
    moved = np.asarray(Ad(SE3(p=(-0.1, 0, 0))), float)
    rubbing.append(Rubbing(names["bar"], names["right"], N @ moved, T @ moved, 0.3 * pressing, (0, 1, 2)))
    q = np.zeros(3)
    for name, value in (("left", 0.7), ("bar", -0.7), ("right", 0.7)):
        q[model.q_index(name)] = value
    return model, State(q, np.zeros(3)), rubbing


CASES: dict[str, Callable[[], Case]] = {
    "revolute": revolute,
    "spherical": spherical,
    "prismatic": prismatic,
    "four-bar": four_bar,
    "chain30": lambda: revolute(30, 0.3),
}


# What `JointFriction` of a case is made with.
GIVEN: dict[str, dict[str, float]] = {
    "revolute": {"mu": 0.6, "radius": 0.005, "length": 0.01},
    "spherical": {"mu": 0.6, "radius": 0.01},
    "prismatic": {"mu": 0.3, "length": 0.05},
    "four-bar": {"mu": 0.3, "radius": 0.005, "length": 0.01},
    "chain30": {"mu": 0.3, "radius": 0.005, "length": 0.01},
}


# --- runs -----------------------------------------------------------------------------------------------------------------------
def measured(case: Case, steps: int, methods: Sequence[str]) -> list[dict[str, Any]]:
    """Of every method the mean rounds and median time of a step, cold and cached, and how far it ends from `joint`."""
    model, now, rubbing = case
    found = {(name, start): {"rounds": [], "ms": [], "apart": []} for name in methods for start in ("cold", "cached")}
    kept = {name: np.zeros(6 * model.nb) for name in (*methods, "joint")}
    for _ in range(steps):
        given = friction_step(model, now, H)
        reference = _step(ReducedStep, given, rubbing)
        v = reference.end(*reference.project(kept["joint"]))
        for name in methods:
            for start in ("cold", "cached"):
                begin, friction = process_time(), kept[name] if start == "cached" else np.zeros(6 * model.nb)
                step = _step(METHODS[name], given, rubbing)
                reactions, friction = step.project(friction)
                end = step.end(reactions, friction)
                row = found[name, start]
                row["ms"].append(1e3 * (process_time() - begin))
                row["rounds"].append(step.rounds)
                row["apart"].append(np.abs(end - v).max())
                if start == "cached":
                    kept[name] = friction
        now = State(*recharted(model, model.integrate(now.q, H * v), v), now.t + H)
    return [
        {
            "method": name,
            "start": start,
            "rounds": float(np.mean(row["rounds"])),
            "unsettled": int(np.sum(np.array(row["rounds"]) >= STOP.rounds)),
            "ms": float(np.median(row["ms"])),
            "apart": float(np.max(row["apart"])),
        }
        for (name, start), row in found.items()
    ]


def programmed(name: str, case: Case, steps: int) -> dict[str, Any]:
    """The time of a compiled step, the best of three runs, and in how many of them bounds did not settle."""
    model, state, _ = case
    laws = [JointFriction(body.name, **GIVEN[name]) for body in model.bodies]
    laws += [JointFriction(loop, axis=(0, 1, 0), **GIVEN[name]) for loop in model.elements_of(Loop)]
    rubbing, times, left = model.add(*laws), [], np.zeros(0)
    for _ in range(4):
        begin = process_time()
        left = simulate(rubbing, state, steps * H, H).left
        times.append(1e3 * (process_time() - begin) / steps)
    unsettled = 0 if left is None else int(np.sum(left > SETTLED))
    return {"method": "program", "start": "cold", "rounds": None, "unsettled": unsettled, "ms": min(times[1:]), "apart": None}


def _step(kind: type[StaggeredStep], given: StaggeredStep, rubbing: list[Rubbing]) -> StaggeredStep:
    """A step of a kind at the state of another; what both need of the model is computed already."""
    return kind(given.now, H, given.constraints, given.target, rubbing, given.sliding, STOP)


def run(json: Path | None = None, quick: bool = False, cases: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Measure, print a table, and write its rows."""
    for name in cases:
        if name not in CASES:
            raise InputError(f"there is no case {name!r}; choose one of {', '.join(CASES)}{meant(name, CASES)}")
    rows: list[dict[str, Any]] = []
    print(f"{'case':10} {'method':10} {'start':7} {'rounds':>8} {'unsettled':>9} {'ms/step':>9} {'apart m/s':>10}")
    for name in cases or CASES:
        steps = (1 if quick else 3) if name == "chain30" else 10 if quick else 60
        case = CASES[name]()
        for found in [*measured(case, steps, list(METHODS)), programmed(name, case, 200)]:
            row = {"case": name, "steps": steps, **found}
            rows.append(row)
            rounds, apart = (" -" if x is None else f"{x:{form}}" for x, form in ((row["rounds"], ".1f"), (row["apart"], ".1e")))
            shown = f"{row['ms']:9.2f}" if row["ms"] >= 0.1 else f"{row['ms']:9.4f}"
            print(
                f"{name:10} {row['method']:10} {row['start']:7} {rounds:>8} {row['unsettled']:9d} {shown} {apart:>10}", flush=True
            )
    if json is not None:
        json.parent.mkdir(parents=True, exist_ok=True)
        json.write_text(encoder.dumps(rows, indent=1) + "\n")
    return rows
