"""The page of all public names: signature and text of each, as Python shows them."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import linkwork as lw

ADDRESS = re.compile(r" at 0x[0-9a-f]+")
KINDS = ("Functions", "Classes", "Errors", "Modules")


def write_api(path: Path) -> None:
    """Write the page."""
    groups: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for name in sorted(lw.__all__, key=str.lower):
        value = _value(name)
        groups[_kind(value)].append(_entry(name, value))
    parts = [f"## {kind}\n\n" + "\n".join(entries) for kind, entries in groups.items() if entries]
    known = "Examples know `lw`, `np`, and an arm of two hinges: `model` with `q`, `v` and `state`."
    path.write_text("\n".join([f"# All public names\n\n{known}\n", *parts]), encoding="utf-8")


def _value(name: str) -> object:
    try:
        return getattr(lw, name)
    except ImportError:  # an extra that is not installed
        return None


def _kind(value: object) -> str:
    if inspect.isclass(value):
        return "Errors" if issubclass(value, BaseException) else "Classes"
    return "Functions" if callable(value) else "Modules"


def _entry(name: str, value: object) -> str:
    text = inspect.getdoc(value) or ""
    if inspect.ismodule(value) or value is None:
        return f"### lw.{name}\n\n```text\n{text}\n```\n\n" + "\n".join(_inside(name, value))
    try:
        call = ADDRESS.sub("", str(inspect.signature(value)))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        call = ""
    return f"### lw.{name}\n\n```python\n{name}{call}\n```\n\n```text\n{text}\n```\n"


def _inside(name: str, module: object) -> list[str]:
    """What is in a module, and not beside it."""
    others = {n: getattr(module, n) for n in getattr(module, "__all__", ()) if n not in lw.__all__}
    return [_entry(f"{name}.{n}", value) for n, value in others.items() if callable(value) and inspect.getdoc(value)]
