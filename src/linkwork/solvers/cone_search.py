"""The search for the modes of problems with Coulomb cones (`solvers.problem`), in all lanes at once.

Newton's method on the modes of the rows: free or at a bound, open, sticking or sliding. The rows of given modes are a linear
system (`cone_modes`). With x found, y = x - u in scaled rows tells the next modes: y_n <= 0 opens, |y_t| <= mu y_n sticks, else
friction acts along y_t. A step goes from x toward the x of the modes, as far as it makes the natural map of the complementarity
problem smaller. In steps of a run it may go all the way a few times although the map grows a little, as the modes there are often
the right ones; where it stays larger, x goes back. Sweeps of block Gauss-Seidel with exact solves of every contact
(`contact_block`) give the first modes, unless the x given is close, and new ones where no step leads down; alternating directions
(`admm`) take turns with them there (`cone_steps`).

Redundant rows need no pivoting: rows of given modes are solved by proximal rounds (A + eps 1) dx = -u with one factor, until the
residual stands still. Where it stands still above rounding, the rows contradict one another by a little, as gaps and turning
normals make them do. Then x goes along what they cannot mend until a row meets its bound, which changes its mode (`walk`); and
where x of the modes is beyond bounds, as far as the first of them (`part_inside`). So the load moves on to rows that can bear it.
A contradiction below JAM moves nothing: it is mended in the mean, and loads stay as they are.

Rounds begin at x = 0 and reach the solution of least norm, whatever the order of the contacts and the start; where no pivot is
small there is one solution, and later rounds go on from x. x that went along contradictions is kept, and at the end rounds start
once more from zero, if that has the same modes. Where contacts slide, they do so with the directions of friction found there,
until these do not change: of all loads that friction allows to a body on many points, one is chosen. A is any matrix whose
symmetric part is semidefinite.

The x with the least natural map is kept. What a few changes of modes leave is followed along a path of smoothed cones
(`cone_path`), and the search goes on from its end. Steps of a run end it where that leads nowhere either, if what is left is
small; `coulomb.solve` does not. Lanes that are done stay as they are: a result does not depend on its neighbours.
"""

from __future__ import annotations

from ..kernel.lane_by_lane import lanes_at_once
from ..kernel.loops import Lane, Strided, all, any, loops, where
from .cone_modes import Modes, approach, factor_modes, part_inside, redundant, sliding, start_modes, walk
from .cone_path import follow_path
from .cone_rows import Rows, Search, largest_terms, motions, natural_map, take_over
from .cone_steps import EPS, SMALL, lighten, look_elsewhere, shorten
from .extremes import larger, smaller

SOFTEST = 1e-2  # EPS at most, where steps do not lead down
FINER, FINEST = 0.02, 1e-12  # of a contradiction: EPS where one was found, and at least
ROUNDS = 6  # proximal rounds on one factor
SLOW = 0.05  # of the residual: where a round leaves more, friction turns, and the next modes know where
CHANGES = 60  # of modes, at most
TOGETHER = 2  # the same of lanes that go at once, before the others are left
EASY, HARD = 8, 14  # of them, before what is left is followed along a path: for a while if it is much, and to its end
THERE, END = 1e-4, 1e-16  # of b: how smooth cones are then
WALKS = 6  # to the next bound, at most, before other ways are tried
LEAST_PART = 1e-3  # of a step: as far at least a bound must be away
GUESSED = 0.03  # of b: the natural map of a start that needs no sweeps
BOLD = 2  # steps of a search in a run that may lead up, one after the other, and
RISE = 30.0  # of the residual: how far
DECREASE = 0.1  # of the residual: the least that a step is to bring
SHORT = 0.15  # of a step: after a shorter one sweeps tell the modes, which would be the same again
COLD = 2  # changes that lead nowhere before the search starts anew, from zero
PATIENCE = 0  # the same before a search in a step of a run ends, if the path has been followed to its end, and
TIRED = 2e-5  # of b: what is left at most
ENOUGH = 5e-14  # of the largest terms: the residual that ends the search
ROUNDING = 1e-12  # of the largest terms: the same where no step leads down
SLIGHT = 1e-6  # of b: contradictions beside contacts that slide; more may come from friction that turns
JAM = 1e-11  # of b: the same where no step of these modes changes it
STILL = 1e-3  # relative: such a change is none


@loops
def begin(m: int, rows: Rows, s: Search) -> float:
    """The x given is the best so far, and alternating directions begin at rest. Returns the largest b."""
    given = 0.0 * s.xs[0]
    for i in range(m):
        given = larger(given, abs(rows.bs[i]))
        s.best[i] = s.xs[i]
        s.xn[i] = s.xs[i]
        s.inside[i] = 0.0
        s.force[i] = rows.bs[i]
    return given


@loops
def smooth_end(change: int, given: float, least: float, followed: float) -> float:
    """How smooth cones are at the end of the path that is followed now, of b; 0 where none is."""
    end = 0.0 * given
    if change == EASY:
        end = where(least > THERE * given, THERE, END)
    elif change == HARD:
        end = where(followed > 0.0, 0.0, END)
    return end


@loops
def search_modes(
    m: int,
    rows: Rows,
    s: Search,
    modes: Modes,
    A: Lane,
    At: Lane,
    rounds: Strided,
    T: Lane,
    patience: int,
    boldness: int,
    go: float,
) -> float:
    """The multipliers of scaled rows, in `best`, from xs on, in lanes that go; several leave those that take long: rounds are -1.

    Their natural map is in z; its length is returned.

    At         A transposed; A itself if it is symmetric
    rounds     grow by the systems that are solved
    patience   changes of modes that lead nowhere, after which the search ends if the path led nowhere either, and little is left
    boldness   steps that may lead up, one after the other
    """
    alternating = 0.0 * go
    turns = 0.0 * go  # 1: alternating directions are next, where no step leads down
    eps = EPS + 0.0 * go
    walks = 0.0 * go
    tries = 0.0 * go
    least_eps = EPS + 0.0 * go
    elsewhere = 0.0 * go  # 1: xs is where u and `off` are not known
    followed = 0.0 * go  # 1: the path has been, to its end
    bold = 0.0 * go  # steps that led up since `best`; more than `boldness` after going back there
    given = begin(m, rows, s)
    motions(m, At, rows.bs, s.xs, s.u)
    least = natural_map(m, rows, s.xs, s.u, s.z)
    off = least
    go = where(least <= ENOUGH * given, 0.0, go)
    sweeping = where(least <= GUESSED * given, 0.0, 1.0)
    most = CHANGES
    if lanes_at_once() > 1:
        most = TOGETHER
    for change in range(most):
        if not any(go > 0.0):
            break
        end = smooth_end(change, given, least, followed)
        if any(end > 0.0):
            followed = where(end > 0.5 * THERE, followed, 1.0)
            size = largest_terms(m, s.best, given)
            least = follow_path(m, rows, modes, At, s, T, rounds, given, least, ENOUGH * size, end, go)
            go = where(least <= ENOUGH * size, 0.0, go)
            for i in range(m):
                s.xs[i] = s.best[i]
                s.inside[i] = s.best[i]
                s.force[i] = rows.bs[i]
            elsewhere = 1.0 + 0.0 * go
            tries = larger(tries, 1.0)
            sweeping = 0.0 * go
            alternating = 0.0 * go
            bold = 0.0 * go
            eps = EPS + 0.0 * go
        look_elsewhere(m, rows, A, At, s, T, change, where(go > 0.0, sweeping, 0.0), alternating)
        elsewhere = where((sweeping > 0.0) | (alternating > 0.0), 1.0, elsewhere)
        if any(elsewhere > 0.0):
            motions(m, At, rows.bs, s.xs, s.un)
            take_over(m, elsewhere > 0.0, s.un, s.u)
            off = where(elsewhere > 0.0, natural_map(m, rows, s.xs, s.u, s.z), off)
        size = largest_terms(m, s.xs, given)
        better = (go > 0.0) & (off < least)
        take_over(m, better, s.xs, s.best)
        least = where(better, off, least)
        n = factor_modes(m, rows, A, s.xs, s.u, eps, modes, s.z, T)
        rounds[0] += go
        loose = redundant(n, T)
        begun = where(walks + tries > 0.0, 1.0, 0.0)  # else at zero, which leads to the solution of least norm
        if change > 0:
            begun = where(loose > 0.0, begun, 1.0)
        start_modes(m, rows, modes, s.xs, s.z, s.xn, begun, go)
        rest = approach(n, m, rows, At, modes, s.xn, s.un, s.z, T, SMALL * size, ROUNDS, SLOW, eps, go)
        full = natural_map(m, rows, s.xn, s.un, s.z)
        ends = full <= ENOUGH * size
        if all((go > 0.0) & ends & ~(loose > 0.0)):
            take_over(m, go > 0.0, s.xn, s.best)
            return full
        above = (bold > 0.5) & (bold < boldness + 0.5)
        enough = (1.0 - DECREASE) * where(above, least, off)
        share = where(ends | (full < enough), 1.0, 0.0)
        bold = where(share > 0.0, 0.0, bold)
        # rows of these modes contradict others; where much less is left than of them, friction turns, as beside small forces
        against = (go > 0.0) & ~ends & (full <= n * rest) & (full > STILL * rest) & (full <= (1.0 + STILL) * off)
        slides = sliding(m, rows, modes)
        # where the next change would find the same modes, and x
        there = against & (share > 0.0) & (eps <= EPS) & (~(slides > 0.0) | (full <= SLIGHT * given))
        take_over(m, there, s.xn, s.xs)
        take_over(m, there, s.un, s.u)
        take_over(m, there & (full < least), s.xn, s.best)
        least = where(there, smaller(full, least), least)
        off = where(there, full, off)
        share = where(there, 0.0, share)
        up = (go > 0.0) & ~(share > 0.0) & ~against
        bolder = up & (bold < boldness - 0.5) & (full <= RISE * off) & (off > SLIGHT * given)
        back = up & above & ~bolder
        share = where(bolder, 1.0, share)
        bold = where(bolder, bold + 1.0, where(back, boldness + 1.0, bold))
        share = shorten(m, rows, s, modes.more, share, enough, where(against | back, 0.0, go))
        stands = (off <= (1.0 + STILL) * least) & (abs(full - off) <= STILL * off)
        jams = (go > 0.0) & ~(share > 0.0) & ~back & stands & (least <= JAM * given)
        stuck = (go > 0.0) & ~(share > 0.0) & ~back & (walks < WALKS) & ~jams
        contradict = stuck & against
        harder = contradict & (eps > EPS)
        walked = 0.0 * go
        if any(contradict & ~harder):
            ways = where(contradict & ~harder, 1.0, 0.0)
            walked = walk(n, m, rows, modes, s.xn, s.un, s.z, T, eps, ways)
            share = where(walked > 0.0, 1.0, share)
            walks += walked
        blocked = stuck & ~(walked > 0.0) & (eps <= EPS)
        if any(blocked):
            part = part_inside(m, rows, modes, s.xs, s.xn)
            blocked = blocked & (part > LEAST_PART) & (part < 1.0)
            share = where(blocked, part, share)
            walks += where(blocked, 1.0, 0.0)
        moves = (go > 0.0) & (share > 0.0)
        go = where(~moves & (least <= ROUNDING * size), 0.0, go)
        fails = (go > 0.0) & ~moves & ~harder & ~jams & ~back
        tries += where(fails, 1.0, 0.0)
        tired = fails & (followed > 0.0) & (least <= TIRED * given) & (tries >= patience)
        anew = fails & (tries > COLD - 0.5) & (tries < COLD + 0.5)
        of_factor = eps
        sweeping = where(fails & ((turns <= 0.0) | anew), 1.0, 0.0)
        sweeping = where(moves & (share < SHORT) & ~blocked, 1.0, sweeping)
        alternating = where(fails & (turns > 0.0) & ~anew, 1.0, 0.0)
        bold = where((sweeping > 0.0) | (alternating > 0.0), 0.0, bold)
        turns = where(fails & ~anew, 1.0 - turns, turns)
        walks = where(anew, 0.0, walks)
        least_eps = where(walked > 0.0, smaller(least_eps, larger(FINER * rest, FINEST)), least_eps)
        eps = where(moves, larger(where(share < 1.0, eps, 0.1 * eps), least_eps), where(back, eps, smaller(10.0 * eps, SOFTEST)))
        eps = where(walked > 0.0, least_eps, where(harder | anew, EPS, eps))
        elsewhere = where(back | (moves & ((share < 1.0) | (walked > 0.0))), 1.0, 0.0)
        close_enough = where(jams, (1.0 + STILL) * off, ENOUGH * size)
        off = where(moves, full, off)
        for i in range(m):
            stays = where(anew, 0.0, where(back, s.best[i], s.xs[i]))
            s.xs[i] = where(moves, where(share < 1.0, s.xs[i] + share * (s.xn[i] - s.xs[i]), s.xn[i]), stays)
            s.z[i] = s.xs[i]
        take_over(m, moves, s.un, s.u)
        take_over(m, (moves & ends) | jams, s.xn, s.inside)
        again = where((moves & ends & (begun > 0.0)) | (jams & ~(there & ~(begun > 0.0))), loose, 0.0)
        turned = where(((moves & ends) | (jams & there)) & ~(begun > 0.0) & (slides > 0.0), loose, 0.0)
        if any(again + turned > 0.0):
            lighten(n, m, rows, s, modes, A, At, T, size, close_enough, of_factor, again, turned)
        take_over(m, (moves & ends) | jams, s.xs, s.best)
        go = where((moves & ends) | jams | tired, 0.0, go)
    if lanes_at_once() > 1:
        rounds[0] = where(go > 0.0, -1.0, rounds[0])
    motions(m, At, rows.bs, s.best, s.u)
    return natural_map(m, rows, s.best, s.u, s.z)
