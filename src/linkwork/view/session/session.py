"""A simulation that runs in Python and is looked at, and taken hold of, in a browser."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from ...errors import InputError
from ...look import Look
from ...model import State
from ...model.kinematics import kinematics
from ...simulator import Simulator
from ...spatial.gate import given_reals
from ...spatial.se3 import SE3
from ..html import page
from ..solids import pose_values
from .controls import Slider, Target, input_sliders
from .door import Door, is_loopback
from .hands import Hold
from .panel import Panel
from .runner import Runner
from .server import closed_server, stop
from .stage import Stage
from .tunables import Ranges

BRAND = (60, 110, 170)


class Session(Runner):
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
        for name in plot:
            sim.given.q_index(name)
        super().__init__(sim, sliders, inputs)
        self.title, self.plotted = title, tuple(plot)
        self.inputs = [] if inputs is not None else input_sliders(sim.given)
        self._poses = _poses(self.sim)
        self._open(host, port, token, look)

    def _open(self, host: str, port: int, token: str | None, look: Look | None) -> None:
        """Start the servers, and fill the page."""
        if token is None and not is_loopback(host):
            token = secrets.token_urlsafe(24)
        secret = secrets.token_urlsafe(24)
        self.server = closed_server(self.title, secret)
        try:
            self._door = Door(host, port, self.server.get_port(), token, secret)
        except InputError:
            stop(self.server)
            raise
        self.address, self._closed = self._door.address, False
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

    def recorded_page(self) -> bytes | None:
        """The last recording as a page, as `Trajectory.save("run.html")` writes it."""
        if self._recording is not None:
            self._cut()
        return page(self.recordings[-1], self.title).encode() if self.recordings else None

    def close(self) -> None:
        """End the run and the page."""
        self.end()
        self._door.close()
        if not self._closed:
            stop(self.server)
        self._closed = True

    def _show(self, words: bool) -> None:
        """A picture of this moment."""
        sim = self.sim
        state = sim.state
        if not np.isfinite(state.v if isinstance(state, State) else state.twists).all():
            return self.panel.tell()
        self._poses = _poses(sim)
        with self.server.atomic():
            self.stage.place(sim, self._poses, self.last_inputs, self.hands.arrow(self._poses))
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
