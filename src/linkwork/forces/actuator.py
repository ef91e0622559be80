"""A drive on one coordinate whose force is affine in its control, its position and its speed: motors, servos, dampers."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..errors import ModelError
from ..joints import Joint
from ..model.model import Body
from ..spatial.gate import number, numbers, reals
from ..spatial.scalar import Scalar, Vector, array, clip
from .joint import JointForce, is_flat


class Actuator(JointForce):
    """tau_i = gear f, with f = gain u + bias_0 + bias_1 gear q_i + bias_2 gear v_i, held within `force_range`.

    Its input is the control u, held within `control_range`. A motor has gain 1 and no bias; a servo of stiffness kp and damping
    kv has gain kp and bias (0, -kp, -kv): its control is the wanted position; a speed servo has gain kv and bias (0, 0, -kv).

    coordinate   of a joint with several: which one
    control      the control until the inputs say otherwise

    >>> driven = model.add(lw.Actuator("upper", gain=50.0, control_range=(-1, 1), name="motor"))
    >>> run = lw.simulate(driven, state, 0.1, inputs=[0.5])
    """

    parameter_names: ClassVar[tuple[str, ...]] = ("gain", "bias", "gear", "control_range", "force_range")
    inputs = 1

    def __init__(
        self,
        joint: str,
        gain: float = 1.0,
        bias: Any = (0.0, 0.0, 0.0),
        gear: float = 1.0,
        *,
        coordinate: int = 0,
        control_range: Any = (-np.inf, np.inf),
        force_range: Any = (-np.inf, np.inf),
        control: float = 0.0,
        name: str = "",
    ) -> None:
        owner = self.on(joint, name)
        self.gain, self.gear, self.control = (number(owner, *x) for x in (("gain", gain), ("gear", gear), ("control", control)))
        self.bias = numbers(owner, "bias", bias, 3)
        self.control_range = _range(owner, "control_range", control_range)
        self.force_range = _range(owner, "force_range", force_range)
        if isinstance(coordinate, bool) or not isinstance(coordinate, int) or coordinate < 0:
            raise ModelError(f"{owner}: coordinate must be a whole number from 0, not {coordinate!r}")
        self.coordinate = coordinate

    @property
    def variant(self) -> tuple[Any, ...]:
        return (self.coordinate,)

    def given_coordinates(self) -> list[tuple[str, str, Any]]:
        """The joint, and the position that a servo holds or may be told to."""
        if not (self.gain and np.isclose(self.bias[1] * self.gear, -self.gain)):
            return []
        wanted = (("control", [self.control]), ("control_range", self.control_range))
        return [(self.joint, what, np.asarray(x) / self.gear) for what, x in wanted] if self.gear == 1.0 else []

    def fitted(self, body: Body) -> Any:
        joint = body.joint
        if not is_flat(joint):
            raise ModelError(f"{self!r}: it drives one coordinate, and those of joint {self.joint!r} turn on a group")
        if self.coordinate >= joint.nv:
            raise ModelError(f"{self!r}: joint {self.joint!r} has {joint.nv} coordinates, not {self.coordinate + 1}")
        return self

    def initial_inputs(self) -> np.ndarray:
        return np.array([self.control])

    def force(self, joint: Joint, q: Vector, v: Vector, t: Scalar, u: Vector) -> Vector:
        k, b = self.coordinate, self.bias
        control = clip(u[0], self.control_range[0], self.control_range[1])
        f = self.gain * control + b[0] + self.gear * (b[1] * q[k] + b[2] * v[k])
        tau: list[Scalar] = [0.0] * joint.nv
        tau[k] = self.gear * clip(f, self.force_range[0], self.force_range[1])
        return array(tau)


def _range(owner: str, what: str, x: Any) -> np.ndarray:
    try:
        a = reals(x)
    except (TypeError, ValueError):
        a = np.zeros(0)
    if a.shape != (2,) or not a[0] <= a[1]:
        raise ModelError(f"{owner}: {what} must be (lower, upper), not {x!r}")
    return a
