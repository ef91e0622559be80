"""The dense system through J and J_dot: everything that acts on bodies or joints, in one reduced equation."""

from typing import TYPE_CHECKING

from ..lazy import offer_lazily

if TYPE_CHECKING:
    from .hyper_reduced import HyperReduced
    from .mass_springs import MassSpringChain, MassSpringNet, MassSprings
    from .system import Dynamics, dynamics

offer_lazily(__name__)
__all__ = ["Dynamics", "HyperReduced", "MassSpringChain", "MassSpringNet", "MassSprings", "dynamics"]
