"""Pictures of the scenes: from where, and when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..look import Camera, Look


@dataclass(frozen=True)
class Shot:
    """A picture.

    look      how the scene is looked at, in its page too
    moment    of the picture (s)
    options   of the scene, where the picture shows another variant
    """

    look: Look = field(default_factory=Look)
    moment: float = 0.5
    options: Mapping[str, Any] = field(default_factory=dict)


def _shot(azimuth: float, elevation: float, moment: float, zoom: float = 1.0, strobe: int = 0, **options: Any) -> Shot:
    return Shot(Look(Camera(azimuth, elevation, zoom), strobe=strobe), moment, options)


SHOTS: dict[str, Shot] = {
    "pendulum": _shot(-110, 8, 0.7),
    "helix": _shot(-60, 18, 1.3, strobe=5),
    "loop": _shot(-105, 8, 0.4),
    "ball": _shot(-80, 12, 0.45, strobe=6),
    "elbow": _shot(-100, 5, 0.6),
    "finger": _shot(-100, 8, 0.4),
    "leg": _shot(-105, 6, 0.75),
    "hyper_chain": _shot(-100, 8, 0.8),
    "net": _shot(-65, 22, 0.8),
    "chain": _shot(-20, 5, 0.9, links=16),
    "hand": _shot(-55, 38, 2.0),
    "drag": _shot(25, 8, 1.6),
    "hair": _shot(-95, 8, 0.12),
    "plant": _shot(-80, 8, 1.0),
    "gears": _shot(115, 12, 0.8),
    "assembling": _shot(-60, 14, 1.4),
    "stack": _shot(-60, 16, 0.2),
    "arch": _shot(-65, 14, 0.3),
    "dominoes": _shot(-55, 16, 0.45),
    "wall": _shot(-40, 16, 0.25),
    "pile": _shot(-60, 22, 0.8),
    "cradle": _shot(-75, 8, 0.3),
    "chains": _shot(-70, 10, 0.75),
    "slide": _shot(-60, 14, 0.5),
    "quadruped": _shot(-50, 16, 0.5),
    "ragdoll": _shot(-60, 18, 0.35),
    "grasp": _shot(-55, 12, 0.5),
    "tippe_top": _shot(-60, 14, 0.8),
    "tutorial": _shot(-100, 10, 0.6),
    "bearing": _shot(55, 14, 0.5),
    "pins": _shot(-105, 8, 0.4),
    "marble": _shot(-60, 42, 0.5),
    "revolute_chain": _shot(-100, 10, 0.7),
    "torus_chain": _shot(-60, 10, 0.5),
    "windmill": _shot(-100, 6, 0.5),
    "tori_on_spline": _shot(-80, 10, 1.0, zoom=1.3),
    "board": _shot(-60, 28, 0.9, zoom=1.6),
    "trefoil": _shot(-75, 8, 0.9, strobe=7),
    "four_bar_knee": _shot(-100, 6, 0.22),
    "spline_knee": _shot(-100, 6, 0.3),
    "scapula": _shot(75, 12, 1.0),
    "shoulder": _shot(20, 10, 1.2),
}
