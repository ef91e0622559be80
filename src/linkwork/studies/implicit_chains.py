"""Chains of stiff joints at large steps: what implicit maximal coordinates keep. `python -m linkwork.studies.implicit_chains`

All at dt = 1/60: a chain that hangs and is gently driven at its first mode, one released from horizontal, a beam of links whose
joint springs are up to 1e10 N m/rad stiff, and an arm that falls into its limits.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import root

from ..forces import BodyDamping, JointSpring, LimitSpring, joint_force
from ..joints import Revolute
from ..kernel.sweep import MATRIX, SCALAR, Algorithm, Field, each, vector
from ..maximal import maximal_dynamics, to_maximal, to_reduced
from ..maximal.program import linear, moved, turning
from ..model import MaximalState, Model, ModelBuilder, State
from ..reduced import forward_dynamics, gravity_forces, mass_matrix
from ..simulate import simulate
from ..spatial import SE3, Inertia
from ..trajectory import Trajectory

DT = 1 / 60
LENGTH = 1.0  # m, of a link
DAMPING = 0.05  # of the first mode by the air, as a part of the critical one
SWING = 300.0  # N m: the amplitude of the driving moment
SMALL = 1e-6  # for differences
UPPER = 0.3  # rad: the limit into which the arm falls


def links(count: int, direction: Any, length: float = LENGTH, **options: Any) -> ModelBuilder:
    """Rods of 1 kg/m "link1", "link2", ..., each hinged about y to the end of the one before."""
    b, end = ModelBuilder(), length * np.array(direction, float)
    rod = Inertia.cuboid(mass=length, size=np.where(end == 0, 0.1 * length, np.abs(end)), com=end / 2)
    for k in range(count):
        parent, at = ("world", np.zeros(3)) if k == 0 else (f"link{k}", end)
        b.body(f"link{k + 1}", parent=parent, joint=Revolute((0, 1, 0)), placement=SE3(p=at), inertia=rod, **options)
    return b


def simulated(model: Model, state: State, seconds: float, every: int = 1, **options: Any) -> Trajectory:
    """A run of implicit maximal coordinates."""
    return simulate(model, state, seconds, DT, "maximal-implicit", every=every, **options)


def at_rest(model: Model) -> State:
    """The neutral position."""
    return State(model.neutral(), np.zeros(model.nv))


# --- driven -----------------------------------------------------------------------------------------------------------
def driven_chain(count: int = 100) -> tuple[Model, float, float]:
    """A hanging chain in air that a moment at its first joint drives; its first frequency, and the linear answer of its end.

    Small motions obey M a + D v + K q = f sin(w t) and answer by |(K - w^2 M + i w D)^-1 f|.
    """
    b = links(count, (0, 0, -1))
    bare = b.build()
    none, axes = np.zeros(count), np.eye(count)
    M = mass_matrix(bare, none)
    K = np.array([gravity_forces(bare, SMALL * e) - gravity_forces(bare, -SMALL * e) for e in axes]).T / (2 * SMALL)
    w = float(np.sqrt(eigh((K + K.T) / 2, M, eigvals_only=True, subset_by_index=[0, 0])[0]))
    drag, centre = 2 * DAMPING * w * LENGTH, SE3(p=(0, 0, -LENGTH / 2))
    for k in range(count):
        b.add(BodyDamping(f"link{k + 1}", linear=drag, angular=drag * LENGTH**2 / 12, frame=centre))
    D = -M @ np.array([forward_dynamics(b.build(), none, SMALL * e) for e in axes]).T / SMALL
    b.add(joint_force("link1", force=lambda q, v, t, a, w: [a * np.sin(w * t)], parameters={"a": SWING, "w": w}))
    q = np.linalg.solve(K - w * w * M + 1j * w * D, SWING * axes[0])
    return b.build(), w, float(np.abs(np.sum(q * LENGTH * np.arange(count, 0, -1))))


def driven(steps: int, every: int = 10, **options: Any) -> dict[str, float]:
    """The gap of the joints, and the swing of the end in the last period for that of the linear answer."""
    model, w, expected = driven_chain()
    run = simulated(model, at_rest(model), steps * DT, every, **options)
    side = (run.poses[run.t > run.t[-1] - 2 * np.pi / w, -1] @ [0.0, 0.0, -LENGTH, 1.0])[:, 0]
    return {"gap": (run.health.joint_gap or 0.0) / LENGTH, "swing": np.abs(side).max() / expected}


# --- released -----------------------------------------------------------------------------------------------------------
def released(seconds: float, length: float = LENGTH, **options: Any) -> dict[str, float]:
    """The gap of the joints of a horizontal chain let go, in lengths of a link, and how far its energy ever rose."""
    model = links(100, (1, 0, 0), length).build()
    run = simulated(model, at_rest(model), seconds, **options)
    return {"gap": (run.health.joint_gap or 0.0) / length, "energy": risen(run)}


def move(n: Any) -> None:
    """Pose and twist after a step with the acceleration of a body."""
    free = n.twists + n.h * (n.twists_dot + linear(turning(n, n.twists)))
    n.poses, n.twists = moved(n, n.poses, free)


MOVE = Algorithm(
    "maximal_move",
    {
        "poses": Field("state", "node", MATRIX),
        "twists": Field("state", "node", vector(6)),
        "twists_dot": Field("input", "node", vector(6)),
        "h": Field("input", "global", SCALAR),
    },
    {"run": [each(move)]},
)


def unstabilised(model: Model, state: State, seconds: float) -> Trajectory:
    """Plain acceleration constraints [Baraff 1996] by symplectic Euler: nothing holds the joints; up to where it explodes."""
    records = [to_maximal(model, state)]
    for _ in range(round(seconds / DT)):
        s = records[-1]
        given = {"poses": s.poses, "twists": s.twists, "twists_dot": maximal_dynamics(model, s).twists_dot, "h": np.array([DT])}
        poses, twists = model.call(MOVE, given).values()
        if not np.abs(twists).max() < 1e6:
            break
        q = to_reduced(model, MaximalState(poses, twists, s.q_fit)).q
        records.append(MaximalState(poses, twists, q, s.t + DT))
    arrays = {name: np.array([getattr(s, name) for s in records]) for name in ("poses", "twists", "q_fit")}
    return Trajectory(model, np.array([s.t for s in records]), "maximal", arrays)


def risen(run: Trajectory) -> float:
    """The most by which the energy was above its start."""
    return float((run.energy.total - run.energy.total[0]).max())


# --- stiff ----------------------------------------------------------------------------------------------------------------
def beam(stiffness: float, damping: float = 0.0, count: int = 20) -> Model:
    """Links along x with springs in their joints."""
    b = links(count, (1, 0, 0), 0.1)
    for k in range(count):
        b.add(JointSpring(f"link{k + 1}", stiffness, damping=damping))
    return b.build()


def stiff(stiffness: float, **options: Any) -> dict[str, float]:
    """How far the energy rose after a bent start, and the error of the deflection under its weight for the deflection itself."""
    model = beam(stiffness)
    bent = State(0.05 * np.random.default_rng(0).normal(size=model.nv), np.zeros(model.nv))
    rose = risen(simulated(model, bent, 3.0, **options))
    heavy = beam(stiffness, damping=0.3 * stiffness)
    end = simulated(heavy, at_rest(heavy), 30.0, 1800, **options)
    guess = -gravity_forces(model, np.zeros(model.nv)) / stiffness
    exact = root(lambda q: gravity_forces(model, q) / stiffness + q, guess, tol=1e-14).x
    return {"energy": rose, "deflection": float(np.abs(end.q[-1] - exact).max() / np.abs(exact).max())}


def limited(stiffness: float = 1e8, count: int = 3, drop: float = 0.5, **options: Any) -> dict[str, float]:
    """How far the joints of an arm went beyond their limits, falling into them and resting there; and the rise of its energy."""
    b = links(count, (1, 0, 0), 0.5, limits=(-0.5, UPPER))
    for k in range(count):
        b.add(LimitSpring(f"link{k + 1}", stiffness))
    model = b.build()
    run = simulated(model, State(np.full(count, UPPER - drop), np.zeros(count)), 5.0, **options)
    return {"beyond": float((run.q - UPPER).max()), "at rest": float((run.q[-1] - UPPER).max()), "energy": risen(run)}


def main() -> None:
    """All figures."""
    ways: dict[str, dict[str, Any]] = {"one solve": {}, "newton": {"newton": True}}
    studies: dict[str, Any] = {
        "hanging, driven, 1e5 steps": lambda o: driven(100000, 50, **o),
        "released, 1 m links, 30 s": lambda o: released(30.0, **o),
        "released, 0.1 m links, 30 s": lambda o: released(30.0, 0.1, **o),
        **{f"beam, k = {k:.0e}": lambda o, k=k: stiff(k, **o) for k in (1e2, 1e4, 1e6, 1e8, 1e10)},
        "limits, k = 1e8, falling": lambda o: limited(**o),
        "limits, k = 1e8, resting": lambda o: limited(drop=0.0, **o),
    }
    for study, figures in studies.items():
        for way, options in ways.items():
            begin = time.perf_counter()
            found = ", ".join(f"{name} {x:.3g}" for name, x in figures(options).items())
            print(f"{study:28} {way:10} {time.perf_counter() - begin:7.1f} s   {found}", flush=True)


if __name__ == "__main__":
    main()
