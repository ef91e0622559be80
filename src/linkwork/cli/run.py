"""`linkwork run`: simulate a scene or a file, write its files, look at it."""

from __future__ import annotations

from pathlib import Path

from ..errors import InputError
from .app import Flag, Loading, Rest, Timing, app, print_json
from .opening import open_page
from .problem import Problem, problem_of
from .runs import STREAM, Run, written


@app.command
def run(
    scene: str,
    /,
    *rest: Rest,
    timing: Timing = Timing(),  # noqa: B008  frozen
    loading: Loading = Loading(),  # noqa: B008
    out: Path = Path("runs"),
    headless: Flag = False,
    stream: Flag = False,
    live: Flag = False,
    json: Flag = False,
) -> None:
    """Simulate a scene or a robot's file, write its animation, plots and numbers, and open the animation in the browser.

    Scenes have options of their own (linkwork scenes NAME): --links 5, --weight 2.5, --no-stiff.

    Examples:
        linkwork run pendulum
        linkwork run pendulum --links 8 --method maximal
        linkwork run four_bar_knee --kind loop --no-muscles
        linkwork run robot.urdf --floating --height 1 --ground --duration 2
        linkwork run ant.xml --headless --json
        linkwork run drag --live

    Parameters
    ----------
    scene
        Name of a scene ('linkwork scenes' lists them), or a file: URDF, MJCF (.xml), RedMax scene (.json), saved model (.lwm).
    out
        Folder for NAME.html, NAME.png and NAME.npz; created if needed. While it runs, records go to NAME.lwk there, which
        'linkwork resume' continues after a kill.
    headless
        Write the files without opening a browser.
    stream
        Keep NAME.lwk when all is written; 'linkwork view', 'export' and 'plot' read it.
    live
        Write NAME_live.html instead, a page in which the scene runs by itself and can be taken hold of with the mouse.
    json
        Print size, speed, health and files as JSON.
    """
    if live and stream:
        raise InputError("run: --live writes a page that simulates by itself, so there are no records for --stream; leave it out")
    problem = problem_of(scene, rest, loading)
    out.mkdir(parents=True, exist_ok=True)
    if live:
        _live(problem, timing, out, headless, json)
        return
    records = out / f"{problem.name}{STREAM}"
    done = Run(problem, timing, quiet=json, stream=records)
    if not json:
        done.tell()
    paths = [out / f"{problem.name}{suffix}" for suffix in (".html", ".png", ".npz")]
    paths = written(done.trajectory, paths, json, problem.look)
    if not stream:
        records.unlink(missing_ok=True)
    if json:
        print_json(done.facts() | {"files": paths})
    if not headless:
        open_page(paths[0])
    done.end()


def _live(problem: Problem, timing: Timing, out: Path, headless: bool, json: bool) -> None:
    """Write a page that runs by itself, say where, and open it."""
    from rich.console import Console

    from .live import write_live

    with Console(stderr=True).status(f"Compiling {problem.name} ..."):
        page = write_live(problem, out / f"{problem.name}_live.html", timing)
    if json:
        print_json({"name": problem.name, "files": [page]})
    else:
        print(f"wrote    {page}")
    if not headless:
        open_page(page)
