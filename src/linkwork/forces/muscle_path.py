"""The path of a muscle or a cable: points on bodies joined by straight lines, or around obstacles [Sueda 1.9.5]."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..errors import ModelError
from ..model.kinematics import kinematics
from ..model.model import WORLD, Model
from ..spatial.dual import Dual, Gradient
from ..spatial.frozen import Frozen
from ..spatial.gate import point, word
from ..spatial.scalar import Scalar, Vector, array, cross, dot, stack
from ..spatial.se3 import SE3
from .force import Line, distance, push_at
from .muscle_wrap import Wrap


class MusclePath(Frozen):
    """Points (body, point) in order; an obstacle between two points is what their line goes around.

    >>> path = lw.MusclePath(("world", (0, 0, 1)), lw.WrapSphere("upper", radius=0.03), ("lower", (0.05, 0, 0)))

    bodies    their names, each once, in order of appearance
    numbers   the run-time data of all points and obstacles
    """

    def __init__(self, *items: Any, owner: str = "MusclePath") -> None:
        kept = [item if isinstance(item, Wrap) else _point_of(owner, item) for item in items]
        _check_order(owner, kept)
        names = [item.body if isinstance(item, Wrap) else item[0] for item in kept]
        self.bodies = tuple(dict.fromkeys(names))
        if len(self.bodies) < 2:
            raise ModelError(f"{owner}: its path lies on one body, {names[0]!r}; it needs two or more")
        where = [self.bodies.index(name) for name in names]
        self.items = tuple((i, item if isinstance(item, Wrap) else item[1]) for i, item in zip(where, kept, strict=True))
        _check_outside(owner, kept)

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> MusclePath:
        """The path that a file says: made anew of its points and obstacles."""
        bodies = state["bodies"]
        return cls(*(x if isinstance(x, Wrap) else (bodies[i], x) for i, x in state["items"]))

    @property
    def numbers(self) -> np.ndarray:
        return np.concatenate([x.numbers if isinstance(x, Wrap) else x for _, x in self.items])

    @property
    def signature(self) -> tuple[Any, ...]:
        """What identifies its machine code: which item lies on which body."""
        return tuple((i, x.signature if isinstance(x, Wrap) else "point") for i, x in self.items)

    def with_numbers(self, numbers: Vector) -> MusclePath:
        """The same path with other run-time data."""
        items, at = [], 0
        for i, x in self.items:
            size = len(x.numbers) if isinstance(x, Wrap) else 3
            mine = numbers[at : at + size]
            items.append((i, x.with_numbers(mine) if isinstance(x, Wrap) else mine))
            at += size
        return self.with_parts(items=tuple(items))

    def fitted_to(self, model: Model) -> MusclePath:
        """The same path, with obstacles on the sides on which it passes them where the model is neutral."""
        if not any(isinstance(x, Wrap) for _, x in self.items):
            return self
        poses = self.poses_at(model, kinematics(model, model.neutral()).poses)
        fitted = iter([self._seen_from(poses, w, a, b) for a, b, w in self._segments() if w is not None])
        return self.with_parts(items=tuple((i, next(fitted) if isinstance(x, Wrap) else x) for i, x in self.items))

    def poses_at(self, model: Model, poses: np.ndarray) -> list[SE3]:
        """Poses of its bodies, out of those of all bodies (bodies, 4, 4)."""
        places = [np.eye(4) if body == WORLD else poses[model.body_index(body)] for body in self.bodies]
        return [SE3(R=E[:3, :3], p=E[:3, 3]) for E in places]

    def _seen_from(self, poses: Sequence[SE3], wrap: tuple[int, Wrap], a: Any, b: Any) -> Wrap:
        back = (poses[wrap[0]] @ wrap[1].frame).inverse()
        x, y = (np.asarray(back @ (poses[i] @ point), float) for i, point in (a, b))
        return wrap[1].fitted_at(x, y)

    def length(self, poses: Sequence[SE3]) -> Scalar:
        """The length at poses of the bodies."""
        total = 0.0
        for (i, a), (j, b), wrap in self._segments():
            x, y = poses[i] @ a, poses[j] @ b
            total = total + (distance(x, y) if wrap is None else _wrapped(poses, wrap)(x, y))
        return total

    def slopes(self, poses: Sequence[SE3]) -> tuple[Scalar, list[Vector]]:
        """The length, and its gradient (6,) with respect to the displacement of every body.

        The gradient of a segment is that in its two end points. An obstacle takes what balances them: no motion of all bodies
        together changes the length.
        """
        total: Scalar = 0.0
        slopes = [np.zeros(6) for _ in self.bodies]
        for (i, a), (j, b), wrap in self._segments():
            x, y = poses[i] @ a, poses[j] @ b
            if wrap is None:
                length, at_x, at_y = gradients(distance, x, y)
            else:
                w, obstacle = wrap
                E = poses[w] @ obstacle.frame
                back = E.inverse()
                p, q = back @ x, back @ y
                length, at_p, at_q = gradients(obstacle.length, p, q)
                balance = np.concatenate([cross(p, at_p) + cross(q, at_q), at_p + at_q])
                slopes[w] = slopes[w] - obstacle.frame.move_wrench(balance)
                at_x, at_y = E.rotate(at_p), E.rotate(at_q)
            total = total + length
            slopes[i] = slopes[i] + push_at(a, poses[i].unrotate(at_x))
            slopes[j] = slopes[j] + push_at(b, poses[j].unrotate(at_y))
        return total, slopes

    def world_points(self, poses: Sequence[SE3]) -> np.ndarray:
        """The points in the world (points, 3), obstacles left out."""
        return np.array([poses[i] @ x for i, x in self.items if not isinstance(x, Wrap)], float)

    def _segments(self) -> list[tuple[Any, Any, Any]]:
        """Pairs of consecutive points, and the obstacle between them or None; each with the index of its body."""
        out, wrap, last = [], None, None
        for item in self.items:
            if isinstance(item[1], Wrap):
                wrap = item
                continue
            if last is not None:
                out.append((last, item, wrap))
            last, wrap = item, None
        return out


class AlongPath(Line):
    """A force along the length of a `path`."""

    path: MusclePath

    def fitted_to(self, model: Model) -> Any:
        path = self.path.fitted_to(model)
        return self if path is self.path else self.with_parts(path=path)

    def length(self, poses: Sequence[SE3]) -> Scalar:
        return self.path.length(poses)

    def wrenches(self, poses: Sequence[SE3], twists: Sequence[Vector], t: Scalar, u: Vector) -> Sequence[Vector]:
        length, slopes = self.path.slopes(poses)

        def tension(l: Scalar, rate: Scalar, time: Scalar, *given: Scalar) -> list[Scalar]:
            return [self.tension(l, rate, time, stack(*given))]

        (pull,) = locally(tension, length, rate_of(slopes, twists), t, *u, of=self)
        return [-pull * g for g in slopes]


def rate_of(slopes: Sequence[Vector], twists: Sequence[Vector]) -> Scalar:
    """The rate of a length with these gradients."""
    return sum(dot(g, phi) for g, phi in zip(slopes, twists, strict=True))


def _wrapped(poses: Sequence[SE3], wrap: tuple[int, Wrap]) -> Callable[[Vector, Vector], Scalar]:
    """The length around an obstacle between points in the world."""
    back = (poses[wrap[0]] @ wrap[1].frame).inverse()
    return lambda x, y: wrap[1].length(back @ x, back @ y)


def gradients(length: Callable[[Vector, Vector], Scalar], x: Vector, y: Vector) -> tuple[Scalar, Vector, Vector]:
    """A function of two points, and its gradients in them."""

    def differentiated(*ends: Scalar) -> list[Scalar]:
        moved = [Gradient(e, unit(6, k)) for k, e in enumerate(ends)]
        out = length(stack(*moved[:3]), stack(*moved[3:]))
        return [out.x, *out.grad]

    value, *grad = locally(differentiated, *x, *y, of=getattr(length, "__self__", None))
    return value, array(grad[:3]), array(grad[3:])


def locally(f: Callable[..., Sequence[Scalar]], *x: Scalar, of: Any = None) -> list[Scalar]:
    """f(*x), differentiated with respect to its own arguments; their derivatives, where they are duals, join by the chain rule.

    The same as f(*x), at less cost: f works with as many derivatives as it has arguments.

    of   what f is a method of, or calls one of: where its numbers change, too, f is run as it stands
    """
    duals = [e for e in x if isinstance(e, Dual)]
    if not duals or changes(of):
        return list(f(*x))
    outer = max(duals, key=lambda e: e.level)
    kind, none = type(outer), (0.0,) * len(outer.grad)
    slopes = [e.grad if type(e) is kind else none for e in x]
    found = f(*(kind(e.x if type(e) is kind else e, unit(len(x), k)) for k, e in enumerate(x)))
    return [
        y if type(y) is not kind else kind(y.x, tuple(dot(array(y.grad), array(column)) for column in zip(*slopes, strict=True)))
        for y in found
    ]


def changes(x: Any) -> bool:
    """Whether some number of a thing is a dual."""
    if isinstance(x, Dual):
        return True
    if isinstance(x, np.ndarray):
        return x.dtype == object and any(map(changes, x.flat))
    if isinstance(x, (tuple, list)):
        return any(map(changes, x))
    return hasattr(x, "__dict__") and any(map(changes, vars(x).values()))


def unit(n: int, k: int) -> tuple[float, ...]:
    """Derivatives of variable k of n."""
    return tuple(1.0 if j == k else 0.0 for j in range(n))


def as_path(owner: str, path: Any) -> MusclePath:
    """A path, or its items as one."""
    if isinstance(path, MusclePath):
        return path
    if isinstance(path, (str, Wrap)) or not isinstance(path, Sequence):
        raise ModelError(f"{owner}: path must be a list of (body, point) and obstacles, not {path!r}")
    return MusclePath(*path, owner=owner)


def _point_of(owner: str, item: Any) -> tuple[str, np.ndarray]:
    if isinstance(item, str) or not isinstance(item, Sequence) or len(item) != 2:
        raise ModelError(f"{owner}: a path is made of (body, point) and obstacles, not {item!r}")
    return word(owner, "a body", item[0]), point(owner, "a point", item[1])


def _check_order(owner: str, items: Sequence[Any]) -> None:
    wraps = [isinstance(item, Wrap) for item in items]
    if wraps.count(False) < 2:
        raise ModelError(f"{owner}: a path has at least two points, this one {wraps.count(False)}")
    if wraps[0] or wraps[-1] or any(a and b for a, b in pairwise(wraps)):
        raise ModelError(f"{owner}: an obstacle stands between two points, one obstacle at a time")
    for a, b in pairwise(items):
        if not isinstance(a, Wrap) and not isinstance(b, Wrap) and a[0] == b[0] and np.array_equal(a[1], b[1]):
            raise ModelError(f"{owner}: its path has the point {b[1].tolist()} of {b[0]!r} twice in a row")


def _check_outside(owner: str, items: Sequence[Any]) -> None:
    """Points next to an obstacle of their own body must be outside it."""
    for k, wrap in enumerate(items):
        for other in (items[k - 1], items[k + 1]) if isinstance(wrap, Wrap) else ():
            if other[0] == wrap.body and wrap.depth(other[1]) > 1e-12:
                raise ModelError(f"{owner}: the point {other[1].tolist()} of {other[0]!r} is inside {type(wrap).__name__}")
