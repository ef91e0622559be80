"""Variants: the same tree with other parts or other numbers. They share kernels, which know classes of nodes and no model.

Only a variant whose placement, axis, armature or damping has its exact 0, 1 and -1 elsewhere (a damping that was 0) brings a
class of its own, and compiles that one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import InputError, ModelError
from ..geometry.shapes import Shape
from ..joints import Joint
from ..spatial.gate import listed, meant, shown
from ..spatial.inertia import Inertia
from .builder import PROPERTIES, ModelBuilder, solids_of
from .model import Body, Model, gravity_vector
from .properties import JointProperties

Changes = Mapping[str, Mapping[str, Any]]
PARTS = ("joint", "placement", "inertia", "shapes", "visuals", *sorted(PROPERTIES))
RIGID = ("mass", "com", "tensor")
OF_BODIES = (
    "nq",
    "nv",
    "parents",
    "_starts",
    "_index",
    "armature",
    "has_armature",
    "damping",
    "tree",
    "plan",
)  # known of a model
NUMBERS = (*RIGID, "placement", "armature", "damping")


def replaced(
    model: Model,
    gravity: Any = None,
    bodies: Changes | None = None,
    elements: Iterable[Any] | None = None,
    world: Iterable[Shape] | None = None,
) -> Model:
    """See `Model.replace`."""
    made = _each_body(model, {} if bodies is None else bodies, _with_parts)
    found: dict[str, Any] = {} if elements is None else {"elements": tuple(listed("replace", "elements", elements))}
    found |= {} if world is None else {"world_shapes": solids_of("world", world)}
    return dataclasses.replace(model, bodies=made, gravity=_gravity(model, gravity), **found)


def with_elements(model: Model, parts: Iterable[Any]) -> Model:
    """See `Model.add`."""
    laws, shapes = [], []
    for part in parts:
        if isinstance(part, Shape):
            shapes.append(part)
            continue
        if isinstance(part, type) or not callable(getattr(part, "check", None)):
            builds = callable(getattr(part, "add_to", None))
            todo = "add it on the builder" if builds else "it is no force, constraint, contact or shape of the world"
            raise ModelError(f"cannot add a {type(part).__name__} to a model: {todo}")
        laws.append(part)
    world = (*model.world_shapes, *solids_of("world", shapes)) if shapes else model.world_shapes
    made = dataclasses.replace(model, elements=(*model.elements, *laws), world_shapes=world)
    if made.bodies is model.bodies:
        made.__dict__.update({name: model.__dict__[name] for name in OF_BODIES if name in model.__dict__})
    return made


def with_parameters(model: Model, parameters: Changes, gravity: Any = None) -> Model:
    """See `Model.with_parameters`."""
    laws = [getattr(e, "name", "") for e in model.elements]
    changes: dict[str, Any] = {} if not isinstance(parameters, Mapping) else {x: parameters[x] for x in parameters if x in laws}
    of_laws = {name: x for name, x in changes.items() if not (name in model.names and set(x) <= set(NUMBERS))}
    rest: Any = {x: parameters[x] for x in parameters if x not in of_laws} if of_laws else parameters
    named = [name for name in laws if name]
    for name in rest if isinstance(rest, Mapping) and named else ():
        if name not in model.names:
            known = f"{_first(model.names)}; and laws {_first(named)}"
            raise ModelError(
                f"the model has no body or joint or law {shown(name)}; it has {known}{meant(name, [*model.names, *named])}"
            )
    made = _each_body(model, rest, _with_numbers)
    elements = tuple(_with_law_numbers(e, of_laws.get(name), laws) for e, name in zip(model.elements, laws, strict=True))
    return dataclasses.replace(model, bodies=made, gravity=_gravity(model, gravity), elements=elements)


def _first(names: Iterable[str]) -> str:
    """Some of the names, in words."""
    found = list(names)
    return ", ".join(found[:8]) + " ..." * (len(found) > 8)


def _with_law_numbers(law: Any, numbers: Any, names: Sequence[str]) -> Any:
    """The law with some of its numbers replaced, as if it had been made with them; None: as it is."""
    if numbers is None:
        return law
    if names.count(law.name) > 1:
        raise ModelError(f"{names.count(law.name)} laws of the model are named {law.name!r}; give them names of their own")
    if not isinstance(numbers, Mapping):
        raise ModelError(f"{law!r}: its changes must be {{what: value}}, not {numbers!r}")
    return law.remade(numbers)


def _each_body(model: Model, changes: Changes, change: Any) -> tuple[Body, ...]:
    """All bodies of the model, the named ones changed."""
    if not isinstance(changes, Mapping):
        raise ModelError(f"changes must be {{name of a body: {{what: value}}}}, not {type(changes).__name__}")
    bodies, taken = list(model.bodies), {}
    for name, values in changes.items():
        try:
            i = model.body_index(name)
        except InputError as error:
            raise ModelError(str(error)) from None
        if i in taken:
            raise ModelError(f"{taken[i]!r} and {name!r} are the same body and its joint; give its changes once")
        if not isinstance(values, Mapping):
            raise ModelError(f"body {name!r}: its changes must be {{what: value}}, not {values!r}")
        taken[i] = name
        bodies[i] = change(bodies[i], values)
    return tuple(bodies)


def _with_parts(body: Body, changes: Mapping[str, Any]) -> Body:
    """The body with some of its parts replaced, checked as the builder does."""
    _check_names(body, changes, PARTS)
    own = {name: getattr(body, name) for name in ("joint", "placement", "inertia", "shapes", "visuals")}
    joint = changes.get("joint", body.joint)
    if isinstance(joint, Joint) and (joint.nq, joint.nv) != (body.joint.nq, body.joint.nv):
        _refuse_to_drop(body, changes)
    else:
        own |= _given(body.properties)
    made = ModelBuilder().body(body.name, joint_name=body.joint_name, **(own | dict(changes))).build().bodies[0]
    return dataclasses.replace(made, parent=body.parent)


def _with_numbers(body: Body, numbers: Mapping[str, Any]) -> Body:
    """The body with some of its numbers replaced; a new mass leaves the tensor as it is."""
    own = {what: x for what, x in body.joint.numbers().items() if what not in NUMBERS}  # of the body come first
    _check_names(body, numbers, (*NUMBERS, *own))
    changes = {what: x for what, x in numbers.items() if what not in RIGID and what not in own}
    if set(numbers) & set(own):
        changes["joint"] = body.joint.remade({what: x for what, x in numbers.items() if what in own})
    rigid = {what: numbers.get(what, getattr(body.inertia, what)) for what in RIGID}
    if any(what in numbers for what in RIGID):
        try:
            changes["inertia"] = Inertia(**rigid)
        except ModelError as error:
            raise ModelError(f"body {body.name!r}: {error}") from None
    return _with_parts(body, changes)


def _check_names(body: Body, changes: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for what in changes:
        if what not in known:
            raise ModelError(
                f"body {body.name!r}: {what!r} cannot be changed here; these can: {', '.join(known)}{meant(what, known)}"
            )


def _given(p: JointProperties) -> dict[str, Any]:
    """Properties as the builder takes them."""
    return {"limits": (p.lower, p.upper)} | {what: getattr(p, what) for what in PROPERTIES - {"limits"}}


def _refuse_to_drop(body: Body, changes: Mapping[str, Any]) -> None:
    """A joint of another size needs its properties anew; those that were set must be said."""
    plain = _given(JointProperties.of(body.joint, body.joint_name))
    lost = [
        what
        for what, x in sorted(_given(body.properties).items())
        if what not in changes and not np.array_equal(np.asarray(x), np.asarray(plain[what]))
    ]
    if lost:
        raise ModelError(
            f"body {body.name!r}: the new joint has other coordinates than the old, "
            f"which had {', '.join(lost)}; give {'it' if len(lost) == 1 else 'them'} anew"
        )


def _gravity(model: Model, gravity: Any) -> np.ndarray:
    if gravity is None:
        return model.gravity
    return gravity_vector(gravity)
