"""Models without degrees of freedom are models."""

from __future__ import annotations

import numpy as np

import linkwork as lw


def test_a_body_that_cannot_move() -> None:
    block = lw.Inertia.cuboid(mass=2.0, size=(1, 1, 1))
    model = lw.ModelBuilder().body("block", joint=lw.Fixed(), placement=lw.SE3(p=(0, 0, 1)), inertia=block).build()
    none = np.zeros(0)
    assert lw.forward_dynamics(model, none, none).shape == (0,)
    assert lw.inverse_dynamics(model, none, none, none).shape == (0,)
    assert lw.mass_matrix(model, none).shape == (0, 0)
    assert lw.body_jacobian(model, none).shape == lw.body_jacobian_dot(model, none, none).shape == (6, 0)
    assert lw.inverse_inertia_product(model, none, none).shape == (0,)
    np.testing.assert_allclose(lw.joint_wrenches(model, none, none, none), [[0, 0, 0, 0, 0, 2 * 9.81]], atol=1e-14)
