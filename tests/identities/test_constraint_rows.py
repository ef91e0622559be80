"""Rows, rates and biases of every kind of constraint against finite differences of its residual on SE(3) and in time."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from models import relative
from scipy.linalg import expm

import linkwork as lw
from linkwork.constraints import ALL_CONSTRAINTS
from linkwork.constraints.rows import ConstraintRows, constraint_set
from linkwork.elements.rows import constrain, row_fields
from linkwork.kernel import eager

TIME = 0.7
HELIX = lw.Curve(lambda u, r: [r * np.cos(u), r * np.sin(u), 0.1 * u], domain=(-6, 6), parameters={"r": 0.7})
HILLS = lw.ParametricSurface(
    lambda u, depth: [u[0], u[1], depth * np.sin(2 * u[0]) * np.cos(u[1])], ((-2, 2), (-2, 2)), {"depth": 0.2}
)
ROUND = lw.Curve(lambda u, r: [r * np.cos(u), r * np.sin(u), 0.0 * u], domain=(0.0, 2 * np.pi), parameters={"r": 0.7})
OVAL = lw.Curve(lambda u: [0.2 * np.cos(u), 0.4 * np.sin(u), 0.0 * u], domain=(0.0, 2 * np.pi))
POINT = np.array([0.1, 0.2, 0.3])


def swinging(E: list[lw.SE3], t: Any, k: Any) -> list[Any]:
    """Of three bodies and time, through all that a pose offers."""
    return [lw.math.norm(E[0].p - E[1].p) - np.sin(k * t), E[0].log()[1] * E[2].R[0, 1] + t * t * (E[1].inverse() @ POINT)[0]]


def rolling(E: list[lw.SE3], phi: list[np.ndarray], t: Any) -> Any:
    return E[0].R @ phi[0][3:] * E[1].p[0] - E[1].rotate(phi[1][:3]) * np.cos(t) + np.sin(3 * t)


KINDS: dict[str, lw.Constraint] = {
    "loop": lw.Loop("a", "b", POINT, (0.3, -0.1, 0.2)),
    "closure": lw.Closure(lw.Revolute((0, 0.6, 0.8)), "a", "b", lw.SE3(p=POINT)),
    "three bodies and time": lw.constraint(["a", "b", "c"], swinging, parameters={"k": 2.0}),
    "one body": lw.constraint("a", lambda E: E[0].p[2] * E[0].p[0]),
    "rate": lw.constraint(["a", "b"], rate=rolling),
    "gear": lw.Gear("a", "b", -2.0, carrier="c", axis_a=(0.6, 0, 0.8)),
    "curve": lw.PointOnCurve("a", POINT, HELIX, "b"),
    "implicit surface": lw.PointOnSurface("a", POINT, lw.torus(1.0, 0.3), "b"),
    "parametric surface": lw.PointOnSurface("a", POINT, HILLS),
    "tangent curves": lw.TangentCurves("a", ROUND, OVAL, "b"),
    "tangent surfaces": lw.TangentSurfaces("a", lw.ellipsoid((0.5, 0.4, 0.3)), lw.Plane((0, 0, 0.2), (0.6, 0, 0.8)), "b"),
}
EVERY_KIND = pytest.mark.parametrize("kind", KINDS)


def test_every_constraint_between_bodies_is_here() -> None:
    assert {type(c) for c in KINDS.values()} == set(ALL_CONSTRAINTS.values())


@cache
def model(kind: str) -> lw.Model:
    b = lw.ModelBuilder()
    for name in "abc":
        b.body(name, joint=lw.Free(), inertia=lw.Inertia(1.0, tensor=np.eye(3)))
    return b.add(KINDS[kind]).build()


@cache
def place(kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Poses near where the constraint holds, and twists."""
    rng = np.random.default_rng(3)
    poses = np.array([lw.SE3.exp(0.6 * rng.normal(size=6)).matrix for _ in range(3)], float)
    near = {"curve": [0.65, 0.1, 0.0], "tangent surfaces": [-0.3, 0.1, 0.9]}
    if kind in near:  # where the point, or the centre, lies in b
        target = (poses[1] @ [*near[kind], 1.0])[:3]
        poses[0, :3, 3] = target - (poses[0, :3, :3] @ POINT if kind == "curve" else 0.0)
    if kind == "tangent curves":
        poses[0] = poses[1] @ lw.SE3(p=[1.0, 0.3, 0.0]).matrix @ lw.SE3.exp(0.1 * rng.normal(size=6)).matrix
    if kind == "parametric surface":
        poses[0, :3, 3] = [0.3, 0.2, 0.1]
    return poses, rng.normal(size=(3, 6))


def flowed(poses: np.ndarray, twists: np.ndarray, h: float) -> np.ndarray:
    """Poses after moving for h with constant body twists."""
    X = np.zeros((len(twists), 4, 4))
    w = twists[:, :3]
    X[:, 0, 1], X[:, 1, 2], X[:, 2, 0] = -w[:, 2], -w[:, 0], -w[:, 1]
    X[:, 1, 0], X[:, 2, 1], X[:, 0, 2] = w[:, 2], w[:, 0], w[:, 1]
    X[:, :3, 3] = twists[:, 3:]
    return np.array([E @ expm(h * x) for E, x in zip(poses, X, strict=True)])


def rows_at(m: lw.Model, poses: np.ndarray, twists: np.ndarray, t: float = TIME) -> ConstraintRows:
    return constraint_set(m).at(poses, twists, np.zeros(m.nq), np.zeros(m.nv), t)


def first_derivative(f: Any, h: float) -> np.ndarray:
    return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h)


@EVERY_KIND
def test_columns(kind: str) -> None:
    """G by moving each body a little; of a rate, by adding to its twist."""
    m, (poses, twists) = model(kind), place(kind)
    rows = rows_at(m, poses, twists)
    for body in range(len(KINDS[kind].bodies)):
        for k in range(6):
            e = np.zeros((3, 6))
            e[body, k] = 1.0
            if KINDS[kind].holonomic:
                column = first_derivative(lambda h, e=e: rows_at(m, flowed(poses, e, h), twists).residual, 2e-3)
            else:
                column = rows_at(m, poses, twists + e).rate - rows.rate
            assert np.abs(rows.rows @ lw.Motion(e, np.zeros(m.nv)) - column).max() < 1e-9


@EVERY_KIND
def test_rate_bias_and_what_is_given(kind: str) -> None:
    """Along constant twists, while time passes: the derivative of the residual is the rate, that of the rate the bias."""
    m, (poses, twists) = model(kind), place(kind)

    def later(h: float) -> ConstraintRows:
        return rows_at(m, flowed(poses, twists, h), twists, TIME + h)

    rows = later(0.0)
    if KINDS[kind].holonomic:
        assert relative(first_derivative(lambda h: later(h).residual, 2e-3), rows.rate) < 1e-8
        still = first_derivative(lambda h: rows_at(m, poses, twists, TIME + h).residual, 2e-3)
        assert np.abs(rows.given + still).max() < 1e-9
    else:
        assert not rows.residual.any()
        assert np.abs(rows.given + rows_at(m, poses, 0 * twists).rate).max() < 1e-14
    assert np.abs(rows.rows @ lw.Motion(twists, np.zeros(m.nv)) - rows.given - rows.rate).max() < 1e-13
    assert np.abs(first_derivative(lambda h: later(h).rate, 2e-3) - rows.bias).max() < 1e-7 * (1 + np.abs(rows.bias).max())
    assert np.abs(rows.bias).max() > 1e-3


@EVERY_KIND
def test_rules_run_as_they_stand_and_compiled(kind: str) -> None:
    m, (poses, twists) = model(kind), place(kind)
    rules = constraint_set(m).evaluation
    assert rules is not None
    inputs, algorithm = rules.inputs(poses, twists, np.zeros(m.nq), np.zeros(m.nv), TIME), rules.algorithm(constrain, row_fields)
    found = eager.run(algorithm, rules.tree, {name: inputs[name] for name in algorithm.of_kind("input")})
    rows = rows_at(m, poses, twists)
    for name in ("residual", "rate", "bias", "given"):
        assert np.abs(np.asarray(found[name], float) - getattr(rows, name)).max() < 1e-12 * (1 + np.abs(found[name]).max())
