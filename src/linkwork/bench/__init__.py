"""Benchmarks: how fast the library is beside others that compute the same, measured in one process on one core.

A benchmark is a function of (JSON file or None, quick) that measures, prints a table and returns its rows. Modules are
imported when a benchmark runs.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any


def _dynamics(json: Path | None = None, quick: bool = False) -> list[dict[str, Any]]:
    """Forward and inverse dynamics of chains and an arm, beside Pinocchio and MuJoCo."""
    from .dynamics import run

    return run(json, quick)


def _step(json: Path | None = None, quick: bool = False) -> list[dict[str, Any]]:
    """Time steps of an arm, beside MuJoCo's rollout."""
    from .step import run

    return run(json, quick)


BENCHMARKS: dict[str, Callable[[Path | None, bool], list[dict[str, Any]]]] = {"dynamics": _dynamics, "step": _step}

__all__ = ["BENCHMARKS"]
