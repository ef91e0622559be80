"""Problems of contact with friction from a seeded generator: articulated bodies and boxes, where they touch, as they move.

Families along runs are in `contact_runs`. Every other family draws a posture, a motion and places of contact, and poses one step
of 5 ms at velocity level: A = J M^-1 J^T and b = J (v + h M^-1 f) with gravity and Coriolis forces f. Nothing is left out:
redundant, collapsed and jammed states are included.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from ..joints import Free, Revolute
from ..model import Body, Model
from ..model.kinematics import kinematics
from ..reduced.inverse import bias_forces
from ..reduced.jacobian import body_jacobian
from ..reduced.mass_matrix import mass_matrix
from ..solvers.problem import Cones, Problem
from ..spatial import SE3, Inertia
from .contact_runs import RUNS

GRAVITY = np.array((0.0, 0.0, -9.81))
H = 0.005  # s
UP = np.array((0.0, 0.0, 1.0))
WORLD = -1
HUMANOID, QUADRUPED = (6, 6, 4, 4), (3, 3, 3, 3)  # joints of the limbs


def box_inertia(mass: float, size: Sequence[float], com: Sequence[float] = (0.0, 0.0, 0.0)) -> Inertia:
    return Inertia.cuboid(mass=mass, size=tuple(size), com=tuple(com))


@cache
def walker(limbs: tuple[int, ...], boxes: int = 0) -> Model:
    """A free trunk with limbs of hinges about y and x in turn, and free boxes beside it."""
    bodies = [Body("trunk", WORLD, Free(), "trunk", SE3(), box_inertia(10.0, (0.4, 0.3, 0.2)))]
    for limb, joints in enumerate(limbs):
        side, front = 1.0 - 2.0 * (limb % 2), 1.0 - 2.0 * (limb // 2)
        for k in range(joints):
            name, parent = f"limb{limb}_{k}", 0 if k == 0 else len(bodies) - 1
            axis = (0.0, 1.0, 0.0) if k % 2 else (1.0, 0.0, 0.0)
            at = SE3(p=(0.2 * front, 0.15 * side, 0.0)) if k == 0 else SE3(p=(0.0, 0.0, -0.6 / joints))
            inertia = box_inertia(4.0 / (1 + k), (0.06, 0.06, 0.6 / joints), (0.0, 0.0, -0.3 / joints))
            bodies.append(Body(name, parent, Revolute(axis=axis), name, at, inertia))
    for k in range(boxes):
        bodies.append(Body(f"box{k}", WORLD, Free(), f"box{k}", SE3(), box_inertia(1.0 + 0.3 * k, (0.2, 0.2, 0.1))))
    return Model(tuple(bodies), GRAVITY)


@cache
def stack(boxes: int) -> Model:
    """Free boxes of one size and of masses 1, 1.5, ... kg."""
    named = [(f"box{k}", 1.0 + 0.5 * k) for k in range(boxes)]
    return Model(tuple(Body(n, WORLD, Free(), n, SE3(), box_inertia(mass, (0.2, 0.2, 0.1))) for n, mass in named), GRAVITY)


@dataclass
class Scene:
    """A model in a state, to which contacts and loops are added."""

    model: Model
    q: np.ndarray
    v: np.ndarray
    rows: list[np.ndarray] = field(default_factory=list)
    cones: list[Cones] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.poses = kinematics(self.model, self.q).poses
        self._J = body_jacobian(self.model, self.q).reshape(self.model.nb, 6, self.model.nv)

    def place(self, body: int, local: Sequence[float] | np.ndarray) -> np.ndarray:
        """A point of a body, in the world."""
        E = self.poses[body]
        return E[:3, :3] @ np.asarray(local, float) + E[:3, 3]

    def velocity_rows(self, body: int, point: np.ndarray) -> np.ndarray:
        """(3, nv): the velocity of a point that moves with a body, in the axes of the world."""
        if body == WORLD:
            return np.zeros((3, self.model.nv))
        R, J = self.poses[body][:3, :3], self._J[body]
        r = R.T @ (point - self.poses[body][:3, 3])
        return R @ (J[3:] + np.cross(J[:3].T, r).T)

    def touch(self, a: int, b: int, point: np.ndarray, normal: np.ndarray, mu: float) -> None:
        """Body a touches b at a point; the normal points to a."""
        other = np.cross(normal, UP if abs(normal[2]) < 0.9 else np.array((1.0, 0.0, 0.0)))
        first = other / np.linalg.norm(other)
        frame = np.array((normal, first, np.cross(normal, first)))
        self.rows.append(frame @ (self.velocity_rows(a, point) - self.velocity_rows(b, point)))
        self.cones.append(Cones.coulomb([mu]))

    def tie(self, a: int, b: int, point: np.ndarray) -> None:
        """A loop: two bodies share a point."""
        self.rows.append(self.velocity_rows(a, point) - self.velocity_rows(b, point))
        self.cones.append(Cones.equal(3))

    def problem(self) -> Problem:
        J, M = np.concatenate(self.rows), mass_matrix(self.model, self.q)
        free = self.v - H * np.linalg.solve(M, bias_forces(self.model, self.q, self.v))
        A, cones = J @ np.linalg.solve(M, J.T), self.cones[0]
        for more in self.cones[1:]:
            cones = cones + more
        return Problem(0.5 * (A + A.T), J @ free, cones)


def posed(rng: np.random.Generator, model: Model, bend: float, speed: float) -> Scene:
    """Joints bent at random about the neutral posture, and a random motion."""
    q = model.integrate(model.neutral(), np.concatenate([np.zeros(6), bend * rng.normal(size=model.nv - 6)]))
    return Scene(model, q, speed * rng.normal(size=model.nv))


def tips(limbs: Sequence[int]) -> list[int]:
    """The last bodies of the limbs of a walker."""
    return np.cumsum(limbs).tolist()


def standing(rng: np.random.Generator) -> Problem:
    """A quadruped on four points, nearly at rest."""
    s = posed(rng, walker(QUADRUPED), 0.3, 0.01)
    for foot in tips(QUADRUPED):
        s.touch(foot, WORLD, s.place(foot, (0.0, 0.0, -0.2)), UP, 0.8)
    return s.problem()


def landing(rng: np.random.Generator) -> Problem:
    """A quadruped whose feet meet the floor at speed."""
    s = posed(rng, walker(QUADRUPED), 0.3, 1.0)
    s.v[5] -= 2.0
    for foot in tips(QUADRUPED):
        s.touch(foot, WORLD, s.place(foot, (0.0, 0.0, -0.2)), UP, rng.uniform(0.2, 1.0))
    return s.problem()


def soles(rng: np.random.Generator) -> Problem:
    """A humanoid on two soles of four points each: twelve forces too many."""
    s = posed(rng, walker(HUMANOID), 0.2, 0.3)
    for foot in tips(HUMANOID)[:2]:
        for x, y in ((0.1, 0.05), (0.1, -0.05), (-0.1, 0.05), (-0.1, -0.05)):
            s.touch(foot, WORLD, s.place(foot, (x, y, -0.1)), UP, 0.7)
    return s.problem()


def fallen(rng: np.random.Generator) -> Problem:
    """A humanoid that lies on random points of its bodies."""
    s = posed(rng, walker(HUMANOID), 0.7, 0.5)
    for body in rng.integers(0, s.model.nb, rng.integers(2, 13)).tolist():
        s.touch(body, WORLD, s.place(body, rng.uniform(-0.1, 0.1, 3)), UP, 0.8)
    return s.problem()


def bound(rng: np.random.Generator) -> Problem:
    """A quadruped with two limbs tied together, on the floor."""
    s = posed(rng, walker(QUADRUPED), 0.4, 0.2)
    a, b, *_ = tips(QUADRUPED)
    s.tie(a, b, 0.5 * (s.place(a, (0.0, 0.0, -0.1)) + s.place(b, (0.0, 0.0, -0.1))))
    for body in rng.integers(0, s.model.nb, rng.integers(2, 7)).tolist():
        s.touch(body, WORLD, s.place(body, rng.uniform(-0.1, 0.1, 3)), UP, rng.uniform(0.1, 1.0))
    return s.problem()


def collapsed(rng: np.random.Generator) -> Problem:
    """A quadruped on the floor and on itself, some contacts opposite each other."""
    s = posed(rng, walker(QUADRUPED), 1.0, 0.1)
    for body in rng.integers(0, s.model.nb, rng.integers(2, 5)).tolist():
        s.touch(body, WORLD, s.place(body, rng.uniform(-0.1, 0.1, 3)), UP, 0.8)
    for _ in range(rng.integers(1, 4)):
        a, b = rng.choice(s.model.nb, 2, replace=False).tolist()
        point, normal = s.place(a, rng.uniform(-0.1, 0.1, 3)), rng.normal(size=3)
        normal /= np.linalg.norm(normal)
        s.touch(a, b, point, normal, 0.8)
        if rng.uniform() < 0.3:
            s.touch(a, b, point + 0.02 * rng.normal(size=3), -normal, 0.8)
    return s.problem()


def pinched(rng: np.random.Generator) -> Problem:
    """A humanoid that stands on points and holds a box between its hands."""
    s = posed(rng, walker(HUMANOID, 1), 0.2, 0.05)
    left, right = tips(HUMANOID)[2:]
    box, normal = s.model.nb - 1, rng.normal(size=3)
    normal /= np.linalg.norm(normal)
    for hand, side in ((left, 1.0), (right, -1.0)):
        for _ in range(rng.integers(1, 4)):
            s.touch(hand, box, s.place(hand, 0.05 * rng.normal(size=3)), side * normal, 0.9)
    for foot in tips(HUMANOID)[:2]:
        for x in (0.1, -0.1):
            s.touch(foot, WORLD, s.place(foot, (x, 0.0, -0.1)), UP, 0.8)
    return s.problem()


def stacked(rng: np.random.Generator) -> Problem:
    """One to four boxes on one another, four points each, pushed a little."""
    count = int(rng.integers(1, 5))
    model = stack(count)
    steps = np.zeros((count, 6))
    steps[:, 5] = 0.05 + 0.1 * np.arange(count)
    steps[:, 3:5] = 0.02 * rng.normal(size=(count, 2))
    s = Scene(model, model.integrate(model.neutral(), steps.reshape(-1)), 0.1 * rng.normal(size=model.nv))
    for k in range(count):
        for x, y in ((0.1, 0.1), (0.1, -0.1), (-0.1, 0.1), (-0.1, -0.1)):
            s.touch(k, k - 1, s.place(k, (x, y, -0.05)), UP, 0.5)
    return s.problem()


def wedged(rng: np.random.Generator) -> Problem:
    """A collapsed quadruped of which some contacts ask to separate: opposite ones contradict one another."""
    p = collapsed(rng)
    normals = rng.choice(p.cones.normals, len(p.cones.normals) // 2, replace=False)
    p.b[normals] -= rng.uniform(0.0, 0.2, len(normals))
    return p


DRAWN: dict[str, Callable[[np.random.Generator], Problem]] = {
    f.__name__: f for f in (standing, landing, soles, fallen, bound, collapsed, pinched, stacked, wedged)
}
FAMILIES = (*DRAWN, *RUNS)


def problems(family: str, count: int, seed: int = 0) -> list[Problem]:
    """The first problems of a family; each has a seed of its own, or is a state of its own of a run."""
    if family in RUNS:
        return [RUNS[family](seed, k) for k in range(count)]
    return [DRAWN[family](np.random.default_rng((seed, list(DRAWN).index(family), k))) for k in range(count)]
