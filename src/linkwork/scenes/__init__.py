"""Scenes: models with a start, one file each, by name in `ALL_SCENES`."""

from __future__ import annotations

from .arch import ARCH
from .assembling import ASSEMBLING
from .ball import BALL
from .bearing import BEARING
from .board import BOARD_SCENE
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
from .knees import FOUR_BAR_KNEE, SPLINE_KNEE
from .leg import LEG
from .loop import LOOP
from .marble import MARBLE_IN_BOWL
from .net import NET
from .pendulum import PENDULUM
from .pins import PINS
from .plant import PLANT
from .quadruped import QUADRUPED
from .ragdoll import RAGDOLL
from .revolute_chain import REVOLUTE_CHAIN
from .scapula import SCAPULA
from .scene import Scene
from .shoulder import SHOULDER
from .slide import SLIDE
from .stack import STACK
from .tippe_top import TIPPE_TOP
from .tori_on_spline import TORI_ON_SPLINE
from .torus_chain import TORUS_CHAIN
from .trefoil import TREFOIL
from .tutorial import TUTORIAL
from .wall import WALL
from .windmill import WINDMILL

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
    REVOLUTE_CHAIN,
    TORUS_CHAIN,
    WINDMILL,
    TORI_ON_SPLINE,
    BOARD_SCENE,
    TREFOIL,
    FOUR_BAR_KNEE,
    SPLINE_KNEE,
    SCAPULA,
    SHOULDER,
)
ALL_SCENES: dict[str, Scene] = {scene.name: scene for scene in _SCENES}

__all__ = ["ALL_SCENES", "Scene"]
