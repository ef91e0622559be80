"""What can be changed in a page: sliders and switches, and the numbers in memory that they are.

Every slider stands for numbers `base * value`, a switch for numbers that are zero when it is off:

    gravity                        along the direction that it has
    stiffness, damping, friction,
    muscle strength                of all laws that have them, as a factor
    inputs                         activations of muscles, targets of controllers, inputs of forces that users wrote
    schedules                      of activations, as a factor
    parameters                     of forces and constraints that users wrote
    joint torques                  on or off: springs and controllers of joints, constant joint forces [Hernandez 2011, Figure 3]

Others are asked for by name, that of a law, a body or a joint before the dot: {"spring.stiffness": (0, 100)}. The mass of a body
changes with its tensor, at the same density.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import InputError
from ..forces import Actuator, Handle, JointSpring, Muscle, PDController, PoseHandle
from ..spatial.gate import given_range
from .places import NUMBER, LawNumbers, Numbers, Places

FACTORS = {
    "stiffness": ("stiffness", "K", "kp"),
    "damping": ("damping", "D", "kd", "coefficients"),
    "friction": ("friction",),
    "muscle strength": ("max_force",),
}
TORQUES = {JointSpring: ("stiffness",), PDController: ("kp", "kd"), Actuator: ("gain", "bias")}
PLACEMENT, INERTIA = ("R", "p"), ("mass", "first_moment", "J")  # numbers of bodies
INPUTS = {Muscle: "activation", PDController: "target", Actuator: "control"}  # what inputs are called
MOST = 4.0  # of factors
EARTH = 9.81  # m/s^2
MANY = 16  # inputs that each get a slider of their own
Ranges = Mapping[str, tuple[float, float]]
Control = dict[str, Any]


def controls(places: Places, asked: Ranges) -> list[Control]:
    """All sliders and switches of a page; a number that has a slider by its name is not in any other."""
    found = [_asked(places, name, bounds) for name, bounds in asked.items()]
    taken = {place["at"] for control in found for place in control["places"]}
    usual = [*_gravity(places), *_inputs(places), *_schedules(places), *_factors(places), *_written(places), *_torques(places)]
    for control in usual:
        if control["kind"] == "slider":
            control["places"] = [place for place in control["places"] if place["at"] not in taken]
    return found + [control for control in usual if control["places"]]


def _slider(label: str, low: float, high: float, value: float, numbers: Sequence[tuple[Numbers, Any]], unit: str = "") -> Control:
    """numbers   with what each is for a value of 1"""
    places = [_place(x, base) for x, base in numbers]
    return {"kind": "slider", "label": label, "low": low, "high": high, "value": value, "places": places, "unit": unit}


def _place(x: Numbers, base: Any) -> dict[str, Any]:
    return {"at": x.at, "base": np.broadcast_to(np.asarray(base, float), x.values.shape).tolist()}


def _asked(places: Places, name: str, bounds: tuple[float, float]) -> Control:
    """A slider for a number of a law, a body or a joint."""
    low, high = given_range(f"the slider {name!r}", bounds)
    owner, _, what = name.rpartition(".")
    known = [{n: [(x, 1.0)] for n, x in law.parameters.items()} for law in places.laws if owner and law.name == owner]
    if owner in places.start.model.names:
        known.append(_of_body(places, places.start.model.body_index(owner)))
    found = next((numbers[what] for numbers in known if what in numbers), None)
    if found is None:
        words = sorted({word for numbers in known for word in numbers})
        which = f"{owner!r} has {', '.join(words)}" if words else f"nothing is named {owner!r}"
        raise InputError(f"there is no number {name!r} to be changed: {which}")
    values = found[0][0].values
    if np.ptp(values):
        raise InputError(f"{name!r} is {len(values)} different numbers; a slider is for one")
    return _slider(name, low, high, float(values[0]), found)


def _of_body(places: Places, body: int) -> dict[str, list[tuple[Numbers, Any]]]:
    """What can be changed of a body and its joint: numbers, with what each is for a value of 1."""
    numbers = places.of_body(body)
    own = {name.removeprefix("joint_"): [(x, 1.0)] for name, x in numbers.items() if name not in (*PLACEMENT, *INERTIA)}
    mass = numbers["mass"].values[0]
    return own | ({"mass": [(numbers[name], numbers[name].values / mass) for name in INERTIA]} if mass else {})


def _gravity(places: Places) -> Iterator[Control]:
    at = places.step.at.get("gravity")
    if at is not None:
        g = places.start.model.gravity
        size = float(np.linalg.norm(g))
        direction = g / size if size else np.array([0.0, 0.0, -1.0])
        yield _slider("gravity", 0.0, 2.0 * max(size, EARTH), size, [(Numbers(at, g), direction)], "m/s²")


def _inputs(places: Places) -> Iterator[Control]:
    """Activations, targets of controllers in the coordinates of their joints, and whatever users call inputs."""
    driven = [(x, x.inputs) for x in places.laws if x.inputs is not None and not isinstance(x.law, Handle | PoseHandle)]
    muscles = [(x, u) for x, u in driven if isinstance(x.law, Muscle)]
    if len(muscles) > MANY:
        yield _slider("activation of all muscles", 0.0, 1.0, float(muscles[0][1].values[0]), [(u, 1.0) for _, u in muscles])
        driven = [(x, u) for x, u in driven if not isinstance(x.law, Muscle)]
    if sum(map(_input_count, driven)) > MANY:
        driven = [(x, u) for x, u in driven if isinstance(x.law, Muscle) or not x.law.built_in]
    for x, u in driven:
        for k in range(_input_count((x, u))):
            one = Numbers(u.at + NUMBER * k, u.values[k : k + 1])
            value = float(one.values[0])
            low, high = (0.0, 1.0) if isinstance(x.law, Muscle) else _around(value)
            word = "activation" if isinstance(x.law, Muscle) else "target" if isinstance(x.law, PDController) else "input"
            number = f" {k + 1}" if _input_count((x, u)) > 1 else ""
            yield _slider(f"{word} of {_called(x)}{number}", low, high, value, [(one, 1.0)])


def _schedules(places: Places) -> Iterator[Control]:
    """Activations that follow a schedule, as a factor of all its values; one for all muscles if there are many."""
    found = [(x, *_values_over_time(x)) for x in places.laws if isinstance(x.law, Muscle) and x.law.activation is not None]
    if len(found) > MANY:
        most = min(high for _, _, high in found)
        yield _slider("activation of all muscles", 0.0, most, 1.0, [pair for _, pairs, _ in found for pair in pairs], "times")
        return
    for x, pairs, high in found:
        yield _slider(f"activation of {_called(x)}", 0.0, high, 1.0, pairs, "times")


def _values_over_time(x: LawNumbers) -> tuple[list[tuple[Numbers, Any]], float]:
    """The numbers of a schedule that grow with its values, and the factor that makes the largest of them 1.

    A row of its curve is where a piece starts, the integral up to there, and the coefficients.
    """
    numbers, curve = x.parameters["activation_numbers"], x.law.activation
    width, pairs = curve.rows.shape[1], []
    for first in range(len(curve.breaks) + 1, len(numbers.values), width):
        values = numbers.values[first : first + width - 1]
        pairs.append((Numbers(numbers.at + NUMBER * first, values), values))
    largest = float(curve.rows[:, 2].max())
    return pairs, min(1.0 / largest, 10.0 * MOST) if largest > 0 else 1.0


def _input_count(driven: tuple[LawNumbers, Numbers]) -> int:
    """How many sliders an input is: of a controller its target's coordinates, if the joint has one."""
    law, u = driven[0].law, driven[1]
    return (len(u.values) == 2) * 1 if isinstance(law, PDController) else len(u.values)


def _factors(places: Places) -> Iterator[Control]:
    for label, names in FACTORS.items():
        numbers = [x.parameters[n] for x in places.laws if x.law.built_in for n in names if n in x.parameters]
        numbers = [n for n in numbers if n.values.any()]
        yield _slider(label, 0.0, MOST, 1.0, [(n, n.values) for n in numbers], "times")


def _written(places: Places) -> Iterator[Control]:
    """Numbers of laws that users wrote."""
    for x in places.laws:
        for name, n in ({} if x.law.built_in else x.parameters).items():
            if len(n.values) == 1:
                value = float(n.values[0])
                yield _slider(f"{_called(x)}: {name}", *_around(value), value, [(n, 1.0)])


def _torques(places: Places) -> Iterator[Control]:
    found = []
    for x in places.laws:
        names = next((names for kind, names in TORQUES.items() if isinstance(x.law, kind)), ())
        found += [x.parameters[name] for name in names if name in x.parameters]
    if places.start.tau is not None:
        found.append(Numbers(places.step.at["tau"], places.start.tau))
    yield {"kind": "switch", "label": "joint torques", "value": True, "places": [_place(n, n.values) for n in found]}


def _around(value: float) -> tuple[float, float]:
    """A range for a number of which nothing else is known."""
    return (-2.0 * abs(value), 2.0 * abs(value)) if value else (-np.pi, np.pi)


def _called(x: LawNumbers) -> str:
    return x.name or (x.law.ports[0].name if x.law.ports else "") or type(x.law).__name__
