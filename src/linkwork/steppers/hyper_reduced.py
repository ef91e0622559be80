"""Which steppers move hyper-reduced coordinates q = f(r): the usual methods, in the space of r, as programs.

Explicit ones are in `hyper_explicit`, implicit ones in `hyper_implicit`; `mapped` says what they share.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..constraints.rows import constraint_set
from ..elements.collection import collection
from ..errors import InputError
from ..model import Model, State
from ..model.kinematics import kinematics
from ..redmax.hyper_reduced import HyperReduced
from ..redmax.system import Dynamics
from ..spatial.gate import meant
from .admissible import said
from .hyper_explicit import HyperEuler, HyperRungeKutta4
from .hyper_implicit import HyperBDF1, HyperBDF2, HyperLinearlyImplicit, HyperSDIRK2
from .linearly_implicit import LinearlyImplicit
from .mapped import MappedStepper

BROKEN_RTOL = (
    1e-4  # relative to the largest joint velocity, or 1: rates of equality constraints above are taken away at the start
)
STEPPERS: dict[str, dict[str, Any]] = {
    "reduced": {"symplectic_euler": HyperEuler, "rk4": HyperRungeKutta4},
    "redmax": {"linearly_implicit": HyperLinearlyImplicit, "bdf1": HyperBDF1, "bdf2": HyperBDF2, "sdirk2": HyperSDIRK2},
}
OPTIONS = {"symplectic_euler": ("evaluations",), "linearly_implicit": ("baumgarte", "evaluations")}


def hyper_stepper(
    hyper: HyperReduced, method: str, name: str | None, options: dict[str, Any], model: Model | None = None
) -> MappedStepper:
    """The stepper of a name for hyper-reduced coordinates; by default the first of its method.

    model   that runs, with the contacts of its shapes; None: the one that is mapped
    """
    model = hyper.model if model is None else model
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
    chosen = kind(hyper, LinearlyImplicit(**options)) if kind is HyperLinearlyImplicit else kind(hyper, **options)
    if not chosen.contacts and constraint_set(model).unilateral.any():
        raise InputError(f"the stepper {name!r} cannot step contacts or limits; symplectic_euler, rk4 and linearly_implicit can")
    laws = collection(model)
    if laws.rubs_inside:
        raise InputError("hyper-reduced coordinates do not know friction inside joints (JointFriction); use DryFriction")
    if laws.rubs and not chosen.friction:
        raise InputError(
            f"the stepper {name!r} does not know friction of contacts in hyper-reduced coordinates; symplectic_euler and "
            "linearly_implicit without a baumgarte rate do"
        )
    if laws.looks:
        law = next(law for law in laws.rows if law.looks)
        raise InputError(
            f"{law!r}: where its shapes touch is found by Coal, which hyper-reduced coordinates do not ask; give simpler shapes, "
            'or contact="off"'
        )
    return chosen


def admissible_velocities(hyper: HyperReduced, model: Model, state: State) -> tuple[State, tuple[str, ...]]:
    """A state of r, or a batch, with the r_dot that an impulse of the equality constraints leaves, and a line if it was another.

    r_dot' = r_dot - H^-1 G^T (G H^-1 G^T)^+ g_dot with H = J^T M J, and G in r: the nearest in the metric of the mass.
    """
    found = constraint_set(model)
    closes = ~(found.unilateral | found.of("bounded"))
    if not closes.any():
        return state, ()
    r, r_dot = (np.array(np.atleast_2d(x), float) for x in (state.q, state.v))
    broken = np.zeros((len(r), found.count))
    for k in range(len(r)):
        m = hyper.moved(State(r[k], r_dot[k], state.t))
        at = Dynamics(model, State(m.q, m.v, state.t), state.t, kinematics(model, m.q, m.v), np.zeros(0), np.zeros(0))
        rows = found.look(at.motion.poses, at.motion.twists, m.q, m.v, state.t).restricted(closes)
        rate = rows.rate
        if np.abs(rate).max() <= BROKEN_RTOL * max(1.0, float(np.abs(m.v).max())):
            continue
        G, H = at.dense(rows.rows) @ m.J, m.J.T @ at.M @ m.J
        Y = np.linalg.solve(H, G.T)
        r_dot[k] -= Y @ (np.linalg.pinv(G @ Y, rcond=1e-10, hermitian=True) @ rate)
        broken[k, closes] = np.abs(rate)
    if not broken.any():
        return state, ()
    return replace(state, v=r_dot.reshape(np.shape(state.v))), (said(model, broken),)
