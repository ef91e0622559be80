"""Implicit steps of stiff systems: a hanging chain with springs in its joints, released bent, beside MuJoCo and DART.

All engines answer one question: where is the chain after a while, to a given error? linkwork takes steps of 1/60 s; a peer takes
the longest steps, 1/60 s or a power of two shorter, with which it is no farther from a fine reference. What is reported is the
time for 1/60 s of motion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..forces import JointSpring
from ..joints import Revolute
from ..model import Model, ModelBuilder, State
from ..simulate import simulate
from ..spatial import SE3, Inertia
from ..spatial.quaternion import from_rotation
from ..steppers.rosenbrock import Rosenbrock
from . import peers
from .preconditioning import APART
from .preconditioning import note as preconditioning_note
from .report import Progress, missing, publish, require_known, rows_of
from .timing import FULL, QUICK, Contender, measure

STIFFNESS, LINK, BEND, DT = 1e4, 0.1, 0.01, 1 / 60
FRAMES, FINE = 30, 100  # length of the comparison; steps of the reference in a frame
HALVINGS = 10
PEER_LIMIT = 1000  # links
CASES = {"chain10": (10, 1024), "chain100": (100, 256), "chain1000": (1000, 32), "chain10000": (10000, 16)}


def stiff_chain(links: int, stiffness: float = STIFFNESS) -> Model:
    """Rods of 0.1 m and 1 kg that hang from the origin, with a spring in every hinge."""
    b = ModelBuilder()
    rod, down = Inertia.cuboid(1.0, (LINK, LINK / 10, LINK / 10), com=(LINK / 2, 0, 0)), SE3.rot_y(np.pi / 2)
    parent, place = "world", SE3(R=np.round(np.asarray(down.R, float)))
    for i in range(links):
        b.body(f"link{i}", parent=parent, joint=Revolute((0, 1, 0)), placement=place, inertia=rod)
        b.add(JointSpring(f"link{i}", stiffness))
        parent, place = f"link{i}", SE3(p=(LINK, 0, 0))
    return b.build()


def bent(links: int) -> State:
    return State(np.full(links, BEND), np.zeros(links))


def program(model: Model, q: np.ndarray, frames: int) -> Callable[[], np.ndarray]:
    """What `simulate` runs: all steps of all chains in one call; it returns the last positions."""
    step, batch = Rosenbrock().program("reduced", model), len(q)
    plan = step.plan(model, step.lanes(model, batch), ("tau", "external"))
    inputs = step.entered(model, {"q": q, "v": np.zeros_like(q)}, 0.0) | step.given(model, DT)
    out = {name: np.empty((batch, 1, model.nv)) for name in ("q", "v")}

    def run() -> np.ndarray:
        plan.run(inputs, out, batch, 1, frames)
        return out["q"][:, 0]

    return run


@dataclass(frozen=True)
class Fair:
    """A peer's steps that reach the error of ours: how many in a frame, and what it is."""

    substeps: int
    error: float


# A peer's chain: where it is after so many frames with so many steps in each, all in one call that returns the last (q, v).
Peer = Callable[[int, int], Callable[[], np.ndarray]]
OPTIONS = '<option integrator="discrete" gravity="0 0 -9.81"><flag contact="disable" constraint="disable"/></option>'


def mujoco_chain(mj: Any, links: int, stiffness: float = STIFFNESS) -> Peer:
    """MuJoCo from Python, body by body: its reader of files does not go as deep."""
    spec = mj.MjSpec.from_string(f"<mujoco>{OPTIONS}</mujoco>")
    parent = spec.worldbody
    for body in stiff_chain(links).bodies:
        at, inertia = body.placement, body.inertia
        quat, moments = from_rotation(np.asarray(at.R, float)), np.diag(inertia.tensor)
        parent = parent.add_body(pos=at.p, quat=quat, mass=inertia.mass, ipos=inertia.com, inertia=moments, explicitinertial=True)
        parent.add_joint(type=mj.mjtJoint.mjJNT_HINGE, axis=(0, 1, 0), stiffness=stiffness)
    model = spec.compile()
    data, start = mj.MjData(model), np.full(links, BEND)

    def prepared(frames: int, substeps: int) -> Callable[[], np.ndarray]:
        def run() -> np.ndarray:
            model.opt.timestep = DT / substeps
            data.qpos[:], data.qvel[:] = start, 0.0
            mj.mj_step(model, data, frames * substeps)
            return np.array([data.qpos, data.qvel])

        return run

    return prepared


def dart_chain(dart: Any, links: int, stiffness: float = STIFFNESS) -> Peer:
    """DART from Python, step by step: it takes the springs of joints implicitly."""
    world, skeleton = dart.simulation.World(), dart.dynamics.Skeleton("chain")
    parent = None
    for body in stiff_chain(links).bodies:
        joint, parent = skeleton.createRevoluteJointAndBodyNodePair(*([] if parent is None else [parent]))
        pose = dart.math.Isometry3()
        pose.set_rotation(np.asarray(body.placement.R, float))
        pose.set_translation(np.asarray(body.placement.p, float))
        joint.setAxis([0, 1, 0])
        joint.setTransformFromParentBodyNode(pose)
        joint.setSpringStiffness(0, stiffness)
        parent.setInertia(dart.dynamics.Inertia(body.inertia.mass, body.inertia.com, body.inertia.tensor))
    world.addSkeleton(skeleton)
    world.setGravity([0, 0, -9.81])

    def prepared(frames: int, substeps: int) -> Callable[[], np.ndarray]:
        def run() -> np.ndarray:
            world.setTimeStep(DT / substeps)
            skeleton.setPositions(np.full(links, BEND))
            skeleton.setVelocities(np.zeros(links))
            for _ in range(frames * substeps):
                world.step()
            return np.array([skeleton.getPositions(), skeleton.getVelocities()])

        return run

    return prepared


PEERS: dict[str, tuple[str, Callable[..., Peer]]] = {"mujoco": ("mujoco", mujoco_chain), "dart": ("dartpy", dart_chain)}


def fair(run: Callable[[int], Callable[[], np.ndarray]], reference: np.ndarray, error: float) -> Fair | None:
    """The fewest steps per frame, a power of two, that reach an error; None if even the shortest do not."""
    for k in range(HALVINGS):
        theirs = float(np.abs(run(2**k)()[0] - reference).max())
        if theirs <= error:
            return Fair(2**k, theirs)
    return None


def contenders(name: str, links: int, batch: int) -> tuple[list[Contender], list[str]]:
    """All that is timed for a chain, and what to know of it."""
    model = stiff_chain(links)
    frames = max(1, min(FRAMES, 6000 // links))
    q = np.full((batch, links), BEND)
    notes: list[str] = []

    def contender(engine: str, mode: str, run: Callable[[], Any], count: int, threads: int = 1) -> Contender:
        return Contender(name, "implicit_step", engine, mode, threads, run, count)

    def ours() -> Iterator[Contender]:
        yield contender("linkwork", "native", program(model, q[:1], frames), frames)
        yield contender("linkwork", "batch64", program(model, q, frames), batch * frames)

    group = list(ours())
    if links > PEER_LIMIT:
        reasons = "mujoco refuses trees deeper than 1023, dart's time to build one grows with the cube of its links"
        return group, [f"{name}: no peers: {reasons}"]
    fine = simulate(model, bent(links), frames * DT, DT / FINE, stepper="rosenbrock", every=frames * FINE).q[-1]
    error = float(np.abs(program(model, q[:1], frames)()[0] - fine).max())
    notes.append(f"{name}: after {frames} frames linkwork is {error:.2g} rad off with steps of 1/60 s")
    if links > APART:
        notes.append(preconditioning_note(name, model, BEND, DT))
    for engine, (package, make) in PEERS.items():
        peer = peers.module(package)
        if peer is None:
            notes.append(missing(package))
            continue
        chain = make(peer, links)
        found = fair(lambda n, c=chain: c(frames, n), fine, error)
        if found is None:
            notes.append(f"{name}: {engine} is farther off even with {2 ** (HALVINGS - 1)} steps in each frame")
        else:
            notes.append(f"{name}: {engine} is {found.error:.2g} rad off with {found.substeps} steps in each frame")
            group.append(contender(engine, "native", chain(frames, found.substeps), frames))
    return group, notes


def run(json: Path | None = None, quick: bool = False, cases: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Time the cases and publish the rows."""
    require_known(cases, CASES)
    rows: list[dict[str, Any]] = []
    notes = ["microseconds for 1/60 s of motion; mujoco with its integrator discrete; peers step one chain, from Python"]
    progress = Progress()
    for name in cases or (("chain10", "chain100") if quick else CASES):
        with progress.line(name):
            progress.say("building")
            group, found = contenders(name, *CASES[name])
            progress.say(f"measuring {len(group)} functions")
            rows += rows_of(group, measure(group, QUICK if quick else FULL))
        notes += found
    return publish("stiff", rows, json, notes)
