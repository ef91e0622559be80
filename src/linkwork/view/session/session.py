"""A simulation that runs in Python and is looked at, and taken hold of, in a browser."""

from __future__ import annotations

import contextlib
import queue
import secrets
import threading
from collections.abc import Callable, Sequence
from html import escape
from time import perf_counter, sleep
from typing import Any

import numpy as np

from ...errors import InputError, SolverError
from ...forces.set import force_set
from ...look import Look
from ...model import State
from ...model.kinematics import kinematics
from ...simulator import Simulator
from ...spatial.gate import given_positive, given_reals
from ...spatial.se3 import SE3
from ...steppers.fixed import Control
from ...steppers.inputs import input_function
from ...trajectory import Trajectory
from ..html import page
from ..solids import pose_values
from .controls import Slider, Target, input_sliders
from .door import Door, is_loopback
from .hands import Hands, Hold
from .panel import Panel
from .records import Recording
from .server import quiet_server, stop
from .stage import Stage
from .tunables import Ranges, Tunable, tunables, variant

FRAME = 1.0 / 30.0  # s between two pictures
BRAND = (60, 110, 170)
BUSY = 0.85  # of a frame: the part that steps may take
WORDS = 0.2  # s between two plots


class Session:
    """What `live` returns: a page, and the simulation behind it.

    address      of the page
    sim          the Simulator that runs: that given, with a `Grip` on every body and the numbers that sliders say
    running      whether it goes on; False while it is paused
    pace         how fast, in simulated seconds per second
    trouble      why it could not go on, if so
    recordings   what was recorded, in the order of time
    plotted      names of joints whose coordinates are plotted together

    `run` runs it. `pause`, `resume`, `step_once`, `reset`, `record` and `end` do what the buttons do; from another thread,
    `session.ask(session.reset)`.

    >>> with lw.view.live(lw.Simulator(model, state)) as session:
    ...     run = session.run(duration=0.2, record=True)
    live at http://127.0.0.1:...
    >>> len(run)
    201
    """

    def __init__(
        self,
        sim: Simulator,
        *,
        sliders: Ranges | None = None,
        inputs: Any = None,
        plot: Sequence[str] = (),
        title: str = "linkwork",
        look: Look | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        token: str | None = None,
    ) -> None:
        first = sim.state
        if np.ndim(first.q if isinstance(first, State) else first.q_fit) != 1:
            raise InputError("a session runs one state, not a batch")
        for name in plot:
            sim.given.q_index(name)
        self.title, self.plotted, self._given = title, tuple(plot), sim.given
        self.tunables = tunables(sim.given, sliders or {})
        self._changes: dict[Tunable, float] = {}
        self._told = input_function(sim.given, inputs)
        self._others = force_set(sim.given).initial_inputs.copy()
        self._first_others = self._others.copy()
        self.inputs = [] if callable(inputs) or self._told else input_sliders(sim.given)
        self.hands = Hands(sim.given, sim.dt, sim.stepper.implicit)
        self.sim, self._first = sim.remade(sim.given.add(*self.hands.grips)), first
        self.running, self.pace, self.speed, self.trouble = True, 1.0, 0.0, ""
        self.recordings: list[Trajectory] = []
        self._recording: Recording | None = None
        self._todo: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._ended, self._busy, self._debt = threading.Event(), False, 0.0
        self.last_inputs = self.hands.inputs(self._others)
        self._poses = _poses(self.sim)
        self._open(host, port, token, look)

    def _open(self, host: str, port: int, token: str | None, look: Look | None) -> None:
        """Start the servers, and fill the page."""
        if token is None and not is_loopback(host):
            token = secrets.token_urlsafe(24)
        self.server = quiet_server(self.title)
        try:
            self._door = Door(host, port, self.server.get_port(), token)
        except InputError:
            stop(self.server)
            raise
        self.address = self._door.address
        self.server.gui.configure_theme(show_logo=False, show_share_button=False, brand_color=BRAND)
        self.server.gui.main_panel.dock_right()
        self.stage = Stage(self.server, self._given, self.sim.model, self._poses, self.title, look, self._dragged)
        self.panel = Panel(self.server.gui, self)
        self._show(True)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Session({self._given!r} at {self.address}, t = {self.sim.t:g} s)"

    def _repr_html_(self) -> str:
        """The page, in a notebook."""
        return f'<iframe src="{escape(self.address)}" style="width:100%;height:560px;border:0" title="linkwork"></iframe>'

    # --- what users call ----------------------------------------------------------------------------------------------------
    def target(self, name: str, at: Any = (0.0, 0.0, 0.0), *, turns: bool = False) -> Target:
        """A frame in the page that is moved by hand; a controller reads where it is.

        at      where it begins, a point (3,) or a pose
        turns   whether it can be turned, too
        """
        pose = at if isinstance(at, SE3) else SE3(p=given_reals("at", at))
        node = self.server.scene.add_transform_controls(
            f"/targets/{name}", scale=0.2 * self.stage.size, disable_rotations=not turns, position=np.asarray(pose.p, float),
            wxyz=pose_values(pose)[3:], depth_test=False,
        )  # fmt: skip
        self.server.scene.add_icosphere(f"/targets/{name}/ball", 0.02 * self.stage.size, (214, 60, 60))
        self.server.scene.add_label(f"/targets/{name}/name", name)
        return Target(node)

    def slider(self, label: str, low: float, high: float, value: float) -> Slider:
        """A slider in the page for a number of a controller."""
        if not low <= value <= high:
            raise InputError(f"the slider {label!r} begins at {value}, which is not between {low} and {high}")
        return Slider(self.panel.slider(label, float(low), float(high), float(value)))

    def run(self, control: Control | None = None, *, duration: float | None = None, record: bool = False) -> Trajectory | None:
        """Run in real time until somebody ends it, in the page or by Ctrl-C; the last recording, if there is one.

        control    `control(t, state) -> tau`, called at the start of every step
        duration   simulated seconds after which it ends by itself
        record     from the start on
        """
        if self._busy:
            raise InputError("this session runs already")
        left = np.inf if duration is None else round(given_positive("duration", duration) / self.sim.dt)
        self._busy = True
        if record:
            self.record(True)
        try:
            with contextlib.suppress(KeyboardInterrupt):
                self._loop(control, left)
        finally:
            self._busy = False
            self.record(False)
        return self.recordings[-1] if self.recordings else None

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
        self.trouble, self._debt = "", 0.0

    def set_pace(self, pace: float) -> None:
        """How fast to go, in simulated seconds per second."""
        self.pace = given_positive("pace", pace)

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

    def recorded_page(self) -> bytes | None:
        """The last recording as a page, as `Trajectory.save("run.html")` writes it."""
        if self._recording is not None:
            self._cut()
        return page(self.recordings[-1], self.title).encode() if self.recordings else None

    def hold(self, body: str, target: Any, point: Any = (0.0, 0.0, 0.0)) -> None:
        """Take hold of a point of a body, in its axes, with a hand at a target, as the mouse does."""
        places = given_reals("target", target), given_reals("point", point)
        self.hands.held[-1] = Hold(self._given.body_index(body), places[1], places[0])

    def let_go(self) -> None:
        """Let go of it."""
        self.hands.held.pop(-1, None)

    def end(self) -> None:
        """End the run, from any thread."""
        self._ended.set()

    def close(self) -> None:
        """End the run and the page."""
        self.end()
        self._door.close()
        stop(self.server)

    # --- what the panel calls -----------------------------------------------------------------------------------------------
    @property
    def pull(self) -> tuple[str, float] | None:
        """Which body the hand pulls, and how strongly (N)."""
        return self.hands.pull(self.sim.model, self.sim.state, self.last_inputs)

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
        if self._recording is not None:
            self._recording = Recording(self.sim)

    def _cut(self) -> None:
        """A recording is of one model, and its time goes on: another begins where either changes."""
        if self._recording is not None:
            self.record(True)

    # --- the loop -----------------------------------------------------------------------------------------------------------
    def _loop(self, control: Control | None, left: float) -> None:
        last, told, since, gone = perf_counter(), 0.0, perf_counter(), 0
        self._ended.clear()
        while left > 0 and not self._ended.is_set():
            begin = perf_counter()
            asked = self._do_asked()
            self._debt += self.pace * (begin - last) if self.running else 0.0
            last = begin
            due = min(int(self._debt / self.sim.dt * (1.0 + 1e-9)), left)
            taken = self._advance(control, int(due), begin + BUSY * FRAME)
            self._debt = self._debt - taken * self.sim.dt if taken == due else 0.0  # what cannot be kept up with is dropped
            left, gone = left - taken, gone + taken
            if begin - since > 1.0:
                self.speed, since, gone = gone * self.sim.dt / (begin - since), begin, 0
            words = begin - told > WORDS
            if taken or asked or words:
                self._show(words)
                told = begin if words else told
            rest = FRAME - (perf_counter() - begin)
            if rest > 0 and left > 0:
                sleep(rest)
        self._show(True)

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
                count = min(steps - done, 16) if quick else 1
                tau = None if control is None else control(sim.t, sim.state)
                state = sim.step(count, tau=tau, inputs=u if len(u) else None)
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

    def _show(self, words: bool) -> None:
        """A picture of this moment."""
        sim = self.sim
        state = sim.state
        if not np.isfinite(state.v if isinstance(state, State) else state.twists).all():
            return self.panel.tell()
        self._poses = _poses(sim)
        with self.server.atomic():
            self.stage.place(sim.model, self._poses, sim.t, self.last_inputs, sim.forces, self.hands.arrow(self._poses))
        self.panel.note()
        if words:
            self.panel.tell()
            self.panel.plot()

    def _dragged(self, body: int, event: Any) -> None:
        """The mouse presses on a body, moves, or lets go; in a thread of the server."""
        if event.phase == "end":
            self.hands.held.pop(event.client_id, None)
            return
        held, target = self.hands.held.get(event.client_id), np.array(event.end_position, float)
        if held is None or event.phase == "start":
            E = self._poses[body]
            point = E[:3, :3].T @ (np.array(event.start_position, float) - E[:3, 3])
            self.hands.held[event.client_id] = Hold(body, point, target)
        else:
            held.target = target


def live(
    sim: Simulator,
    *,
    sliders: Ranges | None = None,
    inputs: Any = None,
    plot: Sequence[str] = (),
    title: str = "linkwork",
    look: Look | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
    token: str | None = None,
) -> Session:
    """A page in which a simulation that runs in Python is looked at and taken hold of; needs `pip install "linkwork[viser]"`.

    >>> session = lw.view.live(lw.Simulator(model, state), plot=("upper",))
    live at http://127.0.0.1:...
    >>> goal = session.target("goal", (1.0, 0.0, 0.5))
    >>> run = session.run(lambda t, s: -5.0 * (s.q - goal.p[2]) - s.v, duration=0.1, record=True)
    >>> session.close()

    sim       where it begins, and how it steps; it stays as it is
    sliders   further numbers of the model that can be changed, with their ranges: {"law.number": (lowest, highest)}, of laws by
              their name, of bodies ("link.mass") and joints; gravity, stiffness, damping, friction, inputs and numbers of laws
              that users wrote have sliders anyway
    inputs    of forces (activations, targets): an array, a function of time, or a `MuscleDrive`; without, sliders set them
    plot      names of joints whose coordinates are plotted together
    look      how it is looked at, see `linkwork.view.Look`
    host, port, token   where to listen, any port by default. Beyond this machine a token is asked for, one of its own if none is
              given: it is part of the address that is printed
    """
    session = Session(sim, sliders=sliders, inputs=inputs, plot=plot, title=title, look=look, host=host, port=port, token=token)
    print(f"live at {session.address}")
    return session


def _poses(sim: Simulator) -> np.ndarray:
    """Of all bodies (bodies, 4, 4)."""
    state = sim.state
    return kinematics(sim.given, state.q).poses if isinstance(state, State) else state.poses
