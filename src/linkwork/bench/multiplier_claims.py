"""What the rows of the benchmark on multipliers mean: published figures, notes, and ratios that are of interest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]


def _published(quantity: str, mode: str, milliseconds: float) -> tuple[Row, ...]:
    return ({"quantity": quantity, "mode": mode, "us": 1e3 * milliseconds},)


PUBLISHED: dict[str, tuple[Row, ...]] = {
    "chain1000": _published("implicit_frame", "native", 22.0),
    "chain10000": _published("implicit_frame", "native", 285.0),
    "hand": _published("implicit_frame", "native", 0.36),
    "plane108": _published("accelerations", "single", 7.75),
    "plane96+12": _published("accelerations", "single", 7.75 + 17.0),
    "space96+3": _published("accelerations", "single", 18.0),
    "space381": _published("accelerations", "single", 44.6),
}
"""[Hernandez et al. 2011], on a processor of 2008 or so; [Baraff 1996], on one of 250 MHz."""

NOTES = (
    "factor_solve native: the elimination of a compiled step, for an assembled system; prepared: BlockTree on any blocks, from "
    "Python; scipy: splu and solve of the same matrix without its zeros; scipy in order: the same in the order of elimination",
    "grandparents: springs of 1e4 N m/rad in the hinges; the first implicit step is solved, of 1/60 s",
    "implicit_frame: one solve in a frame, as published; hand_limits: four, as simulate does to find which limits act together",
    "accelerations: linkwork computes M, J and c besides; dense, banded and conjugate gradients (to 1e-8) are given them",
    "assembly_step: the four stages of Runge and Kutta, projection, impulses: six passes that each cost what accelerations do",
    "handle_step: Simulator.step from Python with another target of the handle every time",
)


@dataclass(frozen=True)
class Place:
    """One time among the rows."""

    case: str
    quantity: str
    engine: str = "linkwork"
    mode: str = "native"

    def us(self, rows: Sequence[Row]) -> float | None:
        """Its microseconds, if measured."""
        own = (self.case, self.quantity, self.engine, self.mode)
        found = [r["us"] for r in rows if (r["case"], r["quantity"], r["engine"], r["mode"]) == own]
        return found[0] if found else None


def _pairs() -> Iterator[tuple[str, Place, Place]]:
    for case in ("chain100", "chain1000", "chain10000", *(f"chain{n}_grandparents" for n in (100, 1000, 10000))):
        for mode in ("native", "prepared"):
            longer, shorter = Place(case, "factor_solve", "scipy", "single"), Place(case, "factor_solve", mode=mode)
            yield f"{case}: scipy / linkwork {mode}, factor and solve", longer, shorter
    for case in ("chain10", "chain100", "chain1000", "chain10000", "chain100000", "chain1000_grandparents", "hand", "drag"):
        for quantity, words in (("factor_solve", "factor and solve"), ("assemble_factor_solve", "assemble, factor and solve")):
            yield f"{case}: frame / ({words})", Place(case, "implicit_frame"), Place(case, quantity)
    for a, b in (("chain1000", "chain100"), ("chain10000", "chain1000"), ("chain100000", "chain10000")):
        yield f"{b} to {a}: growth of a frame", Place(a, "implicit_frame"), Place(b, "implicit_frame")
    for case, rows in PUBLISHED.items():
        quantity, mode = rows[0]["quantity"], rows[0]["mode"]
        ours = Place(case, quantity, mode="prepared" if mode == "single" else mode)
        yield f"{case}: published / linkwork, {quantity}", Place(case, quantity, "published", mode), ours
    for mode in ("native", "prepared", "single"):
        auxiliary, primary = (Place(case, "accelerations", mode=mode) for case in ("plane96+12", "plane108"))
        yield f"96 primary and 12 auxiliary multipliers / 108 primary, {mode}", auxiliary, primary
    auxiliary, primary = (Place(case, "accelerations", "published", "single") for case in ("plane96+12", "plane108"))
    yield "96 primary and 12 auxiliary multipliers / 108 primary, published", auxiliary, primary
    for case in ("plane108", "plane96+12", "space96+3", "space381"):
        yield f"{case}: a step / accelerations, native", Place(case, "assembly_step"), Place(case, "accelerations")
    factor, solve = (Place("space381", quantity, mode="prepared") for quantity in ("factor", "solve"))
    yield "space381: factor / solve", factor, solve


def claims(rows: Sequence[Row]) -> Iterator[str]:
    """The ratios whose two times were measured."""
    for text, longer, shorter in _pairs():
        a, b = longer.us(rows), shorter.us(rows)
        if a and b:
            yield f"{text}: {a / b:.3g}"
