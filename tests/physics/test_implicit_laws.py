"""Implicit maximal coordinates with laws of every kind: right motion as steps shrink, no energy from limits, prescribed rates."""

from __future__ import annotations

import numpy as np

import linkwork as lw


# --- forces -----------------------------------------------------------------------------------------------------------
def arm(*elements: object) -> lw.Model:
    """Upper and lower arm on hinges."""
    b = lw.ModelBuilder()
    for name, parent, mass in (("u", "world", 2.0), ("l", "u", 1.5)):
        rod = lw.Inertia.cuboid(mass=mass, size=(0.3, 0.05, 0.05), com=(0.15, 0, 0))
        place = lw.SE3(p=(0 if parent == "world" else 0.3, 0, 0))
        b.body(name, parent=parent, joint=lw.Revolute((0, 1, 0)), placement=place, inertia=rod)
    for element in elements:
        b.add(element)
    return b.build()


def test_a_muscle_over_three_bodies_moves_them_right_as_steps_shrink() -> None:
    """Its damping couples the two arms, and not by their relative motion alone."""
    path = [("world", (-0.05, 0, 0.03)), ("u", (0.2, 0, 0.035)), ("l", (0.05, 0, 0.035))]
    model = arm(lw.Muscle(path, max_force=900, optimal_length=0.12, tendon_length=0.2, activation=0.3))
    start = lw.State(np.array([0.3, 0.5]), np.zeros(2))
    exact = lw.simulate(model, start, 0.1, 1e-4, stepper="rk4").q[-1]
    errors = [np.abs(lw.simulate(model, start, 0.1, dt, "maximal-implicit").q[-1] - exact).max() for dt in (1e-4, 5e-5)]
    assert errors[1] < 0.02
    assert 1.8 < errors[0] / errors[1] < 2.2
