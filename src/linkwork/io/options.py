"""How a file is to be read: one place for the choices, checked before the file is opened."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ..errors import InputError
from ..spatial.gate import meant, shown

INERTIA = ("strict", "repair", "accept")
MIMIC = ("couple", "independent")
COLLISIONS = ("look", "touch")


@dataclass(frozen=True)
class Options:
    """The keyword arguments of `load`; see there."""

    floating: bool = False
    inertia: Literal["strict", "repair", "accept"] = "strict"
    mimic: Literal["couple", "independent"] = "couple"
    merge_fixed: bool = True
    gravity: Any = None
    allow: tuple[str, ...] = ()
    packages: tuple[Path, ...] = ()
    collisions: Literal["look", "touch"] = "look"

    def __post_init__(self) -> None:
        for name in ("floating", "merge_fixed"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(f"load: {name} must be True or False, not {shown(getattr(self, name))}")
        for name, known in (("inertia", INERTIA), ("mimic", MIMIC), ("collisions", COLLISIONS)):
            value = getattr(self, name)
            if not isinstance(value, str) or value not in known:
                raise InputError(f"load: {name} = {value!r}; choose one of {', '.join(map(repr, known))}{meant(value, known)}")
