"""Simulators of other components, on real objects: the Job controller, KubeRay, Kueue, kubelets, trainers."""

from testkit.simulators.environment import Stage
from testkit.simulators.scripts import (
    Evict,
    Fail,
    Hang,
    Invalid,
    LoseHead,
    LoseNode,
    NeverStart,
    Preempt,
    Script,
    Scripts,
    StopWhenAsked,
    Succeed,
)

__all__ = [
    "Evict",
    "Fail",
    "Hang",
    "Invalid",
    "LoseHead",
    "LoseNode",
    "NeverStart",
    "Preempt",
    "Script",
    "Scripts",
    "Stage",
    "StopWhenAsked",
    "Succeed",
]
