"""Whether a child has ended, as its kind says it."""

from __future__ import annotations

from e2e.api import Manifest, condition

RAY_ENDS = ("Complete", "Failed", "ValidationFailed")


def is_finished(child: Manifest) -> bool:
    if child.get("kind") == "RayJob":
        return child.get("status", {}).get("jobDeploymentStatus") in RAY_ENDS
    return "True" in (condition(child, "Complete"), condition(child, "Failed"))
