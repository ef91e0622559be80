"""Prepared functions, in a process that has done nothing else."""

from __future__ import annotations

import subprocess
import sys

import pytest

FRESH = """
import numpy as np
import linkwork as lw

b = lw.ModelBuilder()
b.body("arm", joint=lw.Revolute((0, 1, 0)), inertia=lw.Inertia.cuboid(1.0, (1, 0.1, 0.1), (0.5, 0, 0)))
m = b.build()
found = m.function({name!r})(*(np.full(1, 0.3),) * {count}).copy()
assert np.array_equal(found, lw.{name}(m, *(np.full(1, 0.3),) * {count})), found
"""


@pytest.mark.parametrize(("name", "count"), [("forward_dynamics", 3), ("inverse_dynamics", 3), ("mass_matrix", 1)])
def test_prepared_before_anything_else(name: str, count: int) -> None:
    """The functions are told of by modules that nothing else has imported yet."""
    done = subprocess.run(
        [sys.executable, "-c", FRESH.format(name=name, count=count)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
