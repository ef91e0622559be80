"""Random problems of contact with friction."""

from __future__ import annotations

import numpy as np

from linkwork.solvers.problem import Cones, Problem


def random_problem(rng: np.random.Generator, contacts: int, equalities: int, freedoms: int) -> Problem:
    """Contacts that some motion opens all at once without sliding, and equalities: there is a solution.

    With fewer freedoms than rows A is rank-deficient. b is that of a motion, so equalities do not contradict one another.
    """
    J, W = rng.normal(size=(equalities + 3 * contacts, freedoms)), rng.normal(size=(freedoms, freedoms))
    up = np.linalg.svd(J[:equalities])[2][-1]  # no equality is against it
    J -= np.outer(J @ up, up)
    J[equalities::3] += up
    inverse = W @ W.T / freedoms + 0.1 * np.eye(freedoms)
    mu = rng.uniform(0.1, 1.0, contacts)
    return Problem(J @ inverse @ J.T, J @ rng.normal(size=freedoms), Cones.equal(equalities) + Cones.coulomb(mu))
