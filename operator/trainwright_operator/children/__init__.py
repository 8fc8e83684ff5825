"""The objects that a job creates in the cluster: pure builders of manifests, and readers of their state."""

from trainwright_operator.children.builders import child, clean_up, shared_objects
from trainwright_operator.children.child_spec import ChildSpec
from trainwright_operator.children.kinds import KINDS, RESOURCES, kind_for
from trainwright_operator.children.read_child import read_child
from trainwright_operator.children.read_pod import read_pod

__all__ = [
    "KINDS",
    "RESOURCES",
    "ChildSpec",
    "child",
    "clean_up",
    "kind_for",
    "read_child",
    "read_pod",
    "shared_objects",
]
