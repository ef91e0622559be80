"""All steppers by name; each is imported when it is first asked for."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from importlib import import_module

from .stepper import Stepper

PLACES = {
    "symplectic_euler": "symplectic_euler.SymplecticEuler",
    "rk4": "rk4.RungeKutta4",
    "dop853": "dop853.DormandPrince853",
    "ode45": "ode45.DormandPrince45",
    "linearly_implicit": "linearly_implicit.LinearlyImplicit",
    "backward_euler": "backward_euler.BackwardEuler",
    "rosenbrock": "rosenbrock.Rosenbrock",
    "bdf1": "bdf.BDF1",
    "bdf2": "bdf.BDF2",
    "sdirk2": "sdirk2.SDIRK2",
    "variational": "variational.Variational",
    "variational4": "variational.Variational4",
}


class Steppers(MutableMapping[str, type[Stepper]]):
    """Classes by name, at first by their places."""

    def __init__(self, places: dict[str, str]) -> None:
        self._found: dict[str, type[Stepper] | str] = dict(places)

    def __getitem__(self, name: str) -> type[Stepper]:
        found = self._found[name]
        if isinstance(found, str):
            module, own = found.split(".")
            found = self._found[name] = getattr(import_module(f".{module}", __package__), own)
        return found

    def __setitem__(self, name: str, stepper: type[Stepper]) -> None:
        self._found[name] = stepper

    def __delitem__(self, name: str) -> None:
        del self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __contains__(self, name: object) -> bool:
        return name in self._found

    def __len__(self) -> int:
        return len(self._found)


ALL_STEPPERS = Steppers(PLACES)
