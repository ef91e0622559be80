"""Studies as files: Python that says what is studied, or a table in TOML for models and scenes that are there."""

from __future__ import annotations

import runpy
import tomllib
from pathlib import Path
from typing import Any

from ..errors import InputError
from .design import Design

ASKED = ("model", "design")
OPTIONAL = ("measure", "state", "control", "duration", "dt", "method", "stepper", "every", "together", "chunk", "options")
KINDS = {"grid": Design.grid, "random": Design.random, "latin": Design.latin, "sobol": Design.sobol}


def study_file(path: Path) -> dict[str, Any]:
    """The arguments of `study` that a file says.

    NAME.py     defines model and design, and measure, state, control, duration, dt, ... as `study` takes them
    NAME.toml   model = "robot.urdf" or scene = "chain", duration, dt, ..., and a table [grid], or [sobol], [latin] or [random] of
                ranges with `runs` and `seed` beside
    """
    if not path.is_file():
        raise InputError(f"there is no file {path}")
    if path.suffix == ".py":
        return _from_python(path)
    if path.suffix == ".toml":
        return _from_table(path)
    raise InputError(f"{path}: a study is a file NAME.py or NAME.toml")


def _from_python(path: Path) -> dict[str, Any]:
    known = {
        "measure",
        "state",
        "control",
        "duration",
        "dt",
        "method",
        "stepper",
        "every",
        "together",
        "chunk",
        "options",
        *ASKED,
    }
    try:
        found = runpy.run_path(str(path))
    except SyntaxError as error:
        raise InputError(f"{path}, line {error.lineno}: {error.msg}") from None
    for name in (*ASKED, "duration"):
        if name not in found:
            raise InputError(f"{path}: it does not define {name!r}; a study file defines model, design and duration")
    own = {name: x for name, x in found.items() if name in known}
    return own | own.pop("options", {})


def _from_table(path: Path) -> dict[str, Any]:
    try:
        own = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {error}") from None
    kinds = [kind for kind in KINDS if kind in own]
    if len(kinds) != 1:
        raise InputError(f"{path}: it needs one table of {', '.join(f'[{kind}]' for kind in KINDS)}; it has {kinds or 'none'}")
    axes, kind = own.pop(kinds[0]), kinds[0]
    drawn = {} if kind == "grid" else {"runs": own.pop("runs", None), "seed": own.pop("seed", 0)}
    if kind != "grid" and drawn["runs"] is None:
        raise InputError(f"{path}: say how many runs to draw: runs = 256")
    model, state = _model(path, own)
    if "duration" not in own:
        raise InputError(f"{path}: say how long a run is: duration = 1.0")
    return {"model": model, "design": KINDS[kind](axes, **drawn), "state": state, **own}


def _model(path: Path, own: dict[str, Any]) -> tuple[Any, Any]:
    """The model that a table names, and where it starts."""
    if ("model" in own) == ("scene" in own):
        raise InputError(f'{path}: name the model, model = "robot.urdf", or a scene, scene = "chain"')
    if "model" in own:
        from ..io import load

        return load(path.parent / own.pop("model")), None
    from ..model import Model
    from ..scenes import ALL_SCENES

    name = own.pop("scene")
    if name not in ALL_SCENES:
        raise InputError(f"{path}: there is no scene {name!r}; choose one of {', '.join(ALL_SCENES)}")
    model, state = ALL_SCENES[name].build()
    if not isinstance(model, Model):
        raise InputError(f"{path}: the scene {name!r} has hyper-reduced coordinates, which studies do not take")
    return model, state
