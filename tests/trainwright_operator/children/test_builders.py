from __future__ import annotations

import pytest

from trainwright_operator.children import child, clean_up, shared_objects

from .child_specs import BACKENDS, child_spec, job


@pytest.mark.parametrize(
    ("backend", "kinds"),
    [
        ("local", ["ConfigMap"]),
        ("ray", ["ConfigMap", "NetworkPolicy"]),
        ("deepspeed", ["ConfigMap", "Service", "NetworkPolicy"]),
        ("horovod", ["ConfigMap", "Service", "NetworkPolicy"]),
    ],
)
def test_a_backend_has_its_shared_objects(backend: str, kinds: list[str]) -> None:
    assert [manifest["kind"] for manifest in shared_objects(child_spec(backend))] == kinds
    with_keys = child_spec(backend, backend_keys={"cache_credentials": {"key": "x"}})
    assert [manifest["kind"] for manifest in shared_objects(with_keys)] == ["Secret", *kinds]


@pytest.mark.parametrize("backend", BACKENDS)
def test_later_attempts_use_the_same_shared_objects(backend: str) -> None:
    assert shared_objects(child_spec(backend, attempt=1)) == shared_objects(
        child_spec(backend, attempt=2, stage="evaluate")
    )


@pytest.mark.parametrize("backend", BACKENDS)
def test_cleaning_up_deletes_all_that_was_built_but_secrets(backend: str) -> None:
    made = child_spec(backend, attempt=4, backend_keys={"cache_credentials": {"key": "x"}})
    finished = job(child=made.name)
    deleted = {(found.kind, found.namespace, found.name) for found in clean_up(finished)}
    built = [one for one in (*shared_objects(made), child(made)) if one["kind"] != "Secret"]
    assert "Secret" not in {kind for kind, _, _ in deleted}
    assert {(found["kind"], "teams", found["metadata"]["name"]) for found in built} <= deleted


def test_a_job_that_started_nothing_leaves_no_child() -> None:
    assert {found.kind for found in clean_up(job())} == {"ConfigMap", "NetworkPolicy", "Service"}
