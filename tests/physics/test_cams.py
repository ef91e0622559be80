"""Curves that touch in a plane: cams with flat and round followers against closed forms, in every formulation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import linkwork as lw
from linkwork.constraints.rows import constraint_set

E, R, ROLLER = 0.1, 0.3, 0.12
I_CAM, M = 0.08, 0.7
ROUND = (0.0, 2 * np.pi)


def circle(u: Any, r: float, c: float) -> list[Any]:
    return [c + r * np.cos(u), 0.0 * u, r * np.sin(u)]


def disc(r: float, c: float = 0.0) -> lw.Curve:
    return lw.Curve(circle, ROUND, {"r": r, "c": c})


FLAT = lw.Curve(lambda u: [u, 0.0 * u, 0.0 * u], (-1.0, 1.0))


def cam(follower: lw.Curve, **more: Any) -> lw.Model:
    """An eccentric disc that turns about y, and a follower above it that moves along z."""
    b = lw.ModelBuilder()
    b.body("cam", joint=lw.Revolute((0, 1, 0)), inertia=lw.Inertia(1.0, tensor=I_CAM * np.eye(3)))
    b.body("follower", joint=lw.Prismatic((0, 0, 1)), inertia=lw.Inertia(M, tensor=0.01 * np.eye(3)))
    return b.build().add(lw.TangentCurves("cam", disc(R, E), follower, "follower", **more))


def lift(angle: Any, roller: float | None) -> Any:
    """Of the flat follower R - e sin q, e (1 - cos) from its lowest point; of a roller by the triangle of the centres."""
    if roller is None:
        return R - E * np.sin(angle)
    return -E * np.sin(angle) + np.sqrt((R + roller) ** 2 - (E * np.cos(angle)) ** 2)


def distance(model: lw.Model, q: Any) -> float:
    still = lw.kinematics(model, np.asarray(q, float), np.zeros(2))
    return float(constraint_set(model).at(still.poses, still.twists, q, np.zeros(2), 0.0).residual[0])


FOLLOWERS = {"flat": (FLAT, None), "roller": (disc(ROLLER), ROLLER)}


@pytest.mark.parametrize("kind", FOLLOWERS)
def test_lift(kind: str) -> None:
    """All round, from a follower that is 0.05 m too high."""
    curve, roller = FOLLOWERS[kind]
    model, angles = cam(curve), np.linspace(-3.0, 6.0, 19)
    law = model.elements[0]
    q = np.stack([angles, lift(angles, roller) + 0.05], axis=1)
    for state in q:
        assert distance(model, state - [0.0, 0.05]) == pytest.approx(0.0, abs=1e-12)
        assert 0.03 < distance(model, state) < 0.05 + 1e-12
        closed = lw.assemble(model, lw.State(state, np.zeros(2))).q
        assert closed[1] == pytest.approx(lift(closed[0], roller), abs=1e-9)
    assert law.size == 1


@pytest.mark.parametrize("method", ["reduced", "maximal"])
@pytest.mark.parametrize("kind", FOLLOWERS)
def test_motion(kind: str, method: str) -> None:
    """Of one freedom, z = f(q): (I + m f'^2) q'' + m f' f'' q'^2 + m g f' = 0; the cam's own weight is on its axis."""
    curve, roller = FOLLOWERS[kind]
    model, h = cam(curve), 1e-5

    def slopes(q: float) -> tuple[float, float]:
        ahead, here, behind = (lift(q + s * h, roller) for s in (1, 0, -1))
        return (ahead - behind) / (2 * h), (ahead - 2 * here + behind) / h**2

    def rates(t: float, x: np.ndarray) -> list[float]:
        f1, f2 = slopes(x[0])
        return [x[1], -(M * f1 * f2 * x[1] ** 2 + M * 9.81 * f1) / (I_CAM + M * f1**2)]

    q0, v0, T = 0.4, 5.0, 1.0
    exact = solve_ivp(rates, (0.0, T), [q0, v0], rtol=1e-9, atol=1e-9).y[:, -1]
    start = lw.State([q0, lift(q0, roller)], [v0, slopes(q0)[0] * v0])
    if method == "maximal":
        run = lw.simulate(model, start, T, 2.5e-4, method="maximal", every=100)
        assert run.q[-1][0] == pytest.approx(exact[0], abs=2e-2)
        return
    run = lw.simulate(model, start, T, 1e-3, stepper="rk4", every=10)
    assert run.q[-1][0] == pytest.approx(exact[0], abs=1e-6)
    assert np.abs(run.q[:, 1] - lift(run.q[:, 0], roller)).max() < 1e-7
    turned = np.ptp(run.q[:, 0])
    assert turned > 4.0


def test_a_follower_that_leaves_its_cam() -> None:
    """Only pushed: a fast cam throws it, and it lands again; it never goes through."""
    model = cam(disc(ROLLER), unilateral=True)
    motor = lw.PrescribedJoint("cam", lambda t: (15.0 * t, 15.0, 0.0))
    run = lw.simulate(model.add(motor), lw.State([0.0, lift(0.0, ROLLER)], [15.0, 0.0]), 1.0, 5e-4)
    gap = run.q[:, 1] - lift(run.q[:, 0], ROLLER)
    assert gap.max() > 0.01
    assert gap.min() > -1e-3


def test_within() -> None:
    """A disc in a ring hangs below its middle by the difference of the radii."""
    b = lw.ModelBuilder()
    b.body(
        "disc",
        joint=lw.Composite(lw.Planar(), lw.Revolute((0, 0, 1))),
        placement=lw.SE3.rot_x(np.pi / 2),
        inertia=lw.Inertia(1.0, tensor=np.eye(3)),
    )
    ring = lw.Curve(lambda u: [0.5 * np.cos(u), 0.5 * np.sin(u), 0.0 * u], ROUND)
    round_disc = lw.Curve(lambda u: [0.2 * np.cos(u), 0.2 * np.sin(u), 0.0 * u], ROUND)
    wheel = b.body("wheel", joint=lw.Fixed(), placement=lw.SE3.rot_x(np.pi / 2), inertia=lw.Inertia(1.0)).build()
    model = wheel.add(lw.TangentCurves("wheel", ring, round_disc, "disc", side="inside", unilateral=True))
    run = lw.simulate(model, lw.State([0.29, 0.02, 0.0], np.zeros(3)), 0.5, 1e-3)
    assert np.linalg.norm(run.q[:, :2], axis=1).max() < 0.3 + 1e-3
    assert np.ptp(run.q[:, 1]) > 0.1


def test_what_is_refused() -> None:
    line = lw.Curve(lambda u: [u, 0.0 * u, 1.0 + 0.0 * u], (-1.0, 1.0))
    helix = lw.Curve(lambda u: [np.cos(u), np.sin(u), 0.1 * u], ROUND)
    cases: list[tuple[tuple[Any, Any], dict[str, Any], str]] = [
        ((FLAT, line), {}, "touch along a line and not at a point"),
        ((FLAT, disc(R)), {}, "give normal="),
        ((helix, disc(R)), {}, "curve_a is .* m off the plane"),
        ((disc(R), helix), {}, "curve_b is .* m off the plane"),
        ((disc(R), lw.Sphere(R)), {}, "a Curve is needed"),
        ((disc(R), FLAT), {"side": "left"}, "side must be"),
        ((disc(R), FLAT), {"normal": (0, 0, 0)}, "normal must be a direction"),
    ]
    for curves, more, told in cases:
        with pytest.raises(lw.ModelError, match=told):
            lw.TangentCurves("cam", *curves, "follower", **more)
    flipped = lw.TangentCurves("follower", FLAT, disc(R, E), "cam", normal=(0, -1, 0))
    model = cam(FLAT).replace(elements=[flipped])
    assert distance(model, np.array([0.7, lift(0.7, None)])) == pytest.approx(0.0, abs=1e-12)
    assert distance(model, np.array([0.7, lift(0.7, None) + 0.02])) > 0.01
