"""Loop functions that go lane by lane: in a batch, what takes another number of rounds in every lane waits for nobody.

    @lane_by_lane
    def solve(n: int, A: Strided, b: Strided, L: Lane) -> None: ...

The kernel for W lanes is the code for one lane, run W times. Numbers of lanes lie side by side, so that of a `Strided` array the
code sees every W-th number, its own; `Lane` and `Ints` arrays are scratch, in which the numbers of the one lane lie densely. Sums
of one lane run along whole registers where a function says how (`products`), so that little is lost: whatever branches, and
whatever is of another size in every lane, is better off here. Results are those of one state alone, to the bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .lanes import Lanes
from .loop_writer import Kind, Lines
from .loops import HEAD, LoopFunction, Module, read_entries


class LaneByLane(LoopFunction):
    """A loop function whose kernels for several lanes run the code for one in each of them."""

    def written_kernel(self, lanes: Lanes) -> list[str]:
        if lanes.width == 1:
            return super().written_kernel(lanes)
        one = Lanes(1, lanes.single)
        module, w = Module(one, lanes.width), Lines(one)
        body = module.signature(self)
        assert body is not None
        given = read_entries(w, lanes, [kind for _, kind in self.parameters])
        w.do("br label %lanes")
        w.label("lanes")
        w.do("%lane = phi i64 [ 0, %entry ], [ %next, %lanes ]")
        arguments = []
        for (_, kind), (written, x) in zip(body.parameters, given, strict=True):
            x = w.emit(f"getelementptr {lanes.element}, ptr {x}, i64 %lane") if kind is Kind.STRIDED else x
            arguments.append(f"{written} {x}")
        w.do(f"call void @{body.symbol}({', '.join(arguments)})")
        w.do("%next = add i64 %lane, 1")
        w.do(f"%more = icmp slt i64 %next, {lanes.width}")
        w.do("br i1 %more, label %lanes, label %done")
        return [*module.functions, "\n".join([HEAD, "entry:", *w.lines, "done:", "  ret void", "}"])]


def lane_by_lane(function: Callable[..., Any]) -> LaneByLane:
    """A loop function of this kind; see the module's text."""
    return LaneByLane(function)
