"""Packages import their names when they are first asked for; what a program does not use costs it nothing."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from types import ModuleType

import pytest

from linkwork.steppers import ALL_STEPPERS

LAZY = ["joints", "geometry", "forces", "constraints", "contact", "reduced", "maximal", "redmax", "steppers"]


@pytest.mark.parametrize("name", LAZY)
def test_all_names_are_there_and_no_modules(name: str) -> None:
    package = import_module(f"linkwork.{name}")
    for own in package.__all__:
        assert not isinstance(getattr(package, own), ModuleType), own
    with pytest.raises(AttributeError, match=f"module 'linkwork.{name}' has no attribute 'nothing'"):
        _ = package.nothing


def test_a_name_means_the_function_before_and_after_its_module_is_imported() -> None:
    script = """
import linkwork.reduced, linkwork.reduced.mass_matrix
from linkwork.reduced import mass_matrix
assert callable(mass_matrix) and linkwork.mass_matrix is mass_matrix
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_what_nobody_asks_for_is_not_imported() -> None:
    script = """
import sys, linkwork as lw
b = lw.ModelBuilder()
b.body("arm", joint=lw.Revolute((0, 1, 0)), inertia=lw.Inertia.cuboid(1.0, (0.1, 0.1, 0.4)))
lw.simulate(b.build(), lw.State(q=[0.1], v=[0.0]), 0.01, 0.001)
print(*sys.modules)
"""
    loaded = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout.split()
    assert "linkwork.steppers.symplectic_euler" in loaded
    unused = (
        "steppers.variational",
        "steppers.rosenbrock",
        "joints.four_bar",
        "forces.cable",
        "io.mjcf",
        "geometry.height_field",
    )
    assert not {f"linkwork.{name}" for name in unused} & set(loaded)
    assert not {"scipy", "mujoco", "numpy.ma", "numpy.random"} & set(loaded)


def test_steppers_are_known_by_their_own_names() -> None:
    assert {name: cls.name for name, cls in ALL_STEPPERS.items()} == {name: name for name in ALL_STEPPERS}
    assert "euler" not in ALL_STEPPERS
    with pytest.raises(KeyError):
        _ = ALL_STEPPERS["euler"]
