"""What functions of a model are called with: a model, and not what one is made from."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from ..errors import InputError, LinkworkError
from ..spatial.gate import FOREIGN
from ..spatial.kinds import blame
from .model import Model

BY_LOADING = ": read a file with lw.load(path)"
MAPPED = (
    "; hyper-reduced coordinates have forward_dynamics, inverse_dynamics and mass_matrix of their own, and lw.simulate takes "
    "them; all else takes their `model`, at the states of `full(state)`"
)
TO_A_MODEL = {"ModelBuilder": ": call its build()", "str": BY_LOADING, "PosixPath": BY_LOADING, "WindowsPath": BY_LOADING}
TO_A_MODEL |= {"HyperReduced": MAPPED}
Found = TypeVar("Found", bound=Callable[..., Any])


def check_model(model: Any) -> None:
    """Raise if what a function is called with is no model."""
    if not isinstance(model, Model):
        raise InputError(f"model must be a Model, not a {type(model).__name__}{TO_A_MODEL.get(type(model).__name__, '')}")


def takes_model(function: Found) -> Found:
    """The function of a model, which says so where it is called with something else."""

    @functools.wraps(function)
    def checked(model: Any, *arguments: Any, **named: Any) -> Any:
        check_model(model)
        try:
            return function(model, *arguments, **named)
        except LinkworkError:
            raise
        except FOREIGN as error:
            blame(function, (model, *arguments), named, error)
            raise

    return cast(Found, checked)
