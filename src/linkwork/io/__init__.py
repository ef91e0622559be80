"""Files in and out: `load` makes a model of a robot description."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from ..errors import InputError
from ..geometry import Shape
from ..model import Model
from ..spatial.gate import given_path, known_keywords, shown
from .options import BUDGET, Options

Reader = Callable[[Path, Options], Model]


def _reader(module: str, name: str) -> Reader:
    """A function of a module beside this one, which is imported when a file needs it."""
    return lambda file, options: getattr(import_module(f".{module}", __name__), name)(file, options)


READERS: dict[str, Reader] = {
    ".urdf": _reader("urdf", "read_urdf"),
    ".xml": _reader("mjcf", "read_mjcf"),
    ".lwm": _reader("saved", "read_saved"),
}

OF_ONE_KIND = dict.fromkeys(("floating", "inertia", "mimic", "merge_fixed", "collisions"), (".urdf",)) | {
    "allow": (".xml",),
    "budget": (".xml",),
    "packages": (".urdf", ".xml"),
}


@known_keywords
def load(
    path: str | os.PathLike[str],
    *,
    floating: bool = False,
    inertia: Literal["strict", "repair", "accept"] = "strict",
    mimic: Literal["couple", "independent"] = "couple",
    merge_fixed: bool = True,
    gravity: Any = None,
    allow: Iterable[str] = (),
    packages: Iterable[str | os.PathLike[str]] = (),
    collisions: Literal["look", "touch"] | None = None,
    ground: bool | Shape | Sequence[Shape] = False,
    budget: tuple[float, float] = BUDGET,
) -> Model:
    """The model in a file, by its suffix: URDF (`.urdf`), MJCF (`.xml`, with the extra `mujoco`), or one that
    `Model.save` wrote (`.lwm`).

    floating      the root link gets a `Free` joint "root_joint"; otherwise it is the world
    inertia       inertias that no body has (a negative moment, one larger than the sum of the others, a moving body without
                  mass): "strict" refuses them, "repair" takes the nearest possible one, "accept" keeps them. Links that are
                  fixed to each other count as one body
    mimic         joints that follow others: "couple" enforces it by a `Coupling`, "independent" leaves them free
    merge_fixed   bodies on fixed joints become part of their parents, their names become frames; otherwise `Fixed` joints
    gravity       acceleration in world axes (3,), m/s^2; by default that of the file, or (0, 0, -9.81)
    allow         what an MJCF file has, linkwork does not, and may be left out: "tendons", "actuators", "fluid", ..., or "all"
    packages      folders in which the files that a URDF or MJCF file names (meshes "package://..." or relative, includes, height
                  fields, textures) may be, besides its own folder or package: no file elsewhere is read
    collisions    shapes of a URDF file's <collision>: "look" only shows them; "touch" lets them touch the ground and shapes of
                  others, not each other (meshes as their convex hulls); by default they touch if there is a `ground`
    ground        what the robot stands on: True for the plane z = 0 with friction 0.8, which touches all that can be touched; or
                  shapes of the world, in world axes: lw.Plane(friction=0.5), lw.HeightField(...), a list of boxes
    budget        seconds and GiB of memory that a large MJCF file may take (2000 elements once it is expanded, 8 million heights
                  or pixels): it is read in a process of its own that ends when it has taken more

    `floating`, `inertia`, `mimic`, `merge_fixed` and `collisions` are for URDF, `allow` and `budget` for MJCF; elsewhere they
    raise an `InputError`. Meshes that are only shown are read when somebody looks at them. `model.notes` has a line for all
    that was changed, ignored or assumed, and for a ground that nothing touches. `model.add(lw.Plane())` lays a ground later.

    >>> robot = lw.load("robot.urdf", floating=True, ground=True)  # doctest: +SKIP
    >>> print(robot)  # doctest: +SKIP
    """
    options = Options(floating, inertia, mimic, merge_fixed, gravity, (allow,) if isinstance(allow, str) else tuple(allow))
    roots = (packages,) if isinstance(packages, (str, os.PathLike)) else tuple(packages)
    try:
        folders = tuple(Path(root) for root in roots)
    except TypeError:
        raise InputError(f"load: packages = {shown(packages)}; it must be a list of folders") from None
    options = replace(options, packages=folders, collisions=collisions, ground=ground, budget=budget)
    try:
        file = given_path("load: path", path)
    except InputError as error:
        if isinstance(path, str):  # perhaps the text of a model
            raise InputError(f"load: there is no file {shown(path)}") from error
        raise
    if not file.is_file():
        raise InputError(f"load: there is no file {shown(str(path))}")
    reader = READERS.get(file.suffix.lower())
    if reader is None:
        raise InputError(f"load: {file.name!r} has the suffix {file.suffix!r}; linkwork reads {', '.join(READERS)}")
    _check_applies(file, options)
    return options.on_ground(reader(file, options))


def _check_applies(file: Path, options: Options) -> None:
    """Raise for an option that says nothing of files of this kind."""
    usual = Options(ground=options.ground)
    for name, suffixes in OF_ONE_KIND.items():
        if file.suffix.lower() not in suffixes and getattr(options, name) != getattr(usual, name):
            hint = "in MJCF a <freejoint/> says it" if name == "floating" and file.suffix.lower() == ".xml" else "leave it out"
            raise InputError(
                f"load: {file.name}: {name} = {shown(getattr(options, name))} is for {' and '.join(suffixes)} files; {hint}"
            )


__all__ = ["load"]
