"""Motion in the tangent space of a configuration: q(t) = integrate(q0, u(t)), so that Runge-Kutta methods may add.

With body velocities v on a group, v = dexp_{-u} u_dot, hence [Hairer, Lubich & Wanner, Geometric Numerical Integration, IV.7,
in body axes]

    u_dot = v + [u, v] / 2 + sum over even k of B_k / k! ad_u^k v,     B_2 = 1/6, B_4 = -1/30, ... (Bernoulli numbers).

Where `integrate` adds, the bracket vanishes and u_dot = v. The series converges for turns below 2 pi.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb, factorial
from typing import Any

import numpy as np

from ..joints import Joint
from ..kernel.sweep import Algorithm, Field, each
from ..model import Model
from ..model.rules import joint_of
from ..spatial.scalar import Vector

TERMS = 20  # for turns up to 1 rad the rest is 2 (1 / 2 pi)^22 = 1e-17


def _bernoulli(count: int) -> list[Fraction]:
    """B_0 to B_count, from the sum of binomial(m + 1, k) B_k over k <= m, which is zero."""
    B = [Fraction(1)]
    for m in range(1, count + 1):
        B.append(-sum((comb(m + 1, k) * B[k] for k in range(m)), Fraction(0)) / (m + 1))
    return B


WEIGHTS = tuple(float(b / factorial(k)) for k, b in enumerate(_bernoulli(TERMS)))


def tangent_rate(joint: Joint, u: Vector, v: Vector, terms: int = TERMS) -> Vector:
    """u_dot of the module's text, with the brackets up to `terms` (a method of order p needs p - 2)."""
    nested = joint.bracket(u, v)
    rate = v + 0.5 * nested
    for k in range(2, terms + 1):
        nested = joint.bracket(u, nested)
        if k % 2 == 0:
            rate = rate + WEIGHTS[k] * nested
    return rate


def adds(joint: Joint) -> bool:
    """Whether velocities of a joint are the rates of its coordinates, so that its bracket vanishes."""
    a, b = np.linspace(0.3, 0.7, joint.nv), np.linspace(-0.5, 0.9, joint.nv) ** 2
    return not np.any(np.asarray(joint.bracket(a, b), float))


def _rate(n: Any) -> None:
    n.u_dot = tangent_rate(joint_of(n), n.u, n.v)


def _rechart(n: Any) -> None:
    n.q_new, n.v_new = joint_of(n).rechart(n.q, n.v)


TANGENT_RATES = Algorithm(
    "tangent_rates",
    {"u": Field("input", "v"), "v": Field("input", "v"), "u_dot": Field("output", "v")},
    {"run": [each(_rate)]},
)
RECHART = Algorithm(
    "rechart",
    {"q": Field("input", "q"), "v": Field("input", "v"), "q_new": Field("output", "q"), "v_new": Field("output", "v")},
    {"run": [each(_rechart)]},
)


def tangent_rates(model: Model, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """u_dot of all joints (nv,)."""
    return model.call(TANGENT_RATES, {"u": u, "v": v})["u_dot"]


def recharted(model: Model, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same poses and twists in coordinates away from singularities: `Joint.rechart` of all joints."""
    out = model.call(RECHART, {"q": q, "v": v})
    return out["q_new"], out["v_new"]
