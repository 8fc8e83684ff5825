"""Simulators of other components, on real objects: the Job controller, KubeRay, Kueue, kubelets, trainers."""

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
from testkit.simulators.simulators import Simulators

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
    "Simulators",
    "StopWhenAsked",
    "Succeed",
]
