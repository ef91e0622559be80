"""`linkwork scenes`: what there is to run."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from .app import FOUND, Flag, app, print_json
from .tables import print_rows

if TYPE_CHECKING:
    from ..scenes import Scene


@app.command
def scenes(*names: str, time: Flag = False, json: Flag = False, headless: Flag = False) -> None:
    """List the scenes with what they show; of named ones, tell options, methods and how to run them.

    Examples:
        linkwork scenes
        linkwork scenes stack drag
        linkwork scenes --time
        linkwork scenes --json

    Parameters
    ----------
    names
        Names of scenes to tell more of; all are listed if none is given.
    time
        Run each and print how much faster than real time it is, on one core; the exit code is 1 if one is slower.
    json
        Print all that is known of them as JSON.
    headless
        Has no effect: nothing is opened.
    """
    from ..scenes import ALL_SCENES

    for name in names:
        if name not in ALL_SCENES:
            raise InputError(f"there is no scene {name!r}; choose one of {', '.join(ALL_SCENES)}")
    chosen = [ALL_SCENES[name] for name in names or ALL_SCENES]
    if time:
        _timed(chosen, json)
    elif json:
        print_json([_facts(scene) for scene in chosen])
    elif names:
        for scene in chosen:
            _tell(scene)
    else:
        print_rows([(scene.name, f"{scene.description} ({scene.duration:g} s)") for scene in chosen])


def _facts(scene: Scene) -> dict[str, Any]:
    return {
        "name": scene.name,
        "description": scene.description,
        "duration": scene.duration,
        "dt": scene.dt,
        "methods": list(scene.methods),
        "options": scene.defaults,
    }


def _tell(scene: Scene) -> None:
    import inspect

    print(f"{scene.name}: {scene.description}")
    about = inspect.getdoc(scene.maker)
    if about:
        print("  " + about.replace("\n", "\n  "))
    print(f"  {scene.duration:g} s in steps of {scene.dt:.4g} s by {', '.join(scene.methods)}")
    for name, own in scene.defaults.items():
        flag = f"--{name}, --no-{name}" if isinstance(own, bool) else f"--{name} {own}"
        print(f"  {flag}")
    options = "".join(f" --{name} {own}" for name, own in scene.defaults.items() if not isinstance(own, bool))
    print(f"  linkwork run {scene.name}{options}")


def _timed(chosen: list[Scene], json: bool) -> None:
    rows = [real_time(scene) for scene in chosen]
    if json:
        print_json(rows)
    else:
        table = [(r["name"], f"{r['real_time']:.3g}", f"{r['us_per_step']:.3g}", f"{r['prepared']:.2g}") for r in rows]
        print_rows([("scene", "times real time", "us/step", "prepared in (s)"), *table])
    if any(r["real_time"] < 1.0 for r in rows):
        sys.exit(FOUND)


def real_time(scene: Scene) -> dict[str, Any]:
    """How fast a scene runs on one core: processor time of the whole run, without preparation."""
    import time

    from .problem import problem_of

    start = time.perf_counter()
    problem = problem_of(scene.name)
    problem.simulate(duration=scene.dt)
    prepared = time.perf_counter() - start
    start = time.process_time()
    run = problem.simulate()
    seconds = max(time.process_time() - start, 1e-9)
    steps = max(1, len(run) - 1)
    return {
        "name": scene.name,
        "real_time": scene.duration / seconds,
        "us_per_step": 1e6 * seconds / steps,
        "prepared": prepared,
    }
