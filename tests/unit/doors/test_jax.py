"""JAX: the same numbers inside jit, vmap and scan, gradients that are ours, and a pendulum that learns to swing up."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.reduced.derivatives import coordinate_columns

jax = pytest.importorskip("jax")
jnp = jax.numpy
ROD = lw.Inertia.cuboid(mass=1.0, size=(0.4, 0.05, 0.05), com=(0.2, 0, 0))
H = 1e-3


@pytest.fixture(autouse=True)
def _doubles() -> Any:
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


@cache
def model(spring: bool = False) -> lw.Model:
    b = lw.ModelBuilder()
    b.body("base", joint=lw.Spherical(), inertia=ROD)
    b.body("a", parent="base", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0.4, 0, 0)), inertia=ROD, damping=0.1)
    if spring:
        b.add(lw.SpringDamper("a", "world", (0.4, 0, 0), (1.0, 0.2, 0.1), stiffness=30.0, rest_length=0.3, damping=0.4))
    return b.build()


def states(count: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(0)
    m = model()
    return np.array([m.random_configuration(k) for k in range(count)]), *rng.normal(size=(2, count, m.nv))


def test_dynamics() -> None:
    m, (q, v, x) = model(), states(5)
    for ours, theirs in ((lw.forward_dynamics, lw.jax.forward_dynamics(m)), (lw.inverse_dynamics, lw.jax.inverse_dynamics(m))):
        assert np.array_equal(jax.jit(theirs)(q[0], v[0], x[0]), ours(m, q[0], v[0], x[0]))
        assert np.array_equal(jax.jit(jax.vmap(theirs))(q, v, x), ours(m, q, v, x))
        assert np.array_equal(jax.vmap(theirs, in_axes=(0, None, None))(q, v[0], x[0]), ours(m, q, v[0], x[0]))
    assert np.array_equal(lw.jax.forward_dynamics(m)(q[0], v[0]), lw.forward_dynamics(m, q[0], v[0], np.zeros(m.nv)))


def test_derivatives_of_dynamics() -> None:
    """With respect to coordinates, along displacements: J T = da_dq."""
    m, (q, v, x) = model(), (y[0] for y in states(1))
    T = coordinate_columns(m, q).T
    found = jax.jacrev(lw.jax.forward_dynamics(m), argnums=(0, 1, 2))(q, v, x)
    ours = lw.linearised_dynamics(m, q, v, x)
    assert np.abs(found[0] @ T - ours.da_dq).max() < 1e-12 * np.abs(ours.da_dq).max()
    assert np.array_equal(found[1], ours.da_dv)
    assert np.array_equal(found[2], ours.da_dtau)
    found = jax.jacfwd(lw.jax.inverse_dynamics(m), argnums=(0, 1, 2))(q, v, x)
    ours = lw.inverse_dynamics_derivatives(m, q, v, x)
    assert np.abs(found[0] @ T - ours[0]).max() < 1e-12 * np.abs(ours[0]).max()
    assert all(np.array_equal(y, z) for y, z in zip(found[1:], ours[1:], strict=True))


def test_dynamics_with_a_spring_and_a_coupling() -> None:
    b = lw.ModelBuilder()
    b.body("a", joint=lw.Revolute((0, 1, 0)), inertia=ROD)
    for name, parent in (("b", "a"), ("c", "b")):
        b.body(name, parent=parent, joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0.4, 0, 0)), inertia=ROD)
    m = b.add(lw.JointSpring("a", 20.0, damping=0.3)).add(lw.Coupling("c", "b", 2.0)).build()
    q, v, tau = np.array([0.3, 0.2, 0.4]), np.array([1.0, 0.5, 1.0]), np.array([1.0, 0.0, 0.5])
    f = lw.jax.forward_dynamics(m)
    assert np.array_equal(jax.jit(f)(q, v, tau), lw.forward_dynamics(m, q, v, tau))
    found, ours = jax.jacrev(f, argnums=(0, 1, 2))(q, v, tau), lw.linearised_dynamics(m, q, v, tau)[1:]
    assert all(np.abs(x - y).max() < 1e-9 * np.abs(y).max() for x, y in zip(found, ours, strict=True))


def test_steps_with_a_spring_in_a_scan() -> None:
    m, (q, v, tau) = model(True), (y[0] for y in states(1))
    step = lw.jax.step(m, H)
    one = lw.simulate(m, lw.State(q=q, v=v), duration=H, dt=H, tau=tau)
    assert np.array_equal(jax.jit(step)(q, v, tau)[0], one.q[-1])
    assert np.array_equal(jax.jit(step)(q, v, tau)[1], one.v[-1])

    def end(tau: Any) -> Any:
        return jax.lax.scan(lambda c, _: (step(*c, tau), None), (jnp.asarray(q), jnp.asarray(v)), None, length=20)[0]

    gradient = jax.jit(jax.grad(lambda tau: (end(tau)[1] ** 2).sum()))(tau)
    state, A, B = lw.State(q=q, v=v), np.zeros((0, 0)), np.zeros((0, 0))
    total = np.zeros((2 * m.nv, m.nv))
    for _ in range(20):
        A, B = lw.step_derivatives(m, state, H, tau)
        total = A @ total + B
        run = lw.simulate(m, state, duration=H, dt=H, tau=tau)
        state = lw.State(q=run.q[-1], v=run.v[-1])
    ours = 2 * state.v @ total[m.nv :]
    assert np.abs(gradient - ours).max() < 1e-12 * np.abs(ours).max()


def test_a_pendulum_swings_up() -> None:
    """Torques too weak to lift it at once; gradients of two seconds of steps find the swings."""
    b = lw.ModelBuilder()
    b.body("rod", joint=lw.Revolute((0, 1, 0)), inertia=lw.Inertia.cuboid(1.0, (0.05, 0.05, 1.0), com=(0, 0, -0.5)))
    step = lw.jax.step(b.build(), 0.02)
    most = 2.5  # of the 4.9 N m that hold it level

    def end(x: Any) -> Any:
        start = (jnp.zeros(1), jnp.zeros(1))
        return jax.lax.scan(lambda c, u: (step(*c, most * jnp.tanh(u)[None]), None), start, x)[0]

    def cost(x: Any) -> Any:
        q, v = end(x)
        return (1.0 + jnp.cos(q[0])) + 0.05 * v[0] ** 2

    slope = jax.jit(jax.value_and_grad(cost))
    x = jnp.sign(jnp.sin(0.068 * jnp.arange(150)))
    m = s = jnp.zeros_like(x)
    for k in range(1, 400):
        value, g = slope(x)
        m, s = 0.9 * m + 0.1 * g, 0.999 * s + 0.001 * g * g
        x = x - 0.05 * (m / (1 - 0.9**k)) / (jnp.sqrt(s / (1 - 0.999**k)) + 1e-9)
        if value < 0.01:
            break
    q, v = end(x)
    assert 1.0 + np.cos(q[0]) < 0.01
    assert abs(v[0]) < 0.5


def test_what_is_refused() -> None:
    with pytest.raises(lw.LinkworkError, match="bare tree"):
        lw.jax.inverse_dynamics(model(True))
    with pytest.raises(lw.LinkworkError, match="chooses its steps"):
        lw.jax.step(model(), H, "dop853")
    step = lw.jax.step(model(), H)
    jax.config.update("jax_enable_x64", False)  # the fixture puts it back
    with pytest.raises(lw.LinkworkError, match="float64"):
        step(*(y[0] for y in states(1)))
