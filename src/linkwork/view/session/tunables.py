"""Numbers of a model that can be changed while it runs: each makes a variant of the model, which shares its kernels.

    gravity                          along the direction that it has
    stiffness, damping, friction,
    muscle strength                  of all laws and shapes that have them, as a factor
    numbers of laws that users wrote
    joint torques                    on or off: springs, controllers and actuators of joints [Hernandez 2011, Figure 3]

Others are asked for by name, that of a law, a body or a joint before the dot: {"spring.stiffness": (0, 100)}. The mass of a body
changes with its tensor, at the same density.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import InputError
from ...forces import Actuator, JointSpring, PDController
from ...model import Model
from ...spatial.gate import given_range

FACTORS = {
    "stiffness": ("stiffness", "kp"),
    "damping": ("damping", "kd"),
    "friction": ("friction",),
    "muscle strength": ("max_force",),
}
TORQUES = {JointSpring: ("stiffness",), PDController: ("kp", "kd"), Actuator: ("gain", "bias")}
MOST = 4.0  # of factors
EARTH = 9.81  # m/s^2
Ranges = Mapping[str, tuple[float, float]]
Change = Callable[[Model, float], Model]


@dataclass(frozen=True, eq=False)
class Tunable:
    """A number with its range, and what the model is with another value of it; a switch is on at 1 and off at 0."""

    label: str
    low: float
    high: float
    value: float
    change: Change
    switch: bool = False


def tunables(model: Model, asked: Ranges) -> list[Tunable]:
    """All that can be changed of a model."""
    found = [_asked(model, name, bounds) for name, bounds in asked.items()]
    return [*found, *_gravity(model), *_factors(model), *_written(model), *_torques(model)]


def variant(model: Model, changes: Mapping[Tunable, float]) -> Model:
    """The model with other values of some of its numbers."""
    for tunable, value in changes.items():
        if value != tunable.value:
            model = tunable.change(model, value)
    return model


def _gravity(model: Model) -> Iterator[Tunable]:
    size = float(np.linalg.norm(model.gravity))
    direction = model.gravity / size if size else np.array([0.0, 0.0, -1.0])
    yield Tunable(
        "gravity, m/s²",
        0.0,
        2.0 * max(size, EARTH),
        size,
        lambda m, x: m.with_parameters({}, gravity=x * direction),
    )


def _factors(model: Model) -> Iterator[Tunable]:
    for label, names in FACTORS.items():
        rubs = label == "friction" and any(s.friction for b in model.bodies for s in b.shapes)
        rubs = rubs or (label == "friction" and any(s.friction for s in model.world_shapes))
        if rubs or any(_numbers(law, names) for law in model.elements):
            yield Tunable(f"{label}, times", 0.0, MOST, 1.0, _factor(names))


def _factor(names: tuple[str, ...]) -> Change:
    def change(model: Model, x: float) -> Model:
        laws = [_scaled(law, names, x) for law in model.elements]
        model = model.replace(elements=laws)
        return _rubbing(model, x) if "friction" in names else model

    return change


def _numbers(law: Any, names: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Those of a built-in law that have one of the names, and are not all zero."""
    if not getattr(law, "built_in", False):
        return {}
    own = {name: law.numbers().get(name) for name in names}
    found = {name: np.asarray(x, float) for name, x in own.items() if x is not None}
    return {name: x for name, x in found.items() if x.any()}


def _scaled(law: Any, names: tuple[str, ...], factor: float) -> Any:
    own = _numbers(law, names)
    return law.remade({name: (factor * x)[()] for name, x in own.items()}) if own else law


def _rubbing(model: Model, factor: float) -> Model:
    """The model with other friction of its shapes."""

    def of(shapes: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(_rubbed(shape, factor) for shape in shapes)

    bodies = tuple(dataclasses.replace(b, shapes=of(b.shapes)) for b in model.bodies)
    return dataclasses.replace(model, bodies=bodies, world_shapes=of(model.world_shapes))


def _rubbed(shape: Any, factor: float) -> Any:
    if not shape.friction:
        return shape
    other = copy.copy(shape)
    vars(other)["friction"] = factor * shape.friction
    return other


def _written(model: Model) -> Iterator[Tunable]:
    """Numbers of laws that users wrote."""
    for k, law in enumerate(model.elements):
        if getattr(law, "built_in", True):
            continue
        for name, x in law.numbers().items():
            if isinstance(x, (int, float)) and not isinstance(x, bool):
                low, high = (-2.0 * abs(x), 2.0 * abs(x)) if x else (-np.pi, np.pi)
                yield Tunable(f"{law.name or type(law).__name__}: {name}", low, high, float(x), _of_law(k, name))


def _of_law(k: int, name: str) -> Change:
    def change(model: Model, x: float) -> Model:
        laws = list(model.elements)
        laws[k] = laws[k].remade({name: x})
        return model.replace(elements=laws)

    return change


def _torques(model: Model) -> Iterator[Tunable]:
    def change(model: Model, x: float) -> Model:
        laws = list(model.elements)
        for k, law in enumerate(laws):
            names = next((names for kind, names in TORQUES.items() if isinstance(law, kind)), ())
            laws[k] = _scaled(law, names, x)
        return model.replace(elements=laws)

    if any(isinstance(law, tuple(TORQUES)) for law in model.elements):
        yield Tunable("joint torques", 0.0, 1.0, 1.0, change, switch=True)


def _asked(model: Model, name: str, bounds: Any) -> Tunable:
    """A number of a law, a body or a joint, by name."""
    low, high = given_range(f"the slider {name!r}", bounds)
    owner, _, what = name.rpartition(".")
    law = next((e for e in model.elements if owner and getattr(e, "name", "") == owner and what in e.numbers()), None)
    if law is not None:
        now: Any = law.numbers()[what]
    elif owner in model.names:
        now = _of_body(model, owner).get(what)
    else:
        raise InputError(f"there is no number {name!r} to be changed: nothing is named {owner!r}")
    if now is None or np.ndim(now) or not np.isfinite(now):
        raise InputError(f"{name!r} is no number that a slider could change; it is {now!r}")

    def change(model: Model, x: float) -> Model:
        if law is None and what == "mass":
            own = model.bodies[model.body_index(owner)].inertia
            return model.with_parameters({owner: {"mass": x, "tensor": own.tensor * (x / own.mass)}})
        return model.with_parameters({owner: {what: x}})

    return Tunable(name, low, high, float(now), change)


def _of_body(model: Model, name: str) -> dict[str, Any]:
    """Single numbers of a body and its joint."""
    body = model.bodies[model.body_index(name)]
    drive = {what: x[0] for what in ("armature", "damping") if len(x := np.atleast_1d(getattr(body.properties, what))) == 1}
    own = {what: x for what, x in body.joint.numbers().items() if isinstance(x, (int, float))}
    return {"mass": body.inertia.mass, **own, **drive}
