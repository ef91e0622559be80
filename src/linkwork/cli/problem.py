"""What a command is to run: a scene by its name, or a file."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ..look import Look
from .app import Loading, Timing, given_of

if TYPE_CHECKING:
    from ..scenes import Scene
    from ..trajectory import Trajectory

SUFFIXES = (".urdf", ".xml", ".json", ".lwm")
DURATION, DT = 3.0, 1e-3  # s, of files that say nothing
METHODS = ("reduced", "maximal", "maximal-implicit", "redmax")
WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


@dataclass(frozen=True, eq=False)
class Problem:
    """A model with its start and all that a run of it needs.

    name      for files that are written
    methods   of `simulate` that can run it; the first is the usual one
    options   of `simulate`: inputs, control, ...
    look      how it is looked at
    """

    name: str
    model: Any
    state: Any
    duration: float = DURATION
    dt: float = DT
    methods: tuple[str, ...] = METHODS
    options: dict[str, Any] = field(default_factory=dict)
    look: Look = field(default_factory=Look)

    def simulate(self, timing: Timing | None = None, **changes: Any) -> Trajectory:
        """The run, as its own numbers or those of the command line say."""
        from ..simulate import simulate

        timing = timing or Timing()
        given: dict[str, Any] = {"duration": self.duration if timing.duration is None else timing.duration}
        given |= {"dt": self.dt if timing.dt is None else timing.dt, "method": timing.method or self.methods[0]}
        given |= {"stepper": timing.stepper} if timing.stepper else {}
        return simulate(self.model, self.state, **(given | self.options | changes))


def problem_of(what: str, rest: Sequence[str] = (), loading: Loading | None = None) -> Problem:
    """The problem that a scene's name or a file's path means.

    rest      options of the scene, as they stand on the command line
    loading   options for files; those that the scene has by the same name are the scene's, others raise an `InputError`
    """
    from ..scenes import ALL_SCENES

    if what in ALL_SCENES:
        return _of_scene(ALL_SCENES[what], [*rest, *_scene_words(ALL_SCENES[what], loading)])
    path = Path(what)
    if path.suffix.lower() not in SUFFIXES and not path.exists():
        near = difflib.get_close_matches(what, ALL_SCENES, 1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise InputError(
            f"there is no scene {what!r}, nor a file of that name; {hint}choose one of {', '.join(ALL_SCENES)}, or give a file "
            f"({', '.join(SUFFIXES)})"
        )
    if rest:
        raise InputError(f"{path.name}: a file has no option {rest[0]!r}; 'linkwork run --help' lists those of files")
    if not path.is_file():
        raise InputError(f"there is no file {what!r}")
    if path.suffix.lower() == ".json":
        refuse_options(f"{path.name}: a RedMax scene", loading)
        return _of_redmax(path)
    return _of_robot(path, loading or Loading())


def refuse_options(where: str, *records: Any, rest: Sequence[str] = ()) -> None:
    """Raise for options that were given and would do nothing.

    where     the subject of the message: 'x.lwk: a saved run'
    records   `Loading`, `Timing` or None
    rest      options of scenes as they stand on the command line
    """
    names = [f"--{name}" for record in records if record is not None for name in given_of(record)]
    words = [*names, *(word for word in rest if word.startswith("-"))]
    if words:
        raise InputError(f"{where} takes no {', '.join(words)}; leave {'it' if len(words) == 1 else 'them'} out")


def _scene_words(scene: Scene, loading: Loading | None) -> list[str]:
    """Options for files that the scene has by the same name, as words of the command line."""
    given = {} if loading is None else given_of(loading)
    lost = [name for name in given if name not in scene.defaults]
    if lost:
        refuse_options(f"the scene {scene.name!r}", replace(Loading(), **{name: given[name] for name in lost}))
    return [f"--{name}={x}" for name, x in given.items()]


# --- scenes -----------------------------------------------------------------------------------------------------------------
def _of_scene(scene: Scene, rest: Sequence[str]) -> Problem:
    model, state = scene.build(**scene_options(scene, rest))
    options = {"inputs": scene.inputs(model)} if scene.inputs else {}
    return Problem(scene.name, model, state, scene.duration, scene.dt, scene.methods, options, scene.shot.look)


def scene_options(scene: Scene, rest: Sequence[str]) -> dict[str, Any]:
    """The options of a scene in `--name value`, `--name=value`, `--name` and `--no-name`, as values of the right kind."""
    known, found, left = scene.defaults, {}, list(rest)
    while left:
        word = left.pop(0)
        name, given, value = word.removeprefix("--").partition("=")
        name = name.replace("-", "_")
        no = name.removeprefix("no_") if name not in known else ""
        if word.startswith("--") and no in known and isinstance(known[no], bool) and not given:
            found[no] = False
            continue
        if not word.startswith("--") or name not in known:
            raise InputError(_unknown(scene, word, name))
        if not given and isinstance(known[name], bool) and (not left or left[0].lower() not in WORDS):
            value = "true"
        elif not given:
            if not left:
                raise InputError(f"the scene {scene.name!r}: --{name} needs a value; its own is {known[name]!r}")
            value = left.pop(0)
        found[name] = _value(scene, name, value, known[name])
    return found


def _unknown(scene: Scene, word: str, name: str) -> str:
    if not word.startswith("--"):
        return f"the scene {scene.name!r}: {word!r} is no option; options are written --name value"
    theirs = ", ".join(f"--{n}" for n in scene.options)
    near = difflib.get_close_matches(name, scene.options, 1)
    hint = f"; did you mean --{near[0]}?" if near else ""
    known = f"its options are {theirs}" if theirs else "it has none"
    return f"the scene {scene.name!r} has no option {word!r}{hint}; {known} ('linkwork scenes {scene.name}' tells of them)"


def _value(scene: Scene, name: str, text: str, own: Any) -> Any:
    """A text as a value of the kind that the option has by itself."""
    kinds = {bool: "true or false", int: "a whole number", float: "a number"}
    try:
        if isinstance(own, bool):
            return WORDS[text.lower()]
        return type(own)(text)
    except (KeyError, ValueError):
        raise InputError(f"the scene {scene.name!r}: --{name} must be {kinds[type(own)]}, not {text!r}") from None


# --- files ------------------------------------------------------------------------------------------------------------------
def _of_robot(path: Path, how: Loading) -> Problem:
    from ..io import load
    from ..io.starts import START, usual_start
    from ..joints import Free
    from ..model import State

    names = ("floating", "inertia", "mimic", "gravity", "allow", "ground")
    model = load(path, **{name: x for name, x in given_of(how).items() if name in names})
    start = model.keyframes.get(START)
    state = start if path.suffix.lower() == ".lwm" and isinstance(start, State) else usual_start(model)
    if how.keyframe is not None:
        if how.keyframe not in model.keyframes:
            known = f"it has {', '.join(model.keyframes)}" if model.keyframes else "it has none"
            raise InputError(f"{path.name}: there is no keyframe {how.keyframe!r}; {known}")
        state = model.keyframes[how.keyframe]
    if how.height:
        root = next((b for b in model.bodies if b.parent < 0 and isinstance(b.joint, Free)), None)
        if root is None:
            raise InputError(f"{path.name}: --height lifts a floating robot, and nothing floats here; add --floating")
        q = state.q.copy()
        q[model.q_index(root.name).start + 2] += how.height
        state = State(q, state.v)
    return Problem(path.stem, model, state)


def _of_redmax(path: Path) -> Problem:
    """A scene of the RedMax papers, with what its author got wrong put right."""
    from ..io.redmax import read_scene

    scene = read_scene(path)
    run = next((r for r in scene.runs if r.kind == "EULER"), scene.runs[0] if scene.runs else None)
    if run is None:
        raise InputError(f"{path.name}: it has no integrator with a published energy, so no step and duration; add one")
    p = scene.problem(run, right=True)
    if p.friction:
        raise InputError(f"{path.name}: its friction is that of the RedMax code alone; 'linkwork verify redmax' runs it")
    methods = ("redmax", "reduced", "maximal", "maximal-implicit")
    options = {"open_loops": "allow"} | ({"control": p.control} if p.control else {})
    return Problem(path.stem, p.model, p.state, run.duration, run.h if run.kind != "ODE45" else DT, methods, options)
