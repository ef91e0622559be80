"""All forces, and all forces of joints, by name."""

from __future__ import annotations

from .actuator import Actuator
from .bushing import Bushing
from .cable import Cable
from .controllers import PDController
from .custom import CustomForce, CustomJointForce
from .damping import BodyDamping, Drag
from .force import Force
from .handle import Grip, Handle, PoseHandle
from .joint import JointForce
from .joint_springs import JointDamping, JointSpring
from .limits import LimitSpring, SwingTwistLimit
from .point_force import PointForce
from .springs import PointSpring, SpringDamper
from .torque_curve import TorqueCurve

ALL_FORCES: dict[str, type[Force]] = {
    cls.__name__: cls
    for cls in (PointSpring, SpringDamper, Cable, PointForce, BodyDamping, Drag, Bushing, Grip, Handle, PoseHandle, CustomForce)
}
ALL_JOINT_FORCES: dict[str, type[JointForce]] = {
    cls.__name__: cls
    for cls in (JointSpring, JointDamping, TorqueCurve, LimitSpring, SwingTwistLimit, PDController, Actuator, CustomJointForce)
}
