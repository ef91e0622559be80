"""Loops and contacts on random trees: both formulations against the dense solve, forces and accelerations alike."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from identities.dense import (
    Bodies,
    Dense,
    Extra,
    bodies_at,
    body_jacobian,
    contact_row,
    dense_dynamics,
    loop_rows,
    point_row,
    stacked,
)
from models import random_forces, random_tree, relative, unit, with_elements
from scipy.linalg import expm

import linkwork as lw
from linkwork.constraints.rows import ConstraintRows, constraint_set
from linkwork.constraints.solve import Constrained, accelerations

TOLERANCE = 1e-9
CASES = [(seed, 3 + seed % 10) for seed in range(12)]
EVERY_CASE = pytest.mark.parametrize(("seed", "n"), CASES)
FORMULATIONS = ("reduced", "maximal")
KINDS = ("x", "z", "-z", "oblique", "spherical", "free", "helix")


@dataclass(frozen=True, eq=False)
class Case:
    """A model with constraints, a state that obeys them in position and velocity, forces, and the oracle's answer."""

    model: lw.Model
    state: lw.State
    tau: np.ndarray
    external: np.ndarray
    dense: Dense
    free: Dense

    @property
    def maximal_state(self) -> lw.MaximalState:
        return lw.to_maximal(self.model, self.state)

    @property
    def rows(self) -> ConstraintRows:
        s = self.maximal_state
        return constraint_set(self.model).at(s.poses, s.twists, self.state.q, self.state.v)

    def response(self, formulation: str) -> lw.Response:
        if formulation == "reduced":
            return lw.factor(self.model, self.state.q, self.state.v, self.tau, self.external)
        return lw.factor(self.model, self.maximal_state, tau=self.tau, external=self.external)

    def solved(self, formulation: str) -> Constrained:
        return accelerations(self.response(formulation), self.rows)


class Scene:
    """A random tree at rest or in motion, to which constraints are added where they already hold."""

    def __init__(self, seed: int, n: int, moving: bool = True) -> None:
        self.rng = np.random.default_rng([seed, n, 7])
        self.seed, self.moving = seed, moving
        self.tree = random_tree(seed, n, KINDS)
        self.q = self.tree.random_configuration(self.rng)
        self.v = self.rng.normal(size=self.tree.nv) * moving
        self.tau, self.external = random_forces(self.tree, seed)
        self.jacobian = body_jacobian(self.tree, self.q)
        self.still = bodies_at(self.tree, self.q, np.zeros(self.tree.nv))
        self.elements: list[Any] = []
        self.parts: list[Any] = []

    def name(self, body: int) -> str:
        return "world" if body < 0 else self.tree.bodies[body].name

    def place(self, body: int) -> tuple[np.ndarray, np.ndarray]:
        return (np.eye(3), np.zeros(3)) if body < 0 else (self.still.R[body], self.still.x[body])

    def well_posed(self, parts: list[Any]) -> bool:
        """Whether the rows are far from dependent."""
        G = stacked([p(self.still) for p in parts]).J @ self.jacobian
        s = np.linalg.svd(G, compute_uv=False)
        return len(s) == len(G) and s[-1] > 0.05 * s[0]

    def bodies(self) -> tuple[int, int]:
        a = int(self.rng.integers(self.tree.nb))
        b = int(self.rng.integers(-1, self.tree.nb - 1))
        return a, b + (b >= a)

    def loop(self) -> Scene:
        """A point of a random body stays where it is on another body or the world."""
        for _ in range(200):
            a, b = self.bodies()
            point_a = self.rng.uniform(-0.4, 0.4, 3)
            (R_a, x_a), (R_b, x_b) = self.place(a), self.place(b)
            point_b = R_b.T @ (x_a + R_a @ point_a - x_b)

            def part(m: Bodies, a: int = a, b: int = b, x: np.ndarray = point_a, y: np.ndarray = point_b) -> Extra:
                return loop_rows(m, a, b, x, y)

            if self.well_posed([*self.parts, part]):
                self.parts.append(part)
                self.elements.append(lw.Loop(self.name(a), self.name(b), point_a, point_b))
                return self
        raise AssertionError("no well-posed loop found")

    def contact(self, gap: float = 0.0) -> Scene:
        """A sphere on a random body touches a plane of another or of the world (or floats above it)."""
        for _ in range(200):
            a, b = self.bodies()
            center, n, radius = self.rng.uniform(-0.4, 0.4, 3), unit(self.rng), 0.1
            (R_a, x_a), (R_b, x_b) = self.place(a), self.place(b)
            side = np.cross(n, unit(self.rng))
            for sign in (1.0, -1.0):
                normal = sign * n
                point = R_b.T @ (x_a + R_a @ center - (radius + gap) * (R_b @ normal) - x_b) + 0.3 * side

                def part(
                    m: Bodies, a: int = a, b: int = b, c: np.ndarray = center, p: np.ndarray = point, n: np.ndarray = normal
                ) -> Extra:
                    return contact_row(m, a, b, c, p, n)

                if not self.well_posed([*self.parts, part]):
                    continue
                if gap == 0.0 and self.solved([*self.parts, part]).forces[-1] < 0.1:
                    continue  # it would pull: the plane belongs to the other side
                self.parts.append(part)
                self.elements.append(lw.Contact(self.name(a), lw.Sphere(radius, center), self.name(b), lw.Plane(point, normal)))
                return self
        raise AssertionError("no pushing contact found")

    def velocity(self, parts: list[Any]) -> np.ndarray:
        """The part of v that the constraints allow."""
        if not parts:
            return self.v
        G = stacked([p(self.still) for p in parts]).J @ self.jacobian
        return self.v - np.linalg.pinv(G) @ (G @ self.v)

    def solved(self, parts: list[Any]) -> Dense:
        state = lw.State(self.q, self.velocity(parts))
        moving = bodies_at(self.tree, state.q, state.v)
        extra = stacked([p(moving) for p in parts]) if parts else None
        return dense_dynamics(self.tree, state, self.tau, self.external, extra)

    def case(self) -> Case:
        state = lw.State(self.q, self.velocity(self.parts))
        model = with_elements(self.tree, *self.elements)
        free = dense_dynamics(self.tree, state, self.tau, self.external)
        return Case(model, state, self.tau, self.external, self.solved(self.parts), free)


@cache
def looped(seed: int, n: int) -> Case:
    return Scene(seed, n, moving=bool(seed % 3)).loop().case()


@cache
def touching(seed: int, n: int) -> Case:
    return Scene(seed, n, moving=bool(seed % 3)).contact().case()


@cache
def mixed(seed: int, n: int) -> Case:
    """A loop, a contact, and another loop where there is room."""
    scene = Scene(seed, n + 2, moving=bool(seed % 3)).loop().contact()
    return (scene.loop() if n > 6 else scene).case()


@cache
def both(seed: int, n: int) -> Case:
    return Scene(seed, n + 2, moving=bool(seed % 3)).loop().contact().case()


@cache
def floating(seed: int, n: int) -> Case:
    return Scene(seed, n).contact(gap=1e-6).case()


SCENES = {"loop": looped, "contact": touching, "mixed": mixed}
EVERY_SCENE = pytest.mark.parametrize("scene", SCENES)


def case(scene: str, seed: int, n: int) -> Case:
    c = SCENES[scene](seed, n)
    if scene == "mixed" and c.dense.forces[c.rows.unilateral].min() < 0:
        pytest.skip("the second loop turned the push of the contact into a pull")
    return c


@EVERY_CASE
@EVERY_SCENE
def test_the_states_obey_the_constraints(scene: str, seed: int, n: int) -> None:
    rows = case(scene, seed, n).rows
    assert np.abs(rows.residual).max() < 1e-12
    assert np.abs(rows.rate).max() < 1e-11


@EVERY_CASE
@EVERY_SCENE
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_forces_and_accelerations_equal_the_dense_solve(scene: str, seed: int, n: int, formulation: str) -> None:
    c = case(scene, seed, n)
    found = c.solved(formulation)
    assert relative(found.motion.joints, c.dense.v_dot) < TOLERANCE
    assert relative(found.motion.bodies, c.dense.twists_dot) < TOLERANCE
    assert relative(found.multipliers, c.dense.forces) < TOLERANCE
    assert relative(c.dense.v_dot, c.free.v_dot) > 1e-6  # the constraints matter


@EVERY_CASE
@EVERY_SCENE
def test_both_formulations_agree(scene: str, seed: int, n: int) -> None:
    c = case(scene, seed, n)
    reduced, maximal = (c.solved(f) for f in FORMULATIONS)
    assert relative(reduced.motion.joints, maximal.motion.joints) < TOLERANCE
    assert relative(reduced.motion.bodies, maximal.motion.bodies) < TOLERANCE
    assert relative(reduced.multipliers, maximal.multipliers) < TOLERANCE


@EVERY_CASE
@EVERY_SCENE
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_the_motion_keeps_the_constraints(scene: str, seed: int, n: int, formulation: str) -> None:
    """G a + G_dot phi = 0 on all rows, as all are active; contacts push."""
    c = case(scene, seed, n)
    rows, found = c.rows, c.solved(formulation)
    scale = np.abs(found.motion.bodies).max()
    assert np.abs(rows.rows @ found.motion + rows.bias).max() < TOLERANCE * scale
    assert np.all(found.multipliers[rows.unilateral] >= 0)


@EVERY_CASE
def test_forward_dynamics_obeys_loops(seed: int, n: int) -> None:
    c = looped(seed, n)
    a = lw.forward_dynamics(c.model, c.state.q, c.state.v, c.tau, c.external)
    assert relative(a, c.dense.v_dot) < TOLERANCE
    assert relative(lw.tree_dynamics(c.model, c.state.q, c.state.v, c.tau, c.external), c.free.v_dot) < TOLERANCE


@EVERY_CASE
@EVERY_SCENE
def test_delassus_is_symmetric_and_positive(scene: str, seed: int, n: int) -> None:
    """And equal to G M^-1 G^T with the rows of the oracle and the mass matrix from inverse dynamics."""
    c = case(scene, seed, n)
    m, q = c.model, c.state.q
    reduced, maximal = (c.response(f).delassus(c.rows.rows) for f in FORMULATIONS)
    M = (lw.inverse_dynamics(m, q, np.zeros(m.nv), np.eye(m.nv)) - lw.inverse_dynamics(m, q, np.zeros(m.nv), np.zeros(m.nv))).T
    twists = lw.kinematics(m, q, np.eye(m.nv)).twists
    G = np.array([c.rows.rows @ lw.Motion(t, e) for t, e in zip(twists, np.eye(m.nv), strict=True)]).T
    assert relative(reduced, G @ np.linalg.solve(M, G.T)) < TOLERANCE
    for A in (reduced, maximal):
        assert relative(A, A.T) < 1e-12
        assert np.linalg.eigvalsh(A).min() > 0
    assert relative(maximal, reduced) < TOLERANCE


# --- rows against finite differences -------------------------------------------------------------------------------------
def flowed(s: lw.MaximalState, twists: np.ndarray, h: float) -> np.ndarray:
    """Poses after moving for h with constant body twists."""
    X = np.zeros((len(twists), 4, 4))
    w = twists[:, :3]
    X[:, 0, 1], X[:, 1, 2], X[:, 2, 0] = -w[:, 2], -w[:, 0], -w[:, 1]
    X[:, 1, 0], X[:, 2, 1], X[:, 0, 2] = w[:, 2], w[:, 0], w[:, 1]
    X[:, :3, 3] = twists[:, 3:]
    return np.array([E @ expm(h * x) for E, x in zip(s.poses, X, strict=True)])


@pytest.mark.parametrize(("seed", "n"), CASES[:6])
@EVERY_SCENE
def test_rows_rate_and_bias_are_derivatives_of_the_residual(scene: str, seed: int, n: int) -> None:
    """Along constant body twists the second derivative is the bias; along each unit twist the first is a column of G."""
    c = case(scene, seed, n)
    s, constraints = c.maximal_state, constraint_set(c.model)
    rng = np.random.default_rng(seed)
    twists = rng.normal(size=s.twists.shape)
    rows = constraints.at(s.poses, twists, c.state.q, c.state.v)

    def residual(direction: np.ndarray, h: float) -> np.ndarray:
        return constraints.at(flowed(s, direction, h), twists, c.state.q, c.state.v).residual

    h = 1e-2
    r = {k: residual(twists, k * h) for k in (-3, -2, -1, 0, 1, 2, 3)}
    first = (45 * (r[1] - r[-1]) - 9 * (r[2] - r[-2]) + (r[3] - r[-3])) / (60 * h)
    second = (2 * (r[3] + r[-3]) - 27 * (r[2] + r[-2]) + 270 * (r[1] + r[-1]) - 490 * r[0]) / (180 * h * h)
    assert relative(rows.rate, first) < 1e-8
    assert relative(rows.bias, second) < 1e-7
    zero = np.zeros(c.model.nv)
    assert relative(rows.rows @ lw.Motion(twists, zero), rows.rate) < 1e-13
    touched = sorted(set(rows.rows.body_index.tolist()))
    for body in touched:
        for k in range(6):
            e = np.zeros_like(twists)
            e[body, k] = 1.0
            column = (8 * (residual(e, 1e-3) - residual(e, -1e-3)) - (residual(e, 2e-3) - residual(e, -2e-3))) / 12e-3
            assert np.abs(rows.rows @ lw.Motion(e, zero) - column).max() < 1e-9


@EVERY_CASE
def test_the_library_derives_the_rows_of_the_oracle(seed: int, n: int) -> None:
    """World rows of the oracle on (omega, u) are body rows times the rotations."""
    c = mixed(seed, n)
    b = bodies_at(c.model, c.state.q, c.state.v)
    rows = c.rows
    at = 0
    for element in c.model.elements:
        i, j = (-1 if x == "world" else c.model.body_index(x) for x in element.bodies)
        if isinstance(element, lw.Loop):
            extra = loop_rows(b, i, j, element.point_a, element.point_b)
            gap = point_row(b, i, element.point_a)[0] - point_row(b, j, element.point_b)[0]
        else:
            ball, plane = element.shapes
            extra = contact_row(b, i, j, ball.center, plane.point, plane.normal)
            n_world = plane.normal if j < 0 else b.R[j] @ plane.normal
            d = point_row(b, i, ball.center)[0] - point_row(b, j, plane.point)[0]
            gap = np.array([n_world @ d - ball.radius])
        G = np.zeros((element.size, 6 * c.model.nb))
        for row, body, block in zip(rows.rows.body_row, rows.rows.body_index, rows.rows.body_block, strict=True):
            if at <= row < at + element.size:
                G[row - at, 6 * body : 6 * body + 6] += np.concatenate([b.R[body] @ block[:3], b.R[body] @ block[3:]])
        here = slice(at, at + element.size)
        at += element.size
        assert np.abs(G - extra.J).max() < 1e-12
        assert np.abs(rows.residual[here] - gap).max() < 1e-12
        # The body bias is that of constant body twists; there the origin accelerates by omega x u.
        u_dot = np.hstack([np.zeros_like(b.w), np.cross(b.w, b.u)]).reshape(-1)
        assert np.abs(rows.bias[here] - extra.bias - extra.J @ u_dot).max() < 1e-10


# --- contacts that do not push -------------------------------------------------------------------------------------------
@EVERY_CASE
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_separating_contact_has_no_force(seed: int, n: int, formulation: str) -> None:
    """Touching, but with a velocity that opens the gap."""
    c = touching(seed, n)
    G = np.array([c.rows.rows @ lw.Motion(t, e) for t, e in zip(
        lw.kinematics(c.model, c.state.q, np.eye(c.model.nv)).twists, np.eye(c.model.nv), strict=True)]).T  # fmt: skip
    opening = lw.State(c.state.q, c.state.v + 0.1 * (np.linalg.pinv(G) @ np.ones(1)))
    c = Case(c.model, opening, c.tau, c.external, c.dense, dense_dynamics(c.model, opening, c.tau, c.external))
    assert c.rows.rate[0] > 0.09
    found = c.solved(formulation)
    assert np.array_equal(found.multipliers, [0.0])
    assert relative(found.motion.joints, c.free.v_dot) < TOLERANCE


@EVERY_CASE
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_an_open_contact_has_no_force(seed: int, n: int, formulation: str) -> None:
    c = floating(seed, n)
    assert c.rows.residual[0] == pytest.approx(1e-6, abs=1e-12)
    found = c.solved(formulation)
    assert np.array_equal(found.multipliers, [0.0])
    assert relative(found.motion.joints, c.free.v_dot) < TOLERANCE


@EVERY_CASE
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_contact_that_would_have_to_pull_lets_go(seed: int, n: int, formulation: str) -> None:
    """The same sphere on the other side of the plane: the force is zero and the gap opens."""
    c = touching(seed, n)
    on = c.model.elements[0]
    ball, plane = on.shapes
    point = plane.point + 2 * ball.radius * plane.normal
    flipped = lw.Contact(on.bodies[0], ball, on.bodies[1], lw.Plane(point, -plane.normal))
    c = Case(with_elements(c.model, flipped), c.state, c.tau, c.external, c.dense, c.free)
    found = c.solved(formulation)
    assert abs(c.rows.residual[0]) < 1e-12
    assert np.array_equal(found.multipliers, [0.0])
    assert relative(found.motion.joints, c.free.v_dot) < TOLERANCE
    assert (c.rows.rows @ found.motion + c.rows.bias)[0] > 0


@settings(deadline=None, max_examples=8)
@given(seed=st.integers(0, 2**31 - 1), count=st.integers(1, 8))
@example(seed=1007, count=5)
def test_many_contacts_obey_complementarity(seed: int, count: int) -> None:
    """Force and acceleration of the gap: both non-negative, one of them zero, for spheres on a plane at one height."""
    rng = np.random.default_rng(seed)
    tree = random_tree(seed, 4, ["free", "spherical", "x", "oblique"])
    q = tree.random_configuration(rng)
    v = np.zeros(tree.nv)
    poses = lw.kinematics(tree, q).poses
    elements = []
    for _ in range(count):
        body = int(rng.integers(tree.nb))
        world = np.append(rng.uniform(-1, 1, 2), 0.1)
        center = poses[body, :3, :3].T @ (world - poses[body, :3, 3])
        elements.append(lw.Contact(tree.bodies[body].name, lw.Sphere(0.1, center)))
    model = with_elements(tree, *elements)
    tau, external = random_forces(model, seed)
    c = Case(model, lw.State(q, v), tau, external, *2 * [dense_dynamics(tree, lw.State(q, v), tau, external)])
    rows = c.rows
    assert np.abs(rows.residual).max() < 1e-12
    found = [c.solved(f) for f in FORMULATIONS]
    for x in found:
        gap = rows.rows @ x.motion + rows.bias
        scale, push = np.abs(gap).max() + 1.0, np.abs(x.multipliers).max() + 1.0
        assert np.all(x.multipliers >= 0)
        assert gap.min() > -TOLERANCE * scale
        assert np.abs(gap * x.multipliers).max() < TOLERANCE * scale * push
    scale = 1.0 + np.abs(found[1].motion.bodies).max()  # forces may balance: then both are rounding
    assert np.abs(found[0].motion.bodies - found[1].motion.bodies).max() < TOLERANCE * scale


# --- redundant rows ------------------------------------------------------------------------------------------------------
@EVERY_CASE
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_loop_given_twice_shares_its_force(seed: int, n: int, formulation: str) -> None:
    c = looped(seed, n)
    twice = Case(with_elements(c.model, *c.model.elements, *c.model.elements), c.state, c.tau, c.external, c.dense, c.free)
    found = twice.solved(formulation)
    assert relative(found.motion.joints, c.dense.v_dot) < TOLERANCE
    assert relative(found.motion.bodies, c.dense.twists_dot) < TOLERANCE
    first, second = found.multipliers[:3], found.multipliers[3:]
    assert relative(first + second, c.dense.forces) < TOLERANCE
    assert relative(first, second) < 1e-6


@EVERY_CASE
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_redundant_rows_among_contacts(seed: int, n: int, formulation: str) -> None:
    """A loop and a contact, both given twice: forces are not unique, accelerations are."""
    c = both(seed, n)
    twice = Case(with_elements(c.model, *c.model.elements, *c.model.elements), c.state, c.tau, c.external, c.dense, c.free)
    found = twice.solved(formulation)
    assert relative(found.motion.joints, c.dense.v_dot) < TOLERANCE
    assert relative(found.multipliers[:4] + found.multipliers[4:], c.dense.forces) < TOLERANCE
    assert np.all(found.multipliers[twice.rows.unilateral] >= 0)
