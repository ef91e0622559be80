"""Derivatives of time steps, exact: with respect to the state, joint forces, and numbers of bodies and laws.

A step is what `simulate` does from a state: the model with its declared limits, friction and contacts, by any stepper of fixed
steps. Changes of configurations are displacements of the joints (`Model.integrate`), in maximal coordinates of the bodies; n
numbers, as many as there are velocities (`steppers.tangent_spaces`). See `steppers.derivatives`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .contact.compliant import Compliance
from .contact.formulations import touching
from .declared import declared
from .elements.collection import collection
from .errors import InputError
from .kernel.directional import TableChanges, companion, slopes_of
from .model import MaximalState, Model, State, check_state
from .model.accepts import check_model
from .model.state import has_plain_states
from .reduced.parameters import ParameterSlopes, parameter_slopes
from .rows.poisson import require_derivatives
from .simulate import SETTINGS, checked_start, chosen_stepper, takes_stiffness
from .spatial.gate import finite_reals, given_count, given_positive, shown
from .spatial.kinds import explained
from .steppers import AdaptiveStepper
from .steppers.derivatives import StepTangent, along, step_tangent
from .steppers.linear_step import LinearStep, Parts, is_linear_step, linear_step, step_jacobian
from .steppers.symplectic_euler import SymplecticEuler
from .steppers.tangent_spaces import SPACES

METHOD = "reduced"


class _Matrices(NamedTuple):
    A: np.ndarray
    B: np.ndarray


class StepDerivatives(_Matrices):
    """A = d(q', v')/d(q, v) (..., 2 n, 2 n) and B = d(q', v')/dtau (..., 2 n, nv), a pair; n = nv, or 6 bodies.

    edges   of one step, which rows of constraints are at an edge (..., rows), in the order of `lw.constraint_set`: between
            sticking and sliding, touching and parting, holding and giving way. There the derivative is that of the mode in
            force, and another one on the other side. None where no rows are solved, and of several steps.

    >>> found = lw.step_derivatives(model, state, 1e-3)
    >>> found.A.shape, found.B.shape
    ((4, 4), (4, 2))
    """

    marks: np.ndarray | None = None  # positive at such rows

    @property
    def edges(self) -> np.ndarray | None:
        """See above."""
        return None if self.marks is None else self.marks > 0.0


def acting_model(
    model: Model,
    dt: float,
    stepper: str | None,
    limit_model: str,
    contact: str,
    options: dict[str, Any],
    method: str = METHOD,
) -> Model:
    """The model that runs: with limits, friction and contacts that it declares, as `simulate` has it."""
    touched = touching(model, contact, Compliance(None, None, None, takes_stiffness(method, stepper)), dt)
    return declared(touched, limit_model, chosen_stepper(touched, method, stepper, options)).model


class Acting:
    """The model that runs, its stepper, and the states as a batch."""

    def __init__(
        self,
        model: Model,
        state: State | MaximalState,
        dt: float,
        given: Mapping[str, Any],
        stepper: str | None,
        limit_model: str,
        contact: str,
        steps: int,
        options: dict[str, Any],
        method: str = METHOD,
    ) -> None:
        check_model(model)
        dt, steps = given_positive("dt", dt), given_count("steps", steps)
        start = checked_start(model, state, method)
        self.method, self.space = method, SPACES[method]
        self.lead, self.parts, self.t = self.space.lead(start), self.space.parts(start), float(start.t)
        self.batch, self.n = len(self.parts[self.space.positions]), self.space.size(model)
        self.dt, self.steps = dt, steps
        self.edges: np.ndarray | None = None
        self._made = (stepper, limit_model, contact, options)
        self.model = self.acting(model)
        self.stepper = chosen_stepper(self.model, method, stepper, options)
        if isinstance(self.stepper, AdaptiveStepper):
            raise InputError(f"{self.stepper.name} chooses its steps, and has no derivative; take symplectic_euler or rk4")
        require_derivatives(collection(self.model), self.stepper)
        laws = collection(self.model)
        for name, x in given.items():
            if x is not None:
                finite_reals("inputs" if name == "u" else name, x)
        inputs = given.get("u")
        self.given = {**given, "u": (laws.initial_inputs if inputs is None else inputs) if laws.forces else None}

    def acting(self, model: Model) -> Model:
        """The model with what it declares."""
        return acting_model(model, self.dt, *self._made, self.method)

    def slopes(self, model: Model, parameters: Mapping[str, Sequence[str]]) -> ParameterSlopes:
        """How the run-time numbers of every set change with these, kept with the model (see `parameter_slopes`)."""
        for name, x in parameters.items():
            if not isinstance(x, str | list | tuple):
                raise InputError(f"parameters of {name!r} must be a list of names, as ['mass'], not {shown(x)}")
        listed = tuple((name, tuple([x] if isinstance(x, str) else x)) for name, x in parameters.items())
        stepper, limit_model, contact, options = self._made
        key = (Acting, listed, self.dt, self.method, stepper, limit_model, contact, repr(options))
        return model.keep_as(key, lambda: parameter_slopes(model, dict(listed), self.acting))

    def changes(
        self, changes: Mapping[str, np.ndarray], parameters: bool = False, tables: TableChanges | None = None
    ) -> np.ndarray:
        """Of the state after the steps (..., count, 2 n); `edges` are the rows at an edge, where that is known."""
        tangent: StepTangent = step_tangent(self.model, self.stepper, parameters, self.method, tables)
        found = {name: x for name, x in changes.items() if name in tangent.algorithm.fields}
        out, edges = along(tangent, self.parts, self.t, self.dt, self.given, found, self.steps)
        self.edges = None if edges is None else edges.reshape(*self.lead, -1)
        return out.reshape(*self.lead, *out.shape[1:])

    def along_units(self) -> np.ndarray:
        """d(q', v')/d(q, v, tau) (..., 2 n, 2 n + nv), on dual numbers, a column in every lane."""
        model, n = self.model, self.n
        count, changes = 2 * n + model.nv, {}
        for name, columns in self.space.columns(model, self.parts).items():
            changes[companion(name)] = moved = np.zeros((self.batch, count, columns.shape[-1]))
            moved[:, :n] = columns
        units = model.keep_as((Acting, self.method), lambda: (np.eye(count, n, -n), np.eye(count, model.nv, -2 * n)))
        changes[companion(self.space.velocities)], changes["d_tau"] = units
        return self.changes(changes).swapaxes(-1, -2)

    def jacobian(self) -> np.ndarray:
        """The same of one step by recursions, see `steppers.linear_step`."""
        assert isinstance(self.stepper, SymplecticEuler)
        step = linear_step(self.model, self.stepper)
        out, marks = step_jacobian(step, self.parts["q"], self.parts["v"], self.t, self.dt, self.given)
        self.edges = None if marks is None else (marks > 0.0).reshape(*self.lead, -1)
        return out.reshape(*self.lead, *out.shape[1:])


@explained
def step_derivatives(
    model: Model,
    state: State | MaximalState,
    dt: float,
    tau: Any = None,
    external: Any = None,
    *,
    method: str = METHOD,
    stepper: str | None = None,
    steps: int = 1,
    inputs: Any = None,
    limit_model: str = "hard",
    contact: str = "exact",
    **options: Any,
) -> StepDerivatives:
    """How the state after a step of `simulate`, or several, changes with the state before and with joint forces that are held.

    A   d(q', v')/d(q, v), (2 n, 2 n) or (batch, 2 n, 2 n), displacements first, then velocities
    B   d(q', v')/dtau (2 n, nv)

    n = nv; in maximal coordinates it is 6 bodies, and displacements are twists of the bodies in their own axes.

    method, stepper, limit_model, contact, options   as `simulate` has them; every stepper that does not choose its steps

    >>> A, B = lw.step_derivatives(model, state, 1e-3)
    >>> A.shape, B.shape
    ((4, 4), (4, 2))
    """
    if type(model) is not Model:
        check_model(model)
    known: dict[Any, tuple[LinearStep, bool]] = model.keep_as(StepDerivatives, dict)
    plain = method == METHOD and steps == 1 and not options and type(steps) is int and type(dt) is float
    quick = known.get((dt, stepper, limit_model, contact)) if plain else None
    if quick is not None and tau is external is inputs is None and type(state) is State and state.q.ndim == 1:
        step, is_plain = quick
        if not is_plain:  # compiled code does not look at all that may be wrong
            check_state(model, state)
        parts = step.of_one(state.q, state.v, state.t, dt)
        if parts is not None:
            return _of_parts(step, parts)
    given = {"tau": tau, "external": external, "u": inputs}
    here = Acting(model, state, dt, given, stepper, limit_model, contact, steps, options, method)
    if method == METHOD and here.steps == 1 and is_linear_step(here.model, here.stepper):
        found = here.jacobian()
        assert isinstance(here.stepper, SymplecticEuler)
        step = linear_step(here.model, here.stepper)
        if plain and step.is_quick:
            if len(known) >= SETTINGS:
                known.clear()
            known[dt, stepper, limit_model, contact] = (step, has_plain_states(model))
    else:
        found = here.along_units()
    both = 2 * here.n
    result = StepDerivatives(found[..., :both], found[..., both:])
    result.marks = here.edges
    return result


def _of_parts(step: LinearStep, parts: Parts) -> StepDerivatives:
    """Those of one state."""
    A, B, marks = parts
    result = StepDerivatives(A, B)
    if step.rows is not None:
        result.marks = marks
    return result


@explained
def step_product(
    model: Model,
    state: State | MaximalState,
    dt: float,
    dq: Any = None,
    dv: Any = None,
    dtau: Any = None,
    tau: Any = None,
    external: Any = None,
    *,
    method: str = METHOD,
    stepper: str | None = None,
    steps: int = 1,
    inputs: Any = None,
    limit_model: str = "hard",
    contact: str = "exact",
    **options: Any,
) -> tuple[np.ndarray, np.ndarray]:
    """The change (dq', dv') of the state after the steps along one direction (dq, dv, dtau), (n,) or (batch, n) each.

    As `step_derivatives`, in O(n).

    >>> dq, dv = lw.step_product(model, state, 1e-3, dv=[1.0, 0.0])
    """
    given = {"tau": tau, "external": external, "u": inputs}
    here = Acting(model, state, dt, given, stepper, limit_model, contact, steps, options, method)
    changes: dict[str, np.ndarray] = {}
    for name, x, size in (("q", dq, here.n), (here.space.velocities, dv, here.n), ("tau", dtau, model.nv)):
        if x is not None:
            x = np.broadcast_to(np.asarray(x, float), (here.batch, size))
            columns = here.space.columns(here.model, here.parts) if name == "q" else {name: np.eye(size)[None]}
            changes |= {companion(own): np.einsum("bi,biq->bq", x, y)[:, None] for own, y in columns.items()}
    if not changes:
        raise InputError("step_product: give dq, dv or dtau")
    out = here.changes(changes)[..., 0, :]
    return out[..., : here.n], out[..., here.n :]


@explained
def step_parameter_derivatives(
    model: Model,
    state: State | MaximalState,
    dt: float,
    parameters: Mapping[str, Sequence[str]],
    tau: Any = None,
    external: Any = None,
    *,
    method: str = METHOD,
    stepper: str | None = None,
    steps: int = 1,
    inputs: Any = None,
    limit_model: str = "hard",
    contact: str = "exact",
    **options: Any,
) -> np.ndarray:
    """d(q', v')/dp (2 n, numbers) or (batch, 2 n, numbers): what numbers of bodies and laws do to the state after the steps.

    parameters   {name: numbers} as `Model.with_parameters` takes them: {"upper": ("mass", "com"), "spring": ("stiffness",)};
                 arrays count entry by entry, in the order given, poses (a placement, frames of a `SplineCurve`) as displacements
                 of six numbers in their own axes, an axis by changes of its entries that leave it a unit vector

    >>> lw.step_parameter_derivatives(model, state, 1e-3, {"lower": ["mass"]}).shape
    (4, 1)
    """
    given = {"tau": tau, "external": external, "u": inputs}
    here = Acting(model, state, dt, given, stepper, limit_model, contact, steps, options, method)
    slopes = here.slopes(model, parameters)
    return here.changes({slopes_of(of): x for of, x in slopes.items()}, True, slopes.tables).swapaxes(-1, -2)
