"""linkwork: dynamics of articulated bodies. A joint, force or constraint is a few lines; everything else is derived.

The public names are those of the stub beside this file, `__init__.pyi`. Each is imported when it is first asked for, so that a
program pays only for what it uses.
"""

from __future__ import annotations

import os as _os
import sys as _sys
from types import ModuleType as _ModuleType
from typing import Any as _Any

__version__ = "0.2.0"


def _places() -> dict[str, tuple[str, str]]:
    """For every public name the module that defines it, and its name there."""
    import ast
    from pathlib import Path

    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    found = [(node.module or "", name) for node in stub.body if isinstance(node, ast.ImportFrom) for name in node.names]
    return {name.asname or name.name: (module, name.name) for module, name in found}


_PLACES = _places()


class _Package(_ModuleType):
    """Some functions share their names with the modules that define them (`simulate`); here the name means the function."""

    def __setattr__(self, name: str, value: _Any) -> None:
        if name not in _PLACES or not isinstance(value, _ModuleType):
            super().__setattr__(name, value)


_sys.modules[__name__].__class__ = _Package
if _os.environ.get("LINKWORK_GUARD"):  # from here on, so that the caller's arrays have guards, too
    from .kernel import guard as _guard

    _guard.arm()


def __getattr__(name: str) -> _Any:
    import importlib

    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, own = _PLACES[name]
    found = importlib.import_module(f".{module or own}", __name__)
    value = globals()[name] = getattr(found, own) if module else found
    return value


def __dir__() -> list[str]:
    """What users use: the public names, and the version."""
    return [*__all__, "__version__"]


def _here() -> list[str]:
    """The public names, without doors to packages that are not installed."""
    from importlib.util import find_spec

    closed = [name for name, (module, own) in _PLACES.items() if module == "doors" and find_spec(own) is None]
    return [name for name in _PLACES if name not in closed]


__all__ = _here()  # pyright: ignore[reportUnsupportedDunderAll]
