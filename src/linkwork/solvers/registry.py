"""All solvers of `Problem`, by name: solve(problem, warm) -> x, info."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .admm import solve_admm
from .cone_program import solve_cone_programs
from .coulomb import solve
from .frictionless import solve_dual, solve_lemke, solve_primal
from .gauss_seidel import solve_gauss_seidel
from .problem import Info, Problem
from .pyramid import solve_pyramid
from .staggered import solve_staggered

Solver = Callable[[Problem, np.ndarray | None], tuple[np.ndarray, Info]]

EXACT: dict[str, Solver] = {
    "exact": solve,
    "gauss-seidel": solve_gauss_seidel,
    "admm": solve_admm,
    "cone programs": solve_cone_programs,
}
"""Those that solve Coulomb's law as it is."""

RELAXED: dict[str, Solver] = {"single_qp": solve_pyramid, "staggered": solve_staggered}
"""Those that change it: see their files."""

FRICTIONLESS: dict[str, Solver] = {"dual": solve_dual, "primal": solve_primal, "lemke": solve_lemke}
"""Those that know no friction."""

ALL_SOLVERS: dict[str, Solver] = EXACT | RELAXED | FRICTIONLESS
