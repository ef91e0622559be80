"""What control loops call one state at a time: the same from batches, and by another route."""

from __future__ import annotations

import numpy as np
from identities.loaded_kinds import BARE, Q, V

import linkwork as lw
from linkwork.energy import Records

RNG = np.random.default_rng(3)
QS = np.array([BARE.random_configuration(k) for k in range(11)])
VS = RNG.normal(size=(11, BARE.nv))


def test_jacobians_of_a_batch() -> None:
    found = lw.jacobian(BARE, QS, "c")
    assert found.shape == (11, 6, BARE.nv)
    for k in (0, 5, 10):
        assert np.array_equal(found[k], lw.jacobian(BARE, QS[k], "c"))
        twist = lw.kinematics(BARE, QS[k], VS[k]).twists[BARE.body_index("c")]
        assert np.allclose(found[k] @ VS[k], twist, atol=1e-13)
    assert np.allclose(found[0], lw.body_jacobian(BARE, QS[0]).reshape(-1, 6, BARE.nv)[BARE.body_index("c")], atol=1e-14)


def test_dense_jacobians_of_a_batch() -> None:
    """Of as many states as columns, too: neither is taken for the other."""
    for count in (0, 1, 2, BARE.nv):
        q, v = np.resize(QS, (count, BARE.nq)), np.resize(VS, (count, BARE.nv))
        J, J_dot = lw.body_jacobian(BARE, q), lw.body_jacobian_dot(BARE, q, v)
        assert J.shape == J_dot.shape == (len(q), 6 * BARE.nb, BARE.nv)
        for k in range(len(q)):
            assert np.array_equal(J[k], lw.body_jacobian(BARE, q[k]))
            assert np.array_equal(J_dot[k], lw.body_jacobian_dot(BARE, q[k], v[k]))


def test_inertia_products_of_a_batch() -> None:
    found = lw.inverse_inertia_product(BARE, QS, VS)
    assert np.array_equal(found[4], lw.inverse_inertia_product(BARE, QS[4], VS[4]))
    assert np.allclose(found[4], np.linalg.solve(lw.mass_matrix(BARE, QS[4]), VS[4]), atol=1e-11)
    joint, body = RNG.uniform(0, 1, size=(11, BARE.nv)), RNG.normal(size=(11, BARE.nb, 6, 6))
    body = body @ body.swapaxes(-1, -2)
    found = lw.inverse_inertia_product(BARE, QS, VS, joint, body)
    one = lw.inverse_inertia_product(BARE, QS[4], VS[4:6], joint[4], body[4])[0]
    assert np.allclose(found[4], one, atol=1e-12)


def test_energy_of_the_tree() -> None:
    """In one program, and from poses and twists."""
    state = lw.State(q=QS, v=VS)
    found = lw.energy(BARE, state)
    k = lw.kinematics(BARE, QS, VS)
    other = Records(BARE, k.poses, k.twists, lambda: state).energy()
    assert np.allclose(found.kinetic, other.kinetic, rtol=1e-13)
    assert np.allclose(found.potential, other.potential, rtol=1e-12)
    assert np.isclose(found.kinetic[2], 0.5 * VS[2] @ lw.mass_matrix(BARE, QS[2]) @ VS[2])
    one = lw.energy(BARE, lw.State(q=Q, v=V))
    assert one.kinetic.shape == one.total.shape == ()
