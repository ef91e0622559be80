"""What the columns of a design mean to a model: numbers of laws, bodies and shapes, gravity, initial states."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError, ModelError
from ..geometry import Shape
from ..model import Model, State
from ..model.quantities import Quantity, quantity_of
from ..spatial.gate import meant

COLUMN = re.compile(r"^(?P<path>[^\[\]]+)(\[(?P<entry>\d+)\])?$")
STATE = ("q", "v")


@dataclass(frozen=True)
class Column:
    """Where the values of a column go.

    kind    "state", "gravity", "number" (of a law or body), "shape" or "free" (for the functions of a study)
    owner   body or law; of a coordinate its joint's body, or ""
    what    the number; of a shape its name and the number
    entry   which entry of an array, or None: all of it
    """

    name: str
    kind: str
    owner: str = ""
    what: str = ""
    entry: int | None = None


def column(model: Model, name: str, free: bool) -> Column:
    """What a column means; `free` words are for functions."""
    found = COLUMN.match(name)
    if found is None:
        raise InputError(f'column {name!r} of the design: write "NAME.number", "NAME.number[entry]", "q[3]", "gravity[2]"')
    path, entry = found["path"], None if found["entry"] is None else int(found["entry"])
    if path in STATE:
        return _checked_entry(Column(name, "state", "", path, entry), model.nq if path == "q" else model.nv)
    if path == "gravity":
        return _checked_entry(Column(name, "gravity", "", path, entry), 3)
    owner, dot, what = path.partition(".")
    if not dot:
        if free:
            return Column(name, "free")
        raise InputError(f"column {name!r} of the design is no number of the model, and no function of the study asks for it")
    laws = [getattr(e, "name", "") for e in model.elements]
    if what in STATE and owner in model.names:
        joint = model.bodies[model.body_index(owner)].joint
        return _checked_entry(Column(name, "state", owner, what, entry), joint.nq if what == "q" else joint.nv)
    if owner not in laws and owner not in model.names:
        near = meant(owner, [*model.names, *filter(None, laws)])
        raise InputError(f"column {name!r} of the design: the model has no body, joint or law {owner!r}{near}")
    shape, dot, attribute = what.rpartition(".")
    if dot:
        _shape(model, name, owner, shape, attribute)
        return Column(name, "shape", owner, what, entry)
    if owner in laws and owner not in model.names and what not in (known := model.elements[laws.index(owner)].numbers()):
        near = meant(what, known) or f"; it has {', '.join(known)}"
        raise InputError(f"column {name!r} of the design: {owner!r} has no number {what!r}{near}")
    try:
        quantity = quantity_of(model, owner, what)
    except (ModelError, InputError) as error:
        raise InputError(f"column {name!r} of the design: {error}") from None
    return _checked_entry(Column(name, "number", owner, what, entry), quantity.size)


def _checked_entry(c: Column, size: int) -> Column:
    if c.entry is not None and c.entry >= size:
        raise InputError(f"column {c.name!r} of the design: there are {size} numbers; the last is [{size - 1}]")
    return c


def _shape(model: Model, name: str, owner: str, shape: str, attribute: str) -> Shape:
    body = model.bodies[model.body_index(owner)]
    known = [s.name for s in body.shapes]
    if known.count(shape) != 1:
        raise InputError(
            f"column {name!r} of the design: body {owner!r} has {known.count(shape)} shapes {shape!r}; it has {known}"
        )
    found = body.shapes[known.index(shape)]
    if attribute not in ("friction", "restitution", *found.parameter_names):
        theirs = ", ".join(("friction", "restitution", *found.parameter_names))
        raise InputError(f"column {name!r} of the design: a {type(found).__name__} has no number {attribute!r}; it has {theirs}")
    return found


def variant(model: Model, columns: Sequence[Column], row: Mapping[str, Any]) -> Model:
    """The model of one run, checked as if it had been made with these numbers."""
    numbers = Replaced(model)
    shapes: dict[str, list[Any]] = {}
    gravity = None
    for c in columns:
        x = row[c.name]
        if c.kind == "number":
            numbers.put(c, x)
        elif c.kind == "gravity":
            gravity = placed(model.gravity if gravity is None else gravity, c.entry, x)
        elif c.kind == "shape":
            body = model.bodies[model.body_index(c.owner)]
            own_shapes = shapes.setdefault(body.name, list(body.shapes))
            name, _, attribute = c.what.rpartition(".")
            k = [s.name for s in body.shapes].index(name)
            own_shapes[k] = _with_number(own_shapes[k], attribute, c.entry, x)
    made = numbers.model(gravity)
    return made.replace(bodies={name: {"shapes": own} for name, own in shapes.items()}) if shapes else made


class Replaced:
    """Numbers of bodies, joints and laws of a model that are replaced, whole or entry by entry.

    Poses are displaced from where they are in the model, directions are made unit vectors, symmetric matrices stay so.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._given: dict[tuple[str, str], tuple[Quantity, np.ndarray]] = {}
        self._whole: dict[tuple[str, str], Any] = {}

    def put(self, c: Column, x: Any) -> None:
        """Replace what a column names."""
        key = c.owner, c.what
        if key not in self._given:
            quantity = quantity_of(self._model, *key)
            self._given[key] = quantity, quantity.start
        quantity, numbers = self._given[key]
        if c.entry is not None:
            numbers[c.entry] = x
            if quantity.is_symmetric:
                numbers[3 * (c.entry % 3) + c.entry // 3] = x
        elif np.size(x) == numbers.size:
            numbers[:] = np.reshape(x, -1)
        else:
            raise ModelError(f"{c.name!r} has {numbers.size} numbers; {np.size(x)} were given")

    def put_value(self, owner: str, what: str, value: Any) -> None:
        """Replace a number as `Model.with_parameters` does."""
        self._whole[owner, what] = value

    def model(self, gravity: Any = None) -> Model:
        """The model with what was replaced, checked as if it had been made so."""
        numbers: dict[str, dict[str, Any]] = {}
        for (owner, what), (quantity, x) in self._given.items():
            numbers.setdefault(owner, {})[what] = quantity.at(x)
        for (owner, what), value in self._whole.items():
            numbers.setdefault(owner, {})[what] = value
        return self._model.with_parameters(numbers, gravity) if numbers or gravity is not None else self._model


def _with_number(shape: Shape, attribute: str, entry: int | None, x: Any) -> Shape:
    """The shape with another number, within the bounds of its kind."""
    value = placed(getattr(shape, attribute) if attribute in shape.parameter_names else 0.0, entry, x)
    if attribute in ("friction", "restitution"):
        if not 0 <= value <= (1.0 if attribute == "restitution" else np.inf):
            raise ModelError(f"{shape.name}: {attribute} = {value:g} is out of its bounds")
        return shape.with_parts(**{attribute: float(value)})
    if np.ndim(value) == 0 and not value > 0:
        raise ModelError(f"{shape.name}: {attribute} = {value:g} must be positive")
    return shape.bound({attribute: value})


def placed(old: Any, entry: int | None, x: Any) -> Any:
    """The old value with one entry, or as a whole, replaced."""
    if entry is None:
        return float(x) if np.ndim(old) == 0 and np.ndim(x) == 0 else np.asarray(x, float).reshape(np.shape(old))
    if np.ndim(old) == 0:
        return float(x)
    out = np.array(old, float)
    out.flat[entry] = x
    return out


def states(model: Model, columns: Sequence[Column], rows: Mapping[str, np.ndarray], start: State) -> State:
    """The initial states of some runs, (runs, nq) and (runs, nv)."""
    count = len(next(iter(rows.values())))
    parts = {name: np.array(np.broadcast_to(getattr(start, name), (count, getattr(start, name).shape[-1]))) for name in STATE}
    for c in columns:
        if c.kind != "state":
            continue
        span = slice(None) if not c.owner else model.q_index(c.owner) if c.what == "q" else model.v_index(c.owner)
        own = parts[c.what][:, span]
        x = rows[c.name]
        if c.entry is not None:
            own[:, c.entry] = x
        elif x.ndim == 1 and own.shape[1] == 1:
            own[:, 0] = x
        elif x.shape == own.shape:
            own[...] = x
        else:
            raise InputError(f"column {c.name!r} of the design has shape {x.shape}; it needs {own.shape}")
    return State(parts["q"], parts["v"], start.t)
