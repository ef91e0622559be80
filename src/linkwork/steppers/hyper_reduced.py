"""Which steppers move hyper-reduced coordinates q = f(r): the usual methods, in the space of r, as programs.

Explicit ones are in `hyper_explicit`, implicit ones in `hyper_implicit`; `mapped` says what they share.
"""

from __future__ import annotations

from typing import Any

from ..constraints.rows import constraint_set
from ..elements.collection import collection
from ..errors import InputError
from ..redmax.hyper_reduced import HyperReduced
from ..spatial.gate import meant
from .hyper_explicit import HyperEuler, HyperRungeKutta4
from .hyper_implicit import HyperBDF1, HyperBDF2, HyperLinearlyImplicit, HyperSDIRK2
from .linearly_implicit import LinearlyImplicit
from .mapped import MappedStepper

STEPPERS: dict[str, dict[str, Any]] = {
    "reduced": {"symplectic_euler": HyperEuler, "rk4": HyperRungeKutta4},
    "redmax": {"linearly_implicit": HyperLinearlyImplicit, "bdf1": HyperBDF1, "bdf2": HyperBDF2, "sdirk2": HyperSDIRK2},
}
OPTIONS = {"linearly_implicit": ("baumgarte",)}


def hyper_stepper(hyper: HyperReduced, method: str, name: str | None, options: dict[str, Any]) -> MappedStepper:
    """The stepper of a name for hyper-reduced coordinates; by default the first of its method."""
    if method not in STEPPERS:
        raise InputError(
            f"hyper-reduced coordinates have no method {method!r}; choose one of {', '.join(STEPPERS)}{meant(method, STEPPERS)}"
        )
    name = name or next(iter(STEPPERS[method]))
    if name not in STEPPERS[method]:
        known = ", ".join(STEPPERS[method])
        raise InputError(
            f"there is no stepper {name!r} for hyper-reduced coordinates with method {method!r}; choose one of {known}"
        )
    for option in options:
        known = OPTIONS.get(name, ())
        if option not in known:
            raise InputError(
                f"the stepper {name!r} has no option {option!r} here; it has {', '.join(known) or 'none'}{meant(option, known)}"
            )
    kind = STEPPERS[method][name]
    chosen = kind(hyper, LinearlyImplicit(**options)) if kind is HyperLinearlyImplicit else kind(hyper)
    if not chosen.contacts and constraint_set(hyper.model).unilateral.any():
        raise InputError(f"the stepper {name!r} cannot step contacts or limits; symplectic_euler, rk4 and linearly_implicit can")
    rubbing = collection(hyper.model)
    if rubbing.rubs or rubbing.rubs_inside:
        where = "of contacts" if rubbing.rubs else "inside joints (JointFriction)"
        raise InputError(f"the stepper {name!r} does not know friction {where} in hyper-reduced coordinates")
    return chosen
