"""Assemblies: parts of any kind, held together by conditions of any kind."""

from . import conditions, interactions, parts
from .assembly import Assembly
from .linearised import Solution

__all__ = ["Assembly", "Solution", "conditions", "interactions", "parts"]
