"""Looks at quaternions while they are in lanes: whether they have length one.

i1 lw_lanes_unit(ptr units, i64 count)     of the quaternions whose lanes begin at these addresses
"""

from __future__ import annotations

from .lanes import Lanes

SLACK = {"double": 2e-6, "float": 2e-5}  # of the square of a length, about twice that of the length


def unit_ir(t: Lanes) -> str:
    """Whether (w^2 + x^2 + y^2 + z^2 - 1)^2 is small in every lane."""
    square, falsity = SLACK[t.element] ** 2, "false" if t.width == 1 else "zeroinitializer"
    lines = ["define i1 @lw_lanes_unit(ptr %units, i64 %count) #0 {", "start:", "  br label %next"]
    lines += ["next:", "  %i = phi i64 [ 0, %start ], [ %i.next, %look ]"]
    lines += [f"  %bad = phi {t.bool_type} [ {falsity}, %start ], [ %worse, %look ]"]
    lines += ["  %left = icmp slt i64 %i, %count", "  br i1 %left, label %look, label %done", "look:"]
    lines += ["  %unit.at = getelementptr ptr, ptr %units, i64 %i", "  %unit = load ptr, ptr %unit.at"]
    for j in range(4):
        lines += [f"  %a{j} = getelementptr {t.type}, ptr %unit, i64 {j}", f"  %x{j} = load {t.type}, ptr %a{j}, align {t.bytes}"]
        lines += [f"  %y{j} = fmul {t.type} %x{j}, %x{j}"]
    lines += [f"  %p = fadd {t.type} %y0, %y1", f"  %q = fadd {t.type} %y2, %y3", f"  %r = fadd {t.type} %p, %q"]
    lines += [f"  %off = fsub {t.type} %r, {t.constant(1.0)}", f"  %off2 = fmul {t.type} %off, %off"]
    lines += [f"  %far = fcmp ugt {t.type} %off2, {t.constant(square)}", f"  %worse = or {t.bool_type} %bad, %far"]
    lines += ["  %i.next = add i64 %i, 1", "  br label %next", "done:", *_in_no_lane(t, "bad"), "  ret i1 %fine", "}"]
    return "\n".join(lines)


def _in_no_lane(t: Lanes, flag: str) -> list[str]:
    """`%fine`: whether a flag is down in every lane."""
    if t.width == 1:
        return [f"  %fine = xor i1 %{flag}, true"]
    any_lane = f"  %any = call i1 @llvm.vector.reduce.or.v{t.width}i1({t.bool_type} %{flag})"
    return [any_lane, "  %fine = xor i1 %any, true"]
