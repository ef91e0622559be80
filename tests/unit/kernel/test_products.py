"""Products of matrices in one lane: as NumPy has them, and to the bit as the loops that they stand for; with registers of every
size that the machine can run, which are its own and all smaller ones."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.kernel import machine
from linkwork.kernel.lanes import Lanes
from linkwork.kernel.listed_products import add_listed, put_listed
from linkwork.kernel.loops import Lane, LoopFunction, loops
from linkwork.kernel.matrix_rows import put_sum, scale_rows
from linkwork.kernel.one_lane import InOneLane
from linkwork.kernel.products import (
    add_product,
    add_scaled,
    add_three,
    clear,
    copy,
    largest_entry,
    put_entries,
    put_product,
    put_scaled,
    put_three,
    solve_lower,
    solve_upper,
    turn_rows,
)
from linkwork.kernel.row_sums import motions, row_motion
from linkwork.kernel.transposes import put_transposed

SIZES = [size for size in (16, 32, 64) if size <= machine.register_bytes()]


@pytest.fixture(params=SIZES, autouse=True)
def registers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """The bytes of a register, to which all functions here are compiled anew."""
    monkeypatch.setattr(machine, "register_bytes", lambda: request.param)
    for function in globals().values():
        if isinstance(function, LoopFunction):
            monkeypatch.setattr(function, "_kernels", {})
    return request.param


def test_texts_are_those_of_the_registers(registers: int) -> None:
    text = add_product.text(Lanes(1))[1]
    assert f"<{registers // 8} x double>" in text
    assert all(f"<{size // 8} x double>" not in text for size in (16, 32, 64) if size != registers)


@pytest.mark.parametrize(("m", "n", "k"), [(1, 1, 1), (4, 16, 3), (5, 17, 7), (9, 38, 24), (3, 9, 0), (0, 4, 2), (7, 31, 5)])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("product", [add_product, put_product])
def test_products(product: InOneLane, m: int, n: int, k: int, transposed: bool) -> None:
    rng = np.random.default_rng(m + n + k)
    A, B, C = rng.normal(size=(m, k + 1)), rng.normal(size=(k + 1, n + 2)), rng.normal(size=(m + 1, n + 3))
    wanted = C.copy()
    wanted[:m, 2 : 2 + n] = (C[:m, 2 : 2 + n] if product is add_product else 0.0) - 0.5 * (A[:, :k] @ B[:k, 1 : 1 + n])
    steps = (1, m) if transposed else (k + 1, 1)
    first = (A.T if transposed else A).reshape(-1).copy()
    first = first if first.size else np.zeros(1)

    def run(width: int) -> np.ndarray:
        a, b, c = (np.repeat(x.reshape(-1)[:, None], width, axis=1) for x in (first, B, C))
        a, b, c = (x[:, 0].copy() if width == 1 else x for x in (a, b, c))
        product.call(Lanes(width), m, n, k, -0.5, a, 0, *steps, b, 1, n + 2, c, 2, n + 3)
        return c.reshape(*C.shape, -1)[..., 0]

    found = run(1)
    assert np.allclose(found, wanted, atol=1e-13)
    assert np.array_equal(found, run(4))


@pytest.mark.parametrize(("m", "n"), [(1, 1), (8, 4), (19, 3), (0, 2), (5, 4), (8, 8), (11, 21), (3, 0)])
@pytest.mark.parametrize("product", [add_listed, put_listed])
def test_listed_products(product: InOneLane, m: int, n: int) -> None:
    rng, rows = np.random.default_rng(m + n), np.array([9, 9, 0, 2, 5], np.int32)
    A, B, C = rng.normal(size=(m + 1, 6)), rng.normal(size=(6, n + 2)), rng.normal(size=(m + 1, n + 3))
    wanted = C.copy()
    wanted[:m, 2 : 2 + n] = (C[:m, 2 : 2 + n] if product is add_listed else 0.0) - 0.5 * (
        A[:m, rows[2:]] @ B[rows[2:], 1 : 1 + n]
    )

    def run(width: int) -> np.ndarray:
        a, b, c = (np.repeat(x.reshape(-1)[:, None], width, axis=1) for x in (A, B, C))
        a, b, c = (x[:, 0].copy() if width == 1 else x for x in (a, b, c))
        product.call(Lanes(width), m, n, 3, -0.5, rows, 2, a, 6, b, 1, n + 2, c, 2, n + 3)
        return c.reshape(*C.shape, -1)[..., 0]

    found = run(1)
    assert np.allclose(found, wanted, atol=1e-13)
    assert np.array_equal(found, run(4))


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (4, 4), (3, 7), (7, 3), (8, 5), (27, 38), (0, 4)])
def test_transposes(rows: int, columns: int) -> None:
    A = np.random.default_rng(rows).normal(size=(rows, columns))
    B = np.full(rows * columns + 1, 7.0)
    put_transposed.call(Lanes(1), rows, columns, A.reshape(-1) if A.size else np.zeros(1), B)
    assert np.array_equal(B[:-1].reshape(columns, rows), A.T)
    assert B[-1] == 7.0


@pytest.mark.parametrize(("m", "n"), [(1, 1), (4, 8), (5, 19), (27, 38)])
def test_scaled_rows(m: int, n: int) -> None:
    rng = np.random.default_rng(m + n)
    A, s = rng.normal(size=(m, n)), rng.normal(size=max(m, 1))

    def run(width: int) -> np.ndarray:
        a, b, t, most = (np.repeat(x.reshape(-1)[:, None], width, axis=1) for x in (A, 0.0 * A, s, np.zeros(1)))
        a, b, t, most = (x[:, 0].copy() if width == 1 else x for x in (a, b, t, most))
        _largest_scaled.call(Lanes(width), m, n, -0.5, t, a, b, most)
        return np.append(b.reshape(m * n, -1)[:, 0], most.reshape(1, -1)[0, 0])

    found, wanted = run(1), -0.5 * s[:m, None] * A
    assert np.allclose(found[:-1].reshape(m, n), wanted, rtol=1e-15, atol=0.0)
    assert found[-1] == np.abs(found[:-1]).max(initial=0.0)
    assert np.array_equal(found, run(4))


@pytest.mark.parametrize(("m", "n"), [(1, 1), (4, 8), (5, 19), (0, 3)])
def test_sums_of_rows(m: int, n: int) -> None:
    A, B = np.random.default_rng(m + n).normal(size=(2, 5 * 19))
    C = np.zeros(7 + m * (n + 2))
    put_sum.call(Lanes(1), m, n, A, B, C, 7, n + 2)
    assert np.array_equal(C[7:].reshape(m, n + 2)[:, :n].reshape(-1), (A + B)[: m * n])
    assert np.count_nonzero(C) == m * n


@loops
def _largest_scaled(m: int, n: int, scale: float, s: Lane, A: Lane, B: Lane, most: Lane) -> None:
    most[0] = scale_rows(m, n, scale, s, A, B)


def test_clear_and_copy() -> None:
    A, B = np.arange(10.0), np.ones(12)
    copy.call(Lanes(1), 5, A, 3, B, 2)
    assert B.tolist() == [1, 1, 3, 4, 5, 6, 7, 1, 1, 1, 1, 1]
    clear.call(Lanes(1), 4, A)
    assert A.tolist() == [0, 0, 0, 0, 4, 5, 6, 7, 8, 9]


@pytest.mark.parametrize("count", [0, 3, 8, 21])
@pytest.mark.parametrize("scaled", [add_scaled, put_scaled])
def test_scaled(scaled: InOneLane, count: int) -> None:
    rng = np.random.default_rng(count)
    A, B = rng.normal(size=30), rng.normal(size=30)
    one, many = B.copy(), np.repeat(B[:, None], 4, axis=1)
    scaled.call(Lanes(1), count, 0.3, A, 2, one, 5)
    scaled.call(Lanes(4), count, 0.3, np.repeat(A[:, None], 4, axis=1), 2, many, 5)
    wanted = B.copy()
    wanted[5 : 5 + count] = 0.3 * A[2 : 2 + count] + (wanted[5 : 5 + count] if scaled is add_scaled else 0.0)
    assert np.allclose(one, wanted, atol=1e-15)
    assert np.array_equal(one, many[:, 0])


@pytest.mark.parametrize("count", [0, 3, 8, 21])
@pytest.mark.parametrize("three", [add_three, put_three])
def test_sums_of_three_rows(three: InOneLane, count: int) -> None:
    A, B = np.random.default_rng(count).normal(size=(2, 70))
    one, many = B.copy(), np.repeat(B[:, None], 4, axis=1)
    three.call(Lanes(1), count, 0.3, -1.2, 0.7, A, 2, one, 5)
    three.call(Lanes(4), count, 0.3, -1.2, 0.7, np.repeat(A[:, None], 4, axis=1), 2, many, 5)
    wanted = B.copy()
    total = np.array([0.3, -1.2, 0.7]) @ A[2 : 2 + 3 * count].reshape(3, count)
    wanted[5 : 5 + count] = total + (wanted[5 : 5 + count] if three is add_three else 0.0)
    assert np.allclose(one, wanted, atol=1e-15)
    assert np.array_equal(one, many[:, 0])


def test_put_entries() -> None:
    A, S, B, C = np.random.default_rng(0).normal(size=(4, 30))
    one, many = C.copy(), np.repeat(C[:, None], 4, axis=1)
    wide = (np.repeat(x[:, None], 4, axis=1) for x in (A, S, B))
    put_entries.call(Lanes(1), 19, A, 2, S, B, 3, one, 5)
    a, s, b = wide
    put_entries.call(Lanes(4), 19, a, 2, s, b, 3, many, 5)
    wanted = C.copy()
    wanted[5:24] = B[3:22] + A[2:21] * S[:19]
    assert np.allclose(one, wanted, atol=1e-15)
    assert np.array_equal(one, many[:, 0])


@pytest.mark.parametrize("rows", [0, 1, 2, 3, 4])
@pytest.mark.parametrize("n", [1, 8, 27])
@pytest.mark.parametrize("solve", [solve_lower, solve_upper])
def test_triangles(solve: InOneLane, rows: int, n: int) -> None:
    rng = np.random.default_rng(rows + n)
    A, x = rng.normal(size=(6, 7)), rng.normal(size=(6, n))
    T = A[1 : 1 + rows, 2 : 2 + rows]
    T = np.tril(T, -1) + np.eye(rows) if solve is solve_lower else np.triu(T, 1) + np.diag(1.0 / np.diag(T))
    one, many = x.reshape(-1).copy(), np.repeat(x.reshape(-1)[:, None], 4, axis=1)
    a = A.reshape(-1).copy()
    solve.call(Lanes(1), rows, n, a, 9, 7, one, n)
    solve.call(Lanes(4), rows, n, np.repeat(a[:, None], 4, axis=1), 9, 7, many, n)
    wanted = x.copy()
    wanted[1 : 1 + rows] = np.linalg.solve(T, x[1 : 1 + rows]) if rows else x[1:1]
    assert np.allclose(one.reshape(6, n), wanted, rtol=1e-12, atol=1e-12)
    assert np.array_equal(one, many[:, 0])


@loops
def largest_of(count: int, A: Lane, out: Lane) -> None:
    """As a kernel."""
    out[0] = largest_entry(count, A)


@pytest.mark.parametrize("count", [1, 7, 8, 40, 43])
@pytest.mark.parametrize("width", [1, 4])
def test_largest_entry(count: int, width: int) -> None:
    A = np.random.default_rng(count).normal(size=50)
    lanes, out = A if width == 1 else np.repeat(A[:, None], width, axis=1), np.zeros(1 if width == 1 else (1, width))
    largest_of.call(Lanes(width), count, lanes, out)
    assert np.all(out == np.abs(A[:count]).max())


@pytest.mark.parametrize("count", [0, 3, 8, 21])
def test_turned_rows(count: int) -> None:
    A = np.random.default_rng(count).normal(size=60)
    one, many = A.copy(), np.repeat(A[:, None], 4, axis=1)
    turn_rows.call(Lanes(1), count, 0.6, 0.8, one, 2, 30)
    turn_rows.call(Lanes(4), count, 0.6, 0.8, many, 2, 30)
    wanted, a, b = A.copy(), A[2 : 2 + count], A[30 : 30 + count]
    wanted[2 : 2 + count], wanted[30 : 30 + count] = 0.8 * a - 0.6 * b, 0.6 * a + 0.8 * b
    assert np.allclose(one, wanted, atol=1e-15)
    assert np.array_equal(one, many[:, 1])


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5, 8, 11, 21, 30, 32, 35, 67])
def test_motions(m: int) -> None:
    rng = np.random.default_rng(m)
    A, b, x = rng.normal(size=(m * m, 4)), rng.normal(size=(m, 4)), rng.normal(size=(m, 4))
    u, plain = np.zeros((m, 4)), np.zeros((m, 4))
    motions.call(Lanes(4), m, A, b, x, u)
    motions(m, A, b, x, plain)
    assert np.allclose(u, plain, atol=1e-13)
    assert np.allclose(u, np.einsum("kil,kl->il", A.reshape(m, m, 4), x) + b, atol=1e-13)
    for k in range(4):
        around = np.full(m + 8, 7.5)
        alone = [y[:, k].copy() for y in (A, b, x)]
        motions.call(Lanes(1), m, *alone, around[4:-4])
        assert np.array_equal(around[4:-4], u[:, k])
        assert np.all(around[:4] == 7.5)
        assert np.all(around[-4:] == 7.5)


@loops
def rows_one_by_one(m: int, A: Lane, b: Lane, x: Lane, u: Lane) -> None:
    for i in range(m):
        u[i] = row_motion(m, i, A, b, x)


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5, 8, 11, 30])
def test_rows_one_by_one(m: int) -> None:
    rng = np.random.default_rng(m)
    A, b, x = rng.normal(size=(m * m, 4)), rng.normal(size=(m, 4)), rng.normal(size=(m, 4))
    u = np.zeros((m, 4))
    rows_one_by_one.call(Lanes(4), m, A, b, x, u)
    assert np.allclose(u, np.einsum("ikl,kl->il", A.reshape(m, m, 4), x) + b, atol=1e-13)
    for k in range(4):
        alone = np.zeros(m)
        rows_one_by_one.call(Lanes(1), m, *(y[:, k].copy() for y in (A, b, x)), alone)
        assert np.array_equal(alone, u[:, k])
