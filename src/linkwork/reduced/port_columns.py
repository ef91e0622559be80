"""How what laws see of bodies changes with the state: columns of displacements and velocities at some bodies, along supports.

Joints move by dq, and three motions by dv (twists J v), dw (w at the middle of a step), da (accelerations). In the frame of the
root (`root_frame`) the displacement of a degree of freedom k, s its column of J, carries all bodies behind it, and their twist
J u under any velocities u changes by n(u) = [nu_p(u), s] + C u. In the axes of a body behind k,

    displacement     J dq
    twist J u        J du + N(u) dq,     N(u) the columns n(u)
    r                the rate of its components: R_q dq + R_w dw + R_v dv + J da

    r = J a + (J_dot w) + (0, w_m x v_m - w x v),     (w_m, v_m) = J w,  (w, v) = J v

as a step has it, whose velocity terms are those of the middle of the step. With m, n of `root_frame` at w,

    R_q = m + (n_w x w_m, 2 n_w x v_m) - (0, n_w(v) x v + w x n_v(v)),
    R_w = m' + (s_w x w_m, 2 s_w x v_m),      R_v = -(0, s_w x v + w x s_v).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..kernel.loops import Lane, Table, loops
from ..kernel.plans import Plans
from ..kernel.sweep import POSE, SCALAR, Algorithm, Field, outward, vector
from ..model.model import Model
from ..spatial.scalar import Vector
from ..spatial.se3 import bracket
from .dof_tree import dof_tree
from .pairs import flattened, routine
from .root_frame import (
    Motion,
    MotionOf,
    Placed,
    SubspaceChanges,
    acceleration_above,
    carried,
    motion_of_joint,
    place_in_root,
    subspace_changes,
)

COLUMNS = ("J", "N_v", "N_free", "R_q", "R_v", "R_w", "N_held", "N_out")  # what is found, in this order


def slides(J: Sequence[Vector], changes: SubspaceChanges, nu_p: Vector, u: Vector) -> Vector:
    """n(u) of the module's text, of every degree of freedom of a joint."""
    return flattened([bracket(nu_p, s) + C @ u for s, C in zip(J, changes.C, strict=True)])


def columns_in_root(n: Any, parent: Any) -> None:
    """What every displacement of a joint does to twists and accelerations behind it."""
    columns_of(n, parent, place_in_root(n, parent))


def columns_of(n: Any, parent: Any, at: Placed, motion: MotionOf = motion_of_joint) -> None:
    """The same of a body that is placed."""
    alpha_p = acceleration_above(n, parent, at.rise)
    changes, J = subspace_changes(n, at.E, motion), list(at.J.T)
    found = carried(J, changes, Motion(at.nu_p, at.nu, alpha_p, n.v, n.a))
    n.frame, n.nu, n.alpha = at.E, at.nu, alpha_p + at.zeta + at.J @ n.a
    n.nu_start, n.nu_free = parent.nu_start + at.J @ n.v_start, parent.nu_free + at.J @ n.v_free
    n.nu_held, n.nu_out = parent.nu_held + at.J @ n.v_held, parent.nu_out + at.J @ n.v_out
    n.J_root, n.m_q, n.m_v = flattened(J), flattened(found.m_q), flattened(found.m_v)
    n.n_w = slides(J, changes, at.nu_p, n.v)
    n.n_v = slides(J, changes, parent.nu_start, n.v_start)
    n.n_free = slides(J, changes, parent.nu_free, n.v_free)
    n.n_held = slides(J, changes, parent.nu_held, n.v_held)
    n.n_out = slides(J, changes, parent.nu_out, n.v_out)


@loops
def pull(frame: Lane, f: int, x: Lane, i: int, out: Lane, o: int, stride: int) -> None:
    """The twist x[i], ... of the root in the axes of a body with the pose frame[f], ...: R^T w, R^T (v + w x p)."""
    a = x[i]
    b = x[i + 1]
    c = x[i + 2]
    px = frame[f + 9]
    py = frame[f + 10]
    pz = frame[f + 11]
    d = x[i + 3] + (b * pz - c * py)
    e = x[i + 4] + (c * px - a * pz)
    g = x[i + 5] + (a * py - b * px)
    for k in range(3):
        out[o + k * stride] = frame[f + k] * a + frame[f + 3 + k] * b + frame[f + 6 + k] * c
        out[o + (3 + k) * stride] = frame[f + k] * d + frame[f + 3 + k] * e + frame[f + 6 + k] * g


@loops
def add_cross(scale: float, a: Lane, i: int, b: Lane, j: int, out: Lane, o: int, stride: int) -> None:
    """out += scale a x b."""
    out[o] += scale * (a[i + 1] * b[j + 2] - a[i + 2] * b[j + 1])
    out[o + stride] += scale * (a[i + 2] * b[j] - a[i] * b[j + 2])
    out[o + 2 * stride] += scale * (a[i] * b[j + 1] - a[i + 1] * b[j])


@loops
def columns_at_ports(
    ports: int,
    nv: int,
    port_body: Table,
    port_last: Table,
    dof_before: Table,
    frame: Lane,
    nu: Lane,
    nu_start: Lane,
    J_root: Lane,
    n_w: Lane,
    n_v: Lane,
    n_free: Lane,
    n_held: Lane,
    n_out: Lane,
    m_q: Lane,
    m_v: Lane,
    pulled: Lane,
    port_columns: Lane,
) -> None:
    """The columns of every degree of freedom before a port, in the order of `COLUMNS`; pulled are the twists of the port at the
    middle and at the start, s, n at the middle and at the start."""
    block = 6 * ports * nv
    one = 0.0 * nu[0] + 1.0
    for p in range(ports):
        f = 12 * port_body[p]
        pull(frame, f, nu, 6 * port_body[p], pulled, 0, 1)
        pull(frame, f, nu_start, 6 * port_body[p], pulled, 6, 1)
        k = port_last[p]
        while k >= 0:
            o = 6 * p * nv + k
            pull(frame, f, J_root, 6 * k, pulled, 12, 1)
            pull(frame, f, n_w, 6 * k, pulled, 18, 1)
            pull(frame, f, n_v, 6 * k, pulled, 24, 1)
            for i in range(6):
                port_columns[o + i * nv] = pulled[12 + i]
                port_columns[block + o + i * nv] = pulled[24 + i]
            pull(frame, f, n_free, 6 * k, port_columns, 2 * block + o, nv)
            pull(frame, f, n_held, 6 * k, port_columns, 6 * block + o, nv)
            pull(frame, f, n_out, 6 * k, port_columns, 7 * block + o, nv)
            pull(frame, f, m_q, 6 * k, port_columns, 3 * block + o, nv)
            add_cross(one, pulled, 18, pulled, 0, port_columns, 3 * block + o, nv)
            add_cross(2.0 * one, pulled, 18, pulled, 3, port_columns, 3 * block + o + 3 * nv, nv)
            add_cross(-one, pulled, 24, pulled, 9, port_columns, 3 * block + o + 3 * nv, nv)
            add_cross(-one, pulled, 6, pulled, 27, port_columns, 3 * block + o + 3 * nv, nv)
            pull(frame, f, m_v, 6 * k, port_columns, 5 * block + o, nv)
            add_cross(one, pulled, 12, pulled, 0, port_columns, 5 * block + o, nv)
            add_cross(2.0 * one, pulled, 12, pulled, 3, port_columns, 5 * block + o + 3 * nv, nv)
            for i in range(6):
                port_columns[4 * block + o + i * nv] = 0.0
            add_cross(-one, pulled, 12, pulled, 9, port_columns, 4 * block + o + 3 * nv, nv)
            add_cross(-one, pulled, 6, pulled, 15, port_columns, 4 * block + o + 3 * nv, nv)
            k = dof_before[k]


MOTIONS = ("v_start", "v_free", "v_held", "v_out")
PORT_COLUMNS = Algorithm(
    "port_columns",
    {
        "q": Field("input", "q"),
        **{name: Field("input", "v") for name in ("v", "a", *MOTIONS)},
        "gravity": Field("input", "global", vector(3)),  # never given: what falls with the world sees nothing of it
        "frame": Field("work", "node", POSE),
        **{name: Field("work", "node", vector(6)) for name in ("nu", "nu_start")},
        **{name: Field("shared", codec=vector(6)) for name in ("alpha", "nu_free", "nu_held", "nu_out")},
        **{name: Field("work", "columns") for name in ("J_root", "m_q", "m_v", "n_w", "n_v", "n_free", "n_held", "n_out")},
        "pulled": Field("work", "pulled", SCALAR),
        "port_columns": Field("output", "port_columns", SCALAR),
    },
    {"run": [outward(columns_in_root), routine(columns_at_ports)]},
)


def port_plans(model: Model, bodies: Sequence[int]) -> Plans:
    """The algorithm bound to a model with ports at these bodies."""
    tree = dof_tree(model)
    starts, last = model.tree.offsets("v"), []
    for body in bodies:
        at = int(body)
        while at >= 0 and starts[at + 1] == starts[at]:
            at = int(model.parents[at])
        last.append(int(starts[at + 1]) - 1 if at >= 0 else -1)
    tables = {"port_body": np.asarray(bodies), "port_last": np.asarray(last)}
    return Plans(
        replace(
            tree,
            tables=tree.tables | {name: np.ascontiguousarray(x, np.int32) for name, x in tables.items()},
            numbers={**tree.numbers, "ports": len(bodies)},
            counts={**tree.counts, "pulled": 30, "port_columns": len(COLUMNS) * 6 * len(bodies) * model.nv},
        )
    )
