"""The sources of rules: what they are made of is followed, imports are found, and keys change with what decides the code."""

from __future__ import annotations

import ast
import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkwork.forces.muscle_curves import ACTIVE
from linkwork.joints.revolute import Revolute
from linkwork.kernel import sources
from linkwork.kernel.directional import directional
from linkwork.kernel.sources import closure, digest, file_of, imports, modules_of, own_digest
from linkwork.kernel.sweep import Field, each
from linkwork.reduced.forward import FORWARD_DYNAMICS, velocities
from linkwork.spatial.se3 import SE3
from linkwork.steppers.stages import renamed

MODULES = sorted(
    ".".join(["linkwork", *path.relative_to(sources.ROOT).with_suffix("").parts]).removesuffix(".__init__")
    for path in sources.ROOT.rglob("*.py")
)
FORWARD = frozenset(("linkwork.kernel.unit", *FORWARD_DYNAMICS.modules, *modules_of(Revolute())))


# --- what things are made of ------------------------------------------------------------------------------------------------
class Holder:
    __slots__ = ("__secret", "empty", "law")

    def __init__(self, law: Any, secret: Any = None) -> None:
        self.law, self.__secret = law, secret


def around(inner: Any) -> Callable[..., Any]:
    def rule(n: Any) -> Any:
        return inner(n)

    return rule


def unset() -> Callable[[], Any]:
    def rule() -> Any:
        return late

    if rule is None:
        late = velocities
    return rule


def circle() -> list[Any]:
    held: list[Any] = [velocities]
    held.append(held)
    return held


FOLLOWED: dict[str, Callable[[], Any]] = {
    "a function": lambda: velocities,
    "a closure": lambda: around(velocities),
    "closures in closures": lambda: around(around(around(velocities))),
    "a partial": lambda: functools.partial(velocities),
    "an argument of a partial": lambda: functools.partial(max, key=velocities),
    "a default": lambda: lambda n, f=velocities: f(n),
    "a default by name": lambda: lambda n, *, f=velocities: f(n),
    "wrapped": lambda: functools.wraps(velocities)(lambda n: None),
    "cached": lambda: functools.cache(velocities),
    "a list in a dict": lambda: {"a": [(1, velocities)]},
    "a key": lambda: {velocities: 1},
    "an array": lambda: np.array([None, velocities], dtype=object),
    "an attribute": lambda: Field("input", world=velocities),
    "slots": lambda: Holder(velocities),
    "a private slot": lambda: Holder(1.0, velocities),
    "a method": lambda: Holder(velocities).__init__,
    "a sweep": lambda: each(velocities),
    "a renamed sweep": lambda: renamed(each(velocities), {"a": "b"}),
    "itself again": circle,
}


@pytest.mark.parametrize("name", FOLLOWED)
def test_rules_are_followed_into_what_they_are_made_of(name: str) -> None:
    assert "linkwork.reduced.forward" in modules_of(FOLLOWED[name]())


def test_objects_come_from_the_modules_of_their_classes_and_parts() -> None:
    class Own(Revolute):
        pass

    assert modules_of(Own()) >= {"linkwork.joints.revolute", "linkwork.joints.base"}
    assert "linkwork.forces.muscle_curves" in modules_of(Holder(ACTIVE))
    assert "linkwork.spatial.se3" in modules_of(SE3)


def test_what_is_not_of_the_package_has_no_sources() -> None:
    assert (
        modules_of(1, 2.0, "text", b"", None, np.ones(3), np.float64(1.0), np, np.sin, max, unset(), around(np.sin), Holder(1))
        == set()
    )


def test_wrappers_count_besides_what_they_wrap() -> None:
    """A rule on duals calls itself after the rule it wraps, and is code of its own."""
    modules = directional(FORWARD_DYNAMICS).modules
    assert modules >= {*FORWARD_DYNAMICS.modules, "linkwork.kernel.directional"}
    assert "linkwork.steppers.stages" in modules_of(renamed(each(velocities), {}))


# --- imports ----------------------------------------------------------------------------------------------------------------
def parsed_imports(module: str) -> set[str]:
    """As Python's own parser sees them."""
    file = file_of(module)
    assert file is not None
    package = module.split(".") if file.name == "__init__.py" else module.split(".")[:-1]
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found.update(a.name for a in node.names)
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else []
            inside = ".".join([*base, *([node.module] if node.module else [])])
            found.update(f"{inside}.{a.name}" if file_of(f"{inside}.{a.name}") else inside for a in node.names)
    return {m for m in found if file_of(m)}


@pytest.mark.parametrize("module", MODULES)
def test_every_import_is_found(module: str) -> None:
    assert imports(module) >= parsed_imports(module)


def test_imports_of_all_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"""
import numpy, linkwork.errors as e
from . import ir, cache  # two modules
from .lanes import (
    Lanes,  # a comment
)
from ..spatial import SE3, so3
from linkwork.joints.base import Joint as J
from .. import no_such_module

def f():
    from ..model.rules import inertia_of
"""
    monkeypatch.setattr(sources, "source", lambda module: text)
    found = imports.__wrapped__("linkwork.kernel.example")
    names = ("errors", "kernel.ir", "kernel.cache", "kernel.lanes", "spatial", "spatial.so3", "joints.base", "model.rules")
    assert found == {"linkwork", *(f"linkwork.{n}" for n in names)}


def test_the_closure_of_forward_dynamics() -> None:
    found = closure(FORWARD)
    inside = ("reduced.forward", "reduced.rules", "joints.revolute", "joints.base", "spatial.se3", "spatial.stage", "spatial.jet")
    compilers = ("graph", "ir", "trace", "symbol", "vector_math", "lanes", "sweep", "machine", "unit")
    assert found >= {f"linkwork.{name}" for name in inside} | {f"linkwork.kernel.{name}" for name in compilers}
    for folder in ("forces", "constraints", "contact", "steppers", "scenes", "view", "io", "maximal", "redmax"):
        assert not [m for m in found if m.startswith(f"linkwork.{folder}")], folder
    assert all(imports(m) <= found for m in found)


# --- digests ------------------------------------------------------------------------------------------------------------------
@pytest.fixture
def edited(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, bytes], None]]:
    """Adds a text to a module."""
    caches, read = (imports, closure, own_digest, digest), sources.source

    def edit(module: str, text: bytes) -> None:
        monkeypatch.setattr(sources, "source", lambda name: read(name) + (text if name == module else b""))
        for cached in caches:
            cached.cache_clear()

    yield edit
    for cached in caches:
        cached.cache_clear()


def test_digests_change_exactly_with_the_modules_in_the_closure(edited: Callable[[str, bytes], None]) -> None:
    before, inside = digest(FORWARD), closure(FORWARD)
    for module in MODULES:
        edited(module, b"\n# edited\n")
        assert (digest(FORWARD) != before) == (module in inside), module
    edited("linkwork.none", b"")
    assert digest(FORWARD) == before


def test_a_new_import_makes_its_module_count(edited: Callable[[str, bytes], None]) -> None:
    assert "linkwork.forces.springs" not in closure(FORWARD)
    edited("linkwork.spatial.stage", b"\ndef later():\n    from ..forces import springs\n")
    assert "linkwork.forces.springs" in closure(FORWARD)


def test_digests_tell_sets_of_modules_apart() -> None:
    sets = [FORWARD, FORWARD | {"linkwork.forces.muscle_curves"}, frozenset({"linkwork.errors"}), frozenset()]
    assert len({digest(s) for s in sets}) == len(sets)
    assert all(len(digest(s)) == 64 for s in sets)


SCRIPT = """
import linkwork as lw
b = lw.ModelBuilder()
b.body("arm", joint=lw.Revolute(axis=(0, 1, 0)), inertia=lw.Inertia.cuboid(mass=1.0, size=(0.1, 0.1, 0.4)))
lw.forward_dynamics(b.build(), [0.1], [0.0])
"""


def test_only_edits_that_matter_compile_again(tmp_path: Path) -> None:
    """In a copy of the package."""
    package, kept = tmp_path / "linkwork", tmp_path / "cache"
    shutil.copytree(sources.ROOT, package, ignore=shutil.ignore_patterns("__pycache__"))

    def objects() -> set[str]:
        environment = os.environ | {"PYTHONPATH": str(tmp_path), "LINKWORK_CACHE": str(kept), "LINKWORK_LEVEL": "0"}
        subprocess.run([sys.executable, "-c", SCRIPT], env=environment, check=True)
        return {file.name for file in kept.iterdir()}

    def edit(module: str) -> None:
        with (package / f"{module}.py").open("a") as file:
            file.write("\n# edited\n")

    first = objects()
    edit("forces/springs")
    edit("steppers/stages")
    assert objects() == first
    edit("spatial/stage")
    second = objects()
    assert second > first
    edit("kernel/graph")
    assert objects() > second
