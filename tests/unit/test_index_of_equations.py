"""docs/tutorial/index_of_equations.md: every equation is there once, its functions exist, and so do the tests that pin them."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path
from typing import Any

import linkwork

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "tutorial" / "index_of_equations.md"
TESTS = ROOT / "tests" / "identities" / "test_liu_jain.py"
LAST = 85


def rows() -> list[list[str]]:
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("| (")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def found(name: str) -> Any:
    """The thing that a dotted name means: `lw` is the package, `linkwork` the same with its modules."""
    first, *rest = name.split(".")
    thing: Any = linkwork
    path = "linkwork"
    assert first in ("lw", "linkwork"), name
    for part in rest:
        path = f"{path}.{part}"
        try:
            thing = getattr(thing, part)
        except AttributeError:
            thing = importlib.import_module(path)
    return thing


def test_every_equation_stands_once() -> None:
    numbers = [int(n) for row in rows() for n in re.findall(r"\((\d+)\)", row[0])]
    assert sorted(numbers) == list(range(1, LAST + 1))


def test_every_function_exists() -> None:
    for row in rows():
        names = re.findall(r"`([\w.]+)`", row[2])
        assert names or row[2] == "derivation", row
        for name in names:
            assert callable(found(name)), name


def test_every_test_exists() -> None:
    tests = {node.name for node in ast.parse(TESTS.read_text()).body if isinstance(node, ast.FunctionDef)}
    for row in rows():
        named = re.findall(r"`(\w+)`", row[3])
        assert bool(named) == (row[2] != "derivation"), row
        assert set(named) <= tests, named


def test_every_test_of_an_equation_is_named() -> None:
    """A test that pins an equation is the one that the page names for it."""
    tests = {node.name for node in ast.parse(TESTS.read_text()).body if isinstance(node, ast.FunctionDef)}
    pinned = {name for name in tests if name.startswith("test_eq_")}
    named = {name for row in rows() for name in re.findall(r"`(\w+)`", row[3])}
    assert pinned - named <= {"test_eq_61_is_the_least_squares_solution"}
