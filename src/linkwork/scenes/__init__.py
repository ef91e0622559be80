"""Scenes: models with a start, one file each, by name in `ALL_SCENES`."""

from __future__ import annotations

from .arch import ARCH
from .assembling import ASSEMBLING
from .ball import BALL
from .bearing import BEARING
from .chain import CHAIN
from .chains import CHAINS
from .cradle import CRADLE
from .dominoes import DOMINOES
from .drag import DRAG
from .elbow import ELBOW
from .finger import FINGER
from .gears import GEARS
from .grasp import GRASP
from .hair import HAIR
from .hand import HAND
from .helix import HELIX
from .hyper_chain import HYPER_CHAIN
from .leg import LEG
from .loop import LOOP
from .marble import MARBLE_IN_BOWL
from .net import NET
from .pendulum import PENDULUM
from .pins import PINS
from .plant import PLANT
from .quadruped import QUADRUPED
from .ragdoll import RAGDOLL
from .scene import Scene
from .slide import SLIDE
from .stack import STACK
from .tippe_top import TIPPE_TOP
from .tutorial import TUTORIAL
from .wall import WALL

_SCENES = (
    PENDULUM,
    HELIX,
    LOOP,
    BALL,
    ELBOW,
    FINGER,
    LEG,
    HYPER_CHAIN,
    NET,
    CHAIN,
    HAND,
    DRAG,
    HAIR,
    PLANT,
    GEARS,
    ASSEMBLING,
    STACK,
    ARCH,
    DOMINOES,
    WALL,
    CRADLE,
    CHAINS,
    SLIDE,
    QUADRUPED,
    RAGDOLL,
    GRASP,
    TIPPE_TOP,
    TUTORIAL,
    BEARING,
    PINS,
    MARBLE_IN_BOWL,
)
ALL_SCENES: dict[str, Scene] = {scene.name: scene for scene in _SCENES}

__all__ = ["ALL_SCENES", "Scene"]
