"""Time discretisations, one per file."""

from .stepper import Program, StepInfo, Stepper
from .symplectic_euler import SymplecticEuler

ALL_STEPPERS: dict[str, type[Stepper]] = {SymplecticEuler.name: SymplecticEuler}

__all__ = ["ALL_STEPPERS", "Program", "StepInfo", "Stepper", "SymplecticEuler"]
