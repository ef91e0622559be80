"""Models that were built in Python, as files: `model.save("arm.lwm")`, `lw.load("arm.lwm")`.

The file is JSON. `model` is what `store.objects` makes of the model: kinds of parts (`store.kinds`) and their attributes;
`arrays` are the arrays that it refers to, each with its type, shape and numbers ("inf", "-inf" and "nan" are texts). Functions of
joints and laws that users wrote are in it as what they compute. A digest tells files that were damaged; it is no signature.
Whatever a file says, every part is made by a way that checks it, and the model by its builder (`store.reading`).
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..errors import InputError, ModelError
from ..model import Model, State
from ..model.state import check_state
from ..store.data import Data
from ..store.files import whole_file
from ..store.objects import encode_for_file
from ..store.reading import NON_FINITE, read
from .options import Options
from .starts import START

SUFFIX = ".lwm"
SCHEMA = "linkwork-model/1"
TYPES = ("<f8", "<f4", "<i8", "<i4", "|b1", "<u8", "<u4", "<u2", "|u1", "|i1", "<i2")
DTYPES = {name: np.dtype(name).newbyteorder("=") for name in TYPES}
KINDS: dict[str, set[type]] = {"f": {float, int, str}, "i": {int}, "u": {int}, "b": {bool}}  # of numbers in JSON
LARGEST = 1 << 28  # bytes of a file
NUMBERS = 1 << 25  # of an array


def save_model(model: Model, path: Path, state: State | None = None) -> Path:
    """See `Model.save`."""
    if path.suffix.lower() != SUFFIX:
        raise InputError(f"a model is saved to a file that ends in {SUFFIX}, not {path.name!r}")
    if state is not None:
        check_state(model, state)
        model = replace(model, keyframes={**model.keyframes, START: State(np.array(state.q), np.array(state.v), t=state.t)})
    data = encode_for_file(model)
    arrays = {name: _written(a) for name, a in data.arrays.items()}
    text = {"schema": SCHEMA, "linkwork": __version__, "model": data.tree, "arrays": arrays, "digest": data.digest}
    with whole_file(path) as part:
        part.write_text(json.dumps(text, allow_nan=False, separators=(",", ":")) + "\n", encoding="utf-8")
    return path


def read_saved(file: Path, options: Options) -> Model:
    """The model in a file that `Model.save` wrote."""
    if file.stat().st_size > LARGEST:
        raise ModelError(f"{file}: a saved model has at most {LARGEST >> 20} MiB")
    try:
        text = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError, OSError) as error:
        raise ModelError(f"{file}: this is no saved model: {error}") from error
    if not isinstance(text, dict) or text.get("schema") != SCHEMA:
        raise ModelError(f"{file}: this is no saved model of the schema {SCHEMA}")
    try:
        data = _data(text)
        if data.digest != text.get("digest"):
            raise ModelError(f"{file}: it was changed after it was saved, or only a part of it is there")
        model = read(data)
    except (InputError, RecursionError, MemoryError) as error:
        by = f"written by linkwork {str(text.get('linkwork'))[:20]!r}, this is {__version__}"
        raise ModelError(f"{file}: it cannot be read as a model ({by}): {error}") from error
    if type(model) is not Model:
        raise ModelError(f"{file}: it holds a {type(model).__name__}, not a Model")
    return model if options.gravity is None else model.with_parameters({}, gravity=options.gravity)


def _data(text: dict[str, Any]) -> Data:
    """What a file says, with its arrays."""
    given = text.get("arrays")
    if not isinstance(given, dict) or "model" not in text:
        raise InputError("it has no model, or no arrays")
    arrays = {}
    for name, value in given.items():
        try:
            arrays[name] = _read(value)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise InputError(f"array {name[:40]!r}: {error}") from error
    return Data(text["model"], arrays)


def _written(a: np.ndarray) -> dict[str, Any]:
    kind = a.dtype.newbyteorder("<").str
    if kind not in TYPES:
        raise InputError(f"an array of type {a.dtype} cannot be saved")
    numbers = [x if not isinstance(x, float) or np.isfinite(x) else repr(x) for x in a.reshape(-1).tolist()]
    return {"type": kind, "shape": list(a.shape), "numbers": numbers}


def _read(value: dict[str, Any]) -> np.ndarray:
    """An array; raises where its numbers are not as many of its type."""
    kind, shape, numbers = value["type"], value["shape"], value["numbers"]
    dtype = DTYPES.get(kind) if isinstance(kind, str) else None
    if dtype is None or not isinstance(numbers, list) or len(numbers) > NUMBERS:
        raise ValueError(f"it has a type that no model has, or is too large: {str(kind)[:20]}")
    if not isinstance(shape, list) or not all(type(n) is int and n >= 0 for n in shape) or math.prod(shape) != len(numbers):
        raise ValueError(f"shape {str(shape)[:40]} does not hold its {len(numbers)} numbers")
    found = set(map(type, numbers))
    if not found <= KINDS[dtype.kind]:
        raise ValueError(f"its numbers must be of type {kind}")
    said = [x for x in numbers if isinstance(x, str)] if str in found else []
    a = np.array([NON_FINITE[x] if isinstance(x, str) else x for x in numbers] if said else numbers, dtype)
    if dtype.kind == "f" and a.size - np.count_nonzero(np.isfinite(a)) != len(said):
        raise ValueError("a number is too large")
    return a if len(shape) == 1 else a.reshape(shape)
