"""The objects that a job creates in the cluster: pure builders of manifests, and readers of their state."""

from trainwright_operator.children.builders import child, clean_up, kind_of, shared_objects
from trainwright_operator.children.child_spec import ChildSpec
from trainwright_operator.children.read_child import KINDS, gangs, read_child
from trainwright_operator.children.read_pod import read_pod

__all__ = ["KINDS", "ChildSpec", "child", "clean_up", "gangs", "kind_of", "read_child", "read_pod", "shared_objects"]
