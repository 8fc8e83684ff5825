from __future__ import annotations

import pytest

from trainwright_operator.children import child

from .child_specs import child_spec, env, sized, support, templates


@pytest.mark.parametrize("backend", ["deepspeed", "horovod"])
def test_the_first_pod_is_found_by_the_name_that_the_service_gives_it(backend: str) -> None:
    made = child_spec(backend, resolved=sized(4))
    found, template = support(made, "Service"), templates(made)["trainer"]
    assert found["spec"]["clusterIP"] == "None"
    assert found["spec"]["publishNotReadyAddresses"] is True
    assert found["spec"]["selector"].items() <= template["metadata"]["labels"].items()
    assert template["spec"]["subdomain"] == found["metadata"]["name"]
    host = f"{child(made)['metadata']['name']}-0.{found['metadata']['name']}"
    assert env(template)["TRAINWRIGHT_MASTER_ADDRESS"] == host
    assert env(template)["TRAINWRIGHT_MASTER_PORT"] == str(found["spec"]["ports"][0]["port"])


def test_two_attempts_meet_at_different_names() -> None:
    first, second = (env(templates(child_spec("horovod", attempt=number))["trainer"]) for number in (1, 2))
    assert first["TRAINWRIGHT_MASTER_ADDRESS"] != second["TRAINWRIGHT_MASTER_ADDRESS"]
