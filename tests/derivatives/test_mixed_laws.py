"""Laws on bodies and joints together: rows, loads, slopes and powers against finite differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

import linkwork as lw
from linkwork.elements.law import ForceLaw, Law, RowLaw
from linkwork.elements.loads import LoadEvaluation
from linkwork.elements.nodes import LawNodes
from linkwork.elements.ports import BodyPort, JointPort
from linkwork.elements.rows import RowEvaluation

PORTS = (BodyPort("a"), JointPort("ball"), BodyPort("world"), JointPort("slide"))
X = np.array([0.2, -0.1, 0.3])


class Mixture(Law):
    """A law on a body, a ball joint, the world, and a slider."""

    parameter_names: ClassVar[tuple[str, ...]] = ("ratio",)
    ratio = 0.7

    @property
    def ports(self) -> Any:
        return PORTS

    def code(self, joints: Sequence[lw.Joint]) -> tuple[Any, ...]:
        return (type(self).__name__,)

    def check(self, model: Any) -> None:
        """Nothing to check."""


class Winch(Mixture, ForceLaw):
    """An energy of all values, and a force that is not conservative on the slider."""

    def stored_energy(self, at: Sequence[Any], t: Any, u: Any) -> Any:
        E, quat, world, s = (a.value for a in at)
        x = E @ X - world.p
        return (x[2] - self.ratio * s[0]) ** 2 + quat[1] * x[0] * quat[3] + np.cos(t) * s[0]

    def loads(self, at: Sequence[Any], t: Any, u: Any) -> Sequence[Any]:
        from linkwork.elements.derive import conservative

        def stored(x: Sequence[Any]) -> Any:
            return self.stored_energy([type(a)(**{**a.__dict__, "value": v}) for a, v in zip(at, x, strict=True)], t, u)

        f = conservative(stored, at)
        return [*f[:3], f[3] - 0.3 * at[3].velocity * at[1].velocity[0] ** 2]


class Drum(Mixture, RowLaw):
    """Two residuals of all values and time."""

    size, timed = 2, True

    def gap_of(self, x: Sequence[Any], t: Any, unknown: Any) -> Any:
        E, quat, _, s = x
        return [(E @ X)[2] - self.ratio * s[0] * np.sin(t), quat[1] * E.R[0, 1] + s[0] * quat[0]]


def model() -> lw.Model:
    b = lw.ModelBuilder().body("a", joint=lw.Free(), inertia=lw.Inertia(1.0, tensor=np.eye(3)))
    b.body("slide", parent="a", joint=lw.Prismatic((0, 0, 1)), inertia=lw.Inertia(1.0, tensor=np.eye(3)))
    return b.body("ball", joint=lw.Spherical(), inertia=lw.Inertia(1.0, tensor=np.eye(3))).build()


M = model()
Q, V, T = M.random_configuration(3), np.random.default_rng(1).normal(size=M.nv), 0.4


def given(q: np.ndarray, v: np.ndarray, t: float = T) -> dict[str, np.ndarray]:
    k = lw.kinematics(M, q, v)
    return {"pose": k.poses, "twist": k.twists, "q": q, "v": v, "t": np.array([t]), "u": np.zeros(0)}


def slope(f: Any, h: float = 1e-3) -> np.ndarray:
    return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h)


def test_rows() -> None:
    """The bodies of free joints have the joint's velocities as twists: columns of G are those of v."""
    rows = RowEvaluation(LawNodes(M, [Drum()]))

    def at(s: float, v: np.ndarray, dt: float = 0.0) -> Any:
        k = given(M.integrate(Q, s * v), V)
        return rows.at(rows.inputs(k["pose"], k["twist"], k["q"], V, T + dt))

    G, found = at(0.0, V)
    for e in np.eye(M.nv):
        column = G @ lw.Motion(lw.kinematics(M, Q, e).twists, e)
        assert np.abs(column - slope(lambda s, e=e: at(s, e)[1]["residual"])).max() < 1e-9
    assert np.abs(found["rate"] - slope(lambda s: at(s, V, s)[1]["residual"])).max() < 1e-9
    assert np.abs(found["bias"] - slope(lambda s: at(s, V, s)[1]["rate"])).max() < 1e-8
    assert np.abs(found["given"] + slope(lambda s: at(0.0, V, s)[1]["residual"])).max() < 1e-9


def test_loads_are_minus_the_gradient_of_the_energy_and_of_powers_the_rest_is_left() -> None:
    forces = LoadEvaluation(LawNodes(M, [Winch()]))
    loads, still = forces.loads(given(Q, V), ()), forces.loads(given(Q, 0 * V), ())
    wrench, tau = still[: 6 * M.nb].reshape(-1, 6), still[6 * M.nb :]
    for e in np.eye(M.nv):
        work = np.sum(wrench * lw.kinematics(M, Q, e).twists) + tau @ e
        drop = -slope(lambda s, e=e: forces.energies(given(M.integrate(Q, s * e), 0 * V), ()))[0]
        assert abs(work - drop) < 1e-9
    lost = (loads - still)[6 * M.nb :] @ V
    assert abs(forces.powers(given(Q, V), ())[0] - lost) < 1e-12
    assert abs(lost) > 1e-3


def test_slopes_of_loads() -> None:
    forces = LoadEvaluation(LawNodes(M, [Winch()]))
    (width,), places = forces.widths, forces.places
    df_dx, df_dv = (A.reshape(width, width) for A in forces.slopes(given(Q, V)))
    ball, slider = M.v_index("ball"), M.v_index("slide")
    columns = [*range(6), *range(6, 9), *[None] * 6, 15]  # body a, ball, the world, slider
    real = places >= 0
    for column, k in zip(range(width), columns, strict=True):
        if k is None:
            continue
        e = np.zeros(M.nv)
        e[k if k < 6 else ball.start + k - 6 if k < 9 else slider.start] = 1.0
        fixed = given(Q, V)

        def moved(s: float, e: np.ndarray = e, fixed: dict[str, np.ndarray] = fixed) -> np.ndarray:
            q = M.integrate(Q, s * e)
            return forces.loads(fixed | {"q": q, "pose": lw.kinematics(M, q).poses}, ())[places[real]]

        def faster(s: float, e: np.ndarray = e, fixed: dict[str, np.ndarray] = fixed) -> np.ndarray:
            twist = fixed["twist"] + s * (np.arange(M.nb)[:, None] == 0) * e[:6]
            return forces.loads(fixed | {"v": V + s * e, "twist": twist}, ())[places[real]]

        assert np.abs(df_dx[real, column] - slope(moved)).max() < 1e-8
        assert np.abs(df_dv[real, column] - slope(faster)).max() < 1e-8
