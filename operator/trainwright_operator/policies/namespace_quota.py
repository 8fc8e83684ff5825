"""The maximum of workers and GPUs that the jobs of one namespace may hold together."""

from __future__ import annotations

from trainwright_operator.model.observed import Held
from trainwright_operator.policy import Policy

CROWDED = "NamespaceMaximum"
"""The reason of a job that waits because the other jobs of its namespace hold the maximum of the policy."""


def crowded(asked: Held, others: Held, policy: Policy) -> str:
    """Return why the job has to wait for the other jobs of its namespace; "" if it has not."""
    for word, wanted, taken, most in (
        ("workers", asked.workers, others.workers, policy.max_workers_per_namespace),
        ("GPUs", asked.gpus, others.gpus, policy.max_gpus_per_namespace),
    ):
        if most and wanted and wanted + taken > most:
            return (
                f"waits for other jobs of the namespace: they hold {taken:,} {word}, this one needs {wanted:,}, "
                f"and the maximum of the namespace is {most:,}"
            )
    return ""
