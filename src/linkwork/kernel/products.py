"""Products of matrices as loop functions: in one lane whole registers run along the rows of a product.

    C = scale (A B), or added to C,      each entry a sum in the order of the columns of A, with one rounding a term

In one lane the columns of C lie side by side, so that vectors of them are made at once (`product_text`). No sum changes its
order, so the function as it stands, which other numbers of lanes run, rounds alike. Sums of rows and small triangles with many
right-hand sides go the same way (`row_text`).
"""

from __future__ import annotations

from .loops import Lane, maximum
from .one_lane import in_one_lane
from .product_text import product_ir
from .row_text import clear_ir, copy_ir, entries_ir, largest_ir, scaled_ir, three_ir, triangle_ir, turned_ir


@in_one_lane(clear_ir)
def clear(count: int, A: Lane) -> None:
    """Zeros."""
    for i in range(count):
        A[i] = 0.0


@in_one_lane(copy_ir)
def copy(count: int, A: Lane, a: int, B: Lane, b: int) -> None:
    """B, from record b on, is A from record a on; they do not overlap."""
    for i in range(count):
        B[b + i] = A[a + i]


@in_one_lane(lambda symbol, width: scaled_ir(symbol, width, onto=True))
def add_scaled(count: int, scale: float, A: Lane, a: int, B: Lane, b: int) -> None:
    """B += scale A, from record a and record b on; they do not overlap."""
    for i in range(count):
        B[b + i] += scale * A[a + i]


@in_one_lane(lambda symbol, width: scaled_ir(symbol, width, onto=False))
def put_scaled(count: int, scale: float, A: Lane, a: int, B: Lane, b: int) -> None:
    """B = scale A, the same."""
    for i in range(count):
        B[b + i] = scale * A[a + i]


@in_one_lane(lambda symbol, width: three_ir(symbol, width, onto=True))
def add_three(count: int, p: float, q: float, r: float, A: Lane, a: int, B: Lane, b: int) -> None:
    """B += q A_2 + r A_3 + p A_1, one after the other, of three rows of A that follow one another, from record a and b on."""
    for i in range(count):
        B[b + i] = p * A[a + i] + (r * A[a + 2 * count + i] + (q * A[a + count + i] + B[b + i]))


@in_one_lane(lambda symbol, width: three_ir(symbol, width, onto=False))
def put_three(count: int, p: float, q: float, r: float, A: Lane, a: int, B: Lane, b: int) -> None:
    """B = p A_1 + q A_2 + r A_3, of three rows of A one after the other, from record a and record b on."""
    for i in range(count):
        B[b + i] = p * A[a + i] + (q * A[a + count + i] + r * A[a + 2 * count + i])


@in_one_lane(turned_ir)
def turn_rows(count: int, d1: float, d2: float, A: Lane, a: int, b: int) -> None:
    """Rows of A from record a and record b on become d2 a - d1 b and d1 a + d2 b."""
    for i in range(count):
        across = d2 * A[a + i] - d1 * A[b + i]
        A[b + i] = d1 * A[a + i] + d2 * A[b + i]
        A[a + i] = across


@in_one_lane(entries_ir)
def put_entries(count: int, A: Lane, a: int, S: Lane, B: Lane, b: int, C: Lane, c: int) -> None:
    """C = B + A S, entry by entry, from record c, b, a and the first on."""
    for i in range(count):
        C[c + i] = B[b + i] + A[a + i] * S[i]


@in_one_lane(largest_ir)
def largest_entry(count: int, A: Lane) -> float:
    """The largest size of so many numbers, at least one."""
    most = abs(A[0])
    for i in range(1, count):
        most = maximum(most, abs(A[i]))
    return most


@in_one_lane(lambda symbol, width: triangle_ir(symbol, width, lower=True))
def solve_lower(rows: int, n: int, L: Lane, at: int, L_row: int, x: Lane, c: int) -> None:
    """x (rows, n), from record c on, becomes L^-1 x: at most four rows, ones on the diagonal of L, which begins at a record."""
    for i in range(1, rows):
        for k in range(i):
            for j in range(n):
                x[c + i * n + j] -= L[at + i * L_row + k] * x[c + k * n + j]


@in_one_lane(lambda symbol, width: triangle_ir(symbol, width, lower=False))
def solve_upper(rows: int, n: int, U: Lane, at: int, U_row: int, x: Lane, c: int) -> None:
    """x (rows, n) becomes U^-1 x: at most four rows, on the diagonal of U its reciprocals."""
    for back in range(rows):
        i = rows - 1 - back
        for k in range(i + 1, rows):
            for j in range(n):
                x[c + i * n + j] -= U[at + i * U_row + k] * x[c + k * n + j]
        for j in range(n):
            x[c + i * n + j] = x[c + i * n + j] * U[at + i * U_row + i]


@in_one_lane(lambda symbol, width: product_ir(symbol, width, onto=True))
def add_product(
    m: int,
    n: int,
    k: int,
    scale: float,
    A: Lane,
    a: int,
    row: int,
    column: int,
    B: Lane,
    b: int,
    B_row: int,
    C: Lane,
    c: int,
    C_row: int,
) -> None:
    """C += scale (A B), C (m, n) from record c on with C_row records a row; A (m, k) has its own steps by row and column."""
    for i in range(m):
        for j in range(n):
            total = 0.0 * scale
            for p in range(k):
                total += A[a + i * row + p * column] * B[b + p * B_row + j]
            C[c + i * C_row + j] += scale * total


@in_one_lane(lambda symbol, width: product_ir(symbol, width, onto=False))
def put_product(
    m: int,
    n: int,
    k: int,
    scale: float,
    A: Lane,
    a: int,
    row: int,
    column: int,
    B: Lane,
    b: int,
    B_row: int,
    C: Lane,
    c: int,
    C_row: int,
) -> None:
    """C = scale (A B), the same; C is not A or B."""
    for i in range(m):
        for j in range(n):
            total = 0.0 * scale
            for p in range(k):
                total += A[a + i * row + p * column] * B[b + p * B_row + j]
            C[c + i * C_row + j] = scale * total
