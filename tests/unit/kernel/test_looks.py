"""Every number that enters or leaves a call is looked at, one state or a batch, all inputs and all outputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.bench.models import arm7
from linkwork.kernel.function import Function
from linkwork.kernel.sweep import Algorithm, Field, each
from linkwork.model.arrays import Interface
from linkwork.spatial.scalar import array, where

BATCHES = [None, 1, 2, 16, 37]
KINDS = [np.float64, np.float32]


def absorb(n: Any) -> None:
    """Outputs that do not show an input that is not finite; the second is infinite where q = 0."""
    n.sign = array([where(x > 0.0, 1.0, 0.0) for x in n.v])
    n.inverse = array([1.0 / x for x in n.q])


FIELDS = {
    "q": Field("input", "q"),
    "v": Field("input", "v"),
    "sign": Field("output", "v"),
    "inverse": Field("output", "q"),
}
ABSORB = Algorithm("absorb_for_tests", FIELDS, {"run": [each(absorb)]})


@pytest.fixture(scope="module")
def function() -> Function:
    return Interface(arm7(), ABSORB).function(("q", "v"), ("sign", "inverse"), (), None)


def states(batch: int | None, kind: Any) -> tuple[np.ndarray, np.ndarray]:
    shape = (7,) if batch is None else (batch, 7)
    return np.full(shape, 0.5, kind), np.full(shape, -0.25, kind)


def last(a: np.ndarray) -> tuple[int, ...]:
    return (3,) if a.ndim == 1 else (len(a) - 1, 3)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("batch", BATCHES)
def test_inputs_that_do_not_show_in_the_result(function: Function, batch: int | None, kind: Any, threads: int) -> None:
    q, v = states(batch, kind)
    function(q, v, threads=threads)
    for value in (np.nan, np.inf, -np.inf):
        v[last(v)] = value
        with pytest.raises(lw.InputError, match=r"v.* must be finite, not .*, at joint 'joint4'"):
            function(q, v, threads=threads)
        assert function(q, np.zeros_like(v), threads=threads)[0].sum() == 0.0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("batch", BATCHES)
def test_an_output_that_is_not_the_first(function: Function, batch: int | None, kind: Any) -> None:
    q, v = states(batch, kind)
    function(q, v)
    q[last(q)] = 0.0
    with pytest.raises(lw.SolverError, match="not finite"):
        function(q, v)


@pytest.mark.parametrize("batch", BATCHES)
def test_sums_of_finite_numbers_may_overflow(function: Function, batch: int | None) -> None:
    q, v = states(batch, np.float64)
    v[...] = 1.7e308
    sign, inverse = function(q, v)
    assert (sign == 1.0).all()
    assert (inverse == 2.0).all()


def with_quaternions(joints: list[lw.Joint]) -> lw.Model:
    pairs = zip(arm7().bodies, joints, strict=False)
    bodies = [lw.Body(b.name, b.parent, j, b.joint_name, b.placement, b.inertia) for b, j in pairs]
    return lw.Model(tuple(bodies), np.zeros(3))


@pytest.mark.parametrize("joints", [[lw.Free(), lw.Revolute()], [lw.Spherical()] * 5, [lw.Revolute(), lw.Free(), lw.Spherical()]])
@pytest.mark.parametrize("batch", [2, 16, 37])
@pytest.mark.parametrize("threads", [1, 2])
def test_quaternions_of_batches(joints: list[lw.Joint], batch: int, threads: int) -> None:
    model = with_quaternions(joints)
    q = np.array([model.random_configuration(seed=k) for k in range(batch)])
    v = np.zeros((batch, model.nv))
    places = [int(model.tree.offsets("q")[i]) + at for i, b in enumerate(model.bodies) for at in b.joint.quaternions]
    right = lw.forward_dynamics(model, q, v, v, threads=threads)
    for place in places:
        for row in (0, batch // 2, batch - 1):
            for size, fine in ((1.0 + 0.9e-6, True), (1.0 - 0.9e-6, True), (1.0 + 1.1e-6, False), (1.0 - 1.1e-6, False)):
                bent = q.copy()
                bent[row, place : place + 4] *= size
                if fine:
                    assert np.allclose(lw.forward_dynamics(model, bent, v, v, threads=threads), right, atol=1e-3, rtol=1e-3)
                else:
                    with pytest.raises(lw.InputError, match="quaternion"):
                        lw.forward_dynamics(model, bent, v, v, threads=threads)
