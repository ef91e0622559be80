"""How many products conjugate gradients take for an implicit step, with and without Alg. 10 of Sueda's notes before each."""

from __future__ import annotations

import numpy as np

from ..errors import SolverError
from ..forces import SpringDamper
from ..forces.blocks import Blocks
from ..model import Model, State
from ..redmax.system import dynamics
from ..reduced.inertia_product import InertiaProduct
from ..reduced.inverse import mass_product
from ..reduced.jacobian import jacobian_product, jacobian_transpose_product
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
    now, q = dynamics(model, state), state.q
    (dq, dv), (joint_dq, joint_dv) = now.force_derivatives
    soft = (-h) * dv + (-h * h) * dq

    def apply(x: np.ndarray) -> np.ndarray:
        """(M + h D - h^2 K) x, in O(n)."""
        bent = jacobian_transpose_product(model, q, soft @ jacobian_product(model, q, x))
        return mass_product(model, q, x) + bent + h * (model.damping * x - joint_dv @ x - h * (joint_dq @ x))

    own = soft.row == soft.column
    alone = Blocks(soft.row[own], soft.column[own], soft.block[own]).on_diagonal(model.nb)
    recursion = InertiaProduct(model, q, h * (model.damping - joint_dv.diagonal() - h * joint_dq.diagonal()), alone)
    b = mass_product(model, q, state.v) + h * now.f
    with_it = conjugate_gradients(apply, b, recursion, RESIDUAL)[1]
    try:
        return with_it, conjugate_gradients(apply, b, None, RESIDUAL)[1]
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
