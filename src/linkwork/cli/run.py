"""`linkwork run`: simulate a scene, write its files, look at it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..errors import InputError
from ..spatial.gate import meant
from .app import Flag, app

if TYPE_CHECKING:
    from ..scenes import Scene
    from ..trajectory import Trajectory


@app.command
def run(
    scene: str,
    *,
    method: Literal["reduced", "maximal", "maximal-implicit", "redmax"] | None = None,
    duration: float | None = None,
    dt: float | None = None,
    links: int | None = None,
    out: Path = Path("runs"),
    headless: Flag = False,
) -> None:
    """Simulate a scene, write its animation, plots and numbers, and open the animation in the browser.

    Parameters
    ----------
    scene
        Name of the scene; 'linkwork scenes' lists them.
    method
        Joint coordinates (reduced), bodies held together by forces (maximal), the same with stiff forces and large steps
        (maximal-implicit), or the dense implicit system (redmax); the scene's own if not given.
    duration
        Simulated time in seconds; the scene's own if not given.
    dt
        Time step in seconds; the scene's own if not given.
    links
        Number of links, for scenes made of links.
    out
        Folder for SCENE.html, SCENE.png and SCENE.npz; created if needed.
    headless
        Write the files without opening a browser.
    """
    chosen = _scene(scene)
    options = {} if links is None else {"links": links}
    duration = chosen.duration if duration is None else duration
    dt = chosen.dt if dt is None else dt
    out.mkdir(parents=True, exist_ok=True)
    trajectory = _simulated(chosen, options, method or chosen.methods[0], duration, dt)
    page = _written(trajectory, chosen.name, out)
    if not headless:
        _open(page)


def _scene(name: str) -> Scene:
    from ..scenes import ALL_SCENES

    if name not in ALL_SCENES:
        raise InputError(f"there is no scene {name!r}; choose one of {', '.join(ALL_SCENES)}{meant(name, ALL_SCENES)}")
    return ALL_SCENES[name]


def _simulated(scene: Scene, options: dict[str, Any], method: str, duration: float, dt: float) -> Trajectory:
    """The run, and a summary of it on stdout. A first step of its own keeps compilation out of the measured speed."""
    from rich.console import Console

    from ..model import Model
    from ..simulate import simulate

    with Console(stderr=True).status(f"Preparing {scene.name} ...") as status:
        start = time.perf_counter()
        model, state = scene.build(**options)
        inputs = scene.inputs(model) if scene.inputs and isinstance(model, Model) else None
        simulate(model, state, dt, dt, method, inputs=inputs)
        prepared = time.perf_counter()
        status.update(f"Simulating {scene.name} for {duration:g} s ...")
        trajectory = simulate(model, state, duration, dt, method, inputs=inputs)
        seconds = time.perf_counter() - prepared
    steps = len(trajectory) - 1
    print(f"scene    {scene.name}, {method} coordinates")
    print(f"bodies   {trajectory.model.nb}")
    print(f"dofs     {model.nv} in {'the joints' if isinstance(model, Model) else 'hyper-reduced coordinates'}")
    print(
        f"steps    {steps} of {dt:g} s in {seconds:.3g} s: {steps / seconds:,.0f} steps/s (prepared in {prepared - start:.2g} s)"
    )
    print(f"health   {str(trajectory.health).strip(', ') or 'finite'}")
    return trajectory


def _written(trajectory: Trajectory, name: str, out: Path) -> Path:
    """Write all files and say where; the page's path."""
    from rich.console import Console

    with Console(stderr=True).status("Writing ..."):
        paths = [trajectory.save(out / f"{name}{suffix}") for suffix in (".html", ".png", ".npz")]
    for path in paths:
        print(f"wrote    {path}")
    return paths[0]


def _open(page: Path) -> None:
    import webbrowser

    try:
        opened = webbrowser.open(page.resolve().as_uri())
    except (webbrowser.Error, OSError):
        opened = False
    if not opened:
        print(f"no browser was found; open {page} in one, or use --headless")
