"""Time discretisations, one per file."""

from .dop853 import DormandPrince853
from .events import Event
from .rk4 import RungeKutta4
from .stepper import AdaptiveStepper, Program, Solution, StepInfo, Stepper
from .symplectic_euler import SymplecticEuler

ALL_STEPPERS: dict[str, type[Stepper]] = {cls.name: cls for cls in (SymplecticEuler, RungeKutta4, DormandPrince853)}

__all__ = [
    "ALL_STEPPERS",
    "AdaptiveStepper",
    "DormandPrince853",
    "Event",
    "Program",
    "RungeKutta4",
    "Solution",
    "StepInfo",
    "Stepper",
    "SymplecticEuler",
]
