"""The panel of a session: run, pause, step, reset; sliders; plots; layers; recording."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...energy import energy
from ..labels import coordinate_labels

if TYPE_CHECKING:
    from .session import Session

SPAN = 10.0  # s of simulated time that plots show
MOST = 400  # points of a curve
PACES = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0)
COLORS = ("#4e8ccd", "#e28b43", "#5eaa74", "#be67a0", "#d6b24a", "#70b2be")
CURVES = 6  # coordinates of one plot
STEPS = 200  # of a slider
MARKUP = re.compile(r"[^\w .,:;()'\"/+=-]")  # what viser's markdown could take for more than text
ASKED = "those asked for"


class Panel:
    """Everything beside the scene; callbacks ask the session to do things, which it does between two frames."""

    def __init__(self, gui: Any, session: Session) -> None:
        self.gui, self.session = gui, session
        self._labels = coordinate_labels(session.sim.given)
        self._past: deque[tuple[float, ...]] = deque(maxlen=4000)
        self.status = gui.add_markdown("", order=0)
        self._add_run()
        self.numbers = self._add_numbers()
        self._own: Any = None
        self._add_plots()
        self._add_recording()
        self._add_layers()
        self.notes = self._add_notes()

    def slider(self, label: str, low: float, high: float, value: float) -> Any:
        """A slider for a number of the user."""
        if self._own is None:
            self._own = self.gui.add_folder("Yours", order=1.5)
        with self._own:
            return self.gui.add_slider(label, low, high, (high - low) / STEPS, value)

    def _on(self, button: Any, do: Callable[[], None]) -> Any:
        button.on_click(lambda _: self.session.ask(do))
        return button

    def _add_run(self) -> None:
        gui, session = self.gui, self.session
        with gui.add_folder("Run", order=1):
            self._running = gui.add_button("Pause")
            self._on(self._running, lambda: session.pause() if session.running else session.resume())
            self._on(gui.add_button("Step"), lambda: session.step_once())
            self._on(gui.add_button("Reset"), lambda: session.reset())
            pace = gui.add_dropdown("pace", [f"{x:g} times" for x in PACES], initial_value="1 times")
            pace.on_update(lambda _: session.ask(lambda: session.set_pace(float(pace.value.split()[0]))))
            self._on(gui.add_button("End"), session.end)

    def _add_numbers(self) -> dict[str, Any]:
        gui, session, found = self.gui, self.session, {}
        with gui.add_folder("Numbers", order=2, expand_by_default=False):
            for tunable in session.tunables:
                if tunable.switch:
                    control = gui.add_checkbox(tunable.label, True)
                else:
                    step = (tunable.high - tunable.low) / STEPS
                    low, high = min(tunable.low, tunable.value), max(tunable.high, tunable.value)
                    control = gui.add_slider(tunable.label, low, high, step, tunable.value)
                control.on_update(
                    lambda _, tunable=tunable, control=control: session.ask(lambda: session.change(tunable, float(control.value)))
                )
                found[tunable.label] = control
            for own in session.inputs:
                control = gui.add_slider(own.label, own.low, own.high, (own.high - own.low) / STEPS, own.value)
                control.on_update(lambda _, own=own, control=control: session.set_input(own.place, float(control.value)))
                found[own.label] = control
            firsts = {label: control.value for label, control in found.items()}

            def restore() -> None:
                for label, control in found.items():
                    control.value = firsts[label]
                session.restore()

            self._on(gui.add_button("Restore"), restore)
        return found

    def _add_plots(self) -> None:
        import viser.uplot as uplot

        gui, joints = self.gui, [b.joint_name for b in self.session.sim.given.bodies if b.joint.nq]
        with gui.add_folder("Plots", order=3):
            series = [uplot.Series(label="t")]
            series += [
                uplot.Series(label=name, stroke=color)
                for name, color in zip(("kinetic", "potential", "total"), COLORS, strict=False)
            ]
            data = tuple(np.zeros(2) for _ in series)
            axes = (uplot.Axis(label="t, s", size=44, labelSize=18), uplot.Axis(size=54))
            plain = {"scales": {"x": uplot.Scale(time=False)}, "axes": axes, "height": 170}
            self._energy = gui.add_uplot(data, tuple(series), title="energy, J", **plain)
            options = [ASKED, *joints] if self.session.plotted else joints
            self._choice = gui.add_dropdown("joint", options) if options else None
            curves = [uplot.Series(label="t"), *(uplot.Series(label="", stroke=COLORS[k]) for k in range(CURVES))]
            self._curves = gui.add_uplot(tuple(np.zeros(2) for _ in curves), tuple(curves), title="coordinates", **plain)
            self._shown = ""

    def _add_notes(self) -> Any:
        """What is not drawn, and what else the description says of itself; None if it says nothing."""
        notes = self.session.stage.description["notes"]
        if not notes:
            return None
        with self.gui.add_folder("Notes", order=6):
            return self.gui.add_markdown("\n".join(f"- {MARKUP.sub('?', note)}" for note in notes))

    def _add_recording(self) -> None:
        gui, session = self.gui, self.session
        with gui.add_folder("Recording", order=4, expand_by_default=False):
            self._record = gui.add_button("Record")
            self._on(self._record, lambda: session.record(not session.recording))
            save = gui.add_button("Save as a page")
            self._recorded = gui.add_markdown("Nothing is recorded.")

            @save.on_click
            def _(event: Any) -> None:
                def send() -> None:
                    page = session.recorded_page()
                    if page is not None and event.client is not None:
                        event.client.send_file_download(f"{session.title}.html", page)

                session.ask(send)

    def _add_layers(self) -> None:
        with self.gui.add_folder("Layers", order=5, expand_by_default=False):
            for name, on in self.session.stage.layers.items():
                box = self.gui.add_checkbox(name, on)
                box.on_update(
                    lambda _, box=box, name=name: self.session.ask(lambda: self.session.stage.show(name, bool(box.value)))
                )

    def tell(self) -> None:
        """Words: where it is, how fast it goes, what the hand feels."""
        session = self.session
        lines = [f"**t = {session.sim.t:.2f} s**, {session.speed:.2g} times real time" if session.running else ""]
        if not session.running:
            lines = [f"**t = {session.sim.t:.3f} s**, paused"]
        if session.trouble:
            lines.append(f"{session.trouble} Reset goes back to the start.")
        pull = session.pull
        lines.append(f"the hand pulls {pull[0]} with {pull[1]:.3g} N" if pull else "press on a body and pull")
        self.status.content = "  \n".join(lines)
        self._running.label = "Pause" if session.running else "Run"
        self._record.label = "Stop recording" if session.recording else "Record"
        whole = [f"{len(run)} records until {run.t[-1]:.2f} s" for run in session.recordings]
        now = [f"recording: {session.recorded} records"] if session.recording else []
        self._recorded.content = "  \n".join([*whole, *now]) or "Nothing is recorded."

    def note(self) -> None:
        """Keep the numbers of this moment for the plots."""
        session, sim = self.session, self.session.sim
        if self._past and sim.t <= self._past[-1][0]:
            if sim.t == self._past[-1][0]:
                return
            self._past.clear()
        state = sim.state
        q = state.q if hasattr(state, "q") else state.q_fit  # pyright: ignore[reportAttributeAccessIssue]
        e = energy(sim.model, state, session.last_inputs)
        self._past.append((sim.t, float(e.kinetic), float(e.potential), float(e.total), *q.tolist()))

    def plot(self) -> None:
        """Draw the last seconds."""
        past = [row for row in self._past if row[0] >= self._past[-1][0] - SPAN]
        if len(past) < 2:
            return
        rows = np.array(past[:: max(1, len(past) // MOST)]).T
        self._energy.data = tuple(np.ascontiguousarray(row) for row in rows[:4])
        chosen = self._chosen()
        names = [self._labels[k].name for k in chosen]
        if self._choice is not None and ",".join(names) != self._shown:
            import viser.uplot as uplot

            self._shown = ",".join(names)
            series = [uplot.Series(label="t"), *(uplot.Series(label=n, stroke=c) for n, c in zip(names, COLORS, strict=False))]
            self._curves.series = tuple(series)
        self._curves.data = tuple(np.ascontiguousarray(row) for row in (rows[0], *rows[[4 + k for k in chosen]]))

    def _chosen(self) -> list[int]:
        """The coordinates that are plotted."""
        model = self.session.sim.given
        if self._choice is None:
            return []
        names = self.session.plotted if self._choice.value == ASKED else (self._choice.value,)
        return [k for name in names for k in range(*model.q_index(name).indices(model.nq))][:CURVES]
