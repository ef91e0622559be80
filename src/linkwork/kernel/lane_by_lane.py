"""Loop functions that go lane by lane: in a batch, what takes another number of rounds in every lane waits for nobody.

    @lane_by_lane(alike, undone)
    def solve(n: int, on: Strided, A: Strided, b: Strided, L: Lane) -> None: ...

The kernel for W lanes is the code for one lane, run W times. Numbers of lanes lie side by side, so that of a `Strided` array the
code sees every W-th number, its own; `Lane` and `Ints` arrays are scratch, in which the numbers of the one lane lie densely. Sums
of one lane run along whole registers where a function says how (`one_lane`), so that little is lost: whatever branches, and
whatever is of another size in every lane, is better off here.

Where `alike` says that lanes do the same, they go all at once; there `lanes_at_once()` is more than 1, so that the code may leave
lanes that take long. `undone` says which: these go alone, from the beginning. Both are loop functions of some of the parameters,
by their names. Results are those of one state alone, to the bit, if functions that have a text of their own for one lane round as
they do in several.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .lanes import Lanes
from .loop_writer import Kind, Lines, Signature, plain
from .loops import HEAD, LoopFunction, Module, read_entries


class LaneByLane(LoopFunction):
    """A loop function whose kernels for several lanes run the code for one in each of them, unless lanes are alike."""

    def __init__(self, function: Callable[..., Any], alike: LoopFunction, undone: LoopFunction) -> None:
        super().__init__(function)
        self._alike, self._undone = alike, undone

    def written_kernel(self, lanes: Lanes) -> list[str]:
        if lanes.width == 1:
            return super().written_kernel(lanes)
        one = Lanes(1, lanes.single)
        alone, together, w = Module(one, lanes.width, ".alone"), Module(lanes), Lines(one)
        kinds = [kind for _, kind in self.parameters]
        given = dict(zip((name for name, _ in self.parameters), read_entries(w, lanes, kinds), strict=True))
        asked, at_once, body = _written(together, self._alike), _written(together, self), _written(alone, self)
        w.do(f"%same = call i1 @{asked.symbol}({_passed(asked, given)})")
        w.do("br i1 %same, label %together, label %lanes")
        w.label("together")
        w.do(f"call void @{at_once.symbol}({_passed(at_once, given)})")
        asked, every = _written(together, self._undone), ", ".join(["i1 true"] * lanes.width)
        w.do(f"%left = call {lanes.bool_type} @{asked.symbol}({_passed(asked, given)})")
        w.do("br label %lanes")
        w.label("lanes")
        w.do("%lane = phi i64 [ 0, %entry ], [ 0, %together ], [ %next, %after ]")
        w.do(f"%wanted = phi {lanes.bool_type} [ <{every}>, %entry ], [ %left, %together ], [ %wanted, %after ]")
        w.do(f"%mine = extractelement {lanes.bool_type} %wanted, i64 %lane")
        w.do("br i1 %mine, label %go, label %after")
        w.label("go")
        arguments = []
        for name, kind in body.parameters:
            written, x = given[plain(name)]
            x = w.emit(f"getelementptr {lanes.element}, ptr {x}, i64 %lane") if kind is Kind.STRIDED else x
            arguments.append(f"{written} {x}")
        w.do(f"call void @{body.symbol}({', '.join(arguments)})")
        w.do("br label %after")
        w.label("after")
        w.do("%next = add i64 %lane, 1")
        w.do(f"%more = icmp slt i64 %next, {lanes.width}")
        w.do("br i1 %more, label %lanes, label %done")
        kernel = "\n".join([HEAD, "entry:", *w.lines, "done:", "  ret void", "}"])
        return [*together.functions, *alone.functions, kernel]


def _written(module: Module, function: LoopFunction) -> Signature:
    """A function that a module has written."""
    signature = module.signature(function)
    assert signature is not None
    return signature


def _passed(signature: Signature, given: dict[str, tuple[str, str]]) -> str:
    """The arguments of a function, by the names of its parameters."""
    return ", ".join(" ".join(given[plain(name)]) for name, _ in signature.parameters)


def lane_by_lane(alike: LoopFunction, undone: LoopFunction) -> Callable[[Callable[..., Any]], LaneByLane]:
    """A decorator for loop functions of this kind, which have no parameters that are lane values; see the module's text."""
    return lambda function: LaneByLane(function, alike, undone)


class LaneCount(LoopFunction):
    """The number of lanes of the code that asks."""

    def written(self, lanes: Lanes, symbol: str, stride: int) -> str | None:
        return f"define internal i64 @{symbol}() #0 {{\n  ret i64 {lanes.width}\n}}"


@LaneCount
def lanes_at_once() -> int:
    """How many lanes the code is for; as plain Python it is for one."""
    return 1
