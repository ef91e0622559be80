"""`linkwork live`: run a scene or a file here, in Python, and look at it and take hold of it in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError
from .app import Flag, Loading, Rest, Timing, app
from .opening import open_address
from .problem import Problem, problem_of

if TYPE_CHECKING:
    from ..simulator import Simulator


@app.command
def live(
    scene: str,
    /,
    *rest: Rest,
    timing: Timing = Timing(),  # noqa: B008  frozen
    loading: Loading = Loading(),  # noqa: B008
    record: Path | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
    token: str | None = None,
    headless: Flag = False,
) -> None:
    """Run a scene or a robot's file in this process, in real time, with a page in the browser: pull bodies, move sliders, record.

    It ends with the button End of the page, with Ctrl-C, or after --duration. 'linkwork run SCENE --live' writes a page that runs
    by itself instead, without Python. Needs pip install "linkwork[viser]".

    Examples:
        linkwork live pendulum
        linkwork live robot.urdf --floating --height 1 --ground
        linkwork live leg --record leg.html
        linkwork live pendulum --host 0.0.0.0 --port 8080

    Parameters
    ----------
    scene
        Name of a scene ('linkwork scenes' lists them), or a file: URDF, MJCF (.xml), RedMax scene (.json), saved model (.lwm).
    record
        File for all that happens: .html, .npz, .csv, .glb, .mp4, ...
    host
        Address to listen at. Beyond this machine, whoever comes in needs the token of the address that is printed.
    port
        Port to listen at; any if 0.
    token
        Token to ask for; one of its own beyond this machine.
    headless
        Do not open a browser.
    """
    from ..view import live as live_session
    from ..view import writer_of

    if record is not None:
        writer_of(record)  # known before hours of work
        if not record.parent.is_dir():
            raise InputError(f"cannot write {record}: there is no folder {record.parent}; create it first")
    problem = problem_of(scene, rest, loading)
    options = {"title": problem.name, "look": problem.look, "inputs": problem.options.get("inputs")}
    with live_session(_simulator(problem, timing), host=host, port=port, token=token, **options) as session:
        if not headless:
            open_address(session.address)
        run = session.run(problem.options.get("control"), duration=timing.duration, record=record is not None)
    if record is not None and run is not None:
        print(f"wrote    {run.save(record)}")


def _simulator(problem: Problem, timing: Timing) -> Simulator:
    """The start of a problem, to be stepped."""
    from ..model import Model
    from ..simulator import Simulator

    if not isinstance(problem.model, Model):
        raise InputError(f"{problem.name}: its coordinates are functions of others, which cannot be stepped one by one; use run")
    known = {name: x for name, x in problem.options.items() if name not in ("inputs", "control")}
    dt, method = problem.dt if timing.dt is None else timing.dt, timing.method or problem.methods[0]
    return Simulator(problem.model, problem.state, dt, method, stepper=timing.stepper, **known)
