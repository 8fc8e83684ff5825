"""True if a child has ended, by the rule of its kind."""

from __future__ import annotations

from testkit.api import Manifest, condition

RAY_ENDS = ("Complete", "Failed", "ValidationFailed")


def is_finished(child: Manifest) -> bool:
    if child.get("kind") == "RayJob":
        return child.get("status", {}).get("jobDeploymentStatus") in RAY_ENDS
    return "True" in (condition(child, "Complete"), condition(child, "Failed"))
