"""Forces, each an energy or wrenches; derivatives are derived."""

from typing import TYPE_CHECKING

from ..lazy import Registry, offer_lazily

if TYPE_CHECKING:
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

offer_lazily(__name__)
ALL_FORCES: "Registry[type[Force]]" = Registry(
    __name__,
    (
        "PointSpring",
        "SpringDamper",
        "Cable",
        "PointForce",
        "BodyDamping",
        "Drag",
        "Bushing",
        "Grip",
        "Handle",
        "PoseHandle",
        "CustomForce",
    ),
)
ALL_JOINT_FORCES: "Registry[type[JointForce]]" = Registry(
    __name__,
    (
        "JointSpring",
        "JointDamping",
        "TorqueCurve",
        "LimitSpring",
        "SwingTwistLimit",
        "PDController",
        "Actuator",
        "CustomJointForce",
    ),
)

__all__ = [
    "ALL_FORCES",
    "ALL_JOINT_FORCES",
    "ActivationDynamics",
    "Actuator",
    "BodyDamping",
    "Bushing",
    "Cable",
    "CustomForce",
    "CustomJointForce",
    "Drag",
    "ElasticMuscle",
    "FibreMuscle",
    "Force",
    "ForceSet",
    "Grip",
    "Handle",
    "JointDamping",
    "JointForce",
    "JointSpring",
    "LimitSpring",
    "Line",
    "Muscle",
    "MuscleCurve",
    "MuscleDrive",
    "MusclePath",
    "PDController",
    "PiecewiseCurve",
    "PointForce",
    "PointSpring",
    "PoseHandle",
    "Schedule",
    "SpringDamper",
    "SwingTwistLimit",
    "TorqueCurve",
    "WrapCylinder",
    "WrapSphere",
    "cubic_curve",
    "force",
    "force_set",
    "joint_force",
    "tendon_curve",
]
