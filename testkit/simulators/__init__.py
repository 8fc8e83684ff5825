"""Simulators of other components, on real objects: the Job controller, KubeRay, Kueue, kubelets, trainers."""

from testkit.simulators.scripts import (
    Evict,
    Fail,
    Invalid,
    LoseHead,
    LoseNode,
    NeverStart,
    Preempt,
    RunForever,
    Script,
    Scripts,
    StopWhenAsked,
    Succeed,
)
from testkit.simulators.simulators import Simulators

__all__ = [
    "Evict",
    "Fail",
    "Invalid",
    "LoseHead",
    "LoseNode",
    "NeverStart",
    "Preempt",
    "RunForever",
    "Script",
    "Scripts",
    "Simulators",
    "StopWhenAsked",
    "Succeed",
]
