"""Models in contact, each for linkwork and for MuJoCo: files of gymnasium and dm_control, ANYmal on its feet, a pile.

Both engines get the same shapes, pairs and coefficients of friction, elliptic cones, semi-implicit Euler with explicit damping
and one step length; MuJoCo's contacts are as soft as its file says. Fixed controls act all the time. States are those in which a
run of linkwork arrives from a start that is varied a little.
"""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..contact import Contact
from ..contact.formulations import touching
from ..errors import InputError
from ..forces import PDController
from ..geometry import Sphere
from ..interop.mujoco import converter
from ..io import load
from ..joints import Free
from ..model import Model, State
from ..model.kinematics import kinematics
from ..simulate import simulate
from . import models, peers
from .report import missing

ANT_START = (0.0, 0.0, 0.55, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, -1.0, 0.0, -1.0, 0.0, 1.0)  # the file's own `init_qpos`
FOOT_RADIUS, FOOT_FRICTION = 0.03, 0.8
STAND = {"HAA": 0.1, "HFE": 0.7, "KFE": 1.0}  # rad: sizes of the angles of ANYmal's legs
KP, KD = 300.0, 8.0
APART = 3.0  # m, between piles
LARGEST_BATCHED = 10  # bodies of a pile that is timed in batches
EULER: dict[str, Any] = {"evaluations": 0}  # options of our stepper: the step that MuJoCo takes


@dataclass(frozen=True, eq=False)
class InContact:
    """One model in both engines.

    start    q, from which states are reached in `settle` seconds
    vary     spread of the start: of coordinates and of velocities
    inputs   of the forces of linkwork's model; `control` those of MuJoCo's actuators
    alone    whether it is timed one state at a time only
    """

    model: Model
    mujoco: Any
    dt: float
    start: np.ndarray
    settle: float
    vary: float
    inputs: np.ndarray | None = None
    control: np.ndarray = field(default_factory=lambda: np.zeros(0))
    alone: bool = False

    def run(self, q: np.ndarray, v: np.ndarray, steps: int, every: int, dt: float | None = None) -> Any:
        """Steps by `simulate`."""
        h = dt or self.dt
        return simulate(self.model, State(q=q, v=v), steps * h, h, every=every, inputs=self.inputs, **EULER)

    def states(self, count: int, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
        """q (count, nq) and v (count, nv), the same each time."""
        rng = np.random.default_rng(seed)
        turns = self.vary * rng.normal(size=(count, self.model.nv))
        q = np.array([self.model.integrate(self.start, turn) for turn in turns])
        steps = round(self.settle / self.dt)
        found = self.run(q, self.vary * rng.normal(size=turns.shape), steps, steps)
        return found.q[:, -1], found.v[:, -1]

    @cached_property
    def peer(self) -> Any:
        """What turns states of linkwork into MuJoCo's."""
        peer = peers.MuJoCo.__new__(peers.MuJoCo)
        peer._to, peer.model = converter(self.model, self.mujoco), self.mujoco
        return peer


def package_file(package: str, path: str) -> Path | None:
    """A file of a package, which is not imported; None where the package is not installed."""
    found = importlib.util.find_spec(package)
    return None if found is None or found.origin is None else Path(found.origin).parent / path


def from_mjcf(
    file: Path, start: Any = None, settle: float = 1.0, drive: float = 0.0, vary: float = 0.05, alone: bool = False
) -> InContact:
    """A model of a file. drive: the controls, as a part of their range, random and fixed."""
    import mujoco

    mj: Any = mujoco
    m = mj.MjModel.from_xml_path(str(file))
    model = touching(load(file), "exact")
    same_step(mj, m)
    low, high = m.actuator_ctrlrange.T if m.nu else np.zeros((2, 0))
    control = drive * np.random.default_rng(5).uniform(low, high)
    q = np.array(m.qpos0 if start is None else start, float)
    return InContact(model, m, float(m.opt.timestep), q, settle, vary, control if m.nu else None, control, alone)


def same_step(mj: Any, m: Any) -> None:
    """Semi-implicit Euler with explicit damping, elliptic cones, MuJoCo's default solver."""
    m.opt.integrator, m.opt.cone = mj.mjtIntegrator.mjINT_EULER, mj.mjtCone.mjCONE_ELLIPTIC
    m.opt.solver, m.opt.iterations = mj.mjtSolver.mjSOL_NEWTON, 100
    m.opt.disableflags |= int(mj.mjtDisableBit.mjDSBL_EULERDAMP)


def anymal() -> InContact:
    """ANYmal on four spheres, held in its standing posture by drives."""
    import mujoco

    from .loaded_peers import LoadedMuJoCo

    model, dt = models.robot("anymal"), 2e-3
    q = model.neutral()
    drives = []
    for body in model.bodies:
        if isinstance(body.joint, Free):
            continue
        leg, joint = body.joint_name.split("_")
        side = -1.0 if joint == "HAA" and leg[0] == "L" else 1.0
        front = 1.0 if joint == "HAA" or leg[1] == "F" else -1.0
        angle = side * front * STAND[joint] * (-1.0 if joint == "KFE" else 1.0)
        q[model.q_index(body.name)] = angle
        drives.append(PDController(body.joint_name, kp=KP, kd=KD, target=angle))
    feet = [model.frames[f"{leg}_FOOT"] for leg in ("LF", "RF", "LH", "RH")]
    balls = [(f.body, Sphere(FOOT_RADIUS, np.asarray(f.placement.p, float))) for f in feet]
    model = model.add(*drives, *(Contact(body, ball, friction=FOOT_FRICTION) for body, ball in balls))
    poses = kinematics(model, q).poses
    lowest = min((poses[model.body_index(body)] @ np.append(ball.center, 1.0))[2] for body, ball in balls)
    q[2] += FOOT_RADIUS - lowest
    peer = LoadedMuJoCo(model, q, dt)
    same_step(mujoco, peer.model)
    return InContact(model, peer.model, dt, q, 0.5, 0.02, None, peer.inputs(1)[0])


def pile(count: int, piles: int = 1, settle: float = 0.5) -> InContact:
    """Spheres and boxes that fall onto one another, on a plane; as many piles of so many, which do not touch."""
    bodies = []
    for p in range(piles):
        rng = np.random.default_rng(11)
        for k in range(count):
            shape = 'type="sphere" size="0.06"' if k % 2 else 'type="box" size="0.05 0.06 0.04"'
            x, y = 0.15 * (k % 3) + 0.02 * rng.normal(), 0.15 * (k // 3 % 3) + 0.02 * rng.normal()
            at, geom = f"{x + APART * p} {y} {0.08 + 0.13 * (k // 9)}", f'<geom {shape} density="500" friction="0.6"/>'
            bodies.append(f'<body name="b{p * count + k}" pos="{at}"><freejoint/>{geom}</body>')
    text = '<mujoco><option timestep="0.002"/><worldbody><geom type="plane" size="5 5 1" friction="0.6"/>'
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pile.xml"
        file.write_text(f"{text}{''.join(bodies)}</worldbody></mujoco>")
        return from_mjcf(file, settle=settle, vary=0.0, alone=count * piles > LARGEST_BATCHED)


def _file(package: str, path: str, **options: Any) -> Callable[[], InContact]:
    def made() -> InContact:
        file = package_file(package, path)
        if file is None:
            raise InputError(missing(package, "it has the file"))
        return from_mjcf(file, **options)

    return made


GYMNASIUM = "envs/mujoco/assets/"
CASES: dict[str, Callable[[], InContact]] = {
    "ant": _file("gymnasium", f"{GYMNASIUM}ant.xml", start=ANT_START, drive=0.1),
    "humanoid": _file("gymnasium", f"{GYMNASIUM}humanoid.xml", drive=0.1),
    "dm_humanoid": _file("dm_control", "suite/humanoid.xml", drive=0.1),
    "anymal": anymal,
    "pile10": lambda: pile(10),
    **{f"piles{k}x12": lambda k=k: pile(12, k) for k in (1, 2, 4, 8)},
    "pile100": lambda: pile(100),
    "pile100_later": lambda: pile(100, settle=1.0),
}
