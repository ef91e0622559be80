"""Scenes and files as live pages: `run --live` and the gallery."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import InputError
from .app import Timing
from .problem import Problem


def write_live(problem: Problem, path: Path, timing: Timing | None = None) -> Path:
    """Write a page in which the problem runs; inputs that are functions of time stay as they are at the start."""
    from ..live import save_live

    if "control" in problem.options:
        raise InputError(f"{problem.name}: its control is Python's, and cannot go into a page; run it without --live")
    timing, options = timing or Timing(), dict(problem.options)
    given: dict[str, Any] = {"dt": problem.dt if timing.dt is None else timing.dt, "method": timing.method or problem.methods[0]}
    if callable(options.get("inputs")):
        options["inputs"] = options["inputs"](problem.state.t)
    given |= {"stepper": timing.stepper, "look": problem.look, "title": problem.name}
    return save_live(problem.model, problem.state, path, **given, **options)
