"""The dense system through J and J_dot: everything that acts on bodies or joints, in one reduced equation."""

from .hyper_reduced import HyperReduced
from .mass_springs import MassSpringChain, MassSpringNet, MassSprings
from .system import Dynamics, dynamics

__all__ = ["Dynamics", "HyperReduced", "MassSpringChain", "MassSpringNet", "MassSprings", "dynamics"]
