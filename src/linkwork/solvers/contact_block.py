"""One contact alone, solved exactly, in all lanes at once: u = B x + c with 3 x 3 B, and Coulomb's law.

Either it opens: x = 0, where c_n >= 0. Or it sticks: u = 0. Or it slides: u_n = 0 and u_t = -k x_t with k > 0. With x_n from
u_n = 0, what is left of the tangents is

    (S + k 1) x_t = -g,    S = B_tt - B_tn B_nt / B_nn,    g = c_t - B_tn c_n / B_nn

Sticking is k = 0. Sliding is the k at which |x_t| = mu x_n. With p = adj(S + k 1) g, linear in k, and D = det(S + k 1),

    x_t = -p / D,    x_n = q / D,    q = (B_nt p - c_n D) / B_nn, quadratic in k:    mu q(k) = |p(k)|

At k = 0 the right side is larger, as it does not stick. Where k is large the left one is, as c_n < 0: there is a root between,
and an upper bound of it is the larger root of mu q = |p(0)| + k |g|. Newton's method finds it between these bounds.
"""

from __future__ import annotations

from ..kernel.loops import Lane, Mask, any, loops, sqrt, where
from .extremes import smaller

STEPS = 30  # of Newton's method; a few are enough but for bad luck
LARGEST = 1e15  # k at most: less friction than this is none


@loops
def solve_contact(
    m: int, i: int, A: Lane, mu: float, c0: float, c1: float, c2: float, eps: float, close: float, x: Lane, go: float
) -> None:
    """x of rows i, i + 1, i + 2, whose block of A (m columns) with eps on its diagonal is B, in lanes that go.

    close   how well |x_t| and mu x_n agree before the latter decides, relative
    """
    a = i * m + i
    r = 1.0 / (A[a] + eps)
    h1 = A[a + 1] * r
    h2 = A[a + 2] * r
    v1 = A[a + m]
    v2 = A[a + 2 * m]
    s11 = A[a + m + 1] + eps - v1 * h1
    s12 = A[a + m + 2] - v1 * h2
    s21 = A[a + 2 * m + 1] - v2 * h1
    s22 = A[a + 2 * m + 2] + eps - v2 * h2
    push = -c0 * r
    g1 = c1 + v1 * push
    g2 = c2 + v2 * push
    p1 = s22 * g1 - s12 * g2
    p2 = s11 * g2 - s21 * g1
    det = s11 * s22 - s12 * s21
    trace = s11 + s22
    # q = q0 + q1 k + push k^2
    q0 = push * det + h1 * p1 + h2 * p2
    q1 = push * trace + h1 * g1 + h2 * g2
    p = sqrt(p1 * p1 + p2 * p2)
    k = 0.0 * go
    slides = (go > 0.0) & (push > 0.0) & ~((p <= mu * q0) & (det > 0.0))
    if any(slides):
        g = sqrt(g1 * g1 + g2 * g2)
        k = where(slides, slip(mu, q0, q1, push, p1, p2, g1, g2, p, g, close, slides), 0.0)
    d = det + k * trace + k * k
    p1 += k * g1
    p2 += k * g2
    n = (q0 + k * q1 + k * k * push) / d
    t = where(slides, -mu * n / sqrt(where(slides, p1 * p1 + p2 * p2, 1.0)), -1.0 / d)
    acts = push > 0.0
    x[i] = where(go > 0.0, where(acts, n, 0.0), x[i])
    x[i + 1] = where(go > 0.0, where(acts, t * p1, 0.0), x[i + 1])
    x[i + 2] = where(go > 0.0, where(acts, t * p2, 0.0), x[i + 2])


@loops
def slip(
    mu: float,
    q0: float,
    q1: float,
    q2: float,
    p1: float,
    p2: float,
    g1: float,
    g2: float,
    p: float,
    g: float,
    close: float,
    slides: Mask,
) -> float:
    """k > 0 with mu (q0 + q1 k + q2 k^2) = |p + k g|, where the right side is larger at k = 0."""
    half = 0.5 * (g - mu * q1)
    root = sqrt(half * half + mu * q2 * (p - mu * q0))
    above = where(half > 0.0, (half + root) / (mu * q2), (p - mu * q0) / (root - half))
    high = where(above < LARGEST, above, LARGEST)  # also where there is none
    low = 0.0 * high
    k = high
    live = where(slides, 1.0, 0.0)
    for _ in range(STEPS):
        e1 = p1 + k * g1
        e2 = p2 + k * g2
        e = sqrt(e1 * e1 + e2 * e2)
        left = mu * (q0 + k * (q1 + k * q2))
        off = left - e
        low = where(off < 0.0, k, low)
        high = where(off < 0.0, high, k)
        slope = mu * (q1 + 2.0 * q2 * k) - (e1 * g1 + e2 * g2) / e
        step = k - off / slope
        inside = (step > low) & (step < high)
        live = where((abs(off) <= close * e) | ~(high - low > close * high), 0.0, live)
        if not any(live > 0.0):
            break
        k = where(live > 0.0, where(inside, step, 0.5 * (low + high)), k)
    return smaller(k, LARGEST)
