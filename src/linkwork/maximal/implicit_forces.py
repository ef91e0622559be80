"""Forces in an implicit step: where they look, what they add to the matrix, and whether they do what the step took them to do."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..elements.derive import load_slopes
from ..elements.evaluate import port_size
from ..elements.nodes import STILL
from ..elements.ports import joined, starts
from ..joints import Joint
from ..model.rules import joint_of
from ..spatial.inertia import Articulated
from ..spatial.scalar import Scalar, Vector, absolute, array, cross, dot, maximum, where, zeros
from .implicit_laws import FAR, PAIR, SAME, is_distant, looked_at, stacked
from .implicit_rules import either, mirrored
from .program import moved

AGREED = 1e-3  # of the work of a round: forces that differ by less are what the step took them to be


# --- where they look --------------------------------------------------------------------------------------------------------
def look_at_joints(n: Any) -> None:
    """Forces look at the joints where they are."""
    n.look_q, n.look_v = n.q_fit, n.v


def look_at_bodies(n: Any) -> None:
    """And at the bodies."""
    look_at_joints(n)
    n.look_pose, n.look_twist = n.poses, n.twists


def look_ahead_at_joints(n: Any, parent: Any) -> None:
    """Forces look at the joints where a part s of the way leads."""
    n.trial = n.y + n.s * n.way
    n.look_v = n.S_hat.T @ (n.trial - n.E.pull_twist(parent.trial))
    n.look_q = joint_of(n).integrate(n.q_fit, n.h * n.look_v)


def look_ahead_at_bodies(n: Any, parent: Any) -> None:
    """And at the bodies."""
    look_ahead_at_joints(n, parent)
    n.look_pose, n.look_twist = moved(n, n.poses, n.trial)


# --- what they add ----------------------------------------------------------------------------------------------------------
def clear(n: Any) -> None:
    """Nothing acts yet on body and joint."""
    if n.pressed:
        n.load, n.block = zeros(6), Articulated(zeros(3, 3), zeros(3, 3), zeros(3, 3))
        n.met = either(n.going > 0.5, np.zeros(6), n.met)
    if n.coupled:
        n.couple = zeros(6, 6)
    if n.sprung:
        nv = joint_of(n).nv
        n.push, n.resist = zeros(nv), zeros(nv * nv)


def turned_back(port: Any, wrench: Vector) -> Vector:
    """A wrench in the axes to which the guess turns a body, in those of the beginning; the centre of mass stays."""
    R, c = port.poses.R.T @ port.look_pose.R, port.centre
    f = R @ wrench[3:]
    return np.concatenate([R @ (wrench[:3] - cross(c, wrench[3:])) + cross(c, f), f])


def loads_of(n: Any, ports: Any) -> tuple[Any, list[Any], Vector]:
    """A force, its ports, and its loads at the end of the step as it is guessed."""
    law, at = looked_at(n, ports)
    loads = list(law.loads(at, n.t + n.h, n.u))
    for i, (kind, port) in enumerate(zip(n.kinds, ports, strict=False)):
        if kind != STILL and not isinstance(kind, Joint):
            loads[i] = turned_back(port, loads[i])
    return law, at, joined(loads)


def linearise(n: Any, *ports: Any) -> None:
    """What one force adds to matrix and right-hand side of its ports.

    Half a symmetrised damper, in the matrix or on the right alone, would be a force that no small step is rid of: the same C is
    in both.
    """
    h = n.h
    law, at, loads = loads_of(n, ports)
    df_dx, df_dv = load_slopes(law, at, n.t + h, n.u)
    first, Y = starts(at), stacked(n, ports, "trial", "look_v")
    spring, damper = mirrored(-h * h * df_dx), mirrored(-h * df_dv)
    inside, far = np.zeros(spring.shape, dtype=object), np.zeros(spring.shape, dtype=object)
    damped = np.zeros(spring.shape, dtype=object)
    for i, j, relation in n.relations:
        r, c = slice(first[i], first[i + 1]), slice(first[j], first[j + 1])
        K, D = spring[r, c], damper[r, c]
        if relation in (SAME, FAR):
            (far if relation == FAR else inside)[r, c], damped[r, c] = K + D, D
            continue
        E = (ports[j].poses.inverse() @ ports[i].poses).collapsed()
        K, D = (np.stack([E.pull_wrench(row) for row in x]) for x in (K, D))
        if relation == PAIR:  # relative motion alone counts: (D, -D; -D^T, D^T), positive if the symmetric part of D is
            K, D = mirrored(K), mirrored(D)
        ports[i].couple = ports[i].couple + (K + D)
        K, D = (np.stack([E.move_wrench(row) for row in x]) for x in (K, D))
        inside[r, c], damped[r, c] = K + D, D
        inside[c, r], damped[c, r] = (K + D).T, D.T
    n.stiff_for_bodies = stiffness_for_bodies(n, ports, inside)
    again = n.round > 0.5
    n.impulse = h * loads + either(again, (inside + far) @ Y, damped @ Y)
    n.near, n.far = array(inside), array(far)
    for i, j, relation in n.relations:
        if relation == SAME:
            block = mirrored(inside[first[i] : first[i + 1], first[j] : first[j + 1]])
            if isinstance(n.kinds[i], Joint):
                ports[i].resist = ports[i].resist + block.reshape(-1)
            else:
                ports[i].block = ports[i].block + Articulated.of_matrix(block)


def stiffness_for_bodies(n: Any, ports: Any, C: np.ndarray) -> Scalar:
    """1 where a force is stiff for the masses of its bodies in this step: its linear part resists more than they do, else 0.

    Only then what it does where the step leads may be large for what it was taken to do: with the stiffness k and the mass m, by
    h^2 k / m of the squared turn in a step.
    """
    found: Scalar = 0.0
    first = 0
    for kind, port in zip(n.kinds, ports, strict=False):
        if kind != STILL and not isinstance(kind, Joint):
            linear = C[first + 3, first + 3] + C[first + 4, first + 4] + C[first + 5, first + 5]
            found = maximum(found, where(linear > port.weighs, 1.0, 0.0))
        first += port_size(kind)
    return found


def push(n: Any, *ports: Any) -> None:
    """The impulse of a force goes to the right-hand sides of its ports."""
    impulse, first = n.impulse, 0
    for kind, port in zip(n.kinds, ports, strict=False):
        if isinstance(kind, Joint):
            port.push = port.push + impulse[first : first + kind.nv]
        elif kind != STILL:
            port.load = port.load + impulse[first : first + 6]
        first += port_size(kind)


def compare(n: Any, *ports: Any) -> None:
    """What the step took a force to do, and how far that is from what it does where the step leads: in work along the way.

    curve   way . C way
    slope   work of the difference along the way
    miss    the same by port, without signs, of forces on joints alone; where bodies turn far, smooth forces on them differ too
    astray  the same of other forces, where they are stiff
    size    the work of the force
    """
    _, at, loads = loads_of(n, ports)
    first, way = starts(at), stacked(n, ports, "way", "way_v")
    C = n.near + n.far if is_distant(n) else n.near
    taken = n.impulse - C @ stacked(n, ports, "trial", "look_v")
    slope: Scalar = 0.0
    miss: Scalar = 0.0
    size: Scalar = 0.0
    for i, kind in enumerate(n.kinds):
        own = slice(first[i], first[i + 1])
        if kind == STILL:
            continue
        work = dot(taken[own] - n.h * loads[own], way[own])
        slope, size = slope + work, size + absolute(dot(n.h * loads[own], way[own]))
        miss = miss + absolute(work)
    on_bodies = any(kind == "body" for kind in n.kinds)
    n.miss, n.astray = (0.0, where(n.stiff_for_bodies > 0.5, miss, 0.0)) if on_bodies else (miss, 0.0)
    n.taken, n.slope, n.size, n.curve = taken, slope, size, dot(way, C @ way)


def meet(n: Any, *ports: Any) -> None:
    """What a force did to bodies during the step, in lanes that go on."""
    first = 0
    for kind, port in zip(n.kinds, ports, strict=False):
        if kind != STILL and not isinstance(kind, Joint):
            wrench = n.taken[first : first + 6] * (1.0 / n.h)
            port.met = port.met + either(n.going > 0.5, wrench, np.zeros(6))
        first += port_size(kind)
