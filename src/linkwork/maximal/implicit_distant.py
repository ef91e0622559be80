"""Forces between ports that are no neighbours: their blocks N beside the factor of A, by conjugate gradients in the program.

(A + N) y = b, with the joints and all rows closed, is solved by solves of A y = b - N y_late: the residue z = y - y_late is
what is left of the gradient, in the measure of A, and the way of a pass is z and as much of the last way as makes the two
conjugate [Polak and Ribiere]. The length of a pass is that at which the function is least. Each pass costs a forward and a back
substitution, and rows are solved in each: those that only push may change between passes. Where the function bends downwards
along a way, as that of a long spring under a great load may, passes end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernel.loops import Lane, loops, maximum
from ..kernel.loops import where as chosen
from ..spatial.scalar import dot, zeros
from .implicit_laws import is_distant, stacked
from .implicit_rounds import steepness
from .implicit_rules import either

PASSES = 60
ENOUGH = 1e-18  # of the first residue . A residue
SCALARS = ("lagging", "passes", "square_first", "square_last", "turn", "length")


def begin_late(n: Any) -> None:
    """The solution so far is the guess."""
    n.late, n.late_v = n.trial, n.look_v
    n.residue, n.residue_v, n.way, n.way_v = zeros(6), zeros(len(n.look_v)), zeros(6), zeros(len(n.look_v))


def clear_pushes(n: Any) -> None:
    """The right-hand sides begin anew."""
    if n.pressed:
        n.load = zeros(6)
    if n.sprung:
        n.push = zeros(len(n.v))


def remain(n: Any, parent: Any) -> None:
    """The residue in lanes that lag, and its products with itself and with the one before."""
    n.last_residue, n.last_residue_v = n.residue, n.residue_v
    n.residue = either(n.lagging > 0.5, n.free - n.late, np.zeros(6))
    n.residue_v = n.S_hat.T @ (n.residue - n.E.pull_twist(parent.residue))
    n.square_own = steepness(n, (n.residue, n.residue_v, parent.residue), (n.residue, n.residue_v, parent.residue))
    n.mixed_own = steepness(n, (n.residue, n.residue_v, parent.residue), (n.last_residue, n.last_residue_v, parent.last_residue))


def square(n: Any, *ports: Any) -> None:
    """What a force adds to these products."""
    z = stacked(n, ports, "residue", "residue_v")
    pull = n.near @ z
    n.square, n.mixed = dot(pull, z), dot(pull, stacked(n, ports, "last_residue", "last_residue_v"))


def aim_conjugate(n: Any, parent: Any) -> None:
    """The way: the residue, and a part of the way before."""
    n.way = either(n.lagging > 0.5, n.residue + n.turn * n.way, np.zeros(6))
    n.way_v = n.S_hat.T @ (n.way - n.E.pull_twist(parent.way))
    n.curve_own = steepness(n, (n.way, n.way_v, parent.way), (n.way, n.way_v, parent.way))
    n.fall_own = steepness(n, (n.way, n.way_v, parent.way), (n.residue, n.residue_v, parent.residue))


def bend(n: Any, *ports: Any) -> None:
    """What a force adds to way . (A + N) way and to way . A residue."""
    way = stacked(n, ports, "way", "way_v")
    pull = n.near @ way
    n.fall, n.curve = dot(pull, stacked(n, ports, "residue", "residue_v")), dot(pull, way)
    if is_distant(n):
        n.curve = n.curve + dot(way, n.far @ way)


def come_on(n: Any) -> None:
    """The solution after a pass; in the end it is what was solved for."""
    n.late, n.late_v = n.late + n.length * n.way, n.late_v + n.length * n.way_v
    n.free, n.free_v = n.late, n.late_v


@loops
def first_pass(going: Lane, lagging: Lane, passes: Lane) -> None:
    """Lanes that go on lag."""
    lagging[0] = going[0]
    passes[0] = 0.0


@loops
def conjugate(
    bodies: int,
    forces: int,
    square_own: Lane,
    mixed_own: Lane,
    square: Lane,
    mixed: Lane,
    passes: Lane,
    square_first: Lane,
    square_last: Lane,
    turn: Lane,
) -> None:
    """How much of the last way to keep. The first residue closes joints as well, and has no conjugate."""
    now = 0.0 * passes[0]
    before = 0.0 * passes[0]
    for i in range(bodies):
        now += square_own[i]
        before += mixed_own[i]
    for i in range(forces):
        now += square[i]
        before += mixed[i]
    fit = (passes[0] > 1.5) & (square_last[0] > 0.0)
    turn[0] = chosen(fit, maximum((now - before) / chosen(fit, square_last[0], 1.0), 0.0), 0.0)
    square_first[0] = chosen(passes[0] < 0.5, now, square_first[0])
    square_last[0] = now


@loops
def reach(
    bodies: int,
    forces: int,
    curve_own: Lane,
    fall_own: Lane,
    curve: Lane,
    fall: Lane,
    square_first: Lane,
    square_last: Lane,
    passes: Lane,
    length: Lane,
    lagging: Lane,
) -> None:
    """The length of a pass, and which lanes lag on; the first goes all the way."""
    steep = 0.0 * passes[0]
    down = 0.0 * passes[0]
    for i in range(bodies):
        steep += curve_own[i]
        down += fall_own[i]
    for i in range(forces):
        steep += curve[i]
        down += fall[i]
    sound = (steep > 0.0) & (down > 0.0)
    length[0] = chosen(passes[0] < 0.5, 1.0, chosen(sound, down / chosen(sound, steep, 1.0), 0.0))
    on = (passes[0] < 0.5) | (sound & (square_last[0] > ENOUGH * square_first[0]))
    passes[0] += lagging[0]
    lagging[0] = chosen(on, lagging[0], 0.0)
