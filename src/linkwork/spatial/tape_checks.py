"""Checks of tapes that come from files: every operation gets arguments of the kinds and shapes that it takes.

Each node of a tape is a scalar, an array of a known shape, a transform, or the data of a table. Arrays are made of scalars, so
what a tape computes has no more numbers than the tape has entries, and indices stay within their arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .tape import BINARY, UNARY

SCALAR, TRANSFORM, NOTHING = "a scalar", "a transform", "nothing"
TABLE = "a table"
MAX_FORM_DEPTH = 8  # of lists and dictionaries in an argument
MAX_WHOLE = 1 << 53  # whole numbers up to here are floats, too
MAX_POWER = 1 << 10  # constant exponents
THREE, SIX = (3,), (6,)
TAKES: dict[str, tuple[tuple[Any, ...], Any]] = {  # kinds of the arguments, and of the result
    **dict.fromkeys((*UNARY, "neg", "abs", "not", "number", "held"), ((SCALAR,), SCALAR)),
    **dict.fromkeys(BINARY, ((SCALAR, SCALAR), SCALAR)),
    "where": ((SCALAR, SCALAR, SCALAR), SCALAR),
    "SE3.product": ((TRANSFORM, TRANSFORM), TRANSFORM),
    "SE3.inverse": ((TRANSFORM,), TRANSFORM),
    "SE3.collapsed": ((TRANSFORM,), TRANSFORM),
    "SE3.R": ((TRANSFORM,), (3, 3)),
    "SE3.p": ((TRANSFORM,), THREE),
    "SE3.matrix": ((TRANSFORM,), (4, 4)),
    "SE3.log": ((TRANSFORM,), SIX),
    **{f"SE3.{name}": ((TRANSFORM, THREE), THREE) for name in ("act", "rotate", "unrotate")},
    **{f"SE3.{name}": ((TRANSFORM, SIX), SIX) for name in ("move_twist", "pull_twist", "move_wrench", "pull_wrench")},
    **{f"SE3.{name}": ((SCALAR,), TRANSFORM) for name in ("rot_x", "rot_y", "rot_z")},
    "SE3.rot_axis": ((THREE, SCALAR), TRANSFORM),
    "SE3.exp": ((SIX,), TRANSFORM),
    "SE3.rot_exp": ((THREE,), TRANSFORM),
    "SE3.rot_quat": (((4,),), TRANSFORM),
}


class TapeError(ValueError):
    """A tape that does not say what a function computes."""


def check_tape(nodes: Any, result: Any, forms: Any) -> None:
    """Raise TapeError unless nodes, result and forms of arguments are those of a tape (see `tape`)."""
    if not isinstance(nodes, list) or not isinstance(forms, (list, tuple)) or len(forms) != 2:
        raise TapeError("a tape has a list of operations, and forms of arguments by place and by name")
    by_place, by_name = forms
    if not isinstance(by_place, list) or not isinstance(by_name, dict):
        raise TapeError("the forms of its arguments must be a list, and some by name")
    for name in by_name:
        if not (isinstance(name, str) and name.isidentifier()):
            raise TapeError(f"{str(name)[:40]!r} is no name of an argument")
    inputs: list[Any] = []
    for form in (*by_place, *by_name.values()):
        _add_inputs(form, inputs, len(nodes), 0)
    kinds: list[Any] = []
    for node in nodes:
        if not (isinstance(node, list) and len(node) == 2 and isinstance(node[0], str) and isinstance(node[1], list)):
            raise TapeError("an operation is its name and a list of arguments")
        kinds.append(_kind_of(node[0], node[1], kinds, inputs))
    if inputs:
        raise TapeError(f"{len(inputs)} of its inputs are not read")
    _check_result(result, kinds, 0)


def _add_inputs(form: Any, inputs: list[Any], most: int, depth: int) -> None:
    """Add the kinds of the leaves of an argument, at most so many in all."""
    if form == "scalar":
        inputs.append(SCALAR)
    elif isinstance(form, list):
        count = _count(form)
        if count > most:
            raise TapeError(f"an argument of shape {form} is not read as a whole")
        inputs.extend([SCALAR] * count)
    elif isinstance(form, dict) and len(form) == 1 and depth < MAX_FORM_DEPTH:
        ((name, inner),) = form.items()
        if name in ("list", "dict") and isinstance(inner, {"list": list, "dict": dict}[name]):
            for part in inner if isinstance(inner, list) else inner.values():
                _add_inputs(part, inputs, most, depth + 1)
        elif name == "SE3":
            inputs.append(TRANSFORM)
        elif name == "Table" and isinstance(inner, list) and len(inner) == 3:
            cell, cyclic, steps = inner
            if not (isinstance(cyclic, list) and all(isinstance(c, bool) for c in cyclic) and _is_whole(steps, 64)):
                raise TapeError("a table says which of its axes are cyclic, and how many comparisons find a row")
            _count(cell)
            inputs.append((TABLE, tuple(cell), 1 + len(cyclic) + (3 if steps else 0)))
        else:
            raise TapeError(f"there is no argument of the form {str(form)[:80]}")
    else:
        raise TapeError(f"there is no argument of the form {str(form)[:80]}")
    if len(inputs) > most:
        raise TapeError(f"it has more than the {most} inputs that its operations read")


def _kind_of(operation: str, given: list[Any], kinds: list[Any], inputs: list[Any]) -> Any:
    """The kind of the result of an operation."""
    if operation == "input":
        if given or not inputs:
            raise TapeError("it reads more inputs than its arguments have")
        return inputs.pop(0)
    found = [_kind(x, kinds) for x in given]
    if operation == "entry":
        shape = found[0] if found else None
        if len(given) != 2 or not isinstance(shape, tuple) or shape[:1] == (TABLE,) or not _is_whole(given[1], _count(shape) - 1):
            raise TapeError(f"'entry' takes an array and a place in it, not {str(given)[:80]}")
        return SCALAR
    if operation in ("Table.take", "Table.header"):
        return _kind_of_look_up(operation, given, found)
    if operation == "SE3.made":
        if len(found) != 2 or found[0] not in (NOTHING, (3, 3)) or found[1] not in (NOTHING, THREE):
            raise TapeError(f"'SE3.made' takes a matrix (3, 3) and three numbers, not {str(given)[:80]}")
        return TRANSFORM
    if operation not in TAKES:
        raise TapeError(f"there is no operation {operation[:40]!r}")
    needed, kind = TAKES[operation]
    if tuple(found) != needed:
        raise TapeError(f"{operation!r} takes {', '.join(map(str, needed))}, not {', '.join(map(str, found))[:80]}")
    if operation in BINARY and not any(isinstance(x, list) for x in given):
        raise TapeError(f"{operation!r} of constants is not an operation")
    if operation == "pow" and not isinstance(given[1], list) and not (_is_number(given[1]) and abs(given[1]) <= MAX_POWER):
        raise TapeError(f"the exponent {str(given[1])[:40]} must be at most {MAX_POWER}")
    if operation in ("neg", "abs", "not", "held") and not isinstance(given[0], list):
        raise TapeError(f"{operation!r} of a constant is not an operation")
    return kind


def _kind_of_look_up(operation: str, given: list[Any], found: list[Any]) -> Any:
    table = found[0] if found else None
    if not (isinstance(table, tuple) and table[:1] == (TABLE,)):
        raise TapeError(f"{operation!r} takes a table")
    _, cell, header = table
    good = (
        len(found) == 2 and _is_whole(given[1], header - 1)
        if operation == "Table.header"
        else (len(found) == 3 and found[1] == SCALAR and _is_whole(given[2], _count(cell) - 1))
    )
    if not good:
        raise TapeError(f"{operation!r} looks up {str(given[1:])[:80]}, which a table of this form does not have")
    return SCALAR


def _kind(x: Any, kinds: list[Any]) -> Any:
    """The kind of an argument."""
    if x is None:
        return NOTHING
    if isinstance(x, list):
        if len(x) != 1 or not _is_whole(x[0], len(kinds) - 1):
            raise TapeError(f"{str(x)[:40]} is no operation before this one")
        return kinds[x[0]]
    if _is_number(x):
        return SCALAR
    if isinstance(x, dict):
        if "float" in x and len(x) == 1 and x["float"] in ("nan", "inf", "-inf"):
            return SCALAR
        if set(x) == {"array", "shape"} and isinstance(x["array"], list):
            if _count(x["shape"]) != len(x["array"]) or any(_kind(e, kinds) != SCALAR for e in x["array"]):
                raise TapeError(f"an array of shape {str(x['shape'])[:40]} needs as many scalars")
            return tuple(x["shape"])
        inner = x.get("list", x.get("tuple")) if len(x) == 1 else None
        if isinstance(inner, list) and all(_kind(e, kinds) == SCALAR for e in inner):
            return (len(inner),)
        if isinstance(inner, list) and inner and all(isinstance(_kind(e, kinds), tuple) for e in inner):
            return (len(inner), *_kind(inner[0], kinds))
        if set(x) == {"SE3"} and isinstance(x["SE3"], list):
            for stage in x["SE3"]:
                check_stage(stage)
            return TRANSFORM
    raise TapeError(f"{str(x)[:80]} is no argument")


def check_stage(stage: Any) -> None:
    """Raise unless this is an elementary move as tapes write it."""
    try:
        name, *given = stage
        a = np.array(given if name == "turn" else given[0], float)
        fits = a.shape == {"turn": (3,), "shift": (3,), "rotation": (3, 3)}[name] and bool(np.isfinite(a).all())
        fits = fits and (name != "turn" or (len(given) == 3 and _is_whole(given[0], 2)))
    except (TypeError, ValueError, KeyError, IndexError, OverflowError):
        fits = False
    if not fits:
        raise TapeError(f"{str(stage)[:80]} is no elementary move")


def _check_result(x: Any, kinds: list[Any], depth: int) -> None:
    """Raise unless a result can be built from the nodes; it may be nested."""
    inner = x.get("list", x.get("tuple")) if isinstance(x, dict) and len(x) == 1 else None
    if isinstance(inner, list) and depth < MAX_FORM_DEPTH:
        for part in inner:
            _check_result(part, kinds, depth + 1)
    elif isinstance(kind := _kind(x, kinds), tuple) and kind[:1] == (TABLE,):
        raise TapeError("a table is no result")


def _is_number(x: Any) -> bool:
    if isinstance(x, float):
        return bool(np.isfinite(x))
    return isinstance(x, (bool, int)) and -MAX_WHOLE <= x <= MAX_WHOLE


def _is_whole(x: Any, most: int) -> bool:
    """Whether this is a whole number from 0 to the most."""
    return isinstance(x, int) and not isinstance(x, bool) and 0 <= x <= most


def _count(shape: Any) -> int:
    """The entries of an array of a shape; raises where it is none."""
    if not isinstance(shape, (list, tuple)) or len(shape) > MAX_FORM_DEPTH or not all(_is_whole(n, MAX_WHOLE) for n in shape):
        raise TapeError(f"{str(shape)[:40]} is no shape")
    count = 1
    for n in shape:
        count *= n
    return count
