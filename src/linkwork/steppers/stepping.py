"""A program on states that go on step by step from Python: arrays are kept, a call is described once.

One state lives in the memory of the compiled code itself, and nothing is copied; a batch is transposed into lanes and back, in an
order in which neighbours do much the same (`alike`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from ..elements.collection import collection
from ..kernel import python
from ..kernel.call import Call
from ..kernel.notes import NOTES, empty_notes, write_notes
from ..kernel.plan import Plan
from ..kernel.workers import thread_count
from ..model import MaximalState, Model, State
from ..model.entrance import body_of
from ..model.kinematics import kinematics
from ..model.state import is_finite, states_of
from ..spatial.scalar import read_only
from .alike import PART, SLOW, Order, taking_part
from .efforts import LARGEST
from .pace import Pace
from .stepper import Program

Parts = dict[str, np.ndarray]
Step = Callable[..., bool | None]


class Stepping:
    """Where a batch of states is, and how it goes on.

    now       all that the program keeps, (batch, size): updated in place by every step
    applied   joint forces of the last step of a batch
    recorded  what a run records of it, in one piece: the whole of one part after the other
    reports   what it says besides of the last step, (batch, size)
    taken     how many steps the last `go` made
    given     inputs besides those that the program takes from the model, (size,) or (batch, size); see `give`
    step      `step(tau)` goes on by one step: True, or False if the motion is not finite then, or None where nothing was done, as
              tau is no array (nv,) or (batch, nv) of float64 whose numbers are within `most`
    """

    step: Step
    taken: int = 0

    def __init__(
        self,
        model: Model,
        program: Program,
        kept: Parts,
        h: float,
        threads: int | None = 1,
        most: np.ndarray | None = None,
        given: Mapping[str, np.ndarray] | None = None,
    ) -> None:
        self.model, self.program, self.threads = model, program, thread_count(threads)
        self.batch = len(next(iter(kept.values())))
        self._lay_out(kept)
        own = constants(model, program, h) | dict(given or {})
        self._given = {name: np.array(a, float, order="C") for name, a in own.items()}
        self._most = np.full(model.nv, LARGEST) if most is None else most
        self.applied, self._external = np.zeros((self.batch, model.nv)), np.zeros((self.batch, 6 * model.nb))
        self.reports = {name: np.zeros((self.batch, size)) for name, size in program.report_sizes(model).items()}
        self.nothing = np.zeros(model.nv)
        self._steps: dict[bool, Step] = {}
        self._seen: dict[Any, Callable[[float], Any]] = {}
        self._pace = Pace(model.nb)
        self._notes = empty_notes(1 + len(program.recorded) + len(self.reports))
        self.push(None)

    def _lay_out(self, kept: Parts) -> None:
        """Memory for all that is kept; of one state in one piece, what is recorded first."""
        first = self.program.recorded
        names = [*first, *(name for name in kept if name not in first)]
        ends = np.cumsum([kept[name].size for name in names]).tolist()
        memory = np.empty(ends[-1])
        spans = zip(names, [0, *ends], ends, strict=False)
        self.now = {name: memory[a:b].reshape(self.batch, -1) for name, a, b in spans}
        self.recorded = memory[: ends[len(first) - 1]]
        for name, a in kept.items():
            self.now[name][...] = a.reshape(self.batch, -1)

    def restart(self, kept: Parts, h: float) -> None:
        """Go on from other states of as many, with other steps; nothing is remembered."""
        for name, a in kept.items():
            self.now[name][...] = a.reshape(self.batch, -1)
        for name, a in constants(self.model, self.program, h).items():
            if self._given[name].ndim != a.ndim:  # every state was told inputs of its own
                self._given[name], self._steps = np.array(a), {}
            self._given[name][...] = a

    def push(self, external: np.ndarray | None) -> None:
        """Wrenches on the bodies from now on, (bodies, 6) or (batch, bodies, 6)."""
        self._pushed = external is not None
        if external is not None:
            self._external[...] = external.reshape(-1, self._external.shape[1])
        self.step = self._steps.get(self._pushed) or self._prepared()

    def tell(self, u: np.ndarray) -> None:
        """Inputs of the forces from now on, (inputs,) or (batch, inputs)."""
        self.give("u", u)

    def give(self, name: str, x: np.ndarray) -> None:
        """An input of the program from now on, (size,) or (batch, size)."""
        if name not in self._given or x.ndim != self._given[name].ndim:
            self._given[name], self._steps = np.array(x, float, order="C"), {}
            self.step = self._prepared()
        self._given[name][...] = x

    @property
    def told(self) -> np.ndarray | None:
        """Inputs of the forces now; None if there are none."""
        u = self._given.get("u")
        return None if u is None else u.copy()

    @property
    def told_rows(self) -> np.ndarray | None:
        """What constraints were told at the start of the last step, (inputs,) or (batch, inputs); None without such."""
        count = collection(self.model).told_count
        return self._given["told"][..., :count] if count and "told" in self._given else None

    def tell_rows(self, t: float) -> None:
        """Constraints are told what they must know in the step at a time."""
        laws, h, times = collection(self.model), float(self._given["h"][0]), self.program.times
        if laws.looks:
            poses, twists = self._places()
            each = [[laws.told_at(t + c * h, E, phi, h) for c in times] for E, phi in zip(poses, twists, strict=True)]
            told = np.array([np.concatenate(x) for x in each])
            self.give("told", told if self.batch > 1 else told[0])
        elif laws.told_count:
            self._given["told"][...] = np.concatenate([laws.told_at(t + c * h) for c in times])

    def _places(self) -> tuple[np.ndarray, np.ndarray]:
        """Poses (batch, bodies, 4, 4) and twists (batch, bodies, 6) of all bodies now."""
        parts, nb = self.program.left(self.model, self.now), self.model.nb
        if "poses" in parts:
            return parts["poses"].reshape(-1, nb, 4, 4), parts["twists"].reshape(-1, nb, 6)
        found = kinematics(self.model, parts["q"], parts["v"])
        return found.poses, found.twists

    def seen(self, kind: type[State | MaximalState], shapes: dict[str, tuple[int, ...]]) -> Callable[[float], Any]:
        """A function that makes the present state of its time, kept: to describe arrays takes as long as many steps.

        shapes   of the parts of the state, or of all of the batch
        """
        key = (kind, *shapes.values())
        found = self._seen.get(key)
        if found is None:
            found = self._seen[key] = self._view(kind, shapes)
        return found

    def _view(self, kind: type[State | MaximalState], shapes: dict[str, tuple[int, ...]]) -> Callable[[float], Any]:
        if not self.shows(shapes):
            return lambda t: kind(t=t, **self._parts(shapes))
        views: dict[str, Any] = {name: self.now[name].reshape(shape) for name, shape in shapes.items()}
        if kind is State:
            return states_of(views["q"], views["v"])
        return lambda t: kind(t=t, **{name: view.copy() for name, view in views.items()})

    def _parts(self, shapes: dict[str, tuple[int, ...]]) -> dict[str, Any]:
        parts = self.program.left(self.model, self.now)
        return {name: parts[name].reshape(shape).copy() for name, shape in shapes.items()}

    def shows(self, shapes: dict[str, tuple[int, ...]]) -> bool:
        """Whether these parts of a state are kept as they are."""
        parts = self.program.left(self.model, self.now)
        return all(parts[name] is self.now.get(name) for name in shapes)

    @property
    def notes_itself(self) -> bool:
        """Whether compiled steps can copy what they leave, `note`."""
        return self._lone and self.program.passes == 1

    def note(self, rows: Sequence[tuple[int, int, int]]) -> None:
        """From now on let every step copy memory (`kernel.notes`); none was noted yet."""
        write_notes(self._notes, rows)

    @property
    def noted(self) -> int:
        """How many steps were."""
        return int(self._notes[NOTES.index("made")])

    def go(self, steps: int, tau: np.ndarray) -> bool | None:
        """Some steps under the same joint forces, as far as the motion is finite; says what `step` does."""
        found, self.taken = True, 0
        while found and self.taken < steps:
            if self._lone:
                found = self.step(tau)
                self.taken += 1
            else:
                found = self._several(min(steps - self.taken, max(1, self._pace.state_steps() // self.batch)), tau)
        return found

    def _several(self, count: int, tau: np.ndarray) -> bool | None:
        """Some steps of a batch in one call; where the motion is lost on the way they are made one by one up to there."""
        before, begin = {name: a.copy() for name, a in self.now.items()} if count > 1 else Parts(), perf_counter()
        found = self.step(tau, count)
        self._pace.took(count * self.batch, perf_counter() - begin)
        if found is not False or count == 1:
            self.taken += count
            return found
        for name, a in before.items():
            self.now[name][...] = a
        self.taken += 1
        while self.step(tau):
            self.taken += 1
        return False

    @property
    def _lone(self) -> bool:
        return self.batch == 1 and python.available()

    def _prepared(self) -> Step:
        lone = self._lone
        lanes = self.program.lanes(self.model, self.batch)
        plan = self.program.plan(self.model, lanes, () if self._pushed else ("external",))
        found = self._steps[self._pushed] = (self._of_one if lone else self._of_batch)(plan)
        return found

    def _of_one(self, plan: Plan) -> Step:
        """A step of one state: the compiled code works on the arrays themselves."""
        work, passes = plan.workspace(), self.program.passes
        work.point({**self.now, **self._given, **self.reports, "external": self._external})
        once = work.of_step("tau", self._most, self._moving, self._notes)
        if passes == 1:
            return once

        def step(tau: np.ndarray) -> bool | None:
            found = once(tau)
            for _ in range(passes - 1 if found else 0):
                found = once(tau)
            return found

        return step

    def _of_batch(self, plan: Plan) -> Step:
        inputs = {**self.now, **self._given, "tau": self.applied} | ({"external": self._external} if self._pushed else {})
        outputs, moving, passes = {**self.now, **self.reports}, self.now[self._moving], self.program.passes
        shapes, on = (self._most.shape, self.applied.shape), taking_part(self.model, plan, self.batch)
        order = None if on is None else Order(on, plan.lanes.width)
        outputs |= {} if order is None else {PART: order.on}
        call = Call(plan, inputs, outputs, self.batch) if self.threads == 1 else None

        def step(tau: np.ndarray, steps: int = 1) -> bool | None:
            if type(tau) is not np.ndarray or tau.shape not in shapes or not (np.abs(tau) <= self._most).all():
                return None
            self.applied[...] = tau
            begin, numbers = perf_counter(), None if order is None else order.numbers
            if call is not None:
                call(every=steps * passes, order=numbers)
            else:
                plan.run(inputs, outputs, self.batch, 1, steps * passes, self.threads, numbers)
            if order is not None and perf_counter() - begin > SLOW * self.batch * steps:
                order.go_on(steps)
            return is_finite(moving)

        return step

    @property
    def _moving(self) -> str:
        """What is not finite as soon as anything is not."""
        return next(name for name in ("v", "twists", self.program.recorded[-1]) if name in self.now)


def constants(model: Model, program: Program, h: float) -> Parts:
    """What a program takes from the model and the step, kept for the last step: arrays that are known are not read again."""
    kept = model.keep_as((constants, id(program)), dict)
    found = kept.get(h)
    if found is None:
        kept.clear()
        found = kept[h] = {name: read_only(np.array(a, float)) for name, a in program.given(model, h).items()}
    return found


def are_finite(moving: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Which states are: v and q, or twists and poses, (..., size) each."""
    return np.all(np.isfinite(moving), axis=-1) & np.all(np.isfinite(places), axis=-1)


def owner_of(model: Model, moving: np.ndarray, places: np.ndarray) -> str:
    """Whose velocity is the first that is not finite, or whose place if all are: of one state, v and q or twists and poses."""
    lost, space = (moving, "v") if not np.isfinite(moving).all() else (places, "q")
    index = int(np.argmin(np.isfinite(lost)))
    of_joints = places.size == model.nq
    body = model.bodies[body_of(model, space, index) if of_joints else index * model.nb // lost.size]
    return f"body {body.name!r}, joint {body.joint_name!r}"
