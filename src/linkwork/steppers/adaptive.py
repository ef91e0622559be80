"""Runge-Kutta methods that choose their steps, as one program: every state of a batch has steps of its own.

A pass of the program goes on to the next time that is to be recorded. It repeats trial steps until every lane is there: choose a
length, place and evaluate the stages as in `runge_kutta`, measure the error, and judge: a lane accepts its step, or keeps its
state and tries a shorter one. Lanes that are done keep all they have, so no result depends on its neighbours. The state at the
time is that of the last step's interpolant, whose further stages are evaluated once per step and only where it is asked for.

Rows that only push or have a largest force keep their modes during a step (`modes`); a lane takes back a step that goes beyond
the end of one, and looks for it (`event_search`).

Methods say how long steps are (`choose`), what counts as an error (`measure`, `judge`), and their coefficients (`Embedded`). What
Python alone can say (control, events, inputs that change) needs the same methods step by step: see there.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import inf
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from ..elements.collection import Shape, collection
from ..elements.derive import derive
from ..kernel.loops import Arrays, Ints, Lane, LoopFunction, loops, where
from ..kernel.loops import any as some
from ..kernel.plans import Plans
from ..kernel.sweep import SCALAR, Algorithm, Field, Repeat, Routine, Step, Sweep, each, vector
from ..kernel.workers import thread_count
from ..model import Model, State
from ..model.rules import joint_of
from ..rows.asked import astray, free_motion, pose_rows, row_law_at, watch_accelerations
from ..spatial.scalar import Vector, array
from ..spatial.scalar import where as chosen
from .departures import reason_to_stop
from .event_search import JUDGE_EVENTS, NEVER, SHORTEN, judge_events, shorten
from .modes import PILED_UP, hold_modes, look_at_events, mode_fields, open_rows, rest, switch, watch_modes
from .pace import Pace
from .runge_kutta import STAGE, stage_fields, stage_steps, staged_tree
from .stages import renamed
from .way_back import COUNT, WayBack, way_back, way_back_fields, way_back_of

MOST = 1_000_000  # trial steps between two records: more are a failure
TOO_MANY = 3.0  # status of a motion that needed more; 1 where no step is short enough, 2 is `PILED_UP`
LAST_STEP = ("base_t", "h", "base_q", "base_v", "moves", "gains")  # what the interpolant of the last step is made of
START = {"q": "base_q", "v": "base_v", "t": "base_t"}  # where the present step began


@dataclass(frozen=True, eq=False)
class Embedded:
    """Coefficients of a method with an error and an interpolant; S stages, of which the first so many make a step.

    stages   of a step; the last one is at its end, and is the first of the next
    matrix   a_ij (S, S); rows beyond the stages are for the interpolant alone
    errors   weights of the stages in the error or errors (errors, S)
    dense    weights of the stages in the coefficients of the interpolant (coefficients, S)
    turns    coefficient i is multiplied by all factors up to i: x, or 1 - x where turns is 1
    """

    stages: int
    matrix: np.ndarray
    errors: np.ndarray
    dense: np.ndarray
    turns: np.ndarray

    @property
    def nodes(self) -> np.ndarray:
        return self.matrix.sum(1)


@dataclass(frozen=True, eq=False)
class StepControl:
    """How a method chooses its steps: two routines and a rule; `settings` are numbers for the routines."""

    name: str
    choose: LoopFunction
    measure: Callable[[Any], None]
    judge: LoopFunction
    settings: int


class Trial(Arrays):
    """A trial step, one number each but for the settings of a method.

    t, end          where a lane is, and where it goes
    running         1 where it does
    failed          1 where the last trial was not accepted; `status` 1 where no step is short enough
    next_h          how long errors let the next one be
    h, reached      how long this one is, and where it ends; `base_t` where it began
    accepted        1 where it is a step
    """

    t: Lane
    end: Lane
    settings: Lane
    running: Lane
    failed: Lane
    next_h: Lane
    h: Lane
    base_t: Lane
    reached: Lane
    accepted: Lane
    status: Lane


CHOOSE = tuple(Trial.listed())
JUDGE = ("width", *CHOOSE, "fault", "move_size", "gain_size")


# --- a pass -------------------------------------------------------------------------------------------------------------------
@loops
def next_record(
    record: Lane, first: Lane, spacing: Lane, end: Lane, t: Lane, status: Lane, target: Lane, running: Lane, fresh: Lane
) -> None:
    """The time to reach, and who is not there yet."""
    record[0] += 1.0
    then = first[0] + record[0] * spacing[0]
    target[0] = where(then > end[0] - 0.5 * spacing[0], end[0], then)
    running[0] = where((t[0] < target[0]) & (status[0] == 0.0), 1.0, 0.0)
    fresh[0] = 0.0


@loops
def begin_trial(stage: Ints, width: int, running: Lane, v: Lane, first_rate: Lane, moves: Lane, gains: Lane) -> None:
    """The first stage is known: it was the last one of the step before."""
    stage[0] = 1
    for i in range(width):
        moves[i] = where(running[0] > 0.0, v[i], moves[i])
        gains[i] = where(running[0] > 0.0, first_rate[i], gains[i])


@loops
def begin_anew(stage: Ints) -> None:
    """The first stage must be evaluated."""
    stage[0] = 0


@loops
def keep_running(stage: Ints, width: int, running: Lane, slope: Lane, rate: Lane, moves: Lane, gains: Lane) -> None:
    """The slopes of this stage, among the others, in lanes that run."""
    s = stage[0]
    for i in range(width):
        moves[s * width + i] = where(running[0] > 0.0, slope[i], moves[s * width + i])
        gains[s * width + i] = where(running[0] > 0.0, rate[i], gains[s * width + i])
    stage[0] = s + 1


@loops
def sum_faults(stage: Ints, stages: int, width: int, faults: int, errors: Lane, moves: Lane, gains: Lane, fault: Lane) -> None:
    """The errors of moves and velocities, by h."""
    for e in range(faults):
        for i in range(2 * width):
            fault[e * 2 * width + i] = 0.0
        for j in range(stage[0]):
            w = errors[e * stages + j]
            if some(w != 0.0):
                for i in range(width):
                    fault[e * 2 * width + i] += w * moves[j * width + i]
                    fault[e * 2 * width + width + i] += w * gains[j * width + i]


@loops
def go_on(t: Lane, target: Lane, accepted: Lane, status: Lane, running: Lane, fresh: Lane) -> None:
    """Who is still not there."""
    fresh[0] = where(accepted[0] > 0.0, 1.0, fresh[0])
    running[0] = where((running[0] > 0.0) & (t[0] < target[0]) & (status[0] == 0.0), 1.0, 0.0)


@loops
def begin_dense(stage: Ints, regular: int, fresh: Lane, running: Lane, status: Lane) -> None:
    """Further stages, in lanes that have made a step; lanes that still run after so many steps have failed."""
    stage[0] = regular
    status[0] = where(running[0] > 0.0, TOO_MANY, status[0])
    running[0] = fresh[0]


@loops
def interpolate(
    stages: int,
    width: int,
    pieces: int,
    dense: Lane,
    turns: Lane,
    target: Lane,
    base_t: Lane,
    h: Lane,
    moves: Lane,
    gains: Lane,
    shift: Lane,
    gain: Lane,
) -> None:
    """The move and the gain of velocity from the start of the last step to the time that is recorded."""
    x = (target[0] - base_t[0]) / h[0]
    for i in range(width):
        shift[i] = 0.0
        gain[i] = 0.0
    for j in range(stages):
        w = 0.0 * x
        factor = h[0]
        for p in range(pieces):
            factor = factor * where(turns[p] > 0.0, 1.0 - x, x)
            w += factor * dense[p * stages + j]
        for i in range(width):
            shift[i] += w * moves[j * width + i]
            gain[i] += w * gains[j * width + i]


# --- rules --------------------------------------------------------------------------------------------------------------------
def select(flag: Any, a: Vector, b: Vector) -> Vector:
    """a where a flag is set, else b."""
    return array([chosen(flag > 0.0, x, y) for x, y in zip(a, b, strict=True)])


def open_trial(n: Any) -> None:
    """A step begins where the state is."""
    n.base_q, n.base_v = select(n.running, n.q, n.base_q), select(n.running, n.v, n.base_v)


def take_step(n: Any) -> None:
    """The end of the step, where it is accepted."""
    q, v = joint_of(n).rechart(n.stage_q, n.stage_v)
    n.q, n.v = select(n.accepted, q, n.q), select(n.accepted, v, n.v)
    n.first_rate = select(n.accepted, n.free_v, n.first_rate)


def hand_out(n: Any) -> None:
    """The state at the time that is recorded."""
    ended = chosen(n.t <= n.target, 1.0, 0.0)
    q = joint_of(n).integrate(n.base_q, n.shift)
    n.q_then, n.v_then = select(ended, n.q, q), select(ended, n.v, n.base_v + n.gain)


def hand_out_modes(n: Any) -> None:
    """The modes of the step in which that time is."""
    n.mode_then = n.step_mode


def looked_at(shape: Shape) -> list[Step]:
    """What ends the modes of rows, at the end of a step."""
    look = each(look_at_events, *(f"p{i}" for i in range(shape[1])), on="constraint")
    return [renamed(look, STAGE["reduced"]), Routine(judge_events, JUDGE_EVENTS)]


def surely(watch: Callable[..., None]) -> Callable[..., None]:
    """The rule `watch` of constraints, with unknowns that are NaN where they may be wrong: then the step is too long. Steps grow
    as long as accelerations are smooth, and a wrong branch of a closure is smooth as well."""

    @functools.wraps(watch)
    def sure(n: Any, *ports: Any) -> None:
        watch(n, *ports)
        law, at = row_law_at(n, ports)
        if law.unknowns:
            doubt = chosen(astray(law, at, n.t, n.unknown) > 0.0, np.nan, 0.0)
            n.foot = array([x + doubt for x in n.foot])

    return sure


WATCH = surely(watch_accelerations)
WATCH_MODES = surely(watch_modes)


def open_unknowns(n: Any) -> None:
    """Newton's method for unknowns of constraints begins where the last good step has left them, in all stages of a step: a step
    that is given up leads none astray."""
    n.unknown = select(n.running, n.end_unknown, n.unknown)


def take_unknowns(n: Any) -> None:
    """Where they are at the end of a step that is accepted."""
    n.end_unknown = select(n.accepted, n.foot, n.end_unknown)


def hold_pulled(n: Any, *around: Any) -> None:
    """The rows of one constraint on accelerations, with what Baumgarte's rates ask for."""
    ports, places = around[: len(around) // 2], around[len(around) // 2 :]
    law, at = row_law_at(n, ports)
    found = derive(law, at, n.t, n.foot)
    rate, stiffness = n.baumgarte
    wanted = -found.bias - rate * found.rate - stiffness * found.residual
    pose_rows(n, law, found.G, free_motion(n, ports, at), wanted, places, 1.0)


# --- the program --------------------------------------------------------------------------------------------------------------
def guarded(step: Step, flag: str) -> Step:
    """The step, only where a global flag is set in some lane; what has a guard keeps it."""
    if isinstance(step, Repeat):
        return replace(step, steps=tuple(guarded(inner, flag) for inner in step.steps))
    if step.when is not None:
        return step
    return replace(step, when=("global", flag)) if isinstance(step, Sweep) else replace(step, when=flag)


@functools.cache
def adaptive_program(
    shape: Shape, control: StepControl, total: int, regular: int, faults: int, pieces: int, fresh: bool, closes: bool
) -> Algorithm:
    """A pass of models with such laws; see the module's text.

    fresh    whether the first stage is evaluated in every step, as coordinates may have changed
    closes   whether steps end where equality constraints hold (`way_back`)
    """
    keep = Routine(keep_running, ("stage", "width", "running", "slope", "free_v", "moves", "gains"))
    pushes = shape[3]
    hold, watch = (hold_modes, WATCH_MODES) if pushes else (hold_pulled, WATCH)
    one = stage_steps(shape, "reduced", 20, hold, keep, None, START, watch)
    begin = Routine(begin_anew, ("stage",))
    if not fresh:
        begin = Routine(begin_trial, ("stage", "width", "running", "v", "first_rate", "moves", "gains"))
    trial: list[Step] = [
        *([each(open_unknowns, on="constraint")] if shape[1] >= 0 else []),
        *(switch(shape) if pushes else []),
        Routine(control.choose, CHOOSE),
        *([Routine(shorten, SHORTEN), each(open_rows, on="constraint")] if pushes else []),
        each(open_trial),
        begin,
        Repeat(tuple(one), regular if fresh else regular - 1),
        Routine(sum_faults, ("stage", "stages", "width", "faults", "errors", "moves", "gains", "fault")),
        each(control.measure),
        *([*(renamed(step, STAGE["reduced"]) for step in way_back(shape)), COUNT] if closes else []),
        Routine(control.judge, JUDGE),
        *(looked_at(shape) if pushes else []),
        each(take_step),
        *([each(take_unknowns, on="constraint")] if shape[1] >= 0 else []),
        Routine(go_on, ("t", "target", "accepted", "status", "running", "fresh")),
    ]
    further: list[Step] = [Repeat(tuple(one), total - regular)] if total > regular else []
    dense = ("stages", "width", "pieces", "dense", "turns", "target", "base_t", "h", "moves", "gains", "shift", "gain")
    names = ("record", "first", "spacing", "end", "t", "status", "target", "running", "fresh")
    steps = [
        Routine(next_record, names),
        *([Routine(rest, ("switch_now", "near", "busy"))] if pushes else []),
        Repeat(tuple(guarded(step, "running") for step in trial), MOST, "running"),
        Routine(begin_dense, ("stage", "regular", "fresh", "running", "status")),
        *(guarded(step, "running") for step in further),
        Routine(interpolate, dense),
        each(hand_out),
        *([each(hand_out_modes, on="constraint")] if pushes else []),
    ]
    number = Field("work", "global", SCALAR)
    found = stage_fields(shape, "reduced", total - 1) | {
        **dict.fromkeys(("base_t", "h", "target", "running", "fresh", "accepted", "reached"), number),
        **{name: Field("state", "global", SCALAR) for name in ("next_h", "failed", "status", "record")},
        **{name: Field("input", "global", SCALAR) for name in ("first", "spacing", "end")},
        "first_rate": Field("state", "v"),
        "base_q": Field("work", "q"),
        "base_v": Field("work", "v"),
        "move_size": Field("work", "v"),
        "gain_size": Field("work", "v"),
        "q_then": Field("output", "q"),
        "v_then": Field("output", "v"),
        "fault": Field("work", "faults", SCALAR),
        "settings": Field("input", "global", vector(control.settings)),
        "baumgarte": Field("input", "global", vector(2)),
        "tableau": Field("input", "global", vector(total * total)),
        "nodes": Field("input", "global", vector(total)),
        "errors": Field("input", "global", vector(faults * total)),
        "dense": Field("input", "global", vector(pieces * total)),
        "turns": Field("input", "global", vector(pieces)),
    }
    found |= mode_fields() if pushes else {}
    found = way_back_fields() | found if closes else found
    found |= {"end_unknown": Field("state", "unknown", of="constraint")} if shape[1] >= 0 else {}
    found |= {name: replace(found[name], kind="state") for name in (*LAST_STEP, *(["step_mode"] if pushes else []))}
    name = f"adaptive_{control.name}_{int(fresh)}{int(closes)}_{'_'.join(map(str, map(int, shape)))}"
    return Algorithm(name, found, {"run": steps})


def adaptive_plans(model: Model, method: Embedded) -> Plans:
    """Plans on the loaded tree with room for the stages of a method."""
    total, faults, pieces = len(method.matrix), len(method.errors), len(method.dense)

    def made() -> Plans:
        tree = staged_tree(model, "reduced", total)
        counts = {"faults": 2 * faults * model.nv}
        numbers = {"regular": method.stages, "faults": faults, "pieces": pieces}
        return Plans(replace(tree, counts=tree.counts | counts, numbers=tree.numbers | numbers))

    return model.keep_as((adaptive_plans, total, method.stages, faults, pieces), made)


class Found(NamedTuple):
    """What was found of motions at the times but the first (batch, times - 1, size), as far as all of them got.

    modes     of rows, if they have some
    failure   why they did not get to the end
    stopped   whether somebody pressed Ctrl-C
    end       all that the program keeps there
    """

    q: np.ndarray
    v: np.ndarray
    modes: np.ndarray | None
    failure: str | None
    stopped: bool
    end: Mapping[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class AdaptiveRun:
    """A motion of one state or a batch by a program.

    settings    numbers for the routines of the control
    baumgarte   (b, c): constraints obey g_ddot = -2 b g_dot - c^2 g
    projects    whether steps end where equality constraints hold
    """

    model: Model
    method: Embedded
    control: StepControl
    settings: np.ndarray
    baumgarte: tuple[float, float] = (0.0, 0.0)
    projects: bool = False

    @property
    def back(self) -> WayBack | None:
        """The way back to the constraints at the end of every step, if there is one."""
        return way_back_of(self.model) if self.projects else None

    @property
    def program(self) -> Algorithm:
        method = self.method
        sizes = (len(method.matrix), method.stages, len(method.errors), len(method.dense))
        shape = collection(self.model).shape
        closes = self.back is not None
        fresh = bool(shape[3]) or closes or any(b.joint.charted for b in self.model.bodies)
        return adaptive_program(shape, self.control, *sizes, fresh, closes)

    def inputs(self, state: State, times: np.ndarray, h: np.ndarray, rates: np.ndarray) -> dict[str, np.ndarray]:
        """What the program takes, but for joint forces and wrenches; arguments as below."""
        laws, batch, method, (b, c) = collection(self.model), len(state.q), self.method, self.baumgarte
        zero = np.zeros((batch, 1))
        kept = {"q": state.q, "v": state.v, "t": zero + state.t, "next_h": h.reshape(batch, 1), "failed": zero, "status": zero}
        kept |= {"record": zero, "first_rate": rates}
        kept |= dict.fromkeys(("unknown", "end_unknown"), laws.first_unknowns(state.q)) if laws.rows else {}
        if laws.shape[3]:
            per_row = np.zeros((batch, laws.row_count))
            kept |= {"mode": per_row, "was": per_row, "bad_event": per_row, "switching": zero + 1.0, "last_switch": zero - NEVER}
            kept |= {"pile": zero, "bad_t": zero + NEVER, "plan_h": zero, "good_weight": zero + 1.0, "bad_weight": zero + 1.0}
        given = {"first": times[:1], "end": times[-1:], "spacing": np.array([(times[-1] - times[0]) / (len(times) - 1)])}
        given |= {"gravity": self.model.gravity, "settings": self.settings, "baumgarte": np.array([2.0 * b, c * c])}
        given |= {"tableau": method.matrix, "nodes": method.nodes, "errors": method.errors, "dense": method.dense}
        given |= {"turns": method.turns} | ({"u": laws.initial_inputs} if laws.forces else {})
        given |= {"told": np.zeros(0)} if laws.rows else {}
        return {n: np.ascontiguousarray(x, float) for n, x in kept.items()} | {n: np.reshape(x, -1) for n, x in given.items()}

    def __call__(
        self,
        start: Mapping[str, np.ndarray],
        times: np.ndarray,
        tau: Any,
        external: Any,
        threads: int | None = 1,
        deadline: float = inf,
    ) -> Found:
        """The motions from where they are, in pieces that take a moment each (see `pace`).

        start      what `inputs` says, or where an earlier part ended
        times      equally spaced; the first is that of the start
        deadline   when to end, if not everything is done by then (`perf_counter`)
        """
        m, laws, batch, records = self.model, collection(self.model), len(start["q"]), len(times) - 1
        pushed = {name: flat(x, n, batch) for name, x, n in (("tau", tau, 1), ("external", external, 2)) if x is not None}
        absent = [name for name in ("tau", "external") if name not in pushed] + (["x", "left"] if laws.rows else [])
        plans = adaptive_plans(m, self.method)
        plan = plans(self.program, plans.lanes(self.program, batch), ("run",), tuple(absent))
        out = {name: np.empty((batch, records, n)) for name, n in (("q_then", m.nq), ("v_then", m.nv), ("status", 1), ("t", 1))}
        out |= {"mode_then": np.empty((batch, records, laws.row_count))} if laws.shape[3] else {}
        states = [name for name, f in self.program.fields.items() if f.kind == "state"]
        given = {name: np.zeros((batch, plan.sizes[name])) for name in states} | {n: np.array(x) for n, x in start.items()}
        kept = {name: given[name] for name in states if name not in out}
        pace, done, failure, stopped = m.keep_as((Pace, self.program.name, batch), lambda: Pace(m.nb)), 0, None, False
        end = {name: given[name].copy() for name in states}
        try:
            while done < records and failure is None and (perf_counter() < deadline or not done):
                count, begin = min(records - done, max(1, pace.state_steps() // batch)), perf_counter()
                part = {name: a[:, done : done + count] for name, a in out.items()}
                plan.run(given | pushed, part | kept, batch, count, 1, thread_count(threads))
                for name in ("t", "status"):
                    given[name] = np.ascontiguousarray(part[name][:, -1])
                pace.took(count * batch, perf_counter() - begin)
                failure = self._failure(given, times[done + count])
                done, end = done + count, {name: given[name].copy() for name in states}
        except KeyboardInterrupt:
            stopped = True
        if failure is not None:  # what every state reached
            reached = (out["status"][:, :done, 0] == 0) & (out["t"][:, :done, 0] >= times[1 : done + 1])
            done = int(np.argmin(np.append(reached.all(axis=0), False)))
        found = {name: a[:, :done] for name, a in out.items()}
        return Found(found["q_then"], found["v_then"], found.get("mode_then"), failure, stopped, end)

    def _failure(self, given: Mapping[str, np.ndarray], end: float) -> str | None:
        """What is wrong if a state did not get to a time; `given` is all that the program keeps."""
        status, t, q, v = given["status"][:, 0], given["t"][:, 0], given["q"], given["v"]
        wrong = np.flatnonzero((status != 0) | ~(t >= end))
        if len(wrong):
            which = f" in state {wrong[0]} of the batch" if len(t) > 1 else ""
            if status[wrong[0]] == PILED_UP:
                why = "contacts, limits or dry friction change all the time there; rk4 steps over it"
            elif status[wrong[0]] == TOO_MANY:
                why = f"{MOST} steps did not reach the next record; the motion is too fast or too stiff"
            else:
                why = "no step is short enough" + reason_to_stop(self.model, q[wrong[0]], v[wrong[0]], float(t[wrong[0]]))
            return f"{self.control.name} stopped at t = {t[wrong[0]]:.9g}{which}: {why}"
        return None


def flat(x: Any, ndim: int, batch: int) -> np.ndarray:
    """Numbers for all states (size,), or for each of a batch (batch, size), where there is one more axis than `ndim`."""
    return np.ascontiguousarray(np.reshape(x, (batch, -1) if np.ndim(x) > ndim else -1), float)
