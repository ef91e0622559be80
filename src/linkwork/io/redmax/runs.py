"""The runs of a scene file: what each integrator is to do, and the energy that was published for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .record import Record

KINDS = {"REDMAX_EULER": "EULER", "RECURS_ODE45": "ODE45", "REDMAX_ODE45": "ODE45", "BDF1": "BDF", "BDF2": "BDF"}
TOLERANCE = 1e-2  # of the author, where the file has none


@dataclass(frozen=True)
class Run:
    """One integrator of a scene.

    kind        "EULER", "ODE45" or "BDF"; empty if the integrator is not known
    expected    T + V - V(0) at the end, as published
    duration    from t = 0
    h, steps    of integrators with fixed steps
    baumgarte   rates of correction: velocities and positions of ode45, then those of the Euler method
    friction    whether the Euler method has it
    """

    integrator: str
    expected: float
    tolerance: float
    duration: float
    h: float
    steps: int
    rtol: float
    atol: float
    baumgarte: tuple[float, float, float]
    friction: bool

    @property
    def kind(self) -> str:
        return KINDS.get(self.integrator, "")

    @property
    def recursive(self) -> bool:
        return self.integrator.startswith("RECURS")


def runs_of(scene: Record) -> list[Run]:
    """Every integrator of a scene for which an energy was published."""
    integrators = scene.record("integrators")
    return [_run(name, integrators.record(name)) for name in integrators.data if "expected_H" in integrators.record(name)]


def _run(name: str, record: Record) -> Run:
    first, last = record.array("tspan", (2,))
    if first != 0.0 or last <= 0.0:
        raise record.error(f"'tspan' must begin at 0 and end later, not [{first:g}, {last:g}]")
    fixed = KINDS.get(name) in ("EULER", "BDF")
    if fixed and not np.isclose(record.count("steps") * record.positive("h"), last, rtol=1e-9):
        raise record.error(
            f"{record.count('steps')} 'steps' of 'h' = {record.number('h'):g} do not end at {last:g}, as 'tspan' says"
        )
    b = record.array("baumgarte", (3,), [0.0, 0.0, 0.0])
    return Run(
        integrator=name,
        expected=record.number("expected_H"),
        tolerance=record.number("pass_tolerance", TOLERANCE),
        duration=float(last),
        h=record.positive("h") if fixed else float(last),
        steps=record.count("steps") if fixed else 1,
        rtol=record.number("rel_tol", 1e-4),
        atol=record.number("abs_tol", 1e-6),
        baumgarte=(float(b[0]), float(b[1]), float(b[2])),
        friction=record.get("friction", False) is True,
    )
