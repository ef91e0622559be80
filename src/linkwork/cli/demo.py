"""`linkwork demo`: a gallery of all scenes, each one click from running."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError, LinkworkError
from .app import Flag, app, print_json
from .opening import open_page

if TYPE_CHECKING:
    from ..scenes import Scene

SECONDS = 3.0  # of simulated time on a page of the gallery, at most


@app.command
def demo(
    *names: str,
    out: Path = Path("runs/demo"),
    live: Flag = False,
    recorded: Flag = False,
    headless: Flag = False,
    json: Flag = False,
) -> None:
    """Write a gallery of all scenes with pictures, open it, and compile one scene after the other into a page in which it runs.

    A page that is clicked before it is ready waits for it. In a live page, bodies can be taken hold of with the mouse.

    Examples:
        linkwork demo
        linkwork demo pendulum leg windmill
        linkwork demo --recorded --headless --out gallery

    Parameters
    ----------
    names
        Names of scenes to show; all if none is given.
    out
        Folder for index.html and the pages of the scenes; created if needed.
    live
        The usual: scenes run in their pages, and can be taken hold of with the mouse; those that cannot are recorded.
    recorded
        Simulate the scenes here, into pages that play what was recorded.
    headless
        Write all without opening a browser.
    json
        Print the files and what could not be run as JSON.
    """
    from ..scenes import ALL_SCENES
    from .gallery import write_gallery, write_waiting

    for name in names:
        if name not in ALL_SCENES:
            raise InputError(f"there is no scene {name!r}; choose one of {', '.join(ALL_SCENES)}")
    chosen = [ALL_SCENES[name] for name in names or ALL_SCENES]
    out.mkdir(parents=True, exist_ok=True)
    for scene in chosen:
        if not (out / f"{scene.name}.html").exists():
            write_waiting(scene, out)
    index = write_gallery(chosen, out)
    if not json:
        print(f"wrote    {index}")
    if not headless:
        open_page(index)
    if live and recorded:
        raise InputError("demo: pages are live or recorded; give one of --live and --recorded")
    failed = _simulated(chosen, out, not recorded, json)
    if json:
        print_json({"files": [index, *(out / f"{s.name}.html" for s in chosen)], "failed": failed})


def _simulated(chosen: list[Scene], out: Path, live: bool, quiet: bool) -> dict[str, str]:
    """Write the page of every scene; what could not be run, and why."""
    from rich.console import Console

    failed: dict[str, str] = {}
    with Console(stderr=True).status("") as status:
        for k, scene in enumerate(chosen):
            status.update(f"Preparing {scene.name} ({k + 1} of {len(chosen)}) ...")
            try:
                _write_page(scene, out / f"{scene.name}.html", live)
            except LinkworkError as error:
                failed[scene.name] = " ".join(str(error).split())
            if not quiet:
                why = failed.get(scene.name)
                print(f"wrote    {out / scene.name}.html" if why is None else f"failed   {scene.name}: {why}")
    return failed


def _write_page(scene: Scene, path: Path, live: bool) -> None:
    """A page in which the scene runs, if it should and can; or a recording of its first seconds."""
    from .live import write_live
    from .problem import problem_of

    problem = problem_of(scene.name)
    if live:
        with contextlib.suppress(InputError):  # it asks Python for something at every step
            write_live(problem, path)
            return
    steps = max(1, round(min(scene.duration, SECONDS) / scene.dt))
    problem.simulate(duration=steps * scene.dt).save(path, look=problem.look)
