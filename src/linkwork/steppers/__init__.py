"""Time discretisations, one per file."""

from typing import TYPE_CHECKING

from ..lazy import Registry, offer_lazily

if TYPE_CHECKING:
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

offer_lazily(__name__)
ALL_STEPPERS: "Registry[type[Stepper]]" = Registry(
    __name__,
    {
        "symplectic_euler": "SymplecticEuler",
        "rk4": "RungeKutta4",
        "dop853": "DormandPrince853",
        "ode45": "DormandPrince45",
        "linearly_implicit": "LinearlyImplicit",
        "backward_euler": "BackwardEuler",
        "rosenbrock": "Rosenbrock",
        "bdf1": "BDF1",
        "bdf2": "BDF2",
        "sdirk2": "SDIRK2",
        "variational": "Variational",
        "variational4": "Variational4",
    },
)

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
