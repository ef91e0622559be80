"""Maximal coordinates refuse bodies that lack inertia, by name; whatever else has one is taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.maximal import factor_maximal

HEAVY = lw.Inertia.sphere(1.0, 0.1)
SINGULAR = {
    "point": (lw.Inertia(1.0), "moment of inertia"),
    "point beside the origin": (lw.Inertia(1.0, com=(0.3, -0.2, 0.5)), "moment of inertia"),
    "thin rod": (lw.Inertia(1.0, com=(0.5, 0.0, 0.0), tensor=np.diag([0.0, 1 / 12, 1 / 12])), "moment of inertia"),
    "flywheel without mass": (lw.Inertia.unchecked(0.0, tensor=np.eye(3)), "mass"),
}
ENTRIES: dict[str, Callable[[lw.Model, lw.State], Any]] = {
    "maximal": lambda m, s: lw.simulate(m, s, 0.01, 1e-3, "maximal"),
    "maximal from a maximal state": lambda m, s: lw.simulate(m, lw.to_maximal(m, s), 0.01, 1e-3, "maximal"),
    "maximal-implicit": lambda m, s: lw.simulate(m, s, 0.01, 1e-3, "maximal-implicit"),
    "simulator": lambda m, s: lw.Simulator(m, s, method="maximal"),
    "accelerations": lambda m, s: lw.maximal_dynamics(m, lw.to_maximal(m, s)),
    "response": lambda m, s: factor_maximal(m, lw.to_maximal(m, s)),
}


def falling(inertia: lw.Inertia) -> tuple[lw.Model, lw.State]:
    """A sphere and a body of this inertia side by side, at rest."""
    b = lw.ModelBuilder()
    for name, own in (("ball", HEAVY), ("bob", inertia)):
        b.body(name, joint=lw.Translational(), inertia=own)
    model = b.build()
    return model, lw.State(model.neutral(), np.zeros(model.nv))


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("what", SINGULAR)
def test_bodies_without_inertia_are_refused_by_name(what: str, entry: str) -> None:
    inertia, lacks = SINGULAR[what]
    model, state = falling(inertia)
    for _ in range(2):  # what is kept with the model still tells
        with pytest.raises(lw.ModelError, match=rf"body 'bob' has no {lacks}.*radius.*method \"reduced\""):
            ENTRIES[entry](model, state)


def test_the_reduced_method_takes_points() -> None:
    model, state = falling(lw.Inertia(1.0))
    run = lw.simulate(model, state, 0.01, 1e-3, "reduced")
    assert np.allclose(run.v[-1], np.tile(0.01 * model.gravity, 2), rtol=1e-12)


@pytest.mark.parametrize("inertia", [lw.Inertia.sphere(1e-6, 1e-5), lw.Inertia.sphere(1e3, 1e-6, com=(0.0, 0.0, 1.0))])
@pytest.mark.parametrize("method", ["maximal", "maximal-implicit"])
def test_the_smallest_extent_is_enough(inertia: lw.Inertia, method: str) -> None:
    model, state = falling(inertia)
    run = lw.simulate(model, state, 0.01, 1e-3, method)
    assert np.allclose(run.arrays["twists"][-1][:, 3:], 0.01 * model.gravity, rtol=1e-3, atol=1e-3)
