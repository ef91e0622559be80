"""Rows that only push, and rows with a largest force, in methods that choose their steps: every row has a mode, which lasts for
whole steps, so that the motion in between is as smooth as the method needs it.

    only pushes      open (0): the row is off              held (1): G v_dot >= -bias and x >= 0, one of them an equality
    largest force    sticks (0): G v_dot = -bias, as far   slips (1, -1: the sign of its rate): the whole force against it
                     as the largest force goes

What ends a mode is an *event*: the gap of an open row is negative while it closes, the rate of one that slips has changed its
sign, one that is held parts, one that sticks slips. In the last two forces are what they must be before the event is noticed, by
complementarity, however rows share them where they are redundant; so it need not be found as exactly as the others. Gaps are
looked at in all stages, the others at the end of a trial step (`event_search`). There the modes *switch*:

    impact   v' = v + M^-1 G^T x,  G v' >= -e min(G v, 0) and x >= 0, one of them an equality, of closed gaps with restitution e
             (Newton's law; slower than SLOWEST_BOUNCE nothing bounces);  equalities keep their rates
    modes    by the complementarity of accelerations and forces after it: held is what pushes or is closed too far, and what
             rests sticks; if that needs more than the largest force it will slip by itself

The start of a run is a switch. Errors of held gaps and of rates that stick decay at FIRM, so rounding does not add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..constraints.targets import TOUCHING, any_of
from ..elements.collection import Shape
from ..elements.derive import approach, derive
from ..elements.law import RowLaw
from ..elements.ports import At, velocities
from ..kernel.loops import Lane, loops
from ..kernel.loops import where as lane_where
from ..kernel.sweep import SCALAR, Field, Routine, Step, Sweep, each, outward
from ..reduced import program as reduced
from ..reduced.forward import velocities as joint_velocities
from ..reduced.program import correct
from ..rows.asked import free_motion, pose_rows, refined, row_law_at
from ..rows.solved import ACCELERATION, MATRIX, SCRATCH, carrying_up
from ..solvers.boxes import gather, solve_boxes
from ..solvers.gram import PATHS, gram, spread
from ..spatial.scalar import Scalar, Vector, absolute, array, is_zero, minimum, where, zeros
from .settle import factor_inertia, keep_joints, keep_motion, take_joints
from .stages import renamed

FIRM = 10.0  # 1/s: rate at which errors of held rows decay
GAP = 1e-11  # m, rad: as negative as a gap may be where its event counts as found
RATE = 5e-10  # m/s, rad/s: the same of a rate; more than FIRM makes of a gap, and less than counts as none at a switch
SLOWEST = 1e-8  # m/s, rad/s: slower than this nothing parts or slips
SLOW = 1e-6  # m/s, rad/s: between the two is the rate at which what was held is said to part, and what stuck to slip
SLOWEST_BOUNCE = 1e-5  # m/s, rad/s: flights after slower ones would be shorter than a microsecond
FAR = 1e300
PILED = 1e-9  # s: switches in shorter time pile up
PILE = 100  # of them, at most
PILED_UP = 2.0  # status of a lane whose switches do
SWITCH = ("global", "switch_now")


# --- within a step ------------------------------------------------------------------------------------------------------------
def gap_and_rate(law: RowLaw, at: Sequence[At], t: Scalar, unknown: Vector) -> tuple[Vector, Vector]:
    """What must not be negative where a row only pushes, and how fast it changes; rates that must not be always approach."""
    if law.holonomic:
        return approach(law, at, t, unknown, velocities(at))
    return derive(law, at, t, unknown).rate, array([-1.0] * law.size)


def watch_modes(n: Any, *ports: Any) -> None:
    """Which rows act, by their modes; and the lowest gaps of those that are open."""
    law, at = row_law_at(n, ports)
    n.foot = unknown = refined(law, at, n.t, n.unknown)
    n.on = array([1.0] * law.size)
    if law.unilateral:
        pairs = zip(*gap_and_rate(law, at, n.t, unknown), strict=True)
        depths = [where((g < 0.0) & (r >= 0.0), 0.0, g) for g, r in pairs]
        n.lowest = array([minimum(low, d) for low, d in zip(n.lowest, depths, strict=True)])
        n.on = n.step_mode
    n.awake = any_of(n.on)


def hold_modes(n: Any, *around: Any) -> None:
    """The rows of one constraint on accelerations, by their modes."""
    ports, places = around[: len(around) // 2], around[len(around) // 2 :]
    law, at = row_law_at(n, ports)
    found = derive(law, at, n.t, n.foot)
    rate, stiffness = (2.0 * FIRM, FIRM * FIRM) if law.unilateral or law.bounded else n.baumgarte
    wanted = -found.bias - rate * found.rate - stiffness * found.residual
    pose_rows(n, law, found.G, free_motion(n, ports, at), wanted, places, 1.0)
    if law.bounded:
        rows = list(zip(n.step_mode, n.lower, n.upper, strict=True))
        n.lower = array([where(m < 0.0, u, l) for m, l, u in rows])
        n.upper = array([where(m > 0.0, l, u) for m, l, u in rows])


def open_rows(n: Any) -> None:
    """A step begins: modes stay, and no gap is seen yet."""
    n.step_mode = array([where(n.running > 0.0, m, s) for m, s in zip(n.mode, n.step_mode, strict=True)])
    n.lowest = array([FAR] * n.law.size)


def look_at_events(n: Any, *ports: Any) -> None:
    """How far every row is from the end of its mode, in units of what counts as none."""
    law, at = row_law_at(n, ports)
    rows = [(m, r, absolute(r)) for m, r in zip(n.step_mode, derive(law, at, n.t, n.foot).rate, strict=True)]
    n.event = array([FAR] * law.size)
    if law.unilateral:
        parts = [where(r > SLOWEST, -r / SLOW, 0.0) for _, r, _ in rows]
        n.event = array([where(m > 0.0, p, low / GAP) for (m, _, _), p, low in zip(rows, parts, n.lowest, strict=True)])
    elif law.bounded:
        slips = [where(speed > SLOWEST, -speed / SLOW, 0.0) for _, _, speed in rows]
        n.event = array([where((m > 0.0) | (m < 0.0), m * r / RATE, s) for (m, r, _), s in zip(rows, slips, strict=True)])


# --- a switch -----------------------------------------------------------------------------------------------------------------
@loops
def rest(switch_now: Lane, near: Lane, busy: Lane) -> None:
    """Nobody switches, and no row acts, until a lane runs."""
    switch_now[0] = 0.0
    near[0] = 0.0
    busy[0] = 0.0


@loops
def begin_switch(
    running: Lane, switching: Lane, t: Lane, last_switch: Lane, pile: Lane, status: Lane, switch_now: Lane, near: Lane
) -> None:
    """Who switches; lanes whose events pile up stop."""
    switch_now[0] = switching[0] * running[0]
    on = switch_now[0] > 0.0
    pile[0] = lane_where(on, lane_where(t[0] - last_switch[0] < PILED, pile[0] + 1.0, 0.0), pile[0])
    last_switch[0] = lane_where(on, t[0], last_switch[0])
    status[0] = lane_where(on & (pile[0] > PILE), PILED_UP, status[0])
    running[0] = lane_where(status[0] > 0.0, 0.0, running[0])
    switching[0] = lane_where(on, 0.0, switching[0])
    near[0] = 0.0


def look_for_impact(n: Any, *ports: Any) -> None:
    """Closed gaps take part, and equalities; whether one of the gaps is closing."""
    law, at = row_law_at(n, ports)
    n.foot = unknown = refined(law, at, n.t, n.unknown)
    if law.unilateral:
        pairs = list(zip(*gap_and_rate(law, at, n.t, unknown), strict=True))
        n.on = array([where((g <= TOUCHING) & (n.switch_now > 0.0), 1.0, 0.0) for g, _ in pairs])
        closing = array([where(r < 0.0, on, 0.0) for on, (_, r) in zip(n.on, pairs, strict=True)])
        n.near = where(any_of(closing) > 0.0, 1.0, n.near)
    else:
        n.on = array([0.0 if law.bounded else 1.0] * law.size)


def wake(n: Any) -> None:
    """Rows act only where a gap is closing."""
    n.on = n.on * n.near
    n.awake = any_of(n.on)


def stop(n: Any, *around: Any) -> None:
    """The rows of one constraint: closed gaps close no further or bounce, equalities keep their rates."""
    ports, places = around[: len(around) // 2], around[len(around) // 2 :]
    law, at = row_law_at(n, ports)
    found = derive(law, at, n.t, n.foot)
    wanted, restitution = found.given, law.grip()[1]
    if not is_zero(restitution):
        wanted = wanted + array([where(r < -SLOWEST_BOUNCE, -restitution * r, 0.0) for r in found.rate])
    pose_rows(n, law, found.G, free_motion(n, ports, at), wanted, places, 1.0)
    if not law.unilateral:
        n.b = zeros(law.size)


def watch_switch(n: Any, *ports: Any) -> None:
    """Which rows may act on accelerations after the impact."""
    law, at = row_law_at(n, ports)
    n.foot = unknown = refined(law, at, n.t, n.unknown)
    n.on = array([n.switch_now] * law.size)
    if law.unilateral and law.holonomic:
        pairs = zip(*gap_and_rate(law, at, n.t, unknown), strict=True)
        n.on = array([where((g <= TOUCHING) & (r <= SLOWEST), n.switch_now, 0.0) for g, r in pairs])
    elif law.unilateral:
        n.on = array([where(r <= SLOWEST, n.switch_now, 0.0) for r in derive(law, at, n.t, unknown).rate])
    n.awake = any_of(n.on)


def set_modes(n: Any, *ports: Any) -> None:
    """The modes after a switch; what rows are from their next events is not known yet."""
    law, at = row_law_at(n, ports)
    if law.unilateral:
        rows = zip(n.on, n.x, gap_and_rate(law, at, n.t, n.foot)[0], strict=True)
        found = [where((on > 0.0) & ((x > 0.0) | (g < 0.0)), 1.0, 0.0) for on, x, g in rows]
    elif law.bounded:
        rates = derive(law, at, n.t, n.foot).rate
        found = [where(r > SLOWEST, 1.0, where(r < -SLOWEST, -1.0, 0.0)) for r in rates]
    else:
        return
    n.mode = array([where(n.switch_now > 0.0, new, old) for new, old in zip(found, n.mode, strict=True)])
    n.was = array([where(n.switch_now > 0.0, 0.0, e) for e in n.was])


# --- the program --------------------------------------------------------------------------------------------------------------
def mode_fields() -> dict[str, Field]:
    """Those besides the fields of the stages."""
    numbers = ("switching", "last_switch", "pile", "bad_t", "plan_h", "good_weight", "bad_weight")
    return {
        **{name: Field("state", "rows", of="constraint") for name in ("mode", "was", "bad_event")},
        **{name: Field("work", "rows", of="constraint") for name in ("step_mode", "lowest", "event")},
        "mode_then": Field("output", "rows", of="constraint"),
        **{name: Field("state", "global", SCALAR) for name in numbers},
        **{name: Field("work", "global", SCALAR) for name in ("switch_now", "near", "last_try")},
    }


def switch(shape: Shape) -> list[Step]:
    """The sweeps of a switch, in lanes that do; in all others nothing changes."""
    _, most, on_bodies, _ = shape
    ports = [f"p{i}" for i in range(most)]
    located: list[Step] = [outward(joint_velocities), *([outward(reduced.place)] if on_bodies else [])]
    located.append(each(keep_motion if on_bodies else keep_joints))
    impact: list[Step] = [
        *(only_switching(step) for step in located),
        each(look_for_impact, *ports, on="constraint"),
        each(wake, on="constraint"),
        Sweep(factor_inertia, "inward", when=("global", "near")),
        *carrying_up(stop, ports),
        Routine(gather, ("rows", "on", "x", "busy", "left", "active")),
        Routine(gram, MATRIX, when="busy"),
        Routine(solve_boxes, ("active", "on", "b", "lower", "upper", "x", "A", "left", "LDL", *SCRATCH), when="busy"),
        Routine(spread, (*PATHS, "y_rows", "x", "dy"), when="busy"),
        outward(correct, when="busy"),
        each(take_joints, when=("global", "near")),
    ]
    accelerations = reduced.dynamics(shape, ACCELERATION, watch=watch_switch)
    modes = [*(only_switching(step) for step in accelerations), each(set_modes, *ports, on="constraint")]
    names = {"x": "more", "left": "more_left", "told": "stage_told"}
    begin = ("running", "switching", "t", "last_switch", "pile", "status", "switch_now", "near")
    return [Routine(begin_switch, begin), *(renamed(step, names) for step in [*impact, *modes])]


def only_switching(step: Step) -> Step:
    """Sweeps over the tree and its forces are passed over where nobody switches; rows find out by themselves."""
    if isinstance(step, Sweep) and step.when is None and step.on != "constraint":
        return replace(step, when=SWITCH)
    return step
