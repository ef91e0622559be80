"""Friction as one quadratic program [Anitescu & Hart 2004; Sueda, Eqs. 1.85-1.88; errata 12], in lanes.

    minimise x^T A x / 2 + b^T x    subject to    x_n >= 0,  beta_k >= 0,  sum_k beta_k <= mu x_n,    x_t = sum_k beta_k t_k,

with four directions t_k, the two tangents and their opposites. These x are the sums of four rays, s_k >= 0 times (1, mu t_k):
a push along the normal with all the friction that it can have along t_k. So the program has bounds alone,

    minimise s^T (V^T A V) s / 2 + (V^T b)^T s,    s_k >= 0,    x = V s,

and `boxes` solves it, with all rows that have bounds of their own. What every ray asks for is u_n + mu u_t . t_k >= 0: a contact
that slides with |u_t| parts with mu |u_t|, which is what makes the program convex, and its law another one than Coulomb's.
"""

from __future__ import annotations

from ..kernel.loops import Arrays, Ints, Lane, Table, loops
from .box_walk import HUGE, Scaled
from .boxes import Boxes, solve_boxes
from .gram import entry

RAYS = 4  # of a contact


class Posed(Arrays):
    """Rows of a problem, of which some are listed, as `own_rows.Listed`."""

    active: Ints
    cones: Table
    mu: Lane
    on: Lane
    b: Lane
    lower: Lane
    upper: Lane
    x: Lane


class Rays(Arrays):
    """The program in rays: those that take part, as `boxes.Boxes`, and its matrix."""

    ray_active: Ints
    ray_on: Lane
    ray_b: Lane
    ray_lower: Lane
    ray_upper: Lane
    ray_x: Lane
    ray_A: Lane


@loops
def along(i: int, direction: int, mu: Lane, r: int) -> float:
    """The part of a tangent in a ray: mu or -mu of the first or the second, 0 of rows that are no contact."""
    part = 0.0 * mu[r]
    if direction == 1 or direction == 3:
        part = mu[r]
    if direction == 2 or direction == 4:
        part = -mu[r]
    return part


@loops
def tangent_place(i: int, direction: int) -> int:
    """The place in the list of the tangent of a ray of the normal at i; i itself of rows that are no contact."""
    place = i
    if direction > 0:
        place = i + 1
    if direction > 2:
        place = i + 2
    return place


@loops
def solve_single_qp(listed: Posed, A: Lane, left: Lane, base: Ints, towards: Ints, rays: Rays, s: Scaled) -> None:
    """The multipliers x of the listed rows, of which cones are contacts.

    base, towards   of every ray, the place of its row in the list, and its direction: 0 of rows that are no contact
    """
    n = 0
    for i in range(listed.active[0]):
        r = listed.active[i + 1]
        if listed.cones[r] == 0:
            base[n] = i
            towards[n] = 0
            rays.ray_on[n] = listed.on[r]
            rays.ray_b[n] = listed.b[r]
            rays.ray_lower[n] = listed.lower[r]
            rays.ray_upper[n] = listed.upper[r]
            n += 1
        if listed.cones[r] == 1:
            for k in range(1, RAYS + 1):
                t = listed.active[tangent_place(i, k) + 1]
                base[n] = i
                towards[n] = k
                rays.ray_on[n] = listed.on[r]
                rays.ray_b[n] = listed.b[r] + along(i, k, listed.mu, t) * listed.b[t]
                rays.ray_lower[n] = 0.0 * listed.b[r]
                rays.ray_upper[n] = 2.0 * HUGE + 0.0 * listed.b[r]
                n += 1
    rays.ray_active[0] = n
    for p in range(n):
        rays.ray_active[p + 1] = p
        rays.ray_x[p] = 0.0
        i = base[p]
        j = tangent_place(i, towards[p])
        c = along(i, towards[p], listed.mu, listed.active[j + 1])
        for q in range(p + 1):
            k = base[q]
            o = tangent_place(k, towards[q])
            d = along(k, towards[q], listed.mu, listed.active[o + 1])
            rays.ray_A[p * (p + 1) // 2 + q] = entry(A, i, k) + d * entry(A, i, o) + c * (entry(A, j, k) + d * entry(A, j, o))
    solve_boxes(Boxes(rays.ray_active, rays.ray_on, rays.ray_b, rays.ray_lower, rays.ray_upper, rays.ray_x), rays.ray_A, left, s)
    for i in range(listed.active[0]):
        listed.x[listed.active[i + 1]] = 0.0
    for p in range(n):
        r = listed.active[base[p] + 1]
        t = listed.active[tangent_place(base[p], towards[p]) + 1]
        listed.x[r] += rays.ray_x[p]
        if towards[p] > 0:
            listed.x[t] += along(base[p], towards[p], listed.mu, t) * rays.ray_x[p]
