"""Derivatives of steps with friction inside joints against differences of `simulate`: sliding, sticking, every formulation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from derivatives.step_cases import H, close, differences

import linkwork as lw

G = 9.81
LINK = lw.Inertia.cuboid(1.0, (0.05, 0.1, 0.5), (0.02, 0, -0.25))
R = {"radius": 0.05}


def bent() -> lw.Joint:
    return lw.joint(lambda q: lw.SE3(p=(q[0], 0.3 * q[0] * q[0], np.sin(q[0]))) @ lw.SE3.rot_y(q[0]), 1)


KINDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "pin": (lambda: lw.Revolute((0, 1, 0)), R | {"length": 0.1}),
    "ball": (lw.Spherical, R),
    "guide": (lambda: lw.Prismatic((0.8, 0, 0.6)), {"length": 0.3}),
    "universal": (lw.Universal, R),
    "screw": (lambda: lw.Helical((0, 0.6, 0.8), 0.1), R),
    "sleeve": (lambda: lw.Cylindrical((0, 0.6, 0.8)), R),
    "sole": (lw.Planar, {}),
    "bead": (bent, {}),
}
CHAINS = [("pin", "ball", "guide"), ("universal", "bead"), ("screw", "sleeve", "sole")]


def chain(kinds: tuple[str, ...], *laws: Any) -> lw.Model:
    b, parent = lw.ModelBuilder(gravity=(0.3, 0.4, -G)), "world"
    for k, kind in enumerate(kinds):
        make, given = KINDS[kind]
        b.body(kind, parent=parent, joint=make(), placement=lw.SE3(p=(0, 0, -0.5 * (k > 0))), inertia=LINK)
        b.add(lw.JointFriction(kind, 0.3, **given))
        parent = kind
    for law in laws:
        b.add(law)
    return b.build()


def state(m: lw.Model, slides: bool) -> lw.State:
    """Fast, or at rest where the first joints stick."""
    if not slides:
        return lw.State(m.neutral(), np.zeros(m.nv))
    return lw.State(m.random_configuration(3), np.random.default_rng(1).normal(size=m.nv))


@pytest.mark.parametrize("slides", [True, False])
@pytest.mark.parametrize("kinds", CHAINS)
def test_steps_agree_with_differences(kinds: tuple[str, ...], slides: bool) -> None:
    m = chain(kinds)
    s = state(m, slides)
    for method in ("reduced", "redmax"):
        A, B = lw.step_derivatives(m, s, H, method=method)
        assert close(np.concatenate([A, B], axis=1), differences(m, s.q, s.v, method=method))


def test_a_pin_that_sticks_passes_nothing_on() -> None:
    m = chain(("pin",))
    s = lw.State([0.05], [0.0])
    assert np.abs(lw.simulate(m, s, H, H).v[-1]).max() < 1e-15
    A, B = lw.step_derivatives(m, s, H)
    assert np.abs(A - [[1.0, 0.0], [0.0, 0.0]]).max() < 1e-12
    assert np.abs(B).max() < 1e-12


def test_a_ball_that_slides_turns_its_friction() -> None:
    """Across the slip w the velocity after a step changes by 1 - h mu r m g / (I |w|) of a change, along it by 1."""
    b = lw.ModelBuilder(gravity=(0, 0, -G))
    b.body("ball", joint=lw.Spherical(), inertia=lw.Inertia(2.0, tensor=0.3 * np.eye(3)))
    m = b.add(lw.JointFriction("ball", 0.2, radius=0.05)).build()
    A, _ = lw.step_derivatives(m, lw.State(m.neutral(), [0.0, 0.0, 0.5]), H)
    across = 1.0 - H * 0.2 * 0.05 * 2.0 * G / (0.3 * 0.5)
    assert np.allclose(np.diag(A[3:, 3:]), [across, across, 1.0], atol=1e-12)


@pytest.mark.parametrize("method", ["maximal", "maximal-implicit"])
@pytest.mark.parametrize("kinds", CHAINS[:2])
def test_in_maximal_coordinates_forces_of_joints_agree_with_differences(kinds: tuple[str, ...], method: str) -> None:
    m = chain(kinds)
    s = state(m, True)
    _, B = lw.step_derivatives(m, s, H, method=method)
    e = 1e-5
    ends = [
        lw.simulate(m, s, H, H, method, tau=t).arrays["twists"][-1].reshape(-1)
        for t in (*(e * np.eye(m.nv)), *(-e * np.eye(m.nv)))
    ]
    found = (np.array(ends[: m.nv]) - np.array(ends[m.nv :])).T / (2 * e)
    assert np.abs(B[6 * m.nb :] - found).max() < 1e-6 * np.abs(found).max() + 1e-9


def test_gradients_numbers_and_several_steps() -> None:
    m = chain(CHAINS[0], lw.JointSpring("pin", 30.0, damping=0.2, name="spring"))
    s = state(m, True)
    A, B = lw.step_derivatives(m, s, H, steps=3)
    whole = differences(m, s.q, s.v, steps=3)
    assert close(np.concatenate([A, B], axis=1), whole)
    weights = np.linspace(1.0, 2.0, m.nv)
    found = lw.step_gradient(m, s, H, weights, -weights, steps=3)
    both = np.concatenate([weights, -weights])
    assert np.allclose(np.concatenate([found.q, found.v, found.tau]), both @ np.concatenate([A, B], axis=1), atol=1e-9)
    D = lw.step_parameter_derivatives(m, s, H, {"ball": ["mass"], "spring": ["stiffness"]})
    for k, (name, what, x) in enumerate((("ball", "mass", 1.0), ("spring", "stiffness", 30.0))):
        e = 1e-5 * x
        ahead, behind = (lw.simulate(m.with_parameters({name: {what: x + d}}), s, H, H).v[-1] for d in (e, -e))
        assert np.allclose(D[m.nv :, k], (ahead - behind) / (2 * e), atol=1e-7)


def test_beside_a_floor() -> None:
    """A wheel on a sled that slides on the floor: friction of the contact presses the pin, in one derivative."""
    b = lw.ModelBuilder(gravity=(0.0, 0.0, -G))
    b.body("sled", joint=lw.Translational(), inertia=lw.Inertia(3.0, tensor=np.eye(3)))
    b.body("wheel", parent="sled", joint=lw.Spherical(), inertia=lw.Inertia(2.0, (0.01, 0, 0), 0.3 * np.eye(3)))
    b.add(lw.Contact("sled", lw.Sphere(radius=0.1), shape_b=lw.Plane(normal=(0, 0, 1), point=(0, 0, -0.1)), friction=0.4))
    m = b.add(lw.JointFriction("wheel", 0.2, radius=0.05)).build()
    q = np.concatenate([[0.0, 0.0, -1e-4], m.neutral()[3:]])
    v = np.array([1.0, 0.3, -0.01, 5.0, -1.0, 2.0])
    A, B = lw.step_derivatives(m, lw.State(q, v), H)
    assert close(np.concatenate([A, B], axis=1), differences(m, q, v))
