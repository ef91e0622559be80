"""Muscles and cables, as a page draws them: their colour is their activation, and they go around obstacles."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..forces import Muscle
from ..forces.muscle_path import MusclePath
from ..forces.muscle_wrap import Wrap, WrapCylinder, WrapSphere
from ..model import Model
from ..model.model import WORLD
from ..view.paths import path_forces

KINDS = {WrapSphere: "sphere", WrapCylinder: "cylinder"}


def live_paths(model: Model, laws: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """For every path of the scene: `level`, the address of its activation, and `segments` if there are obstacles on it.

    laws   of the manifest
    """
    inputs = {law["name"]: law["inputs"][0] for law in laws if law["name"] and "inputs" in law}
    found = []
    for force in path_forces(model):
        level = inputs.get(force.name) if isinstance(force, Muscle) else None
        found.append({"level": level, "segments": segments(model, force.path)})
    return found


def segments(model: Model, path: MusclePath) -> list[dict[str, Any]] | None:
    """From point to point, with the obstacle between; None without obstacles that the page knows."""
    owners = [-1 if name == WORLD else model.body_index(name) for name in path.bodies]
    parts = list(path._segments())
    wraps = [wrap[1] for _, _, wrap in parts if wrap is not None]
    if not wraps or not all(type(w) in KINDS for w in wraps):
        return None
    return [
        {"from": _point(owners, a), "to": _point(owners, b)} | ({} if wrap is None else {"wrap": _wrap(owners[wrap[0]], wrap[1])})
        for a, b, wrap in parts
    ]


def _point(owners: list[int], x: tuple[int, Any]) -> list[Any]:
    return [owners[x[0]], np.asarray(x[1], float).tolist()]


def _wrap(body: int, wrap: Wrap) -> dict[str, Any]:
    frame = wrap.frame
    turn, begin = (int(wrap.turn), float(wrap.begin)) if isinstance(wrap, WrapCylinder) else (0, 0.0)
    R, p = np.asarray(frame.R, float).reshape(-1).tolist(), np.asarray(frame.p, float).tolist()
    return {"kind": KINDS[type(wrap)], "body": body, "R": R, "p": p, "radius": float(wrap.radius), "turn": turn, "begin": begin}
