"""Problems of the IFToMM library of multibody benchmarks [Gonzalez, Dopico, Lugris & Cuadrado 2006]: A02, A04 and A05.

Each has its model, and a way to its motion that shares nothing with the library but the numbers of the problem.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp

from .. import SE3, Closure, Inertia, Loop, Model, ModelBuilder, Prismatic, Revolute, SpringDamper, State
from .states import state

GRAVITY = 9.81
HINGE = Revolute((0, 1, 0))


# --- A02: N four-bar windows --------------------------------------------------------------------------------------------------
def windows(n: int) -> tuple[Model, State]:
    """n windows side by side, rods of 1 m and 1 kg, upright, their tops moving at 1 m/s.

    Where all rods lie in a line the mechanism has n + 1 freedoms instead of one.
    """
    rod = Inertia(1.0, (0.5, 0, 0), np.diag([1e-6, 1 / 12, 1 / 12]))
    b, up = ModelBuilder(gravity=(0, 0, -GRAVITY)), SE3.rot_y(-0.5 * np.pi)
    b.body("post0", joint=HINGE, placement=up, inertia=rod)
    for i in range(1, n + 1):
        b.body(f"post{i}", joint=HINGE, placement=SE3(p=(i, 0, 0)) @ up, inertia=rod)
        across = SE3(p=(1, 0, 0)) @ SE3.rot_y(0.5 * np.pi)
        b.body(f"beam{i}", parent=f"post{i - 1}", joint=HINGE, placement=across, inertia=rod)
        b.add(Loop(f"beam{i}", f"post{i}", (1, 0, 0), (1, 0, 0)))
    model = b.build()
    return model, state(np.zeros(model.nv), [1.0 if body.name.startswith("post") else -1.0 for body in model.bodies])


def angle_of_windows(n: int, times: np.ndarray) -> np.ndarray:
    """The angle of the posts: I a = w sin(angle) with I = (n + 1) / 3 + n and w = ((n + 1) / 2 + n) g."""
    rate = ((n + 1) / 2 + n) * GRAVITY / ((n + 1) / 3 + n)
    run = solve_ivp(
        lambda t, y: [y[1], rate * np.sin(y[0])],
        (0.0, times[-1]),
        [0.0, 1.0],
        "DOP853",
        times,
        rtol=1e-13,
        atol=1e-13,
    )
    return run.y[0]


# --- A04: Bricard's mechanism -------------------------------------------------------------------------------------------------
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1], [0, 0, 1]], float)
BARS = np.roll(CORNERS, -1, axis=0) - CORNERS
AXES = np.array([np.cross(BARS[i - 1], BARS[i]) for i in range(6)])
THICK = 0.1


def bar_moments(i: int) -> np.ndarray:
    """Moments of inertia of bar i, 1 kg, about its centre."""
    size = np.where(np.abs(BARS[i]) > 0.5, 1.0, THICK)
    return (size @ size - size**2) / 12.0


def bricard() -> tuple[Model, State]:
    """Five bars along edges of a cube, six hinges across them; by Gruebler's count nothing moves. Gravity is along -y."""
    b = ModelBuilder(gravity=(0, -GRAVITY, 0))
    for i in range(5):
        inertia = Inertia(1.0, 0.5 * BARS[i], np.diag(bar_moments(i)))
        place = SE3(p=BARS[i - 1] if i else CORNERS[0])
        b.body(f"bar{i}", parent=f"bar{i - 1}" if i else "world", joint=Revolute(AXES[i]), placement=place, inertia=inertia)
    last = Closure(Revolute(AXES[5]), "bar4", "world", SE3(p=BARS[4]), SE3(p=CORNERS[5]))
    return b.add(last).build(), state(np.zeros(5), np.zeros(5))


def bricard_by_hand(times: np.ndarray) -> np.ndarray:
    """Where the corner P3 between bars 1 and 2 is (times, 3).

    Newton's and Euler's equations of five free bars (x, quaternion, velocity, angular velocity in body axes), 30 rows of six
    hinges, the multipliers of least norm by a dense decomposition, an explicit method of order 8.
    """
    moments = np.array([bar_moments(i) for i in range(5)])
    mass = np.concatenate([np.ones((5, 3)), moments], axis=1).ravel()
    across = [np.linalg.svd(axis[None])[2][1:] for axis in AXES]  # two directions across every hinge

    def slopes(t: float, y: np.ndarray) -> np.ndarray:
        q, v = y[:35].reshape(5, 7), y[35:].reshape(5, 6)
        R = np.array([_rotation(x[3:]) for x in q])
        rows, bias = [], []
        for k in range(6):
            J, c = np.zeros((5, 5, 6)), np.zeros(5)
            for body, sign in ((k - 1, -1.0), (k, 1.0)):
                if 0 <= body < 5:  # the others are the ground
                    at = -0.5 * BARS[body] if body == k else 0.5 * BARS[body]
                    w = v[body, 3:]
                    J[:3, body, :3], J[:3, body, 3:] = sign * np.eye(3), -sign * R[body] @ _cross(at)
                    c[:3] += sign * R[body] @ np.cross(w, np.cross(w, at))
            A, wa = (R[k - 1], v[k - 1, 3:]) if k else (np.eye(3), np.zeros(3))
            B, wb = (R[k], v[k, 3:]) if k < 5 else (np.eye(3), np.zeros(3))
            n, e = B @ AXES[k], across[k] @ A.T  # rows: e . n = 0
            n_rate, e_rate = B @ np.cross(wb, AXES[k]), np.cross(wa, across[k]) @ A.T
            if k < 5:
                J[3:, k, 3:] = -e @ B @ _cross(AXES[k])
            if k:
                J[3:, k - 1, 3:] = np.cross(across[k], A.T @ n)
            c[3:] = (
                2.0 * e_rate @ n_rate
                + np.cross(wa, np.cross(wa, across[k])) @ A.T @ n
                + e @ B @ np.cross(wb, np.cross(wb, AXES[k]))
            )
            rows.append(J.reshape(5, 30))
            bias.append(c)
        G, c = np.concatenate(rows), np.concatenate(bias)
        turning = -np.cross(v[:, 3:], moments * v[:, 3:])
        force = np.concatenate([np.tile([0.0, -GRAVITY, 0.0], (5, 1)), turning], axis=1).ravel()
        free = force / mass
        scaled = G / np.sqrt(mass)
        lam = np.linalg.lstsq(scaled @ scaled.T, -c - G @ free, rcond=1e-9)[0]
        a = free + G.T @ lam / mass
        rates = np.concatenate(
            [v[:, :3], 0.5 * np.array([_quaternion_rate(x[3:], w) for x, w in zip(q, v[:, 3:], strict=True)])], axis=1
        )
        return np.concatenate([rates.ravel(), a])

    start = np.zeros(65)
    start[:35].reshape(5, 7)[:, :4] = np.concatenate([CORNERS[:5] + 0.5 * BARS[:5], np.ones((5, 1))], axis=1)
    run = solve_ivp(slopes, (0.0, times[-1]), start, "DOP853", times, rtol=1e-11, atol=1e-12)
    q = run.y[:35].T.reshape(-1, 5, 7)[:, 1]
    return np.array([x[:3] + _rotation(x[3:]) @ (0.5 * BARS[1]) for x in q])


def _cross(x: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


def _rotation(e: np.ndarray) -> np.ndarray:
    w, v = e[0], e[1:]
    K = _cross(v)
    return np.eye(3) + (2.0 * w * K + 2.0 * K @ K) / (e @ e)


def _quaternion_rate(e: np.ndarray, w: np.ndarray) -> np.ndarray:
    return np.concatenate([[-e[1:] @ w], e[0] * w + np.cross(e[1:], w)])


# --- A05: the stiff flyball governor ------------------------------------------------------------------------------------------
STIFFNESS, DAMPING, NATURAL = 8e5, 4e4, 0.5  # N/m, N s/m, m
SPIN, RAISED = 2.0 * np.pi, np.pi / 6  # rad/s, and how far rods hang below the horizontal
ARM = 0.05  # m, from the axis to the hinges of the rods, and to the springs on the slider
BALL, ROD, SLIDER, WIDE = 5.0, 0.3, 3.0, 0.01  # kg, and the width of rods and shaft in m


def governor() -> tuple[Model, State]:
    """A shaft that spins freely, a slider on it, two rods with balls, stiff springs with dampers from them to the slider."""
    rod = np.diag([ROD * 2 * WIDE**2 / 12, *[ROD * (1.0 + WIDE**2) / 12] * 2])
    com = (ROD * 0.5 + BALL) / (ROD + BALL)
    tensor = rod + np.diag([0.0, 1.0, 1.0]) * (ROD * (com - 0.5) ** 2 + BALL * (1.0 - com) ** 2)
    b = ModelBuilder(gravity=(0, 0, -GRAVITY))
    shaft = Inertia(0.3, (0, 0, 0.5), np.diag([0.3 * (1 + WIDE**2) / 12] * 2 + [0.3 * 2 * WIDE**2 / 12]))
    b.body("shaft", joint=Revolute((0, 0, 1)), inertia=shaft)
    b.body("slider", parent="shaft", joint=Prismatic((0, 0, 1)), inertia=Inertia(SLIDER, tensor=np.eye(3) * SLIDER * 0.01 / 6))
    for name, side in (("right", 0.0), ("left", np.pi)):
        hinge = SE3.rot_z(side) @ SE3(p=(ARM, 0, 1))
        b.body(name, parent="shaft", joint=HINGE, placement=hinge, inertia=Inertia(ROD + BALL, (com, 0, 0), tensor))
        at = np.asarray(SE3.rot_z(side) @ np.array([ARM, 0.0, 0.0]), float)
        spring = {"stiffness": STIFFNESS * NATURAL, "damping": DAMPING * NATURAL, "rest_length": NATURAL}  # per relative stretch
        b.add(SpringDamper("slider", name, at, (0.5, 0, 0), **spring))
    return b.build(), state([0.0, 0.5, RAISED, RAISED], [SPIN, 0.0, 0.0, 0.0])


def slider_by_hand(times: np.ndarray) -> np.ndarray:
    """The height of the slider: both rods move alike, so three freedoms are left, and the spin follows from its momentum.

        J(b) = J_0 + 2 [(m_r + m_b) a^2 + 2 a c (m_r / 2 + m_b) + (m_r / 3 + m_b) c^2 + small],   c = cos b,   J w = constant
        I b'' = 1/4 J'(b) w^2 + g (m_r / 2 + m_b) c - F dl/db,      m_s s'' = -m_s g - 2 F dl/ds,

    b below the horizontal, I of one rod about its hinge, l^2 = (c / 2)^2 + (1 - sin b / 2 - s)^2, F = k (l - l_0) + d l'. An
    implicit method of order 5 with exact slopes by complex steps.
    """
    lean = ROD * WIDE**2 / 12.0  # rods have a thickness
    I = ROD * (1.0 + WIDE**2) / 12.0 + ROD * 0.25 + BALL
    still = 0.3 * 2 * WIDE**2 / 12 + SLIDER * 0.01 / 6

    def J(b: complex) -> complex:
        c, s = np.cos(b), np.sin(b)
        along = ROD * (1.0 + WIDE**2) / 12.0 * c**2 + 2 * lean * s**2
        return still + 2.0 * (along + ROD * (ARM + 0.5 * c) ** 2 + BALL * (ARM + c) ** 2)

    momentum = J(RAISED) * SPIN

    def slopes(t: float, y: np.ndarray) -> np.ndarray:
        b, s, b_rate, s_rate = y
        c, h = np.cos(b), 1.0 - 0.5 * np.sin(b) - s
        length = np.sqrt(0.25 * c**2 + h**2)
        of_b, of_s = -(0.25 * c * np.sin(b) + 0.5 * h * c) / length, -h / length
        pull = STIFFNESS * (length - NATURAL) + DAMPING * (of_b * b_rate + of_s * s_rate)
        w = momentum / J(b)
        sn = np.sin(b)
        J_rate = 2.0 * (
            -2.0 * c * sn * (ROD * (1.0 + WIDE**2) / 12.0 - 2 * lean) - sn * ROD * (ARM + 0.5 * c) - 2.0 * sn * BALL * (ARM + c)
        )
        turn = (0.25 * J_rate * w**2 + GRAVITY * (0.5 * ROD + BALL) * c - pull * of_b) / I
        return np.array([b_rate, s_rate, turn, -GRAVITY - 2.0 * pull * of_s / SLIDER])

    def jacobian(t: float, y: np.ndarray) -> np.ndarray:
        step = 1e-30
        return np.array([np.imag(slopes(t, y + 1j * step * e)) / step for e in np.eye(4)]).T

    start = np.array([RAISED, 0.5, 0.0, 0.0])
    run = solve_ivp(slopes, (0.0, times[-1]), start, "Radau", times, rtol=1e-10, atol=1e-12, jac=jacobian)
    return run.y[1]
