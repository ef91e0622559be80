"""Constraints have names, by which reactions, changes of their numbers, studies and files find them; gears must turn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw

BODY = lw.Inertia(1.0, (0.3, 0, 0), 0.1 * np.eye(3))
Y = (0.0, 1.0, 0.0)
LAWS: dict[str, tuple[Any, dict[str, Any]]] = {
    "loop": (lw.Loop("b", "p", (0.2, 0, 0), (0.8, -2.0, 0), name="it"), {"point_a": (0.1, 0, 0)}),
    "closure": (
        lw.Closure(lw.Spherical(), "b", "p", lw.SE3(p=(0.2, 0, 0)), lw.SE3(p=(0.8, -2, 0)), name="it"),
        {"frame_a": lw.SE3(p=(0.1, 0, 0))},
    ),
    "gear": (lw.Gear("a", "c", 2.0, axis_a=Y, axis_b=Y, name="it"), {"ratio": 3.0}),
    "coupling": (lw.Coupling("b", "a", 0.5, name="it"), {"ratio": 0.7}),
    "limit": (lw.Limit("a", -0.1, 0.3, name="it"), {"upper": 0.2}),
    "dry friction": (lw.DryFriction("a", 0.4, name="it"), {"friction": 0.8}),
    "joint friction": (lw.JointFriction("a", 0.3, radius=0.05, name="it"), {"mu": 0.6}),
    "curve": (
        lw.PointOnCurve("p", (0, 0, 0), lw.Curve(lambda s: (s, 0, s * s), domain=(-3, 3)), name="it"),
        {"point": (0, -2, 0)},
    ),
    "surface": (lw.PointOnSurface("p", (0, -2, 0), lw.Plane(), unilateral=True, friction=0.4, name="it"), {"friction": 0.2}),
    "tangent": (
        lw.TangentSurfaces("p", lw.Sphere(0.5, center=(0, -2, 0.5)), lw.Plane(), unilateral=True, friction=0.1, name="it"),
        {"friction": 0.2},
    ),
    "tangent curves": (
        lw.TangentCurves(
            "p",
            lw.Curve(lambda s, r: (r * np.cos(s), -2.0 + 0.0 * s, r + r * np.sin(s)), (-3.2, 3.2), {"r": 0.5}),
            lw.Curve(lambda s: (s, 0, 0 * s), domain=(-1, 1)),
            name="it",
        ),
        {"unilateral": True},
    ),
    "prescribed joint": (lw.PrescribedJoint("a", lambda t: (0.1 * t, 0.1, 0.0), name="it"), {}),
    "prescribed twist": (
        lw.PrescribedTwist("p", lambda t: ((0, 0, 0), (0, 0, 0.1), (0, 0, 0), (0, 0, 0)), name="it"),
        {"rows": [3, 5]},
    ),
}


def bodies() -> lw.ModelBuilder:
    b = lw.ModelBuilder()
    b.body("a", joint=lw.Revolute(Y), inertia=BODY)
    b.body("b", parent="a", joint=lw.Revolute(Y), placement=lw.SE3(p=(0.6, 0, 0)), inertia=BODY)
    b.body("c", joint=lw.Revolute(Y), placement=lw.SE3(p=(0, 1, 0)), inertia=BODY)
    return b.body("p", joint=lw.Translational(), placement=lw.SE3(p=(0, 2, 0)), inertia=BODY)


@pytest.mark.parametrize(("law", "change"), LAWS.values(), ids=LAWS)
def test_a_name_finds_a_constraint(law: Any, change: dict[str, Any], tmp_path: Path) -> None:
    model = bodies().add(law).build()
    changed = model.with_parameters({"it": change}) if change else model
    (found,) = changed.elements
    assert found.name == "it"
    for name, x in change.items():
        if not isinstance(x, lw.SE3):
            assert np.allclose(getattr(found, name), x)
    changed.save(tmp_path / "model.lwm")
    (loaded,) = lw.load(tmp_path / "model.lwm").elements
    assert (loaded.name, repr(loaded)) == ("it", repr(found))


def test_reactions_by_name() -> None:
    """Two loops between the same bodies are told apart."""
    one, other = (lw.Loop("b", "p", (x, 0, 0), (0.6 + x, -2.0, 0), name=name) for name, x in (("near", 0.1), ("far", 0.2)))
    model = bodies().add(one, other).build()
    run = lw.simulate(model, lw.State(np.zeros(model.nq), np.zeros(model.nv)), 0.01, open_loops="allow")
    for name, law in (("near", one), ("far", other)):
        assert np.array_equal(run.reactions(name), run.reactions(law))
    with pytest.raises(lw.InputError, match="2 constraints are called"):
        run.reactions("Loop('b', 'p')")


def test_a_name_is_a_text() -> None:
    with pytest.raises(lw.ModelError, match="Loop: name"):
        lw.Loop("a", "b", name=3)  # pyright: ignore[reportArgumentType]


def test_studies_of_constraints() -> None:
    model = bodies().add(LAWS["gear"][0]).build()
    found = lw.study(model, {"it.ratio": [1.0, 2.0]}, lambda run: run.q[-1, 0], duration=0.05, progress=False)
    still = lw.State(np.zeros(model.nq), np.zeros(model.nv))
    alone = [lw.simulate(model.with_parameters({"it": {"ratio": x}}), still, 0.05).q[-1, 0] for x in (1.0, 2.0)]
    assert np.array_equal(np.asarray(found["measure"]), alone)


@pytest.mark.parametrize("wheels", [("a", "c", "world"), ("b", "c", "a"), ("p", "c", "world")])
def test_a_gear_about_an_axis_that_nothing_turns_about(wheels: tuple[str, str, str]) -> None:
    """It had no effect, and nothing was said."""
    a, b, carrier = wheels
    with pytest.raises(lw.ModelError, match=rf"'{a}' does not turn about axis_a = \[0.0, 0.0, 1.0\] in '{carrier}'"):
        bodies().add(lw.Gear(a, b, 2.0, carrier, axis_b=Y)).build()
