"""How many products conjugate gradients take for an implicit step, with and without Alg. 10 of Sueda's notes before each."""

from __future__ import annotations

import numpy as np

from ..errors import SolverError
from ..forces import SpringDamper
from ..model import Model, State
from ..redmax.operator import ImplicitOperator
from ..redmax.system import dynamics
from ..solvers.conjugate_gradients import conjugate_gradients

APART = 10  # links between the ends of a spring
DISTANT = 100.0  # N/m
RESIDUAL = 1e-10


def across(chain: Model) -> Model:
    """A chain with further springs between links that are not neighbours."""
    names = [b.name for b in chain.bodies]
    springs = [SpringDamper(a, b, stiffness=DISTANT, rest_length=0.5) for a, b in zip(names, names[APART:], strict=False)]
    return chain.replace(elements=(*chain.elements, *springs))


def products(model: Model, state: State, h: float) -> tuple[int, int | None]:
    """With Alg. 10 and without; None if they do not converge."""
    operator = ImplicitOperator(dynamics(model, state), h, "pcg")
    b = operator.right_side()
    with_it = conjugate_gradients(operator.apply, b, operator.recursion, RESIDUAL)[1]
    try:
        return with_it, conjugate_gradients(operator.apply, b, None, RESIDUAL)[1]
    except SolverError:
        return with_it, None


def note(name: str, chain: Model, bend: float, h: float) -> str:
    """A line on a chain with springs across."""
    state = State(np.full(chain.nv, bend), np.zeros(chain.nv))
    with_it, without = products(across(chain), state, h)
    bare = "do not converge without" if without is None else f"{without} without"
    return (
        f"{name} with springs of {DISTANT:g} N/m between every link and the {APART}th after it: conjugate gradients take "
        f"{with_it} products with the matrix, preconditioned by Alg. 10, {bare}"
    )
