"""Makes the helper modules of the tests importable: `models`, `identities.dense`; one thread per worker for dense solves.

Kernels are compiled at level 0, three times faster than those of users; tests/identities/test_eager_compiled.py shows that both
give the same bits. `LINKWORK_LEVEL=1` before the test command runs all tests on kernels as users have them.

Python looks for cycles of garbage less often: tracing makes many small objects, and every look would walk over all tests that
were collected, which took a fifth of the time of a run.
"""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("LINKWORK_LEVEL", "0")
gc.set_threshold(50_000, 10, 10)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Tests stay until the end: nobody need look at them again."""
    gc.collect()
    gc.freeze()
