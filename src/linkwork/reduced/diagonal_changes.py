"""How the diagonal of A = G M^-1 G^T changes with displacements, row by row in O(n): what softness of rows needs.

With g = J^T G_i^T of a row and z = M^-1 g, A_ii = g . z and dA_ii = 2 dg . z - z^T dM z. A displacement of degree of freedom k
changes the twists J z behind it by n_k(z) in the axes of the bodies (`port_columns`), so with the momentum H_k of z and the
wrench W_k of the row, both summed over all that k carries,

    dA_ii = 2 (W_k - H_k) . n_k(z),

and besides it G_i itself turns, which its law says.
"""

from __future__ import annotations

from typing import Any

from ..kernel.sweep import POSE, Algorithm, Field, inward, outward, vector
from ..spatial.scalar import dot, stack
from .pairs import flattened, split_columns
from .port_columns import slides
from .root_frame import place_in_root, subspace_changes


def move_with(n: Any, parent: Any) -> None:
    """Twists J z, and the momentum that the row has not given."""
    at = place_in_root(n, parent)
    n.frame, n.nu = at.E, at.nu
    n.slides = slides(list(at.J.T), subspace_changes(n, at.E), at.nu_p, n.v)
    n.own = at.inertia @ at.nu - at.E.move_wrench(n.external)


def sum_over_subtrees(n: Any, parent: Any) -> None:
    """The products of the module's text."""
    F = n.own + n.below
    parent.below = parent.below + F
    found = [-2.0 * dot(F, x) for x in split_columns(n.slides, 6)]
    n.change = stack(*found) if found else flattened([])


DIAGONAL_CHANGES = Algorithm(
    "diagonal_changes",
    {
        "q": Field("input", "q"),
        "v": Field("input", "v"),
        "external": Field("input", "node", vector(6)),
        "gravity": Field("input", "global", vector(3)),  # never given
        "frame": Field("shared", codec=POSE),
        "nu": Field("shared", codec=vector(6)),
        "below": Field("gathered", codec=vector(6)),
        "change": Field("output", "v"),
    },
    {"run": [outward(move_with), inward(sum_over_subtrees)]},
)
