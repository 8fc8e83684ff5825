"""Kueue's manifests, changed so that the API server reaches its webhooks at a port of this machine."""

from __future__ import annotations

from testkit.cluster.kueue_manager import reached_at

SERVICE = {"name": "kueue-webhook-service", "namespace": "kueue-system", "path": "/convert"}


def test_every_webhook_names_the_port() -> None:
    definition = {"spec": {"conversion": {"webhook": {"clientConfig": {"service": SERVICE}}}}}
    changed = reached_at(7443, {"kind": "CustomResourceDefinition", **definition})
    assert changed["spec"]["conversion"]["webhook"]["clientConfig"]["service"] == {**SERVICE, "port": 7443}
    webhooks = {"webhooks": [{"name": "a", "clientConfig": {"service": SERVICE, "caBundle": "x"}}]}
    assert reached_at(7443, webhooks) == {
        "webhooks": [{"name": "a", "clientConfig": {"service": {**SERVICE, "port": 7443}, "caBundle": "x"}}]
    }


def test_the_service_leads_to_this_machine() -> None:
    service = {"kind": "Service", "metadata": {"name": "kueue-webhook-service"}, "spec": {"selector": {"app": "kueue"}}}
    assert reached_at(7443, service)["spec"] == {"type": "ExternalName", "externalName": "localhost"}


def test_other_fields_called_service_stay() -> None:
    schema = {"properties": {"service": {"type": "string"}, "clientConfig": {"properties": {"url": {}}}}}
    assert reached_at(7443, schema) == schema
