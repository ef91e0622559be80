"""`contact=` says how every contact of a model acts: of its shapes, those that a reader made, those that a user added."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.contact.formulations import touching

MJCF = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1" friction="0.3 0.01 0.001" condim="{condim}"/>
<body name="a" pos="0 0 0.1"><freejoint/><geom name="a" type="sphere" size="0.1" mass="1" condim="{condim}"/></body>
<body name="b" pos="0 0 0.31"><freejoint/><geom name="b" type="box" size="0.1 0.1 0.1" mass="1" friction="0.9 0 0"/></body>
</worldbody>{more}</mujoco>"""
PAIR = '<contact><pair geom1="a" geom2="floor" friction="0.2 0.2 0 0 0"/></contact>'
BALL, FLOOR = lw.Sphere(0.1, friction=0.5), lw.Plane(friction=0.5)
SOFT = {"stiffness": 1e4, "damping": 50.0}


def ball(*laws: Any, shapes: bool = False) -> lw.Model:
    b = lw.ModelBuilder()
    b.body("ball", joint=lw.Free(), inertia=lw.Inertia.sphere(1.0, 0.1), shapes=[BALL] if shapes else [])
    return (b.ground() if shapes else b).add(*laws).build()


def falls_freely(model: lw.Model, height: float = 0.09, **options: Any) -> bool:
    q = model.neutral()
    q[2::7] += height - q[2]
    run = lw.simulate(model, lw.State(q, np.zeros(model.nv)), 0.2, 1e-3, **options)
    return bool(abs(run.v[-1, 5] + 0.2 * 9.81) < 1e-9)


MODELS = {
    "shapes": lambda: ball(shapes=True),
    "Contact": lambda: ball(lw.Contact("ball", BALL, "world", FLOOR)),
    "named Contact": lambda: ball(lw.Contact("ball", BALL, "world", FLOOR, name="mine", rolling=0.01, spinning=0.01)),
    "staggered Contact": lambda: ball(lw.Contact("ball", BALL, "world", FLOOR, friction_model="staggered")),
    "Contact by one program": lambda: ball(lw.Contact("ball", BALL, "world", FLOOR, friction_model="single_qp")),
    "CompliantContact": lambda: ball(lw.CompliantContact("ball", BALL, "world", FLOOR, **SOFT)),
    "both": lambda: ball(lw.Contact("ball", BALL, "world", FLOOR), shapes=True),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("method", ["reduced", "maximal"])
def test_off_leaves_no_contact_on(name: str, method: str) -> None:
    model = MODELS[name]()
    assert not falls_freely(model, method=method)
    assert falls_freely(model, method=method, contact="off")


@pytest.mark.parametrize(("condim", "more"), [(1, ""), (3, ""), (4, ""), (6, ""), (3, PAIR)])
def test_off_switches_the_contacts_of_an_mjcf_model_off(condim: int, more: str, tmp_path: Path) -> None:
    """Its reader makes a `Contact` of every pair whose friction is not that of its shapes together."""
    pytest.importorskip("mujoco")
    (tmp_path / "two.xml").write_text(MJCF.format(condim=condim, more=more))
    model = lw.load(tmp_path / "two.xml")
    assert model.elements_of(lw.Contact)
    q = model.keyframes["start"].q
    run = lw.simulate(model, lw.State(q, np.zeros(model.nv)), 0.3, 1e-3, contact="off")
    np.testing.assert_allclose(run.v[-1, [5, 11]], -0.3 * 9.81, rtol=1e-12)
    assert run.forces is None
    bare = lw.constrained_dynamics(model, q, np.zeros(model.nv), contact="off")
    np.testing.assert_allclose(bare.accelerations[[5, 11]], -9.81, rtol=1e-12)
    assert touching(lw.load(model.save(tmp_path / "two.lwm")), "off").elements == ()


def test_off_leaves_other_laws_on() -> None:
    model = ball(lw.Contact("ball", BALL), lw.BodyDamping("ball", 1.0))
    kept = touching(model, "off")
    assert [type(e).__name__ for e in kept.elements] == ["BodyDamping"]
    assert touching(kept, "off") is kept
    slider = lw.ModelBuilder().body("s", joint=lw.Prismatic((1, 0, 0)), inertia=lw.Inertia.sphere(1.0, 0.1), limits=(-0.1, 0.1))
    limited = slider.add(lw.Contact("s", BALL, "world", lw.Plane((0, 0, -0.1)), friction=0.5)).build()
    run = lw.simulate(limited, lw.State([0.0], [1.0]), 0.5, 1e-3, contact="off")
    assert run.q.max() == pytest.approx(0.1, abs=1e-9)
    found = lw.constrained_dynamics(limited, [0.1], [0.0], tau=[3.0], contact="off")
    np.testing.assert_allclose(found.multipliers, [0.0, 3.0], atol=1e-12)


def test_simulators_and_step_derivatives_switch_off_too() -> None:
    model = ball(lw.Contact("ball", BALL, "world", FLOOR))
    sim = lw.Simulator(model, lw.State([0, 0, 0.09, 1, 0, 0, 0], np.zeros(6)), contact="off")
    sim.step()
    assert isinstance(sim.state, lw.State)
    assert sim.state.v[5] == pytest.approx(-9.81e-3, rel=1e-12)
    A, _ = lw.step_derivatives(model, lw.State([0, 0, 0.09, 1, 0, 0, 0], np.zeros(6)), 1e-3, contact="off")
    free, _ = lw.step_derivatives(ball(), lw.State([0, 0, 0.09, 1, 0, 0, 0], np.zeros(6)), 1e-3)
    np.testing.assert_allclose(A, free, atol=1e-14)


@pytest.mark.parametrize("name", MODELS)
def test_frictionless_leaves_no_friction_on(name: str) -> None:
    run = lw.simulate(MODELS[name](), lw.State([0, 0, 0.1, 1, 0, 0, 0], [0, 0, 0, 1.0, 0, 0]), 0.2, 1e-3, contact="frictionless")
    np.testing.assert_allclose(run.v[-1, :4], [0, 0, 0, 1.0], atol=1e-9)
