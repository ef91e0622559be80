"""What is compiled is compiled by the first call; later calls with the same arguments compile nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.kernel import machine
from linkwork.kernel.host import HOST

LOADED: list[dict[str, Any]] = []  # machine code must live as long as the process: LLVM crashes when it is freed
ROD = lw.Inertia.cuboid(1.0, (0.3, 0.1, 0.05), com=(0.15, 0, 0))


def arm(**more: Any) -> lw.ModelBuilder:
    b = lw.ModelBuilder()
    b.body("a", joint=lw.Revolute((0, 1, 0)), inertia=ROD, **more)
    b.body("b", parent="a", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0.3, 0, 0)), inertia=ROD)
    return b


def ball() -> lw.Model:
    b = lw.ModelBuilder()
    b.ground(friction=0.4)
    b.body("ball", joint=lw.Free(), shapes=[lw.Sphere(0.1, mass=1.0)])
    return b.build()


MODELS: dict[str, Callable[[], lw.Model]] = {
    "bare": lambda: arm().build(),
    "force": lambda: arm().build().add(lw.SpringDamper("b", "world", (0.1, 0, 0), (1, 0, 0), stiffness=30.0, rest_length=0.3)),
    "drive": lambda: arm().build().add(lw.PDController("b", kp=10.0, kd=1.0)),
    "constraint": lambda: arm().build().add(lw.Coupling("b", "a", ratio=2.0)),
    "limit": lambda: arm(limits=(-1.0, 1.0)).build(),
    "contact": ball,
}


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A line for every module that is compiled from here on; nothing is known from disk or from earlier."""
    calls: list[str] = []
    for name in ("compile_object", "optimise_object"):
        original = getattr(machine, name)

        def counted(*given: Any, original: Any = original, name: str = name) -> bytes:
            calls.append(name)
            return original(*given)

        monkeypatch.setattr(machine, name, counted)
    monkeypatch.setenv("LINKWORK_CACHE", "off")
    monkeypatch.setenv("LINKWORK_LEVEL", "0")
    LOADED.append({})
    monkeypatch.setattr(HOST, "units", LOADED[-1])
    return calls


@pytest.mark.parametrize("kind", MODELS)
def test_step_derivatives_compile_once(kind: str, compiled: list[str]) -> None:
    model = MODELS[kind]()
    state = lw.State(q=model.neutral() + (0.1 * (model.nq == 2)), v=np.zeros(model.nv))
    counts, found = [], []
    for _ in range(3):
        found.append(lw.step_derivatives(model, state, 1e-3).A)
        counts.append(len(compiled))
    assert counts[0] > 0
    assert counts == [counts[0]] * 3
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])
