"""Forces, each an energy or wrenches; derivatives are derived."""

from .actuator import Actuator
from .bushing import Bushing
from .cable import Cable
from .controllers import PDController
from .custom import CustomForce, CustomJointForce, force, joint_force
from .damping import BodyDamping, Drag
from .force import Force, Line
from .handle import Grip, Handle, PoseHandle
from .joint import JointForce
from .joint_springs import JointDamping, JointSpring
from .limits import LimitSpring, SwingTwistLimit
from .muscle import Muscle
from .muscle_activation import ActivationDynamics, Schedule
from .muscle_curves import MuscleCurve, PiecewiseCurve, cubic_curve, tendon_curve
from .muscle_drive import MuscleDrive
from .muscle_path import MusclePath
from .muscle_tendon import ElasticMuscle, FibreMuscle
from .muscle_wrap import WrapCylinder, WrapSphere
from .point_force import PointForce
from .set import ForceSet, force_set
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

__all__ = [
    "ALL_FORCES",
    "ALL_JOINT_FORCES",
    "ActivationDynamics",
    "ElasticMuscle",
    "FibreMuscle",
    "Force",
    "ForceSet",
    "JointForce",
    "Line",
    "Muscle",
    "MuscleCurve",
    "MuscleDrive",
    "MusclePath",
    "PiecewiseCurve",
    "Schedule",
    "WrapCylinder",
    "WrapSphere",
    "cubic_curve",
    "force",
    "force_set",
    "joint_force",
    "tendon_curve",
    *ALL_FORCES,  # pyright: ignore[reportUnsupportedDunderAll]
    *ALL_JOINT_FORCES,  # pyright: ignore[reportUnsupportedDunderAll]
]
