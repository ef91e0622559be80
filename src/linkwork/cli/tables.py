"""What commands print about a run."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..health import Health

MEANINGS = {
    "energy_drift": "part of the energy that moved",
    "joint_gap": "largest distance between the two sides of a joint",
    "constraint_residual": "largest error of an equality constraint",
    "constraint_rate": "largest rate that breaks an equality constraint",
    "penetration": "deepest contact",
    "limits": "farthest beyond a joint limit",
    "complementarity": "error that the contact solver left",
}


def print_health(health: Health) -> None:
    """A table: quantity, number, meaning; then the account of the energy in words."""
    rows = [(name.replace("_", " "), health.shown(name), MEANINGS[name]) for name in health.numbers]
    verdict = "sound" if health.ok else "doubtful, see the warnings"
    print_rows([("health", "finite" if health.finite else "NOT FINITE", verdict), *rows])
    known = len(health.numbers)
    doubts = health.reasons if health.finite else ()
    words = [w for w in health.words() if w != "NOT FINITE"][len(doubts) :]
    account = health.account.words() if health.account else ()
    for line in (*account, *words[known + len(account) :]):
        print(f"         {line}")


def print_verdict(health: Health) -> None:
    """Lines on the standard error, the last that a command prints: why results are doubtful, if they are."""
    for reason in health.reasons:
        print(f"linkwork: warning: results are doubtful: {reason}", file=sys.stderr)


def print_rows(rows: Iterable[Sequence[str]], gap: str = "  ") -> None:
    """Columns as wide as they need to be."""
    table = [tuple(map(str, row)) for row in rows]
    widths = [max((len(row[k]) for row in table if k < len(row)), default=0) for k in range(max(map(len, table), default=0))]
    for row in table:
        print(gap.join(f"{cell:{w}}" for cell, w in zip(row, widths, strict=False)).rstrip())


def health_json(health: Health) -> dict[str, Any]:
    """The same as plain values."""
    from dataclasses import asdict

    account = {} if health.account is None else asdict(health.account)
    verdict = {"ok": health.ok, "reasons": list(health.reasons)}
    return {**verdict, "finite": health.finite, **health.numbers, "account": account, "words": list(health.words())}
