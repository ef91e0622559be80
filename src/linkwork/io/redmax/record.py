"""Checked access to the parts of a scene file; every message says where in the file it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InputError, ModelError
from ...spatial.gate import reals, rotation_problem
from ...spatial.se3 import SE3

SCHEMA = "redmax-scene/1"
MAX_BYTES = 16 * 2**20


class UnsupportedError(ModelError):
    """A scene that is right, with an element that is not available here."""


class Record:
    """An object of the file and the path to it."""

    def __init__(self, data: Any, where: str) -> None:
        self.where = where
        if not isinstance(data, dict):
            raise self.error(f"must be an object, not {type(data).__name__}")
        self.data: dict[str, Any] = data

    def error(self, message: str) -> ModelError:
        """An error at this place."""
        return ModelError(f"{self.where}: {message}")

    def unsupported(self, message: str) -> UnsupportedError:
        """The same for what is right but not available."""
        return UnsupportedError(f"{self.where}: {message}")

    def __contains__(self, key: str) -> bool:
        return self.data.get(key) is not None

    def get(self, key: str, default: Any = ...) -> Any:
        """A value, which must be there unless a default is given."""
        value = self.data.get(key, default)
        if value is ...:
            raise self.error(f"needs {key!r}")
        return value

    def number(self, key: str, default: Any = ...) -> float:
        value = self.get(key, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not np.isfinite(value):
            raise self.error(f"{key!r} must be a finite number, not {value!r}")
        return float(value)

    def count(self, key: str) -> int:
        value = self.number(key)
        if value != round(value) or value < 0:
            raise self.error(f"{key!r} must be a whole number, not {value!r}")
        return int(value)

    def positive(self, key: str, default: Any = ...) -> float:
        value = self.number(key, default)
        if value <= 0.0:
            raise self.error(f"{key!r} must be above 0, not {value!r}")
        return value

    def not_negative(self, key: str, default: Any = ...) -> float:
        value = self.number(key, default)
        if value < 0.0:
            raise self.error(f"{key!r} must not be negative, not {value!r}")
        return value

    def text(self, key: str, default: Any = ...) -> str:
        value = self.get(key, default)
        if not isinstance(value, str) or not value:
            raise self.error(f"{key!r} must be a text, not {value!r}")
        return value

    def array(self, key: str, shape: tuple[int, ...], default: Any = ...) -> np.ndarray:
        """Numbers in nested lists; -1 in the shape is any length."""
        value = self.get(key, default)
        try:
            a = reals(value)
        except (TypeError, ValueError):
            raise self.error(f"{key!r} must be numbers in lists") from None
        if (
            a.ndim != len(shape)
            or any(n not in (-1, m) for n, m in zip(shape, a.shape, strict=True))
            or not np.all(np.isfinite(a))
        ):
            raise self.error(f"{key!r} must be finite numbers of shape {shape}, not of {a.shape}")
        return a

    def vector(self, key: str) -> np.ndarray:
        return self.array(key, (3,))

    def pose(self, key: str) -> SE3:
        """A 4x4 matrix as a pose."""
        E = self.array(key, (4, 4))
        R = E[:3, :3]
        if rotation_problem(R) or np.abs(E[3] - (0, 0, 0, 1)).max() > 1e-9:
            raise self.error(f"{key!r} is no pose: a rotation, a position, and (0, 0, 0, 1) in the last row")
        return SE3(R=R, p=E[:3, 3])

    def record(self, key: str) -> Record:
        return Record(self.get(key), f"{self.where}, {key}")

    def records(self, key: str) -> list[Record]:
        """A list of objects; an absent one is empty. They are called by their names where they have one."""
        items = self.get(key, [])
        if not isinstance(items, list):
            raise self.error(f"{key!r} must be a list")
        out = []
        for k, item in enumerate(items):
            name = item.get("name") if isinstance(item, dict) else None
            label = f"{key}[{k}]" if name is None else f"{key}[{k}] {name!r}"
            out.append(Record(item, f"{self.where}, {label}"))
        return out


def parsed(path: Path) -> Any:
    """The JSON of a file."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise InputError(f"{path}: files of more than {MAX_BYTES // 2**20} MiB are not read")
        return json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path.name}: this is not JSON ({error})") from None


def is_scene(data: Any) -> bool:
    """Whether the JSON says that it is a scene of this schema."""
    return isinstance(data, dict) and data.get("schema") == SCHEMA
