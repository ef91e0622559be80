"""Shapes: solids in the coordinates of whatever they are attached to, with what their surface is like. Ball and half-space."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, ClassVar, TypedDict, Unpack

import numpy as np

from ..errors import ArgumentError, ModelError
from ..spatial.frozen import Frozen
from ..spatial.gate import is_writable, meant, reals, shown
from ..spatial.inertia import Inertia
from ..spatial.scalar import Scalar, read_only
from ..spatial.se3 import SE3
from . import checks

NORMAL_ERROR = 1e-6
ATTRIBUTES = ("friction", "restitution", "density", "mass", "color", "group", "mask", "name")


class Unnamed(TypedDict, total=False):
    """What every shape may be given besides its form."""

    friction: float | None
    restitution: float | None
    density: float | None
    mass: float | None
    color: Any
    group: int
    mask: int


class Attributes(Unnamed, total=False):
    """The same with a name."""

    name: str | None


class Shape(Frozen):
    """Base of all shapes.

    friction      coefficient of dry friction; None leaves it to the shape that it touches
    restitution   from 0 (stays) to 1 (bounces back); None leaves it to the shape that it touches
    density, mass kg/m^3, or kg of the whole; one of them, for a body whose inertia is that of its shapes
    color         (red, green, blue), or with opacity, from 0 to 1
    group, mask   sets as bits: two shapes may touch where the group of one is in the mask of the other
    name          of this shape, for messages

    kind              what it is called, in tables of pairs
    parameter_names   the attributes that are its numbers: functions of shapes read these and nothing else, and run as well on
                      symbols (see `bound`)

    >>> isinstance(lw.Sphere(0.1), lw.Shape)
    True
    """

    kind: ClassVar[str] = ""
    parameter_names: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        *,
        friction: float | None = None,
        restitution: float | None = None,
        density: float | None = None,
        mass: float | None = None,
        color: Any = None,
        group: int = 1,
        mask: int = 1,
        name: str | None = None,
        **unknown: Any,
    ) -> None:
        for option in unknown:
            known = [p for p in inspect.signature(Shape.__init__).parameters if p not in ("self", "unknown")]
            there = f"there are {', '.join(known)}{meant(option, known)}"
            raise ArgumentError(f"{type(self).__name__}: there is no {option!r}; {there}")
        owner = self.name = type(self).__name__ if name is None else name
        if not isinstance(owner, str) or not owner or not is_writable(owner):
            raise ModelError(f"{type(self).__name__}: its name must be a text that can be written, not {shown(name)}")
        self.friction = None if friction is None else checks.number(owner, "friction", friction, 0.0)
        self.restitution = None if restitution is None else checks.number(owner, "restitution", restitution, 0.0, 1.0)
        if density is not None and mass is not None:
            raise ModelError(f"{owner}: give the density or the mass, not both")
        self.density = None if density is None else _positive(owner, "density", density)
        self.mass = None if mass is None else _positive(owner, "mass", mass)
        self.color = None if color is None else _color(owner, color)
        self.group, self.mask = checks.whole(owner, "group", group), checks.whole(owner, "mask", mask)

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Any:
        """The shape that a file says: made anew with its form and attributes."""
        return cls(**cls.given_form(state), **{name: state[name] for name in ATTRIBUTES})

    @classmethod
    def given_form(cls, state: Mapping[str, Any]) -> dict[str, Any]:
        """What its constructor needs besides the attributes of every shape, by name."""
        return {name: state[name] for name in inspect.signature(cls).parameters if name in state and name not in ATTRIBUTES}

    # --- its numbers ----------------------------------------------------------------------------------------------------
    def parameters(self) -> dict[str, np.ndarray]:
        """Its numbers, by name."""
        return {name: np.asarray(getattr(self, name), float) for name in self.parameter_names}

    def bound(self, values: Mapping[str, Any]) -> Any:
        """The same shape with other numbers, symbols too; they are not checked."""
        return self.with_parts(**values)

    def moved(self, E: SE3) -> Any:
        """The same shape in the axes in which its own have the pose E, numbers or symbols."""
        raise ModelError(f"{self.name}: a {type(self).__name__} cannot be moved; move its body")

    # --- what it fills --------------------------------------------------------------------------------------------------
    @property
    def volume(self) -> float:
        """m^3."""
        raise ModelError(f"{self.name}: a {type(self).__name__} encloses no volume")

    @property
    def com(self) -> np.ndarray:
        """The centre of its volume (3,)."""
        raise ModelError(f"{self.name}: a {type(self).__name__} encloses no volume")

    def inertia(self) -> Inertia:
        """Of the solid, with its own density or mass, spread evenly."""
        if self.mass is None and self.density is None:
            raise ModelError(f"{self.name}: give its density or its mass; without them it has no inertia")
        return self.inertia_of(self.density * self.volume if self.mass is None else self.mass)  # pyright: ignore

    def inertia_of(self, mass: float) -> Inertia:
        """Of the solid with this mass, spread evenly."""
        raise ModelError(f"{self.name}: a {type(self).__name__} encloses no volume; it has no inertia")

    def require_solid(self) -> None:
        """Raise unless the shape has an inside that others can be kept out of."""

    # --- where it can be ------------------------------------------------------------------------------------------------
    def bounding_box(self) -> tuple[np.ndarray, np.ndarray]:
        """The lowest and highest coordinates (3,) of its points; infinite for a half-space."""
        raise NotImplementedError

    def bounding_sphere(self) -> tuple[np.ndarray, Scalar]:
        """Centre (3,) and radius of a ball that holds it; infinite for a half-space."""
        raise NotImplementedError

    def __repr__(self) -> str:
        own = ", ".join(f"{n}={np.asarray(x).tolist()}" for n, x in self.parameters().items())
        return f"{type(self).__name__}({own})"


class Sphere(Shape):
    """A solid ball.

    >>> ball = lw.Sphere(0.1, mass=0.5, restitution=0.8)
    """

    kind = "sphere"
    parameter_names = ("radius", "center")

    def __init__(self, radius: float, center: Any = (0.0, 0.0, 0.0), **attributes: Unpack[Attributes]) -> None:
        super().__init__(**attributes)
        self.radius = checks.length(self.name, "radius", radius)
        self.center = checks.vector(self.name, "center", center)

    def moved(self, E: SE3) -> Sphere:
        return self.bound({"center": E @ self.center})

    @property
    def volume(self) -> float:
        return 4.0 / 3.0 * np.pi * self.radius**3

    @property
    def com(self) -> np.ndarray:
        return self.center

    def inertia_of(self, mass: float) -> Inertia:
        return Inertia.sphere(mass, self.radius, self.center)

    def bounding_box(self) -> tuple[np.ndarray, np.ndarray]:
        return self.center - self.radius, self.center + self.radius

    def bounding_sphere(self) -> tuple[np.ndarray, Scalar]:
        return self.center, self.radius


class Plane(Shape):
    """The half-space below a plane; `normal` points out of it.

    >>> floor = lw.Plane(point=(0, 0, 0), normal=(0, 0, 1), friction=0.7)
    """

    kind = "plane"
    parameter_names = ("point", "normal")

    def __init__(self, point: Any = (0.0, 0.0, 0.0), normal: Any = (0.0, 0.0, 1.0), **attributes: Unpack[Attributes]) -> None:
        super().__init__(**attributes)
        self.point = checks.vector(self.name, "point", point)
        given = checks.vector(self.name, "normal", normal)
        length = float(np.linalg.norm(given))
        if abs(length - 1.0) > NORMAL_ERROR:
            raise ModelError(f"{self.name}: the normal {given.tolist()} has length {length:.6g}; give a unit vector")
        self.normal = read_only(given / length)

    def moved(self, E: SE3) -> Plane:
        return self.bound({"point": E @ self.point, "normal": E.rotate(self.normal)})

    def bounding_box(self) -> tuple[np.ndarray, np.ndarray]:
        return np.full(3, -np.inf), np.full(3, np.inf)

    def bounding_sphere(self) -> tuple[np.ndarray, Scalar]:
        return self.point, np.inf


def _positive(owner: str, what: str, x: Any) -> float:
    value = checks.number(owner, what, x)
    if value <= 0.0:
        raise ModelError(f"{owner}: {what} must be above 0, not {x!r}")
    return value


def _color(owner: str, x: Any) -> tuple[float, ...]:
    try:
        a = reals(x)
    except (TypeError, ValueError):
        a = np.full(0, np.nan)
    if a.shape not in ((3,), (4,)) or not np.all((a >= 0) & (a <= 1)):
        raise ModelError(f"{owner}: color must be three or four numbers from 0 to 1, not {x!r}")
    return tuple(a.tolist())
