"""Derivatives of a step where some rows act and others do not: only those that act are in its matrices (`steppers.linear_lists`).

A body on three legs: one foot sticks, one slides, one lifts off; of its arms one is far from its ends, one near to one, one is
held there, and one is pushed out while it leaves.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from derivatives.step_cases import ROD, close, differences

import linkwork as lw
from linkwork.step_derivatives import Acting
from linkwork.steppers.linear_lists import list_acting
from linkwork.steppers.linear_rows import watch_rows
from linkwork.steppers.linear_step import is_linear_step

H, END, RADIUS = 1e-3, 0.3, 0.02
TIP, FLOOR = (0.4, 0.0, 0.0), lw.Plane((0, 0, 0), (0, 0, 1))
FEET = {"sticks": (0.0, 0.0, -0.05), "slides": (0.6, 0.2, -0.05), "lifts": (0.0, 0.1, 0.3)}  # their velocities
ARMS = {"far": (0.0, 0.4), "near": (END - 1e-5, -0.6), "held": (END + 1e-5, 0.5), "leaves": (END + 4e-4, -0.2)}  # q and v
ELSEWHERE = {"far": (-1.00005, -0.3), "near": (0.1, 0.2), "held": (0.2, 0.1), "leaves": (END - 2e-5, 0.4)}


@cache
def model(restitution: float = 0.0) -> lw.Model:
    b = lw.ModelBuilder()
    b.body("base", joint=lw.Free(), inertia=lw.Inertia.cuboid(2.0, (0.4, 0.4, 0.1)))
    arms, places = list(ARMS), [(0.2, 0.2, 0.1), (0.2, -0.2, 0.1), (-0.2, 0.2, 0.1), (-0.2, -0.2, 0.1)]
    for k in (0, 1):  # arms before and behind the legs: what acts has gaps
        for name, place in zip(arms[2 * k : 2 * k + 2], places[2 * k : 2 * k + 2], strict=True):
            b.body(name, parent="base", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=place), inertia=ROD, limits=(-1.0, END))
        for name, angle in list(zip(FEET, (0.3, 2.4, 4.5), strict=True))[2 * k : 2 * k + 2]:
            place = lw.SE3(p=(0.2 * np.cos(angle), 0.2 * np.sin(angle), 0.0)) @ lw.SE3.rot_z(angle) @ lw.SE3.rot_y(1.1)
            b.body(name, parent="base", joint=lw.Spherical(), placement=place, inertia=ROD, damping=0.05)
            b.add(lw.Contact(name, lw.Sphere(RADIUS, TIP), "world", FLOOR, friction=0.6, restitution=restitution))
    return b.build()


def feet(m: lw.Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Of every foot its place and its velocity."""
    at = lw.kinematics(m, q, v)
    found = []
    for name in FEET:
        i = m.body_index(name)
        R, twist = at.poses[i, :3, :3], at.twists[i]
        found.append([*(at.poses[i] @ (*TIP, 1.0))[:3], *(R @ (twist[3:] + np.cross(twist[:3], TIP)))])
    return np.array(found)


def state(m: lw.Model, height: float = 0.0, arms: dict[str, tuple[float, float]] = ARMS) -> lw.State:
    """On its feet, somewhat within the ground, or above it."""
    q, rng = m.neutral(), np.random.default_rng(0)
    for name, (angle, _) in arms.items():
        q[m.q_index(name)] = angle
    q[2] += RADIUS - 2e-4 + height - feet(m, q, np.zeros(m.nv))[:, 2].mean()
    begin = 0.1 * rng.normal(size=m.nv)
    for name, (_, rate) in arms.items():
        begin[m.v_index(name)] = rate
    legs = [k for name in FEET for k in np.r_[m.v_index(name)]]
    J = np.array([feet(m, q, e)[:, 3:].reshape(-1) for e in np.eye(m.nv)]).T
    missing = np.concatenate(list(FEET.values())) - J @ begin
    begin[legs] += np.linalg.lstsq(J[:, legs], missing, rcond=None)[0]
    begin += np.linalg.lstsq(J[:, :6], np.concatenate(list(FEET.values())) - J @ begin, rcond=None)[0] @ np.eye(6, m.nv)
    return lw.State(q=q, v=begin)


STATES: dict[str, dict[str, Any]] = {
    "stands": {},
    "stands otherwise": {"arms": ELSEWHERE},
    "flies": {"height": 0.1},
    "nothing acts": {"height": 0.1, "arms": {}},
}


def test_rows_are_in_all_modes() -> None:
    m = model()
    begin = state(m)
    run = lw.simulate(m, begin, duration=H, dt=H)
    q, v = run.q[-1], run.v[-1]
    before, after = feet(m, begin.q, begin.v), feet(m, q, v)
    speeds = np.linalg.norm(after[:, 3:5], axis=1)
    assert speeds[0] < 0.02 < 0.3 < speeds[1] < 0.9 * np.linalg.norm(before[1, 3:5])
    assert np.abs(after[:2, 5]).max() < 1e-3 < 0.2 < after[2, 5]
    angles, rates = ({name: x[at(name)][0] for name in ARMS} for x, at in ((q, m.q_index), (v, m.v_index)))
    assert abs(rates["held"]) < 1e-12 < 0.1 < rates["far"]
    assert angles["near"] < END - 1e-4
    assert rates["leaves"] < -0.01  # not fast enough to get out by itself
    assert ARMS["leaves"][0] + H * rates["leaves"] > END + 1e-4 > angles["leaves"]


@pytest.mark.parametrize("restitution", [0.0, 0.5])
@pytest.mark.parametrize("name", STATES)
def test_against_differences_and_dual_numbers(name: str, restitution: float) -> None:
    m = model(restitution)
    begin = state(m, **STATES[name])
    here = Acting(m, begin, H, {"tau": None, "external": None, "u": None}, None, "hard", "exact", 1, {})
    assert is_linear_step(here.model, here.stepper)
    found = here.jacobian()
    assert close(found, here.along_units(), 1e-11)
    assert close(found, differences(m, begin.q, begin.v))


@cache
def chain() -> lw.Model:
    b, axes = lw.ModelBuilder(), ((0, 1, 0), (0, 0.8, 0.6), (0, 1, 0), (0.6, 0.8, 0))
    for k, axis in enumerate(axes):
        place = lw.SE3(p=(0.4 if k else 0.0, 0.0, 0.0))
        parent = f"link{k - 1}" if k else "world"
        b.body(f"link{k}", parent=parent, joint=lw.Revolute(axis), placement=place, inertia=ROD, limits=(-END, END))
    return b.build()


@cache
def driven_states() -> lw.State:
    """States in which a stop pushes at the end of a step that would have been out of reach without another one."""
    m, rng, found = chain(), np.random.default_rng(4), []
    while len(found) < 4:
        gap, side = 10 ** rng.uniform(-4.5, -3.5, m.nv), np.where(rng.random(m.nv) < 0.5, 1.0, -1.0)
        s = lw.State(q=side * (END - gap), v=2.0 * rng.normal(size=m.nv))
        free, held = (lw.simulate(m, s, H, H, limit_model=stops).q[-1] for stops in ("off", "hard"))
        out_of_reach = np.abs(s.q + 2.1 * (free - s.q)) < END - 1e-5
        if np.any(out_of_reach & (np.abs(held) > END - 1e-12)):
            found.append(s)
    return lw.State(q=np.array([s.q for s in found]), v=np.array([s.v for s in found]))


@pytest.mark.parametrize("method", ["reduced", "redmax"])
def test_rows_that_others_drive_into_action(method: str) -> None:
    """The derivative is that of the rows that end up active, found by the second solve of the step, in each of three ways."""
    m, states = chain(), driven_states()
    assert np.abs(lw.simulate(m, states, H, H, method).q[:, -1]).max() < END + 1e-9
    many = lw.step_derivatives(m, states, H, method=method)
    for k, (q, v) in enumerate(zip(states.q, states.v, strict=True)):
        wanted = differences(m, q, v, method=method)
        found = np.hstack([many.A[k], many.B[k]])
        assert close(found, wanted)
        if method == "reduced":
            here = Acting(m, lw.State(q, v), H, {"tau": None, "external": None, "u": None}, None, "hard", "exact", 1, {})
            assert is_linear_step(here.model, here.stepper)
            assert close(here.jacobian(), here.along_units(), 1e-11)


def test_gradients_of_rows_that_others_drive_into_action() -> None:
    m, states = chain(), driven_states()
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(2, m.nv))
    for q, v in zip(states.q, states.v, strict=True):
        A = lw.step_derivatives(m, lw.State(q, v), H).A
        found = lw.step_gradient(m, lw.State(q, v), H, weights[0], weights[1])
        assert close(np.concatenate([found.q, found.v]), weights.reshape(-1) @ A, 1e-9)


def test_batches_are_single_states() -> None:
    """Rows that act in one state and not in the next leave nothing behind, in whatever order."""
    m = model()
    states = [state(m, **given) for given in STATES.values()]
    alone = [lw.step_derivatives(m.add(), x, H) for x in states]
    for order in ([0, 1, 2, 3], [3, 0, 2, 1], [1, 3, 1, 0]):
        many = lw.step_derivatives(
            m, lw.State(q=np.array([states[k].q for k in order]), v=np.array([states[k].v for k in order])), H
        )
        for at, k in enumerate(order):
            for found in (lw.step_derivatives(m, states[k], H), lw.StepDerivatives(many.A[at], many.B[at])):
                assert np.array_equal(found.A, alone[k].A)
                assert np.array_equal(found.B, alone[k].B)


def test_rows_that_do_not_act_drop_out() -> None:
    """W of the rows that act is that of all rows, of modes that couple the rows of a law in any way."""
    rng, sizes, n = np.random.default_rng(3), [2, 3, 1, 3, 2], 4
    end = np.cumsum(sizes)
    R, width, first = int(end[-1]), max(sizes), np.repeat(end - sizes, sizes)
    P_u, P_x = np.zeros((R, R)), np.eye(R)
    P_u[1, 1] = P_u[5, 5] = P_u[2, 2] = 1.0
    P_x[1, 1] = P_x[5, 5] = P_x[2, 2] = 0.0  # rows that hold: the second of a pair, a normal, one by itself
    P_u[3:5, 3:5], P_x[3:5, 2] = [[0.3, -0.1], [-0.1, 0.4]], (0.5, 0.2)  # slides
    P_u[7, 8], P_x[7, 6] = 0.6, 0.7  # row 8 is seen by 7, and does not change itself
    J, root = rng.normal(size=(R, n)), rng.normal(size=(n, n))
    M_inverse = root @ root.T + np.eye(n)
    answered, A = J @ M_inverse, J @ M_inverse @ J.T
    wanted = -P_u.T @ np.linalg.solve((P_u @ A + P_x).T, answered)

    narrow = [np.array([P[r, first[r] : first[r] + width] for r in range(R)], float) for P in _widened(P_u, P_x, width)]
    acting, before, none = np.zeros(R + 1, np.int64), np.zeros(R + 1, np.int64), np.zeros(1, np.int64)
    law_end = np.repeat(end, sizes)
    flat = [P.reshape(-1) for P in narrow]
    list_acting(R, width, first, law_end, 0, none, *flat, np.zeros(R), acting, before, none.copy(), none.copy(), none.copy())
    rows = acting[1 : acting[0] + 1]
    assert rows.tolist() == [1, 2, 3, 4, 5, 7, 8]
    m = len(rows)
    T, LU, soft, (rest, watched, W) = np.zeros(m * m), np.zeros(m * m), np.zeros(m), np.zeros((3, m * n))
    some = A[np.ix_(rows, rows)].reshape(-1), answered[rows].reshape(-1)
    watch_rows(n, width, first, law_end, acting, before, *flat, *some, T, LU, soft, rest, watched, W)
    assert close(W.reshape(m, n), wanted[rows], 1e-8)
    assert not np.delete(wanted, rows, axis=0).any()


def _widened(P_u: np.ndarray, P_x: np.ndarray, width: int) -> list[np.ndarray]:
    """With room behind the last rows."""
    return [np.pad(P, ((0, 0), (0, width))) for P in (P_u, P_x)]
