"""Time discretisations, one per file."""

from .assemble import assemble
from .backward_euler import BackwardEuler
from .bdf import BDF1, BDF2
from .dop853 import DormandPrince853
from .events import Event
from .linearly_implicit import LinearlyImplicit
from .ode45 import DormandPrince45
from .post_stabilised import project
from .rk4 import RungeKutta4
from .rosenbrock import Rosenbrock
from .sdirk2 import SDIRK2
from .stepper import AdaptiveStepper, Program, Solution, Stepper
from .symplectic_euler import SymplecticEuler
from .variational import Variational, Variational4

_STEPPERS: tuple[type[Stepper], ...] = (
    SymplecticEuler,
    RungeKutta4,
    DormandPrince853,
    DormandPrince45,
    LinearlyImplicit,
    BackwardEuler,
    Rosenbrock,
    BDF1,
    BDF2,
    SDIRK2,
    Variational,
    Variational4,
)
ALL_STEPPERS: dict[str, type[Stepper]] = {cls.name: cls for cls in _STEPPERS}

__all__ = [
    "ALL_STEPPERS",
    "BDF1",
    "BDF2",
    "SDIRK2",
    "AdaptiveStepper",
    "BackwardEuler",
    "DormandPrince45",
    "DormandPrince853",
    "Event",
    "LinearlyImplicit",
    "Program",
    "Rosenbrock",
    "RungeKutta4",
    "Solution",
    "Stepper",
    "SymplecticEuler",
    "Variational",
    "Variational4",
    "assemble",
    "project",
]
