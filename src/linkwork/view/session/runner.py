"""A simulation in real time, with hands that pull, numbers that change and recordings; it knows nothing of pages."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable
from time import perf_counter, sleep
from typing import Any

import numpy as np

from ...errors import InputError, SolverError
from ...forces.set import force_set
from ...model import State
from ...simulator import Simulator
from ...spatial.gate import given_positive, given_reals
from ...steppers.fixed import Control
from ...steppers.inputs import input_function
from ...trajectory import Trajectory
from .hands import Hands, Hold
from .records import Recording
from .tunables import Ranges, Tunable, tunables, variant

FRAME = 1.0 / 30.0  # s between two pictures
BUSY = 0.85  # of a frame: the part that steps may take
WORDS = 0.2  # s between two words about it
AT_ONCE = 16  # steps in one call, where nobody is asked between them


class Runner:
    """See `Session`, which shows it."""

    def __init__(self, sim: Simulator, sliders: Ranges | None, inputs: Any) -> None:
        self._first = sim.state
        if np.ndim(self._first.q if isinstance(self._first, State) else self._first.q_fit) != 1:
            raise InputError("a session runs one state, not a batch")
        self._given, self.tunables = sim.given, tunables(sim.given, sliders or {})
        self._changes: dict[Tunable, float] = {}
        self._told = input_function(sim.given, inputs)
        self._others = force_set(sim.given).initial_inputs.copy()
        self._first_others = self._others.copy()
        self.hands = Hands(sim.given, sim.dt, sim.stepper.implicit)
        self.sim = sim.remade(sim.given.add(*self.hands.grips))
        self.running, self.pace, self.speed, self.trouble = True, 1.0, 0.0, ""
        self.recordings: list[Trajectory] = []
        self._recording: Recording | None = None
        self._todo: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._ended, self._busy, self._debt = threading.Event(), False, 0.0
        self.last_inputs = self.hands.inputs(self._others)

    # --- what is done to it -------------------------------------------------------------------------------------------------
    def ask(self, do: Callable[[], None]) -> None:
        """Have something done between two frames, from any thread; while nothing runs, at once."""
        if self._busy:
            self._todo.put(do)
        else:
            do()

    def pause(self) -> None:
        """Stand still."""
        self.running = False

    def resume(self) -> None:
        """Go on."""
        self.running = not self.trouble

    def step_once(self) -> None:
        """One step, and stand still."""
        self.running, self._debt = False, self.sim.dt

    def reset(self) -> None:
        """Back to the start, with the numbers that sliders say."""
        self._cut()
        self.sim.reset(self._first)
        self._cut()
        self.trouble, self._debt = "", 0.0

    def set_pace(self, pace: float) -> None:
        """How fast to go, in simulated seconds per second."""
        self.pace = given_positive("pace", pace)

    def end(self) -> None:
        """End the run, from any thread."""
        self._ended.set()

    def hold(self, body: str, target: Any, point: Any = (0.0, 0.0, 0.0)) -> None:
        """Take hold of a point of a body, in its axes, with a hand at a target, as the mouse does."""
        places = given_reals("target", target), given_reals("point", point)
        self.hands.held[-1] = Hold(self._given.body_index(body), places[1], places[0])

    def let_go(self) -> None:
        """Let go of it."""
        self.hands.held.pop(-1, None)

    @property
    def pull(self) -> tuple[str, float] | None:
        """Which body the hand pulls, and how strongly (N)."""
        return self.hands.pull(self.sim.model, self.sim.state, self.last_inputs)

    # --- its numbers --------------------------------------------------------------------------------------------------------
    def change(self, tunable: Tunable, value: float) -> None:
        """Another value of a number of the model; it goes on from where it is."""
        self._changes[tunable] = value
        self._rebuild()

    def restore(self) -> None:
        """All numbers as they were."""
        self._changes = {}
        self._others = self._first_others.copy()
        self._rebuild()

    def set_input(self, place: int, value: float) -> None:
        """Another value of an input of the model's forces."""
        self._others[place] = value

    def _rebuild(self) -> None:
        self._cut()
        try:
            model = variant(self._given, self._changes).add(*self.hands.grips)
            self.sim = self.sim.remade(model, open_loops="allow")
        except (InputError, SolverError) as error:
            self.trouble, self.running = f"{error}.", False
        self._cut()

    # --- recordings ---------------------------------------------------------------------------------------------------------
    def record(self, on: bool = True) -> None:
        """Begin to record every step, or stop it; what was recorded is in `recordings`."""
        if self._recording is not None and len(self._recording) > 1:
            self.recordings.append(self._recording.trajectory())
        self._recording = Recording(self.sim) if on else None

    @property
    def recording(self) -> bool:
        """Whether steps are recorded."""
        return self._recording is not None

    @property
    def recorded(self) -> int:
        """How many records the recording has that is being made."""
        return 0 if self._recording is None else len(self._recording)

    def _cut(self) -> None:
        """A recording is of one model, and its time goes on: another begins where either changes."""
        if self._recording is not None:
            self.record(True)

    # --- the loop -----------------------------------------------------------------------------------------------------------
    def run(self, control: Control | None = None, *, duration: float | None = None, record: bool = False) -> Trajectory | None:
        """Run in real time until somebody ends it, in the page or by Ctrl-C; the last recording, if there is one.

        control    `control(t, state) -> tau`, called at the start of every step
        duration   simulated seconds after which it ends by itself; then a motion that is lost is an error
        record     from the start on
        """
        if self._busy:
            raise InputError("this session runs already")
        left = np.inf if duration is None else round(given_positive("duration", duration) / self.sim.dt)
        self._busy = True
        self._ended.clear()
        if record:
            self.record(True)
        try:
            with contextlib.suppress(KeyboardInterrupt):
                self._loop(control, left)
        finally:
            self._busy = False
            self.record(False)
        return self.recordings[-1] if self.recordings else None

    def _loop(self, control: Control | None, left: float) -> None:
        last, told, since, gone = perf_counter(), 0.0, perf_counter(), 0
        while left > 0 and not self._ended.is_set():
            begin = perf_counter()
            asked = self._do_asked()
            self._debt += self.pace * (begin - last) if self.running else 0.0
            last = begin
            due = int(min(self._debt / self.sim.dt * (1.0 + 1e-9), left))
            taken = self._advance(control, due, begin + BUSY * FRAME)
            self._debt = self._debt - taken * self.sim.dt if taken == due else 0.0  # what cannot be kept up with is dropped
            left, gone = left - taken, gone + taken
            if begin - since > 1.0:
                self.speed, since, gone = gone * self.sim.dt / (begin - since), begin, 0
            words = begin - told > WORDS
            if taken or asked or words:
                self._show(words)
                told = begin if words else told
            if self.trouble and np.isfinite(left):
                raise SolverError(self.trouble)
            rest = FRAME - (perf_counter() - begin)
            if rest > 0 and left > 0:
                sleep(rest)
        self._show(True)

    def _show(self, words: bool) -> None:
        """A moment is over; now and then a word about it."""

    def _do_asked(self) -> bool:
        some = False
        with contextlib.suppress(queue.Empty):
            while True:
                self._todo.get_nowait()()
                some = True
        return some

    def _advance(self, control: Control | None, steps: int, until: float) -> int:
        """Some steps, as many as can be made in time; how many."""
        sim, done = self.sim, 0
        quick = control is None and self._told is None and self._recording is None
        try:
            while done < steps and perf_counter() < until:
                u = self._inputs()
                count = min(steps - done, AT_ONCE) if quick else 1
                tau = None if control is None else control(sim.t, sim.state)
                state = sim.step(count, tau=tau, inputs=u)
                done += count
                if self._recording is not None:
                    self._recording.add(state, tau, u)
                    if self._recording.full:
                        self.record(False)
        except SolverError as error:
            self.trouble, self.running = f"{error}.", False
        return done

    def _inputs(self) -> np.ndarray:
        others = self._others if self._told is None else self._told(self.sim.t, self.sim.state)
        self.last_inputs = self.hands.inputs(others)
        return self.last_inputs
