"""How a file is to be read: one place for the choices, checked before the file is opened."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from ..errors import InputError
from ..geometry import Plane, Shape
from ..model import Model
from ..model.ground import can_touch
from ..spatial.gate import given_positive, meant, shown

INERTIA = ("strict", "repair", "accept")
MIMIC = ("couple", "independent")
COLLISIONS = ("look", "touch")
BUDGET = (60.0, 4.0)  # seconds and GiB that a large MJCF file may take
GROUND_FRICTION = 0.8  # of the plane that ground=True lays; rubber and dry concrete
ALL_GROUPS = 0x7FFFFFFF  # every bit that groups of MJCF files use: that plane touches whatever can be touched


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
    collisions: Literal["look", "touch"] | None = None
    ground: Any = False
    budget: tuple[float, float] = BUDGET

    def __post_init__(self) -> None:
        for name in ("floating", "merge_fixed"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(f"load: {name} must be True or False, not {shown(getattr(self, name))}")
        try:
            seconds, memory = (given_positive("load: budget", x) for x in self.budget)
        except (TypeError, ValueError):
            raise InputError(f"load: budget = {shown(self.budget)}; it must be (seconds, GiB), two numbers above 0") from None
        object.__setattr__(self, "budget", (seconds, memory))
        laid = () if isinstance(self.ground, bool) else (self.ground,) if isinstance(self.ground, Shape) else self.ground
        if not isinstance(laid, tuple | list) or not all(isinstance(shape, Shape) for shape in laid):
            raise InputError(
                f"load: ground = {shown(self.ground)}; it must be True, a shape in world axes as lw.Plane(friction=0.8), or a "
                "list of them"
            )
        if self.collisions is None:
            touch = self.ground is True or any(can_touch(shape) for shape in laid)
            object.__setattr__(self, "collisions", "touch" if touch else "look")
        for name, known in (("inertia", INERTIA), ("mimic", MIMIC), ("collisions", COLLISIONS)):
            value = getattr(self, name)
            if not isinstance(value, str) or value not in known:
                raise InputError(f"load: {name} = {value!r}; choose one of {', '.join(map(repr, known))}{meant(value, known)}")

    def on_ground(self, model: Model) -> Model:
        """The model that was read, on the ground that is asked for; a plane of its own that carries it is not laid twice."""
        if self.ground is not True:
            shapes = (self.ground,) if isinstance(self.ground, Shape) else self.ground or ()
            return model.add(*shapes) if shapes else model
        for shape in model.world_shapes:
            if isinstance(shape, Plane) and can_touch(shape) and _is_floor(shape):
                return replace(
                    model, notes=(*model.notes, f"ground=True lays nothing: the file has the plane {shape.name!r} at z = 0")
                )
        return model.add(Plane(friction=GROUND_FRICTION, group=ALL_GROUPS, mask=ALL_GROUPS, name="ground"))


def _is_floor(plane: Plane) -> bool:
    """Whether it is the plane z = 0."""
    return bool(plane.normal[2] > 1.0 - 1e-12 and abs(plane.point[2]) < 1e-9)
