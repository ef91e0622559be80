"""What every kind of bad input gives: `python tests/robustness/survey.py` prints a line for each, and the counts.

Run it with another version on PYTHONPATH to see what that one gives.
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

import numpy as np
from kinds import KINDS

import linkwork as lw


def finite(x: Any) -> bool:
    """Whether a result has finite numbers alone, as far as it is made of numbers."""
    if isinstance(x, lw.Trajectory):
        return all(finite(a) for a in x.arrays.values())
    try:
        return bool(np.all(np.isfinite(np.asarray(x, dtype=float))))
    except (TypeError, ValueError):
        return True


def verdict(name: str) -> tuple[str, str]:
    """What became of a kind, and the message."""
    kind = KINDS[name]
    try:
        found = kind.do()
    except lw.LinkworkError as error:
        text = str(error)
        missing = [s for s in kind.said if s not in text]
        if "\n" in text:
            return "several lines", text
        return ("refused", text) if not missing else ("unclear", f"{text}   [lacks {missing}]")
    except Exception as error:
        return "foreign", f"{type(error).__name__}: {error}"
    return ("silent", "") if finite(found) else ("not finite", "")


def main() -> None:
    """Print all, or those whose names contain an argument."""
    counts: Counter[str] = Counter()
    for name in KINDS:
        if len(sys.argv) > 1 and sys.argv[1] not in name:
            continue
        what, text = verdict(name)
        counts[what] += 1
        if what != "refused" or len(sys.argv) > 1:
            print(f"{what:14} {name:45} {text[:220]}")
    print(dict(counts), sum(counts.values()))


if __name__ == "__main__":
    main()
