"""The one time loop."""

from __future__ import annotations

import inspect
from dataclasses import fields, replace
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from . import forces, redmax
from .contact.compliant import Compliance
from .contact.formulations import COMPLIANT, EXACT, touching
from .declared import declared
from .elements.collection import collection
from .errors import InputError
from .maximal.convert import to_maximal
from .maximal.dynamics import check_inertias
from .model import MaximalState, Model, State, check_state
from .model.accepts import check_model
from .model.drivable import check_leaves
from .model.state import check_maximal_state
from .prepared import Prepared, Setting
from .reduced.closed import check_closed
from .spatial.gate import choice, given_count, given_positive, given_reals, meant, real, shown
from .spatial.kinds import explained
from .starts import check_clock, check_range
from .steppers import ALL_STEPPERS, AdaptiveStepper, Stepper
from .steppers.admissible import admissible
from .steppers.efforts import Efforts
from .steppers.fixed import Control
from .steppers.inputs import Inputs, input_function
from .trajectory import Trajectory

METHODS = {
    "reduced": "symplectic_euler",
    "maximal": "symplectic_euler",
    "maximal-implicit": "backward_euler",
    "redmax": "linearly_implicit",
}
MOST_NUMBERS = 1 << 33  # in all records of a run, 64 GiB
MOST_STEPS = 1e12  # beyond, the time no longer counts steps
SETTINGS = 64  # of one model that are kept
PLAIN = (bool, int, float, str, type(None))  # of options: equal ones of one type are the same
MAXIMAL = ("maximal", "maximal-implicit")  # methods whose states are maximal


@explained
def simulate(
    model: Model | redmax.HyperReduced,
    state: State | MaximalState,
    duration: float,
    dt: float = 1e-3,
    method: str = "reduced",
    *,
    stepper: str | None = None,
    control: Control | None = None,
    tau: Any = None,
    external: Any = None,
    inputs: Any = None,
    every: int = 1,
    threads: int | None = 1,
    open_loops: str = "refuse",
    limit_model: str = "hard",
    contact: str = "exact",
    contact_stiffness: float | None = None,
    contact_damping: float | None = None,
    contact_slip_speed: float | None = None,
    out: str | Path | None = None,
    **options: Any,
) -> Trajectory:
    """Simulate from a state and record every `every`-th step.

    model      or `HyperReduced` coordinates of one: then `state` holds r and r_dot; control, tau and the result are the model's
    state      State, or MaximalState for the maximal methods (a State is converted once, at the start); may hold a batch
    method     "reduced": O(n) recursions;  "maximal": bodies with Lagrange multipliers;
               "maximal-implicit": the same with stiff forces taken implicitly, O(n), joints closed at the end of the step;
               "redmax": the dense reduced system, with stiff forces taken implicitly
    stepper    time discretisation, by name; each method has a default:
               "symplectic_euler" (order 1);  "rk4" (order 4);  "variational" and "variational4" (order 2 and 4, energy over long
               times);  "rosenbrock" (order 2, stiff joints): any model;
               with method "maximal-implicit": "backward_euler" (order 1, any model);
               "dop853" and "ode45" (order 8 and 5, their own steps: dt only says where to record; contacts, limits and dry
               friction without control, inputs and events);
               with method "redmax": "linearly_implicit", "bdf1" (order 1), "bdf2", "sdirk2" (order 2), "ode45"
    control    `control(t, state) -> tau`, called at the start of every step and held during it (dop853, ode45: at every stage)
    tau        constant joint forces (nv,) or (batch, nv)
    external   constant wrenches (moment, force) on the bodies, about their origins in their axes, (bodies, 6)
    inputs     of forces (activations, targets) in the order of `lw.force_set(model)`: an array, a function of time, or a
               `MuscleDrive`; asked for as the control is. Their own if None
    threads    for batches; None uses all cores. The result does not depend on it
    open_loops "refuse": equality constraints must hold at the start, to 1e-6 (m or rad; of the size of models above 1 m), see
               `lw.assemble`; velocities that break them are changed by an impulse, and `health` says so;
               "allow": they are pulled shut during the run
    limit_model   how the limits that joints declare act: "hard" (stops that only push), "spring" or "off"; see `declared`. Joint
               forces are clipped to the efforts that joints declare. What a stepper cannot enforce, `health` says
    contact    how shapes of bodies and of the world touch (see `contact.formulations`): "exact", by Coulomb's law;  "pyramid" and
               "staggered": with a pyramid around its cone;  "single_qp": by one quadratic program;
               "compliant": by springs, dampers and regularised friction;  "frictionless";
               "off": no contact acts, those that are elements of the model included
    contact_stiffness, contact_damping, contact_slip_speed   of points of compliant contacts, N/m, N s/m and m/s; by default as
               masses and the step need them (see `contact.compliant`)
    out        a file, `.lwk`, that records go to while they are made (docs/reliability/streams.md): memory stays bounded, a run
               that is killed loses less than a second, and `lw.resume` continues it. The trajectory reads from the file
    options    of the stepper; dop853: rtol, atol, max_step, events (see `DormandPrince853`); ode45: rtol, atol, max_step

    A motion that is not finite any more ends the run with a `SolverError`, Ctrl-C with `RunInterrupted` (a KeyboardInterrupt);
    both have `trajectory`, what was computed until then.

    >>> run = lw.simulate(model, state, duration=0.5, dt=1e-3)
    >>> len(run)
    501
    >>> many = lw.simulate(model, lw.State(np.zeros((8, 2)), np.zeros((8, 2))), 0.1)
    >>> many.q.shape
    (8, 101, 2)
    """
    if out is not None:
        from .streams import stream  # reads and writes what is simulated here

        call = {
            "model": model,
            "state": state,
            "duration": duration,
            "dt": dt,
            "method": method,
            "stepper": stepper,
            "control": control,
            "tau": tau,
            "external": external,
            "inputs": inputs,
            "every": every,
            "threads": threads,
            "open_loops": open_loops,
            "limit_model": limit_model,
            "contact": contact,
            "contact_stiffness": contact_stiffness,
            "contact_damping": contact_damping,
            "contact_slip_speed": contact_slip_speed,
            "options": options,
        }
        return stream(call, out)
    pushed, compliance = (control, tau, external, inputs), (contact_stiffness, contact_damping, contact_slip_speed)
    rest = (every, threads, open_loops, limit_model, contact, *compliance, options)
    return prepared(model, state, duration, dt, method, stepper, *pushed, *rest).trajectory()


def prepared(
    model: Model | redmax.HyperReduced,
    state: State | MaximalState,
    duration: float,
    dt: float,
    method: str,
    stepper: str | None,
    control: Control | None,
    tau: Any,
    external: Any,
    inputs: Any,
    every: int,
    threads: int | None,
    open_loops: str,
    limit_model: str,
    contact: str,
    contact_stiffness: float | None,
    contact_damping: float | None,
    contact_slip_speed: float | None,
    options: dict[str, Any],
) -> Prepared:
    """A run with the arguments of `simulate`, checked."""
    if control is not None:
        _check_control(control)
    asked, compliance = control is not None or inputs is not None, (contact_stiffness, contact_damping, contact_slip_speed)
    notes: tuple[str, ...] = ()
    if not isinstance(model, Model) and isinstance(model, redmax.HyperReduced):
        steps = checked_steps(model.model, duration, dt, method, stepper, every)
        soft = Compliance(*compliance, takes_stiffness(method, stepper))
        touched = touching(model.model, contact, soft, float(dt))
        start, chosen, notes = mapped_start(model, touched, state, method, stepper, options, open_loops)
        setting = _setting(touched, chosen, method, float(dt), steps, int(every), limit_model, asked)
    else:
        told = (limit_model, contact, compliance, options, asked)
        setting = setting_of(model, duration, dt, method, stepper, every, *told)
        start, notes = admitted(setting.given, setting.stepper, checked_start(setting.given, state, method), open_loops)
    check_clock(start.t, float(dt), float(duration))
    model, efforts = setting.model, Efforts(setting.model)
    if tau is not None or external is not None:
        batch = start.v.shape[:-1] if isinstance(start, State) else start.twists.shape[:-2]
        tau = checked_force(tau, "tau", (model.nv,), batch)
        external = checked_force(external, "external", (model.nb, 6), batch)
    if control is not None and tau is not None:
        raise InputError("give either tau or control, not both")
    tau = tau if tau is None else efforts.held(tau, setting.steps)
    driven = _driven(model, setting.stepper, inputs)
    return Prepared(setting, start, control, tau, external, driven, threads, efforts, (*setting.notes, *notes))


def setting_of(
    model: Model,
    duration: float,
    dt: float,
    method: str,
    stepper: str | None,
    every: int,
    limit_model: str,
    contact: str,
    compliance: tuple[float | None, float | None, float | None],
    options: dict[str, Any],
    asked: bool,
) -> Setting:
    """What a run is before its state is known; checked when it is first asked for with these arguments, kept with the model.

    compliance   stiffness, damping and slip speed of compliant contacts
    asked        whether a control or inputs of forces are asked for during the run
    """
    check_model(model)

    def made() -> Setting:
        steps = checked_steps(model, duration, dt, method, stepper, every)
        soft = Compliance(*compliance, takes_stiffness(method, stepper))
        touched = touching(model, contact, soft, float(dt))
        chosen = chosen_stepper(touched, method, stepper, options)
        found = _setting(touched, chosen, method, float(dt), steps, int(every), limit_model, asked)
        return replace(found, solid=touching(model, EXACT)) if contact == COMPLIANT else found

    k, c, s = compliance
    plain = type(duration) is type(dt) is float and type(every) is int  # for others equal keys may not mean equal arguments
    if not plain or k is not None or c is not None or s is not None or (options and not _all_plain(options)):
        return made()
    key = (duration, dt, method, stepper, every, limit_model, contact, asked)
    if options:
        key = (*key, *((name, type(x), x) for name, x in options.items()))
    known = model.keep_as(Setting, dict)
    try:
        found = known.get(key)
    except TypeError:  # a list for a name
        return made()
    if found is None:
        if len(known) >= SETTINGS:
            known.clear()
        found = known[key] = made()
    return found


def _all_plain(options: dict[str, Any]) -> bool:
    """Whether options are values that say all there is to know of them; functions, lists and arrays do not."""
    return all(type(x) in PLAIN for x in options.values())


def _setting(
    given: Model, stepper: Stepper, method: str, dt: float, steps: int, every: int, limit_model: str, asked: bool
) -> Setting:
    acting = declared(given, limit_model, stepper, asked)
    return Setting(given, acting.model, stepper, method, dt, steps, every, acting.notes)


def checked_steps(model: Model, duration: float, dt: float, method: str, stepper: str | None, every: int) -> int:
    """How many steps a run has; raises where it cannot have so many, or numbers and names are none."""
    dt, duration = given_positive("dt", dt), given_positive("duration", duration)
    steps = step_count(duration, dt)
    check_method(method, stepper)
    every = given_count("every", every)
    records, most = steps // every, MOST_NUMBERS // max(1, model.nq + model.nv)
    if records > most:
        raise InputError(f"{records} records do not fit into memory, at most {most} do; raise every = {every} or dt = {dt:g}")
    if steps % every:
        raise InputError(f"every = {every} does not divide the {steps} steps; the last {steps % every} would not be recorded")
    return steps


def _check_control(control: Any) -> None:
    """Raise unless it can be called with the time and a state."""
    if type(control) is FunctionType and control.__code__.co_argcount == 2 and not control.__code__.co_kwonlyargcount:
        return
    if not callable(control):
        raise InputError(f"control must be a function (t, state) -> tau, not a {type(control).__name__}")
    try:
        inspect.signature(control).bind(0.0, None)
    except TypeError as error:
        raise InputError(f"control must be a function (t, state) -> tau; called with these two, {error}") from None
    except ValueError:  # it has no signature to look at
        pass


def step_count(duration: float, dt: float) -> int:
    """How many steps a duration has; raises if that is no whole number."""
    steps = duration / dt
    if steps > MOST_STEPS:
        raise InputError(
            f"dt = {dt:g} is too small: duration {duration:g} would take {steps:.3g} steps, more than {MOST_STEPS:g}"
        )
    steps = round(steps)
    if abs(steps * dt - duration) > 1e-6 * duration or steps < 1:
        below, above = np.floor(duration / dt), np.floor(duration / dt) + 1.0
        near = f"{below * dt:.9g} ({below:.0f} steps) or {above * dt:.9g} ({above:.0f})" if below else f"{dt:.9g} (1 step)"
        raise InputError(f"duration {duration:.9g} is not a whole number of steps of {dt:g}; take {near}, or another dt")
    return steps


def check_method(method: Any, stepper: Any = None) -> None:
    """Raise unless there is such a method, and a stepper has a name."""
    if stepper is not None and not isinstance(stepper, str):
        raise InputError(f"there is no stepper {shown(stepper)}; choose one of {', '.join(ALL_STEPPERS)}")
    if not isinstance(method, str) or method not in METHODS:
        choice(f"there is no method {{}}; choose one of {', '.join(METHODS)}", method, METHODS)


def checked_start(model: Model, state: Any, method: str) -> State | MaximalState:
    """The state from which a method starts; raises if it does not fit the model."""
    check_method(method)
    if method in MAXIMAL:
        check_inertias(model)
    check_leaves(model)
    if isinstance(state, State):
        check_state(model, state)
        check_range(model, state)
        state = _broadcast(state)
        return to_maximal(model, state) if method in MAXIMAL else state
    if not isinstance(state, MaximalState):
        raise InputError(f"state must be a State or MaximalState, not {type(state).__name__}")
    if method not in MAXIMAL:
        raise InputError('a MaximalState needs method="maximal"; convert it with lw.to_reduced(model, state) first')
    check_maximal_state(model, state)
    check_range(model, state)
    return state


def admitted(
    model: Model, stepper: Stepper, start: State | MaximalState, open_loops: str
) -> tuple[State | MaximalState, tuple[str, ...]]:
    """The state from which a stepper moves, and what is to be said of it; raises where a constraint is open.

    Velocities that break equality constraints are changed where the stepper would keep the error; see `steppers.admissible`.
    """
    check_closed(model, start, open_loops)
    return admissible(model, start) if stepper.on_accelerations else (start, ())


def mapped_start(
    hyper: redmax.HyperReduced,
    model: Model,
    state: Any,
    method: str,
    stepper: str | None,
    options: dict[str, Any],
    open_loops: str,
) -> tuple[State, Stepper, tuple[str, ...]]:
    """Where hyper-reduced coordinates start, the stepper that moves a model, with its contacts, through r, and what is to be said
    of the start."""
    from .steppers.hyper_reduced import admissible_velocities, hyper_stepper  # a dozen modules that few programs need

    if not isinstance(state, State):
        raise InputError(f"hyper-reduced coordinates start from State(q=r, v=r_dot), not from a {type(state).__name__}")
    state = _broadcast(state)
    chosen, notes = hyper_stepper(hyper, method, stepper, options, model), tuple[str, ...]()
    check_closed(model, hyper.full(state), open_loops)
    if chosen.on_accelerations:
        state, notes = admissible_velocities(hyper, model, state)
    return replace(hyper.full(state), memory={"r": state.q, "r_dot": state.v}), chosen, notes


def _broadcast(state: State) -> State:
    """The same state with q and v of one batch size."""
    if state.q.ndim == state.v.ndim == 1:
        return state
    try:
        lead = np.broadcast_shapes(state.q.shape[:-1], state.v.shape[:-1])
    except ValueError:
        raise InputError(f"state.q is a batch of {len(state.q)}, state.v of {len(state.v)}") from None
    q, v = (np.broadcast_to(x, lead + x.shape[-1:]) for x in (state.q, state.v))
    return State(q, v, state.t, state.memory)


def takes_stiffness(method: str, stepper: str | None) -> bool:
    """Whether a stepper, or the method's own, takes stiff forces implicitly; False of what there is not."""
    chosen = ALL_STEPPERS.get(stepper or METHODS.get(method, ""))
    return chosen is not None and chosen.implicit


def chosen_stepper(model: Model, method: str, name: str | None, options: dict[str, Any]) -> Stepper:
    """The stepper of a name, or the method's own, with its options; raises if it cannot step the model."""
    if options:
        return _stepper(model, method, name, options)
    return model.keep_as((chosen_stepper, method, name), lambda: _stepper(model, method, name, options))


def _stepper(model: Model, method: str, name: str | None, options: dict[str, Any]) -> Stepper:
    name = name or METHODS[choice("there is no method {}", method, METHODS)]
    choice(f"there is no stepper {{}}; choose one of {', '.join(ALL_STEPPERS)}", name, ALL_STEPPERS)
    known = [f.name for f in fields(ALL_STEPPERS[name])]
    for option in options:
        if option not in known:
            theirs = f"its options are {', '.join(known)}" if known else "it has none"
            arguments = inspect.signature(simulate).parameters
            close = "; it is an argument of lw.simulate" if option in arguments else meant(option, (*known, *arguments))
            owners = [other for other, kind in ALL_STEPPERS.items() if option in (f.name for f in fields(kind))]
            whose = f"; it is an option of {', '.join(map(repr, owners))}" if owners else close
            raise InputError(f"there is no argument {option!r}, and the stepper {name!r} no such option: {theirs}{whose}")
    _check_options(ALL_STEPPERS[name], options)
    stepper = ALL_STEPPERS[name](**options).formulated(method)
    if method not in stepper.methods:
        raise InputError(f"the stepper {name!r} does not work with method {method!r}; it works with {', '.join(stepper.methods)}")
    rubbing = collection(model)
    if not stepper.friction and (rubbing.rubs or rubbing.rubs_inside):
        able = "symplectic_euler, backward_euler and linearly_implicit, as they are without options"
        where = "of contacts" if rubbing.rubs else "inside joints (JointFriction)"
        raise InputError(f"the stepper {name!r} does not know friction {where}; these do: {able}")
    if rubbing.looks and not stepper.friction:
        law = next(law for law in rubbing.rows if law.looks)
        raise InputError(
            f"{law!r}: where its shapes touch is found by Coal, which the stepper {name!r} does not ask; these do: "
            "symplectic_euler, backward_euler and linearly_implicit, as they are without options"
        )
    stepper.check(model)
    return stepper


def _check_options(stepper: Any, options: dict[str, Any]) -> None:
    """Raise unless options that are numbers are given as such; what values they may have, the stepper says."""
    for f in fields(stepper):
        kind, x = str(f.type), options.get(f.name)
        if x is not None and "float" in kind and "tuple" not in kind:
            try:
                real(x)
            except ValueError:
                raise InputError(f"{stepper.name}: {f.name} must be a number, not {shown(x)}") from None


def _driven(model: Model, stepper: Stepper, inputs: Any) -> Inputs | None:
    """What its forces are told; None if that stays as it is."""
    if isinstance(stepper, AdaptiveStepper) and inputs is not None and isinstance(inputs, forces.MuscleDrive):
        raise InputError(
            f"a MuscleDrive goes on from step to step, which {stepper.name!r} also takes back; use a stepper with fixed steps"
        )
    found = input_function(model, inputs)
    return None if found is None else Inputs(found, not callable(inputs))


def checked_force(x: Any, name: str, tail: tuple[int, ...], batch: tuple[int, ...]) -> np.ndarray | None:
    """A force or an input (..., *tail) as an array, one for all or one for each of a batch; None stays."""
    if x is None:
        return None
    a = x if type(x) is np.ndarray and x.dtype == np.float64 else given_reals(name, x)
    a = np.ascontiguousarray(a).reshape(a.shape)
    if a.shape not in (tail, batch + tail):
        expected = f"{tail} or {batch + tail}" if batch else f"{tail}"
        raise InputError(f"{name} has shape {a.shape}; expected {expected}")
    if not np.all(np.isfinite(a)):
        raise InputError(f"{name} is not finite")
    return a
