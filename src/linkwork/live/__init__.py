"""Simulations that run in a page: the step program of a model as WebAssembly, inside one file."""

from .save import save_live

__all__ = ["save_live"]
