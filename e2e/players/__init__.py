"""Simulators of other components, on real objects: the Job controller, KubeRay, Kueue, kubelets, trainers."""

from e2e.players.scripts import (
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
from e2e.players.stage import Stage

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
