"""Benchmarks: how fast the library is beside others that compute the same, measured in one process on one core.

A benchmark is a function of (JSON file or None, quick, names of cases: none for its own choice) that measures, prints tables
and returns its rows. Modules are imported when a benchmark runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..errors import InputError

Rows = list[dict[str, Any]]


def _dynamics(json: Path | None = None, quick: bool = False, cases: Sequence[str] = ()) -> Rows:
    """Forward and inverse dynamics and mass matrices of robots and chains, beside Pinocchio and MuJoCo."""
    from .dynamics import chosen, run

    return run(json, quick, chosen(cases, quick))


def _derivatives(json: Path | None = None, quick: bool = False, cases: Sequence[str] = ()) -> Rows:
    """Derivatives of forward and inverse dynamics, beside Pinocchio, and how well they agree with other routes."""
    from .derivatives import run

    return run(json, quick, cases)


def _step(json: Path | None = None, quick: bool = False, cases: Sequence[str] = ()) -> Rows:
    """Time steps of an arm, beside MuJoCo's rollout."""
    from .step import CASE, run

    for name in cases:
        if name != CASE:
            raise InputError(f"there is no case {name!r}; the benchmark has only {CASE}")
    return run(json, quick)


def _stiff(json: Path | None = None, quick: bool = False, cases: Sequence[str] = ()) -> Rows:
    """Implicit steps of stiff chains, beside MuJoCo at equal error."""
    from .stiff import run

    return run(json, quick, cases)


def _multipliers(json: Path | None = None, quick: bool = False, cases: Sequence[str] = ()) -> Rows:
    """Lagrange multipliers: block elimination beside SciPy, implicit frames, the systems of Baraff's paper."""
    from .multipliers import run

    return run(json, quick, cases)


def _study(json: Path | None = None, quick: bool = False, cases: Sequence[str] = ()) -> Rows:
    """Throughput of studies beside a plain batch."""
    from .study import run

    if cases:
        raise InputError("this benchmark has no cases; leave out --case")
    return run(json, quick)


def _loaded(json: Path | None = None, quick: bool = False, cases: Sequence[str] = ()) -> Rows:
    """Steps under loads (springs, drives, limits, loops, contacts, muscles), beside MuJoCo and Pinocchio."""
    from .loaded import run

    return run(json, quick, cases)


def _contact_problems(json: Path | None = None, quick: bool = False, cases: Sequence[str] = (), full: bool = False) -> Rows:
    """Problems of contact with friction from a seeded generator, all solvers beside Pinocchio's."""
    from .contact_solvers import run

    return run(json, quick, cases, full)


def _contact(json: Path | None = None, quick: bool = False, cases: Sequence[str] = ()) -> Rows:
    """Steps of robots and piles in contact with friction, beside MuJoCo's rollout, with what each leaves unsolved."""
    from .contact import run

    return run(json, quick, cases)


def _bisp(json: Path | None = None, quick: bool = False, cases: Sequence[str] = ()) -> Rows:
    """Friction inside joints: bilateral staggered projections beside plain ones."""
    from .bisp import run

    return run(json, quick, cases)


def _analysis(json: Path | None = None, quick: bool = False, cases: Sequence[str] = ()) -> Rows:
    """Centroidal, Coriolis and Jacobian matrices and regressors of robots, beside Pinocchio."""
    from .analysis import run

    return run(json, quick, cases)


def _table1(json: Path | None = None, quick: bool = False, cases: Sequence[str] = ()) -> Rows:
    """Forward dynamics of the models of Si and Guenter by three ways of compiling, beside their figures and Pinocchio."""
    from .table1 import run

    return run(json, quick, cases)


def _targets(json: Path | None = None, quick: bool = False, cases: Sequence[str] = ()) -> Rows:
    """Kernels of scenes compiled for AArch64, WebAssembly and as PTX, with registers and spills of a GPU."""
    from .targets import run

    return run(json, quick, cases)


BENCHMARKS: dict[str, Callable[..., Rows]] = {
    "dynamics": _dynamics,
    "derivatives": _derivatives,
    "step": _step,
    "stiff": _stiff,
    "multipliers": _multipliers,
    "loaded": _loaded,
    "contact": _contact,
    "contact-problems": _contact_problems,
    "bisp": _bisp,
    "analysis": _analysis,
    "study": _study,
    "table1": _table1,
    "targets": _targets,
}

FULL = ("contact-problems",)
"""Those that leave something out unless they are asked for all."""

__all__ = ["BENCHMARKS", "FULL"]
