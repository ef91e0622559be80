"""The end of a mode (`modes`) in steps that choose their length, in every lane by itself.

A trial step whose error is small enough and at whose end an event of some row is negative by more than counts as none is *bad*.
It is taken back, and its end is that of a bracket, which begins where the lane is. The next trial goes to the first root of the
lines between the events of bad rows at both ends; if it is good it is a step like any other, and the bracket begins at its end.
As in the Illinois method the end that stays counts half as much, so that both come near. A step at whose end what is sought is
negative, but counts as none, or a bad one whose bracket is rounding, is taken, and the modes switch there. The length that errors
allow is as it was before the search.
"""

from __future__ import annotations

from ..kernel.loops import Lane, loops, maximum, minimum, where

NARROW = 64 * 2.0**-52  # of the time: a bracket that is rounding
NARROWEST = 1e-14  # s
NEVER = 1e300
EDGE = 0.02  # of a bracket, at both ends: where no trial goes


@loops
def shorten(
    rows: int,
    was: Lane,
    bad_event: Lane,
    good_weight: Lane,
    bad_weight: Lane,
    t: Lane,
    bad_t: Lane,
    running: Lane,
    reached: Lane,
    h: Lane,
    last_try: Lane,
) -> None:
    """In lanes with a bracket, where the next trial ends."""
    width = bad_t[0] - t[0]
    on = (running[0] > 0.0) & (bad_t[0] < NEVER)
    last = on & (width <= NARROW * abs(t[0]) + NARROWEST)
    part = 1.0 + 0.0 * width
    for r in range(rows):
        good = good_weight[0] * was[r]
        root = where(was[r] > 0.0, good / (good - bad_weight[0] * minimum(bad_event[r], -1.0)), 0.5)
        part = where(bad_event[r] < -1.0, minimum(part, root), part)
    goal = where(last, bad_t[0], t[0] + minimum(maximum(part, EDGE), 1.0 - EDGE) * width)
    near = on & (goal <= reached[0])
    reached[0] = where(near, goal, reached[0])
    h[0] = where(on, reached[0] - t[0], h[0])
    last_try[0] = where(near & last, 1.0, 0.0)


@loops
def judge_events(
    rows: int,
    event: Lane,
    was: Lane,
    bad_event: Lane,
    good_weight: Lane,
    bad_weight: Lane,
    base_t: Lane,
    bad_t: Lane,
    reached: Lane,
    last_try: Lane,
    plan_h: Lane,
    next_h: Lane,
    accepted: Lane,
    t: Lane,
    switching: Lane,
) -> None:
    """Take a step whose error is small enough, with a switch or not, or take it back."""
    tried = accepted[0] > 0.0
    searching = bad_t[0] < NEVER
    worst = NEVER + 0.0 * t[0]
    sought = NEVER + 0.0 * t[0]
    for r in range(rows):
        worst = minimum(worst, event[r])
        sought = where(searching & (bad_event[r] < -1.0), minimum(sought, event[r]), sought)
    found = tried & (worst >= -1.0) & (sought < 0.0)
    ends = found | (tried & (worst < -1.0) & (last_try[0] > 0.0))
    back = tried & (worst < -1.0) & ~ends
    good = tried & ~back & ~ends
    plan_h[0] = where(tried & ~searching, next_h[0], plan_h[0])
    next_h[0] = where(tried, plan_h[0], next_h[0])
    good_weight[0] = where(back, where(searching, 0.5 * good_weight[0], 1.0), where(tried, 1.0, good_weight[0]))
    bad_weight[0] = where(back, 1.0, where(good & searching, 0.5 * bad_weight[0], bad_weight[0]))
    for r in range(rows):
        bad_event[r] = where(back, event[r], bad_event[r])
        was[r] = where(good, event[r], was[r])
    bad_t[0] = where(back, reached[0], where(ends | (good & (reached[0] >= bad_t[0])), NEVER, bad_t[0]))
    accepted[0] = where(back, 0.0, accepted[0])
    t[0] = where(back, base_t[0], t[0])
    switching[0] = where(ends, 1.0, switching[0])


SHORTEN = ("rows", "was", "bad_event", "good_weight", "bad_weight", "t", "bad_t", "running", "reached", "h", "last_try")
JUDGE_EVENTS = ("rows", "event", "was", "bad_event", "good_weight", "bad_weight", "base_t", "bad_t", "reached", "last_try")
JUDGE_EVENTS += ("plan_h", "next_h", "accepted", "t", "switching")
