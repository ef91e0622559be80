"""The time of a call: CPU time, the best of a few."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def best_ms(run: Callable[[], Any], repetitions: int = 5) -> float:
    """Milliseconds of the fastest call, after one that is not counted."""
    run()
    times = []
    for _ in range(repetitions):
        begin = time.process_time()
        run()
        times.append(1e3 * (time.process_time() - begin))
    return min(times)
