"""Models that were built in Python, as files: `model.save("arm.lwm")`, `lw.load("arm.lwm")`.

The file is JSON. `model` is what `store.objects` makes of the model: names of classes of this package and their attributes;
`arrays` are the arrays that it refers to, each with its type, shape and numbers ("inf", "-inf" and "nan" are texts). Functions of
joints and laws that users wrote are in it as what they compute. Nothing that a file says is executed; a digest tells files that
were damaged.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..errors import InputError, ModelError
from ..model import Model, State
from ..model.state import check_state
from ..store.files import whole_file
from ..store.objects import Data, decode, encode
from .options import Options
from .starts import START

SUFFIX = ".lwm"
SCHEMA = "linkwork-model/1"
TYPES = ("<f8", "<f4", "<i8", "<i4", "|b1", "<u8", "<u4", "<u2", "|u1", "|i1", "<i2")
LARGEST = 1 << 28  # bytes of a file
NUMBERS = 1 << 25  # of an array


def save_model(model: Model, path: Path, state: State | None = None) -> Path:
    """See `Model.save`."""
    if path.suffix.lower() != SUFFIX:
        raise InputError(f"a model is saved to a file that ends in {SUFFIX}, not {path.name!r}")
    if state is not None:
        check_state(model, state)
        model = replace(model, keyframes={**model.keyframes, START: State(np.array(state.q), np.array(state.v), t=state.t)})
    data = encode(model)
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
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{file}: this is no saved model: {error}") from error
    if not isinstance(text, dict) or text.get("schema") != SCHEMA:
        raise ModelError(f"{file}: this is no saved model of the schema {SCHEMA}")
    try:
        arrays = {name: _read(a) for name, a in text["arrays"].items()}
        data = Data(text["model"], arrays)
        if data.digest != text["digest"]:
            raise ModelError(f"{file}: it was changed after it was saved, or only a part of it is there")
        model = decode(data)
    except (InputError, KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ModelError(
            f"{file}: it cannot be read as a model (written by linkwork {text.get('linkwork')!r}, this is {__version__}): {error}"
        ) from error
    if type(model) is not Model:
        raise ModelError(f"{file}: it holds a {type(model).__name__}, not a Model")
    return model if options.gravity is None else model.with_parameters({}, gravity=options.gravity)


def _written(a: np.ndarray) -> dict[str, Any]:
    kind = a.dtype.newbyteorder("<").str
    if kind not in TYPES:
        raise InputError(f"an array of type {a.dtype} cannot be saved")
    numbers = [x if not isinstance(x, float) or np.isfinite(x) else repr(x) for x in a.reshape(-1).tolist()]
    return {"type": kind, "shape": list(a.shape), "numbers": numbers}


def _read(value: dict[str, Any]) -> np.ndarray:
    if value["type"] not in TYPES or len(value["numbers"]) > NUMBERS:
        raise ValueError("an array has a type that no model has, or is too large")
    numbers = [float(x) if isinstance(x, str) else x for x in value["numbers"]]
    return np.array(numbers, dtype=value["type"]).astype(np.dtype(value["type"]).newbyteorder("=")).reshape(value["shape"])
