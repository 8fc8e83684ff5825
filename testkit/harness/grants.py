"""Compares the permissions of the manifests with the requests in the audit log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ruamel.yaml import YAML

from testkit.cluster.audit import AuditEvent


@dataclass(frozen=True)
class Grant:
    """One verb on one resource; in one namespace or all; on one name or all."""

    verb: str
    group: str
    resource: str
    namespace: str = ""
    name: str = ""

    def __str__(self) -> str:
        where = f" in {self.namespace}" if self.namespace else ""
        named = f" {self.name}" if self.name else ""
        return f"{self.verb} {self.resource}{f'.{self.group}' if self.group else ''}{named}{where}"

    def allows(self, event: AuditEvent) -> bool:
        resource = f"{event.resource}/{event.subresource}".rstrip("/")
        return (
            (self.verb, self.group, self.resource) == (event.verb, event.api_group, resource)
            and self.namespace in ("", event.namespace)
            and self.name in ("", event.name)
        )


def grants(manifest: Path) -> tuple[Grant, ...]:
    """Grants of the Roles and ClusterRoles that the file itself binds. The others aggregate to users' roles.

    Grants on finalizers are left out: an admission plugin asks for them, so no request shows them.
    """
    found = list(YAML(typ="safe").load_all(manifest.read_text()))
    bound = {(one["roleRef"]["kind"], one["roleRef"]["name"]) for one in found if "roleRef" in one}
    return tuple(
        Grant(verb, group, resource, role["metadata"].get("namespace", ""), name)
        for role in found
        if (role["kind"], role["metadata"]["name"]) in bound
        for rule in role["rules"]
        for verb in rule["verbs"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        if not resource.endswith("/finalizers")
        for name in rule.get("resourceNames", ("",))
    )


def needless(granted: Iterable[Grant], events: Iterable[AuditEvent]) -> Sequence[Grant]:
    """The grants without which every request would still have been allowed."""
    all_grants = tuple(granted)
    needed: set[Grant] = set()
    for event in events:
        if event.decision == "allow":
            allowing = [grant for grant in all_grants if grant.allows(event)]
            needed |= set(allowing if len(allowing) == 1 else ())
    return [grant for grant in all_grants if grant not in needed]


def denied(events: Iterable[AuditEvent]) -> Sequence[str]:
    """The requests that the authorizer refused, and those answered with 403 for any other reason."""
    refused = [event for event in events if event.decision != "allow" or event.code == 403]
    return sorted({f"{event.verb} {event.uri.partition('?')[0]}: {event.code}" for event in refused})
