"""Post-stabilisation: a state is put back where its constraints hold, nearest in the metric of the mass [Cline & Pai 2003].

Gauss-Newton steps move the coordinates, then one step the velocities; with rows G and residuals g at q,

    dq = -M^-1 G^T (G M^-1 G^T)^+ g,        dv = -M^-1 G^T (G M^-1 G^T)^+ g_dot.

They are programs, `reduced.projection` and `maximal.projection`, where the rows of the joints are among them. Constraints that
only push are left alone where they are open, and share one problem of complementarity with the others.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from ..constraints.rows import constraint_set
from ..elements.collection import Shape, collection
from ..errors import InputError, SolverError
from ..kernel.sweep import Field, Step, each
from ..maximal import projection as maximal
from ..model import MaximalState, Model, State
from ..model.accepts import takes_model
from ..reduced import projection as reduced
from ..reduced.projection import POSITIONS, RATES, projection
from ..rows.asked import keep_unknowns
from ..spatial.gate import meant
from .assemble import assemble
from .closing import violated
from .tangent import recharted

Kind = TypeVar("Kind", bound=State | MaximalState)
CHOICES = ("none", "baumgarte", "project")


def check_choice(owner: str, given: str, known: tuple[str, ...]) -> None:
    """Raise unless a way to stabilise is known."""
    if given not in known:
        raise InputError(f"{owner}: stabilise must be one of {', '.join(known)}, not {given!r}{meant(given, known)}")


# --- after a step in time -----------------------------------------------------------------------------------------------------
def hold_forces(n: Any) -> None:
    """The forces of a step, aside."""
    n.held = n.x


def give_forces(n: Any) -> None:
    """The forces of the step again, where those that put it back stand."""
    n.x = n.held


def put_back(shape: Shape, method: str) -> list[Step]:
    """One Gauss-Newton step of the coordinates and one of the velocities, at the end of a step."""
    rows = shape[1] >= 0
    if method == "maximal":
        positions, rates = maximal.steps_to_close(shape, POSITIONS), maximal.steps_to_close(shape, RATES)
    else:
        positions = [*reduced.steps_to_close(shape, POSITIONS), each(reduced.move_joints)]
        rates = [*reduced.steps_to_close(shape, RATES), each(reduced.change_velocities)]
    if not rows:
        return [*positions, *rates]
    between = each(keep_unknowns, on="constraint")
    return [each(hold_forces, on="constraint"), *positions, between, *rates, each(give_forces, on="constraint")]


def put_back_fields(shape: Shape, method: str) -> dict[str, Field]:
    """What `put_back` needs besides the fields of a step."""
    rows = {"error": Field("work", "rows", of="constraint")} if shape[1] >= 0 else {}
    return rows if method == "maximal" else reduced.projection_fields()


# --- any state ----------------------------------------------------------------------------------------------------------------
@takes_model
def project(model: Model, state: Kind, tolerance: float = 1e-10, iterations: int = 30) -> Kind:
    """The nearest state, in the metric of the mass, whose coordinates and velocities obey the constraints at the time state.t.

    tolerance    largest residual that may remain (m or rad); SolverError if `iterations` Gauss-Newton steps leave more
    `assemble` does the same for reduced states. In a `MaximalState` joints are constraints, too, and poses move by themselves.

    >>> coupled = model.add(lw.Coupling("lower", "upper", ratio=-0.5))
    >>> nearest = lw.project(coupled, lw.State([0.2, -0.11], [0.0, 0.0]))
    >>> bool(abs(nearest.q[1] + 0.5 * nearest.q[0]) < 1e-9)
    True
    """
    if isinstance(state, State):
        return assemble(model, state, tolerance, iterations)
    by = maximal.maximal_projection(model)
    for left in range(iterations, -1, -1):
        out = by.step(POSITIONS, state)
        rows = np.abs(violated(model, out["error"])).max(initial=0.0) if "error" in out else 0.0
        error = max(float(rows), float(np.abs(out["apart"]).max(initial=0.0)))
        if error <= tolerance:
            out = by.step(RATES, state)
            return replace(state, twists=out["twists"], q_fit=out["q_fit"])
        if left:
            state = replace(state, poses=out["poses"], q_fit=out["q_fit"])
    raise SolverError(
        f"project: after {iterations} steps a constraint is still violated by {error:.3g}; the constraints contradict one "
        "another, or the start is too far away. lw.constraint_report says which do"
    )


def post_stabilised(model: Model, state: State, steps: int = 1) -> State:
    """A state after a few Gauss-Newton steps, however far they come: what follows a step in time."""
    if not constraint_set(model).count:
        return state
    by, q, v = projection(model), state.q[None], state.v[None]
    unknown = collection(model).first_unknowns(q)
    for _ in range(steps):
        out = by.step(POSITIONS, q, v, state.t, unknown)
        unknown = out["foot"]
        q, v = recharted(model, model.integrate(q, out["free_v"]), v)
    v = v + by.step(RATES, q, v, state.t, unknown)["free_v"]
    return replace(state, q=q[0], v=v[0])
