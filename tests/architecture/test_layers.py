"""The layers of docs/architecture.md: every package imports only from those above it."""

from __future__ import annotations

import ast
from importlib.util import find_spec
from pathlib import Path

import pytest

import linkwork

ROOT = Path(linkwork.__file__).parent
LAYERS = [
    ["errors"],
    ["lazy"],
    ["look"],
    ["spatial"],
    ["store"],
    ["kernel"],
    ["geometry", "solvers"],
    ["joints"],
    ["model"],
    ["elements"],
    ["constraints"],
    ["forces"],
    ["contact"],
    ["rows"],
    ["reduced"],
    ["lagrange"],
    ["maximal"],
    ["convert"],
    ["redmax"],
    ["assembly"],
    ["steppers"],
    ["declared"],
    ["energy"],
    ["energy_hessian"],
    ["reactions"],
    ["starts"],
    ["tally"],
    ["contacts"],
    ["account"],
    ["health"],
    ["trajectory"],
    ["replay"],
    ["prepared"],
    ["simulate"],
    ["rollout"],
    ["streams"],
    ["step_derivatives"],
    ["step_gradients"],
    ["doors"],
    ["simulator"],
    ["scenes"],
    ["io", "view"],
    ["live"],
    ["interop", "analysis"],
    ["studies"],
    ["bench"],
    ["verify"],
    ["cli"],
    ["__main__"],
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
# Entry points that dispatch downwards at call time; each is inside a function, never at import.
DISPATCH = {("trajectory", "view"), ("trajectory", "streams"), ("simulate", "streams"), ("model", "view")}
FILES = sorted(p for p in ROOT.rglob("*.py") if p.parent != ROOT or p.stem != "__init__")


def imports(file: Path) -> list[tuple[str, bool]]:
    """The layers that a file imports, and whether the import is inside a function."""
    package = file.relative_to(ROOT).parts[:-1]
    found: list[tuple[str, bool]] = []

    def visit(node: ast.AST, inside: bool) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ImportFrom):
                module = child.module or ""
                if child.level:
                    base = [*package[: len(package) - (child.level - 1)], *(module.split(".") if module else [])]
                    names = [base[0]] if base else [a.name for a in child.names]
                else:
                    names = [module.split(".")[1]] if module.startswith("linkwork.") else []
                found.extend((name, inside) for name in names)
            elif isinstance(child, ast.Import):
                found.extend((a.name.split(".")[1], inside) for a in child.names if a.name.startswith("linkwork."))
            visit(child, inside or isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)))

    visit(ast.parse(file.read_text()), False)
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_only_from_above(file: Path) -> None:
    own = file.relative_to(ROOT).parts[0].removesuffix(".py")
    assert own in RANK, f"{own} has no place in the layers"
    for name, inside in imports(file):
        if name == own or name not in RANK:
            continue
        if inside and (own, name) in DISPATCH:
            continue
        assert RANK[name] < RANK[own], f"{file.relative_to(ROOT)} imports {name}, which is not above {own}"


def test_layers_see_real_imports() -> None:
    """The reader of imports itself: a file whose imports are known."""
    found = {name for name, _ in imports(ROOT / "reduced" / "forward.py")}
    assert {"kernel", "model", "spatial"} <= found


@pytest.mark.parametrize("layer", ["spatial", "kernel", "geometry", "solvers"])
def test_lower_layers_know_no_mechanics(layer: str) -> None:
    words = ("gravity", "pendulum", "robot", "humanoid")
    for file in (ROOT / layer).rglob("*.py"):
        text = file.read_text().lower()
        if layer in ("kernel", "solvers"):
            assert not any(w in text for w in words), file


def test_public_names_exist() -> None:
    extras = {name for name in ("jax", "torch") if find_spec(name) is None}  # doors to what is not there
    for name in set(linkwork.__all__) - extras:
        assert hasattr(linkwork, name)
    assert sorted(linkwork.__all__) == sorted(set(linkwork.__all__))
