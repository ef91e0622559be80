"""What contacts do to the energy of a run, step by step: the work of their impulses, and of pushing out what is too deep.

A step with symplectic Euler is v -> v_f = v + h a by all forces, then v_f -> v' by impulses p = M (v' - v_f) at the positions of
its start, then q' = q + h v' (`Joint.advance`) and a displacement of what is too deep. The kinetic energy changes by the impulses
by exactly

    p . (v_f + v') / 2 = sum over rows of x . (u_f + u') / 2,        u = G v

their size times the mean of the velocities before and after them. With u' = u_f + A x this is x . u' - x . A x / 2: friction is
against u', normals push only where u' = 0, or where a gap closes (u' = -gap / h < 0), and A is semidefinite; so without
restitution it is not positive, however normals turn and wherever points are. (With v of the step before in place of v_f, a body
that left the ground slower than h g and fell back within the step would count as lifted.) The displacement is not a motion: it
changes the potential energy alone, and is told apart.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..energy import energy
from ..errors import InputError
from ..model import State
from ..model.steady import advance, bend, seen_from
from ..reduced import forward_dynamics, mass_matrix
from ..trajectory import Trajectory


class ContactWork(NamedTuple):
    """J of every step, (T - 1,)."""

    impulses: np.ndarray
    push_out: np.ndarray


def contact_work(run: Trajectory) -> ContactWork:
    """The work of impulses and of displacements.

    run   one run of "reduced" with `symplectic_euler`, evaluations=0 (velocity terms at the start of a step), each step recorded,
          without controls or inputs that change; equality rows count among the forces
    """
    if run.kind != "reduced" or run.q.ndim != 2:
        raise InputError("the work of contacts is that of one run of 'reduced'")
    model, h = run.model, np.diff(run.t)[:, None]
    q, v = run.q[:-1], run.v[:-1]
    after = seen_from(model, q, run.q[1:], run.v[1:])
    free = v + h * (forward_dynamics(model, q, v) + bend(model, q, v))
    impulse = np.einsum("tij,tj->ti", mass_matrix(model, q), after - free)
    work = 0.5 * np.sum(impulse * (free + after), axis=1)
    there, here = (energy(model, State(x, run.v[1:])).potential for x in (advance(model, q, h * after), run.q[1:]))
    return ContactWork(work, here - there)
