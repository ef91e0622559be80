"""Gradients of steps: products from the left against the Jacobians of `step_derivatives`, and against differences of runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from derivatives.step_cases import CONTACTS, STOPS, H, arm, close, on_ground, resting
from identities.loaded_kinds import Q, model, moving

import linkwork as lw


def weighted(m: lw.Model, q: Any, v: Any, **options: Any) -> None:
    """Weights times the Jacobians, and the gradient."""
    q, v = m.integrate(np.array(q, float), np.zeros(m.nv)), np.array(v, float)
    state, rng = lw.State(q=q, v=v), np.random.default_rng(m.nv)
    tau, dq, dv = rng.normal(size=(3, m.nv)) * [[0.1], [1.0], [1.0]]
    A, B = lw.step_derivatives(m, state, H, tau, **options)
    found = lw.step_gradient(m, state, H, dq, dv, tau, **options)
    w = np.concatenate([dq, dv])
    assert close(np.concatenate([found.q, found.v]), A.T @ w, 1e-11)
    assert close(found.tau, B.T @ w, 1e-11)


@pytest.mark.parametrize("kind", ["joint springs", "spring dampers", "drag", "all"])
def test_every_law(kind: str) -> None:
    weighted(model(kind), Q, moving(kind))


@pytest.mark.parametrize("case", STOPS)
def test_limits_and_dry_friction(case: str) -> None:
    weighted(arm(), *STOPS[case])


@pytest.mark.parametrize("case", CONTACTS)
def test_contacts(case: str) -> None:
    kind, v, contact = CONTACTS[case]
    weighted(on_ground(kind), resting(kind), v, contact=contact)
