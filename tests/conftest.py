"""Makes the helper modules of the tests importable: `models`, `identities.dense`; one thread per worker for dense solves.

Kernels are compiled at level 0, three times faster than those of users; tests/identities/test_eager_compiled.py shows that both
give the same bits. `LINKWORK_LEVEL=1` before the test command runs all tests on kernels as users have them.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("LINKWORK_LEVEL", "0")
