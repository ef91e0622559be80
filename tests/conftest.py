"""Makes the helper modules of the tests importable: `models`, `identities.dense`; one thread per worker for dense solves."""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
