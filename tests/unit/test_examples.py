"""Every public name has a text with an example, and the examples run.

They know `lw`, `np`, and an arm of two hinges: `model` (bodies "upper" and "lower", a frame "hand"), `q`, `v`, `state`.
"""

from __future__ import annotations

import doctest
import functools
import inspect
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
EXTRAS = {"jax", "torch"}
NAMES = [name for name in sorted(set(lw.__all__) - EXTRAS) if not inspect.ismodule(getattr(lw, name))]
MODULES = [name for name in sorted(set(lw.__all__) - EXTRAS) if name not in NAMES]


@functools.cache
def arm() -> lw.Model:
    rod = lw.Inertia.cuboid(mass=1.0, size=(1, 0.1, 0.1), com=(0.5, 0, 0))
    b = lw.ModelBuilder()
    b.body("upper", joint=lw.Revolute((0, 1, 0)), inertia=rod)
    b.body("lower", parent="upper", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(1, 0, 0)), inertia=rod)
    b.frame("hand", body="lower", placement=lw.SE3(p=(1, 0, 0)))
    return b.build()


@pytest.mark.parametrize("name", NAMES)
def test_its_example_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    check_example(name, getattr(lw, name))


@pytest.mark.parametrize("name", ["live", "Session"])
def test_examples_of_sessions_run(name: str) -> None:
    pytest.importorskip("viser")
    check_example(name, getattr(lw.view, name))


def check_example(name: str, public: object) -> None:
    text = public.__doc__ or ""
    assert ">>> " in text, "there is no example"
    q, v = np.array([0.3, -0.5]), np.zeros(2)
    known = {"lw": lw, "np": np, "model": arm(), "q": q, "v": v, "state": lw.State(q, v)}
    said: list[str] = []
    test = doctest.DocTestParser().get_doctest(inspect.cleandoc(text), known, name, None, 0)
    doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=said.append)
    assert not said, "".join(said)


@pytest.mark.parametrize("name", MODULES)
def test_modules_say_what_is_in_them(name: str) -> None:
    assert len(getattr(lw, name).__doc__ or "") > 20
