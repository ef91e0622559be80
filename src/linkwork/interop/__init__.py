"""Models, states and forces in the conventions of other engines, both ways: `lw.interop.pinocchio`, `lw.interop.mujoco`."""

from . import mujoco, pinocchio

__all__ = ["mujoco", "pinocchio"]
