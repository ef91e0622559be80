"""Constraints of users: what they are handed, what they share, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.constraints.rows import constraint_set
from linkwork.elements.collection import collection

BALL = lw.Inertia(1.0, tensor=0.1 * np.eye(3))


def two(*elements: Any) -> lw.Model:
    b = lw.ModelBuilder()
    b.body("a", joint=lw.Translational(), inertia=BALL).body("b", joint=lw.SphericalExp(), inertia=BALL)
    b.body("c", joint=lw.Fixed(), inertia=BALL)
    for e in elements:
        b.add(e)
    return b.build()


def height(E: list[lw.SE3], h: Any = 0.0) -> Any:
    return E[0].p[2] - h


def test_constraints_that_differ_in_numbers_share_a_kernel() -> None:
    rods = [lw.constraint("a", height, parameters={"h": x}) for x in (0.1, 0.2)]
    again = lw.constraint("a", lambda E, h: E[0].p[2] - h, parameters={"h": 0.3})
    other = lw.constraint("a", lambda E, h: E[0].p[1] - h, parameters={"h": 0.3})
    classes = collection(two(*rods, again, other)).tree.of("constraint").classes
    assert classes[0] is classes[1]
    assert classes[0] is classes[2]
    assert classes[0] is not classes[3]


def test_sizes_and_marks() -> None:
    many = lw.constraint("a", lambda E: E[0].p, name="pin")
    assert (many.size, many.holonomic, many.timed, many.unilateral) == (3, True, False, False)
    slow = lw.constraint("a", rate=lambda E, phi, t: [phi[0][3] - t], unilateral=True)
    assert (slow.size, slow.holonomic, slow.timed, slow.unilateral) == (1, False, True, True)
    assert repr(many) == "constraint('a', name='pin')"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: lw.constraint("a"), "give residual or rate, a function"),
        (lambda: lw.constraint("a", height, rate=height), "give residual or rate, not both"),
        (lambda: lw.constraint([], height), "needs the name of a body"),
        (lambda: lw.constraint("a", 3.0), "residual must be a function, not float"),
        (lambda: lw.constraint("a", lambda E: E[1].p), "residual failed: IndexError"),
        (lambda: lw.constraint("a", lambda E: [np.nan]), "must return finite numbers in one row"),
        (lambda: lw.constraint("a", height, parameters={"k": 1.0}), "no function has an argument for the parameter 'k'"),
        (lambda: lw.constraint("a", height, parameters={"h": np.inf}), "parameter 'h' must be finite"),
        (lambda: lw.constraint("a", lambda E, t: t, parameters={"t": 1.0}), "'t' cannot be a parameter: it is the time"),
        (lambda: lw.constraint("a", rate=lambda E, phi: phi[0][0] ** 2), "rate must be affine in the velocities"),
        (lambda: lw.constraint("a", height, unilateral=1), "unilateral must be True or False"),
        (lambda: two(lw.constraint(["a", "z"], height)), "there is no body 'z'"),
        (lambda: two(lw.constraint(["a", "a"], height)), "it connects 'a' with itself"),
        (lambda: two(lw.constraint("world", height)), "it holds no body of the model"),
        (lambda: lw.joint_constraint("a", lambda q: q, size=0), "size must be an integer from 1"),
        (lambda: two(lw.joint_constraint("a", lambda q: q)), "it returned 3 numbers, not size = 1"),
        (lambda: two(lw.joint_constraint("z", lambda q: q[0])), "there is no joint 'z'"),
        (lambda: two(lw.joint_constraint("b", lambda q: q[0])), "change their chart; constrain the pose of its body"),
        (lambda: two(lw.joint_constraint("c", lambda q: q[0])), "joint 'c' is fixed"),
        (lambda: two(lw.joint_constraint(["a", "a"], lambda q: q[0])), "it names a joint twice"),
        (lambda: lw.Gear("a", "b", np.inf), "the ratio inf must be finite"),
        (lambda: lw.Gear("a", "b", 1.0, axis_a=(0, 0, 2)), "axis_a .* has length 2; give a unit vector"),
        (lambda: lw.PointOnCurve("a", (0, 0, 0), lw.Sphere(1.0)), "a Curve is needed"),
        (lambda: lw.PointOnSurface("a", (0, 0), lw.Sphere(1.0)), "point must be three finite numbers"),
        (lambda: lw.PointOnSurface("a", (0, 0, 0), "ball"), "a surface is needed"),
    ],
)
def test_refused(make: Any, message: str) -> None:
    with pytest.raises(lw.ModelError, match=message):
        make()


class Rod(lw.Constraint):
    """Two origins keep a distance that grows with time."""

    size = 1
    timed = True
    parameter_names = ("length",)

    def __init__(self, body_a: str, body_b: str, length: float) -> None:
        self.bodies, self.length = (body_a, body_b), length

    def gap(self, poses: Any, t: Any, u: Any) -> Any:
        return lw.math.stack(lw.math.norm(poses[0].p - poses[1].p) - self.length - 0.1 * t)


class Belt(lw.JointConstraint):
    """Speeds of two coordinates of a joint are in a ratio."""

    size = 1
    holonomic = False
    parameter_names = ("ratio",)

    def __init__(self, joint: str, ratio: float) -> None:
        self.joints, self.ratio = (joint,), ratio

    def slip(self, q: Any, v: Any, t: Any) -> Any:
        return lw.math.stack(v[1] - self.ratio * v[0])


def test_classes_of_users() -> None:
    """They are told apart by what they compute, and agree with functions that say the same."""
    rod = lw.constraint(["a", "b"], lambda E, t, l: lw.math.norm(E[0].p - E[1].p) - l - 0.1 * t, parameters={"l": 0.7})
    belt = lw.joint_constraint("a", rate=lambda q, v: v[1] - 2.0 * v[0])
    own, given = two(Rod("a", "b", 0.7), Belt("a", 2.0)), two(rod, belt)
    q, v = np.array([0.3, 0.4, 0.5, 0.1, 0.2, 0.3]), np.linspace(-1, 1, 6)
    k = lw.kinematics(own, q, v)
    one, other = (constraint_set(m).at(k.poses, k.twists, q, v, 2.0) for m in (own, given))
    for name in ("residual", "rate", "bias", "given"):
        assert np.abs(getattr(one, name) - getattr(other, name)).max() < 1e-14
    assert np.abs(one.residual[0] - (np.sqrt(0.5) - 0.9)) < 1e-14
    assert one.given[0] == pytest.approx(0.1)
    assert Rod("a", "b", 0.7).signature == Rod("b", "a", 0.5).signature
    with pytest.raises(lw.InputError, match=r"Rod\('a', 'b'\) moves with time"):
        constraint_set(own).at(k.poses, k.twists, q, v)


@pytest.mark.parametrize("method", ["reduced", "maximal"])
def test_a_distance_of_zero_has_no_slope(method: str) -> None:
    """LAPACK said that a decomposition did not converge."""
    b = lw.ModelBuilder(gravity=(0, 0, 0))
    for name in ("a", "b"):
        b.body(name, joint=lw.Translational(), inertia=lw.Inertia(1.0, tensor=np.eye(3)))
    model = b.add(lw.constraint(["a", "b"], lambda E: lw.math.norm(E[0].p - E[1].p), name="rod")).build()
    said = r"the slope of constraint\('a', 'b', name='rod'\)"
    with np.errstate(all="ignore"), pytest.raises(lw.SolverError, match=said):
        lw.simulate(model, lw.State(np.zeros(6), np.zeros(6)), 0.1, method=method)
    with np.errstate(all="ignore"), pytest.raises(lw.SolverError, match=said):
        lw.constraint_report(model, np.zeros(6))


def test_a_run_that_breaks_down_names_the_law() -> None:
    """Energies and residuals without a slope where the run begins."""
    b = lw.ModelBuilder(gravity=(0, 0, 0))
    for name in ("a", "b"):
        b.body(name, joint=lw.Translational(), inertia=lw.Inertia(1.0, tensor=np.eye(3)))
    model, still = b.build(), lw.State(np.zeros(6), np.zeros(6))
    pull = lw.force(["a", "b"], energy=lambda E: lw.math.norm(E[0].p - E[1].p), name="pull")
    rod = lw.constraint(["a", "b"], lambda E: lw.math.norm(E[0].p - E[1].p), name="rod")
    brake = lw.joint_force("a", force=lambda q, v: [-v[0] / lw.math.norm(v), 0.0, 0.0], name="brake")
    for law in (pull, rod, brake):
        with pytest.raises(lw.SolverError, match=r"what .*" + law.name + r".* computes is not finite at t = 0"):
            lw.simulate(model.add(lw.PointSpring("a", stiffness=1.0), law), still, 0.1, open_loops="allow")
