"""The model: bodies, builder, states, and the response of a formulation to forces."""

from .builder import ModelBuilder
from .model import Body, Model
from .state import MaximalState, Motion, Response, Rows, State, check_state

__all__ = ["Body", "MaximalState", "Model", "ModelBuilder", "Motion", "Response", "Rows", "State", "check_state"]
