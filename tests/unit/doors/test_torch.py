"""PyTorch: the same numbers on tensors, gradients by `gradcheck` and ours, and a pendulum that learns to swing up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from derivatives.step_cases import on_ground, pendulum, resting

import linkwork as lw

torch = pytest.importorskip("torch")
ROD = lw.Inertia.cuboid(mass=1.0, size=(0.4, 0.05, 0.05), com=(0.2, 0, 0))
H = 1e-3


def tensor(x: Any) -> Any:
    return torch.tensor(np.asarray(x), dtype=torch.float64, requires_grad=True)


def tree() -> lw.Model:
    b = lw.ModelBuilder()
    b.body("base", joint=lw.Spherical(), inertia=ROD)
    b.body("a", parent="base", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0.4, 0, 0)), inertia=ROD, damping=0.1)
    return b.build()


def chain() -> lw.Model:
    b = lw.ModelBuilder()
    b.body("a", joint=lw.Revolute((0, 1, 0)), inertia=ROD)
    for name, parent in (("b", "a"), ("c", "b")):
        b.body(name, parent=parent, joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0.4, 0, 0)), inertia=ROD)
    return b.add(lw.JointSpring("a", 20.0, damping=0.3)).add(lw.Coupling("c", "b", 2.0)).build()


@pytest.mark.parametrize("make", [tree, pendulum, chain])
def test_dynamics(make: Any) -> None:
    """Accelerations to the bit, their gradients by `gradcheck` and those of `linearised_dynamics`."""
    m, rng = make(), np.random.default_rng(0)
    q, (v, tau) = np.array([m.random_configuration(k) for k in range(3)]), rng.normal(size=(2, 3, m.nv))
    if make is chain:
        q[:, 2], v[:, 2] = 2 * q[:, 1], 2 * v[:, 1]
    f = lw.torch.forward_dynamics(m)
    assert np.array_equal(f(q[0], v[0], tau[0]), lw.forward_dynamics(m, q[0], v[0], tau[0]))
    assert np.array_equal(f(q, v, tau), lw.forward_dynamics(m, q, v, tau))
    assert torch.autograd.gradcheck(f, (tensor(q), tensor(v), tensor(tau)), eps=1e-6, atol=1e-5, rtol=1e-6)
    x = tensor(tau[0])
    found = torch.autograd.functional.jacobian(lambda x: f(q[0], v[0], x), x)
    ours = lw.linearised_dynamics(m, q[0], v[0], tau[0]).da_dtau
    assert np.abs(found.numpy() - ours).max() < 1e-12 * np.abs(ours).max()


def test_steps() -> None:
    """One after the other, with a spring; gradients are those of `step_gradient`."""
    m, tau = pendulum(), tensor([0.3, -0.2, 0.1])
    q, v = np.array([0.2, -0.3, 0.5]), np.array([0.5, 1.0, -0.4])
    step = lw.torch.step(m, H)
    one = lw.simulate(m, lw.State(q=q, v=v), duration=H, dt=H, tau=tau.detach().numpy())
    q1, v1 = step(q, v, tau)
    assert np.array_equal(q1.detach(), one.q[-1])
    assert np.array_equal(v1.detach(), one.v[-1])
    (2.0 * q1.sum() + v1[0]).backward()
    ours = lw.step_gradient(m, lw.State(q=q, v=v), H, np.full(3, 2.0), [1.0, 0, 0], tau.detach().numpy())
    assert np.abs(tau.grad.numpy() - ours.tau).max() < 1e-12 * np.abs(ours.tau).max()
    starts = (tensor(np.array([q, -q])), tensor(np.array([v, 2 * v])), tensor(np.ones(3)))
    assert torch.autograd.gradcheck(step, starts, eps=1e-6, atol=1e-6)


def test_a_contact() -> None:
    """A ball that slides."""
    m, q, v = on_ground("ball"), resting("ball"), np.array([0.3, 0.2, 0.1, 1.0, 0.5, -0.1])
    step = lw.torch.step(m, H)
    assert torch.autograd.gradcheck(step, (tensor(q), tensor(v), tensor(np.zeros(6))), eps=1e-7, atol=1e-6)


def test_a_pendulum_swings_up() -> None:
    """Torques too weak to lift it at once; gradients of three seconds of steps find the swings."""
    b = lw.ModelBuilder()
    b.body("rod", joint=lw.Revolute((0, 1, 0)), inertia=lw.Inertia.cuboid(1.0, (0.05, 0.05, 1.0), com=(0, 0, -0.5)))
    run, most = lw.torch.rollout(b.build(), 0.02), 2.5  # of the 4.9 N m that hold it level
    x = tensor(np.sign(np.sin(0.068 * np.arange(150))))
    adam = torch.optim.Adam([x], lr=0.05)
    for _ in range(400):
        q, v = run(np.zeros(1), np.zeros(1), most * torch.tanh(x)[:, None])
        cost = 1.0 + torch.cos(q[-1, 0]) + 0.05 * v[-1, 0] ** 2
        if cost < 0.01:
            break
        adam.zero_grad()
        cost.backward()
        adam.step()
    assert cost < 0.01


def test_runs() -> None:
    """All steps at once: those of `simulate`, with the gradients of `gradcheck`, of one state and of a batch."""
    m, steps = pendulum(), 4
    q, v, tau = np.array([0.2, -0.3, 0.5]), np.array([0.5, 1.0, -0.4]), np.random.default_rng(0).normal(size=(steps, 3))
    run = lw.torch.rollout(m, H)
    one = lw.simulate(m, lw.State(q=q, v=v), duration=steps * H, dt=H, tau=tau[0])
    held = run(q, v, np.tile(tau[0], (steps, 1)))
    assert np.array_equal(held[0], one.q[1:])
    assert np.array_equal(held[1], one.v[1:])
    assert torch.autograd.gradcheck(run, (tensor(q), tensor(v), tensor(tau)), eps=1e-6, atol=1e-6)
    starts = (tensor(np.array([q, -q])), tensor(v), tensor(np.array([tau, 2 * tau])))
    assert torch.autograd.gradcheck(run, starts, eps=1e-6, atol=1e-6)


def test_what_is_refused() -> None:
    m = pendulum()
    with pytest.raises(lw.LinkworkError, match="chooses its steps"):
        lw.torch.step(m, H, "dop853")
    with pytest.raises(lw.LinkworkError, match=r"torch\.float64"):
        lw.torch.step(m, H)(torch.zeros(3), torch.zeros(3))
    with pytest.raises(lw.LinkworkError, match="its last axis has 3 numbers"):
        lw.torch.step(m, H)(np.zeros(2), np.zeros(3))
