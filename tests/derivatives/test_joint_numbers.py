"""Derivatives by numbers of joints (axes, pitches, poses, frames and values of splines, parameters of users) and of laws and
bodies beside them, against differences of models that are made with other numbers."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import linkwork as lw
from linkwork.model.quantities import Quantity, quantity_of

ROD = lw.Inertia.cuboid(1.0, (0.3, 0.1, 0.05), com=(0.15, 0.02, 0.01))
H = 1e-2
LINKS = [(-0.012, 0.020), (0.008, 0.010)], [(0.014, -0.010), (-0.018, -0.014)]


class Sliding(lw.Joint):
    """A class of a user: along a direction that need not be a unit vector."""

    nq = nv = 1
    parameter_names = ("way",)

    def __init__(self, way: tuple[float, float, float]) -> None:
        self.way = np.array(way)

    def transform(self, q: np.ndarray) -> lw.SE3:
        return lw.SE3.rot_x(0.3 * q[0]) @ lw.SE3(p=self.way * q[0])


def curve(cyclic: bool = False) -> lw.SplineCurve:
    turns = 2 * np.pi / 6 if cyclic else 0.2
    frames = [lw.SE3.rot_y(turns * k) @ lw.SE3(p=(0.3 + 0.02 * k, 0.02 * np.cos(k), 0.05 * np.sin(k))) for k in range(6)]
    return lw.SplineCurve(frames, cyclic, "catmull-rom" if cyclic else "bspline")


def surface() -> lw.SplineSurface:
    values = np.zeros((6, 4, 4))
    x, y = np.meshgrid(np.arange(4.0), np.arange(4.0), indexing="ij")
    values[0], values[1], values[2], values[3], values[4] = 0.2 * x, 0.2 * y, 0.05 * np.sin(x + y), 0.1 * x, 0.1 * y
    return lw.SplineSurface(values)


def winding(q: np.ndarray, a: float) -> lw.SE3:
    return lw.SE3.rot_z(q[0]) @ lw.SE3(p=(a * np.sin(q[0]), 0.0, 0.1 * q[0]))


MADE = {
    "revolute": lambda: lw.Revolute(np.array([0.0, 0.6, 0.8])),
    "prismatic": lambda: lw.Prismatic((1, 0, 0)),
    "cylindrical": lambda: lw.Cylindrical(np.array([0.6, 0.0, 0.8])),
    "helical": lambda: lw.Helical((0, 0, 1), 0.05),
    "user": lambda: lw.joint(winding, 1, "winding", parameters={"a": 0.7}),
    "class": lambda: Sliding((0.2, 0.1, 0.0)),
    "four bars": lambda: lw.FourBar(*LINKS),
    "composite": lambda: lw.Composite(lw.Revolute((0, 1, 0)), lw.Prismatic((1, 0, 0)), lw.SE3(p=(0, 0.1, 0))),
    "curve": curve,
    "closed curve": lambda: curve(True),
    "surface": surface,
}
NUMBERS = {
    "revolute": ["axis", "placement"],
    "prismatic": ["axis"],
    "cylindrical": ["axis"],
    "helical": ["axis", "pitch"],
    "user": ["a"],
    "class": ["way"],
    "four bars": ["parent", "child"],
    "composite": ["first_axis", "second_axis", "between"],
    "curve": ["frames"],
    "closed curve": ["frames"],
    "surface": ["values"],
}


@cache
def leg(kind: str) -> lw.Model:
    b = lw.ModelBuilder()
    b.body("thigh", joint=lw.Revolute((0, 0, 1)), inertia=ROD)
    b.body(
        "shank", parent="thigh", joint=MADE[kind](), joint_name="knee", placement=lw.SE3(p=(0.3, 0, 0)), inertia=ROD, damping=0.1
    )
    b.body("foot", parent="shank", joint=lw.Revolute((1, 0, 0)), placement=lw.SE3(p=(0.1, 0, 0.1)), inertia=ROD)
    return b.build().add(lw.JointSpring("foot", 5.0, name="spring"))


def there(model: lw.Model) -> tuple[lw.State, np.ndarray]:
    q, rng = model.neutral(), np.random.default_rng(0)
    q[0], q[-1] = 0.2, 0.4
    q[1:-1] += 0.05 if isinstance(model.bodies[1].joint, lw.FourBar) else 0.3
    return lw.State(q=q, v=0.3 * rng.normal(size=model.nv)), 0.1 * rng.normal(size=model.nv)


def both_sides(model: lw.Model, x: Quantity, k: int, h: float = 1e-5) -> list[lw.Model]:
    return [model.with_parameters({x.name: {x.what: x.moved(k, s * h)}}) for s in (1.0, -1.0)]


@pytest.mark.parametrize("kind", MADE)
def test_accelerations(kind: str) -> None:
    model = leg(kind)
    state, tau = there(model)
    q, v = state.q, state.v
    for what in NUMBERS[kind]:
        x = quantity_of(model, "knee", what)
        found = lw.parameter_derivatives(model, q, v, {"knee": [what]}, tau)
        assert found.shape == (model.nv, x.size)
        for k in range(0, x.size, 1 if x.size < 40 else 5):
            ends = [lw.forward_dynamics(m, q, v, tau) for m in both_sides(model, x, k)]
            assert found[:, k] == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("stepper", ["rk4", "symplectic_euler"])
@pytest.mark.parametrize("kind", ["revolute", "user", "curve"])
def test_steps_and_their_gradients(kind: str, stepper: str) -> None:
    """Numbers of bodies and laws beside splines, too."""
    model = leg(kind)
    state, tau = there(model)
    asked = {"spring": ["stiffness"], "foot": ["mass", "com"], "knee": NUMBERS[kind]}
    found = lw.step_parameter_derivatives(model, state, H, asked, tau, stepper=stepper, steps=3)
    column = 0
    for name, whats in asked.items():
        for x in (quantity_of(model, name, what) for what in whats):
            for k in range(0, x.size, 1 if x.size < 10 else 7):
                runs = [lw.simulate(m, state, 3 * H, H, tau=tau, stepper=stepper) for m in both_sides(model, x, k)]
                moved = np.concatenate([model.difference(runs[1].q[-1], runs[0].q[-1]), runs[0].v[-1] - runs[1].v[-1]])
                assert found[:, column + k] == pytest.approx(moved / 2e-5, rel=1e-6, abs=1e-6)
            column += x.size
    dq, dv = np.arange(1.0, model.nv + 1), np.ones(model.nv)
    back = lw.step_gradient(model, state, H, dq, dv, tau, stepper=stepper, steps=3, parameters=asked)
    assert back.parameters == pytest.approx(np.concatenate([dq, dv]) @ found, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("kind", ["revolute", "curve"])
def test_gradients_of_accelerations(kind: str) -> None:
    """An axis with entries that are 0: products with them vanish, and their derivatives do not."""
    model = leg(kind)
    state, tau = there(model)
    asked = {"foot": ["mass"], "knee": ["axis"]} if kind == "revolute" else {"foot": ["mass", "placement"]}
    weights = np.arange(1.0, model.nv + 1)
    found = lw.forward_dynamics_gradient(model, state.q, state.v, weights, tau, parameters=asked)
    assert found.parameters == pytest.approx(weights @ lw.parameter_derivatives(model, state.q, state.v, asked, tau), rel=1e-10)


def test_tables_have_no_weights_in_dynamics() -> None:
    model = leg("curve")
    state, tau = there(model)
    with pytest.raises(lw.InputError, match="take parameter_derivatives"):
        lw.forward_dynamics_gradient(model, state.q, state.v, np.ones(model.nv), tau, parameters={"knee": ["frames"]})


@pytest.mark.parametrize("knots", [None, np.linspace(-0.5, 1.5, 6)])
def test_tables_of_laws(knots: np.ndarray | None) -> None:
    table = lw.Table(np.linspace(0.0, 3.0, 7) ** 2, knots=knots)

    def force(q: np.ndarray, v: np.ndarray, curve: lw.Table, k: float) -> list[float]:
        return [-k * q[0] * (curve[3.0 + q[0]] if knots is None else curve.at(q[0]))]

    law = lw.joint_force("thigh", force=force, parameters={"curve": table, "k": 2.0}, name="law")
    model = leg("revolute").add(law)
    state, tau = there(model)
    found = lw.parameter_derivatives(model, state.q, state.v, {"law": ["curve", "k"]}, tau)
    assert np.abs(found[:, :-1]).max() > 0.1
    for k in range(7):
        ends = [lw.forward_dynamics(m, state.q, state.v, tau) for m in both_sides(model, quantity_of(model, "law", "curve"), k)]
        assert found[:, k] == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-6, abs=1e-6)


# --- by name ------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", MADE)
def test_a_variant_is_what_is_made_anew(kind: str) -> None:
    model = leg(kind)
    for what in NUMBERS[kind]:
        x = quantity_of(model, "knee", what)
        same = model.with_parameters({"knee": {what: x.value}})
        state, tau = there(model)
        first, again = (lw.forward_dynamics(m, state.q, state.v, tau) for m in (model, same))
        assert np.array_equal(first, again)
        moved = quantity_of(both_sides(model, x, 0, 1e-3)[0], "knee", what).value
        first, other = (y.matrix if isinstance(y, lw.SE3) else np.asarray(y, float) for y in (x.value, moved))
        assert 1e-5 < np.abs(first - other).max() < 1e-2 or what.endswith("axis")


def test_numbers_of_joints_are_checked() -> None:
    model = leg("revolute")
    with pytest.raises(lw.ModelError, match="length 2"):
        model.with_parameters({"knee": {"axis": (0, 2, 0)}})
    with pytest.raises(lw.ModelError, match="axis"):
        lw.parameter_derivatives(model, model.neutral(), np.zeros(3), {"knee": ["axes"]})
    frames = np.array(quantity_of(leg("curve"), "knee", "frames").value)
    frames[1] = frames[0]
    with pytest.raises(lw.ModelError, match="frames 0 and 1 coincide"):
        leg("curve").with_parameters({"knee": {"frames": frames}})
    with pytest.raises(lw.ModelError, match=r"way must be finite numbers of shape \(3,\)"):
        leg("class").with_parameters({"knee": {"way": (1.0, 2.0)}})


# --- at bounds ------------------------------------------------------------------------------------------------------------------
def test_numbers_at_their_bounds() -> None:
    """Damping that is 0 and may not be less; gains beside an effort without end; axes of laws."""
    b = lw.ModelBuilder()
    b.body("a", joint=lw.Revolute((0, 1, 0)), inertia=ROD)
    b.body("b", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0.5, 0, 0)), inertia=ROD)
    model = b.build().add(lw.Gear("a", "b", 2.0, axis_a=(0, 1, 0), axis_b=(0, 1, 0), name="gear"))
    model = model.add(lw.PDController("a", kp=10.0, kd=1.0, name="drive"))
    q, v = np.array([0.2, 0.4]), np.array([0.4, 0.8])
    asked = {"a": ["damping"], "drive": ["kp", "kd"], "gear": ["ratio", "axis_a"]}
    found = lw.parameter_derivatives(model, q, v, asked)
    here = lw.forward_dynamics(model, q, v)
    damped = [lw.forward_dynamics(model.with_parameters({"a": {"damping": h}}), q, v) for h in (1e-5, 2e-5)]
    assert found[:, 0] == pytest.approx((4 * damped[0] - damped[1] - 3 * here) / 2e-5, rel=1e-6, abs=1e-6)
    assert np.abs(found[:, 0]).max() > 0.1
    for column, (name, what) in enumerate((("drive", "kp"), ("drive", "kd"), ("gear", "ratio")), 1):
        ends = [lw.forward_dynamics(m, q, v) for m in both_sides(model, quantity_of(model, name, what), 0)]
        assert found[:, column] == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-6, abs=1e-6)
    assert np.isfinite(found).all()
    with pytest.raises(lw.ModelError, match="effort = inf is not finite, and has no derivative"):
        lw.parameter_derivatives(model, q, v, {"drive": ["effort"]})
