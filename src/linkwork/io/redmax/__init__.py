"""Scenes of the RedMax papers in JSON (schema `redmax-scene/1`), with published energies."""

from .record import UnsupportedError
from .runs import Run
from .scene import Problem, RedmaxScene, read_scene

__all__ = ["Problem", "RedmaxScene", "Run", "UnsupportedError", "read_scene"]
