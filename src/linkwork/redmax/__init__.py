"""The dense system through J and J_dot: everything that acts on bodies or joints, in one reduced equation."""

from .system import Dynamics, dynamics

__all__ = ["Dynamics", "dynamics"]
