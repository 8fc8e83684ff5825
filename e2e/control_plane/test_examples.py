"""The examples for a cluster: a real API server and the webhook accept each without a warning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from testkit.cluster.cluster import Cluster

from trainwright_api.checks import load
from trainwright_api.checks.cluster import validate_job
from trainwright_api.checks.load import text_of

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "kubernetes"
FILES = sorted([*EXAMPLES.glob("*.yaml"), EXAMPLES.parent / "entrypoint" / "kubernetes.yaml"])


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_an_example_is_taken_as_it_is(cluster: Cluster, namespace: str, file: Path) -> None:
    applied = cluster.kubectl.run("apply", "--dry-run=server", "-n", namespace, "-f", str(file))
    assert (applied.returncode, applied.stderr) == (0, "")
    result = validate_job(_document(file))
    assert (result.message, result.warnings) == ("", ())


def test_there_are_examples() -> None:
    assert FILES


def _document(file: Path) -> dict[str, Any]:
    job = load.loads(text_of(file), file.name).job
    return job.model_dump(mode="json", by_alias=True, exclude_unset=True)
