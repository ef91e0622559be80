"""Inputs of forces during a run: arrays, functions of time and muscle drives, in every formulation; what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw

ROD = lw.Inertia.cuboid(mass=1.0, size=(0.5, 0.05, 0.05), com=(0.25, 0, 0))
REST = lw.State(np.zeros(3), np.zeros(3))
RUNS = [
    ("reduced", "symplectic_euler"),
    ("reduced", "rosenbrock"),
    ("reduced", "variational"),
    ("maximal", "symplectic_euler"),
    ("maximal-implicit", "backward_euler"),
    ("redmax", "bdf2"),
    ("redmax", "ode45"),
]


def pair(E: object, phi: object, t: object, u: np.ndarray) -> list[np.ndarray]:
    """Opposite moments on two bodies that are no neighbours."""
    moment = np.array([0.0, 1.0, 0.0, 0.0, 0.0, 0.0]) * u[0]
    return [moment, -moment]


def driven() -> lw.Model:
    """Three links with inputs of every kind, in an order that is not that of the tree."""
    b, parent, place = lw.ModelBuilder(), "world", lw.SE3()
    for name in "abc":
        b.body(name, parent=parent, joint=lw.Revolute((0, 1, 0)), placement=place, inertia=ROD)
        parent, place = name, lw.SE3(p=(0.5, 0, 0))
    b.add(lw.PDController("b", 20.0, 1.0, name="elbow"))
    b.add(lw.Handle("c", (0.5, 0, 0), target=(1.5, 0, 0), stiffness=50.0, damping=2.0, name="hand"))
    b.add(lw.PDController("a", 30.0, 1.0, name="shoulder"))
    b.add(lw.force(("a", "c"), wrenches=pair, inputs=[0.3], name="pair"))
    return b.build()


MODEL = driven()


def inputs(t: float) -> np.ndarray:
    forces = lw.force_set(MODEL)
    u = forces.initial_inputs.copy()
    u[forces.input_index("hand")] = MODEL.elements_of(lw.Handle)[0].toward((1.3, 0, 0.3 * np.sin(5 * t)))
    u[forces.input_index("pair")] = 0.5 + t
    u[forces.input_index("elbow")], u[forces.input_index("shoulder")] = (0.2 * t, 0.2), (-0.3 * t, -0.3)
    return u


def test_every_formulation_takes_them() -> None:
    """All go where the accurate method goes, and not where they would go without."""
    exact, without = (lw.simulate(MODEL, REST, 0.3, 0.3, stepper="dop853", inputs=u).final.q for u in (inputs, None))
    assert np.abs(exact - without).max() > 0.5
    for method, stepper in RUNS:
        found = lw.simulate(MODEL, REST, 0.3, 5e-3, method, stepper=stepper, inputs=inputs)
        assert np.abs(found.q[-1] - exact).max() < 0.05, (method, stepper)
        np.testing.assert_allclose(found.inputs[7], inputs(found.t[7]))
    steady = lw.simulate(MODEL, REST, 0.1, 0.01, inputs=inputs(0.0))
    assert np.array_equal(steady.q, lw.simulate(MODEL, REST, 0.1, 0.01, inputs=lambda t: inputs(0.0)).q)
    assert np.array_equal(lw.simulate(MODEL, REST, 0.3, 0.3, stepper="dop853").final.q, without)  # the model is as it was


def hanging(kind: type, **options: object) -> lw.Model:
    """A mass of 5 kg on a rail below its muscle; q is the length of the path."""
    b = lw.ModelBuilder().body("mass", joint=lw.Prismatic((0, 0, -1)), inertia=lw.Inertia(5.0, tensor=np.eye(3)))
    b.add(kind([("world", (0, 0, 0)), ("mass", (0, 0, 0))], 100.0, 0.2, 0.1, **options))
    return b.build()


def test_fibres_move_with_a_drive() -> None:
    """Their weight is carried by a tendon that gives way, little if it is stiff."""
    state, ends = lw.State([0.3], [0.0]), []
    for strain in (0.02, 0.2):
        model = hanging(lw.FibreMuscle, tendon=lw.tendon_curve(strain))
        run = lw.simulate(model, state, 0.2, 1e-3, inputs=lw.MuscleDrive(model, [0.5]))
        assert run.inputs[-1, 1] != run.inputs[0, 1]
        ends.append(run.q[-1, 0])
    rigid_model = hanging(lw.Muscle, damping=0.1)
    rigid = lw.simulate(rigid_model, state, 0.2, 1e-3, inputs=lw.MuscleDrive(rigid_model, [0.5])).q[-1, 0]
    assert abs(ends[0] - rigid) < 0.4 * abs(ends[1] - rigid)


def test_what_is_refused() -> None:
    fibres, state = hanging(lw.FibreMuscle), lw.State([0.3], [0.0])
    with pytest.raises(lw.InputError, match=r"the fibres of FibreMuscle\(.*move on their own; pass inputs=lw.MuscleDrive"):
        lw.simulate(fibres, state, 0.1, 0.01)
    with pytest.raises(lw.InputError, match=r"which 'dop853' also takes back; use a stepper with fixed steps"):
        lw.simulate(fibres, state, 0.1, 0.01, stepper="dop853", inputs=lw.MuscleDrive(fibres, [0.5]))
    with pytest.raises(lw.InputError, match=r"inputs have shape \(2,\) at t = 0; the forces of this model have 11"):
        lw.simulate(MODEL, REST, 0.1, 0.01, inputs=[1.0, 2.0])
    with pytest.raises(lw.InputError, match=r"inputs are not finite at t = 0\.05"):
        lw.simulate(MODEL, REST, 0.1, 0.05, inputs=lambda t: inputs(t) / (0.05 - t) if t < 0.04 else inputs(t) + np.nan)
