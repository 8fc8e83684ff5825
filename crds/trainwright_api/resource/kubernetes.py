"""The fields of a pod that a job can set, with Kubernetes' own names.

Fields that the operator reads are strict. The others are open, because only the API server can validate them, when it
creates the pod.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from trainwright_api.schema.constraints import KeyedBy, Keys
from trainwright_api.schema.section import KubernetesSection
from trainwright_api.schema.unions import ByKind

DNS_LABEL = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
DNS_SUBDOMAIN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
QUALIFIED = r"^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"
LABEL_VALUE = r"^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$"
QUANTITY = r"^[+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$"
ENVIRONMENT_NAME = r"^[-._a-zA-Z][-._a-zA-Z0-9]*$"
IDENTIFIER = r"^[A-Za-z_][A-Za-z0-9_]*$"
MODULE = r"^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$"
VERSION = r"^[0-9]+\.[0-9]+\.[0-9]+$"
DELIMITER = r"^[\t !#-~]$"

FORMS: Mapping[str, str] = MappingProxyType(
    {
        DNS_LABEL: "a name of lowercase letters, digits and - (as in my-volume)",
        DNS_SUBDOMAIN: "a name of lowercase letters, digits, - and . (as in my-secret)",
        QUALIFIED: "a resource's name (as in nvidia.com/gpu)",
        LABEL_VALUE: "a label of letters, digits, -, _ and . (as in team-a)",
        ENVIRONMENT_NAME: "a variable's name (as in HTTP_PROXY)",
        IDENTIFIER: "a name in Python (as in train)",
        MODULE: "a module in Python (as in package.module)",
        VERSION: "a version (as in 2.56.1)",
        DELIMITER: "one ASCII character that is no quote (as in ;)",
    }
)
"""The patterns in words, for messages."""

Name = Annotated[str, Field(min_length=1, max_length=253, pattern=DNS_SUBDOMAIN)]
Label = Annotated[str, Field(min_length=1, max_length=63, pattern=DNS_LABEL)]
Text = Annotated[str, Field(max_length=1024)]
QuantityText = Annotated[str, Field(max_length=64, pattern=QUANTITY)]
Quantity = Annotated[
    int | QuantityText,
    ByKind("a quantity such as 500m, 2 or 16Gi", number=Annotated[int, Field(ge=0, le=2**53)], text=QuantityText),
]
# The dot is in brackets and not escaped, because CEL has its own escapes.
_KEY = r"^([{0}]([-{0}]*[{0}])?([.][{0}]([-{0}]*[{0}])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{{0,61}}[A-Za-z0-9])?$"
LABEL_KEYS = Keys(_KEY.format("a-z0-9"), "a key (as in team, or example.com/team)")
ANNOTATION_KEYS = Keys(_KEY.format("A-Za-z0-9"), LABEL_KEYS.expected)
RESOURCE_KEYS = Keys(LABEL_KEYS.pattern, "a resource's name (as in cpu, or nvidia.com/gpu)")
LabelValue = Annotated[str, Field(max_length=63, pattern=LABEL_VALUE)]
Labels = Annotated[dict[str, LabelValue], Field(max_length=64), LABEL_KEYS]
Annotations = Annotated[dict[str, Annotated[str, Field(max_length=65_536)]], Field(max_length=64), ANNOTATION_KEYS]
Quantities = Annotated[dict[str, Quantity], Field(max_length=32), RESOURCE_KEYS]
Open = Annotated[dict[str, Any], Field(max_length=64)]

ROLES = ("head", "worker", "submitter", "preprocess")
"""The roles of pods, as parts of podTemplate."""


class Toleration(KubernetesSection):
    """A toleration: pods may run on nodes with a matching taint."""

    key: Text | None = Field(None, description="The taint's key. Absent: every key.")
    operator: Literal["Exists", "Equal"] | None = Field(None, description="Exists, or Equal (the default).")
    value: Text | None = Field(None, description="The taint's value, for operator Equal.")
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | None = Field(
        None, description="The taint's effect. Absent: every effect."
    )
    toleration_seconds: Annotated[int, Field(ge=0, le=2**53)] | None = Field(
        None, description="How long a NoExecute taint is tolerated, in seconds."
    )


class EnvironmentVariable(KubernetesSection):
    """One environment variable."""

    name: Annotated[str, Field(min_length=1, max_length=253, pattern=ENVIRONMENT_NAME)] = Field(
        description="The variable's name."
    )
    value: Annotated[str, Field(max_length=32_768)] | None = Field(None, description="The variable's text.")
    value_from: Open | None = Field(None, description="Where the value comes from: a Secret, a ConfigMap, a field.")


class Reference(KubernetesSection):
    """Another object of the namespace, by its name."""

    name: Name = Field(description="The object's name.")
    optional: bool | None = Field(None, description="The object may be absent.")


class EnvironmentSource(KubernetesSection):
    """All keys of a ConfigMap or a Secret as environment variables."""

    prefix: Annotated[str, Field(max_length=253)] | None = Field(None, description="Prefix of each key.")
    config_map_ref: Reference | None = Field(None, description="The ConfigMap.")
    secret_ref: Reference | None = Field(None, description="The Secret.")


class VolumeMount(KubernetesSection):
    """The place of a volume in the training container."""

    name: Label = Field(description="The volume's name.")
    mount_path: Annotated[str, Field(min_length=1, max_length=1024)] = Field(description="The path in the container.")
    sub_path: Text | None = Field(None, description="A path within the volume.")
    sub_path_expr: Text | None = Field(None, description="Path within the volume, with $(VARIABLES).")
    read_only: bool | None = Field(None, description="Mount it read-only.")
    mount_propagation: Literal["None", "HostToContainer", "Bidirectional"] | None = Field(
        None, description="Propagation of mounts between node and container."
    )


class Volume(KubernetesSection):
    """A volume: its name, and any one source of Kubernetes (persistentVolumeClaim, secret, emptyDir, …)."""

    model_config = ConfigDict(extra="allow")

    name: Label = Field(description="The volume's name, for volumeMounts.")

    @classmethod
    def _knows(cls, key: Any) -> bool:
        return isinstance(key, str)


class ImagePullSecret(KubernetesSection):
    """A Secret with the credentials of an image registry."""

    name: Name = Field(description="The Secret's name.")


class ClaimReference(KubernetesSection):
    """A resource claim of the pod that the container uses."""

    name: Label = Field(description="The claim's name in resourceClaims.")
    request: Label | None = Field(None, description="One request of the claim. Absent: all of it.")


class Resources(KubernetesSection):
    """Requests and limits of the container. GPUs and workers are sized from `backend.trainer`."""

    requests: Quantities | None = Field(None, description="Requests by resource name.")
    limits: Quantities | None = Field(None, description="Limits by resource name.")
    claims: Annotated[list[ClaimReference], Field(max_length=16)] | None = Field(
        None, description="Devices of dynamic resource allocation, by the names of resourceClaims."
    )


class ResourceClaim(KubernetesSection):
    """A claim of dynamic resource allocation (DRA), with its name in the pod."""

    name: Label = Field(description="The name, for resources.claims.")
    resource_claim_name: Name | None = Field(None, description="An existing ResourceClaim.")
    resource_claim_template_name: Name | None = Field(
        None, description="The ResourceClaimTemplate that a claim of each pod is made from."
    )


class InitContainer(KubernetesSection):
    """A container that runs before the training program. The other fields are those of Kubernetes."""

    model_config = ConfigDict(extra="allow")

    name: Label = Field(description="The container's name.")
    image: Text | None = Field(None, description="Its image. Absent: the image of the job.")

    @classmethod
    def _knows(cls, key: Any) -> bool:
        return isinstance(key, str)


class RoleTemplate(KubernetesSection):
    """An overlay on the pods of one role. Maps and lists are merged with those of podTemplate, other values replace."""

    labels: Labels | None = Field(None, description="Labels on every pod.")
    annotations: Annotations | None = Field(None, description="Annotations on every pod.")
    node_selector: Labels | None = Field(None, description="Run only on nodes with these labels.")
    tolerations: Annotated[list[Toleration], Field(max_length=64)] | None = Field(
        None, description="Taints of nodes that are tolerated."
    )
    affinity: Open | None = Field(None, description="Kubernetes' affinity, as in a pod.")
    priority_class_name: Name | None = Field(None, description="The pods' PriorityClass.")
    service_account_name: Name | None = Field(None, description="ServiceAccount of the pods. It needs no permissions.")
    image_pull_secrets: Annotated[list[ImagePullSecret], Field(max_length=16), KeyedBy("name")] | None = Field(
        None, description="Secrets with the credentials of the image registry."
    )
    volumes: Annotated[list[Volume], Field(max_length=64), KeyedBy("name")] | None = Field(
        None, description="Additional volumes."
    )
    env: Annotated[list[EnvironmentVariable], Field(max_length=256), KeyedBy("name")] | None = Field(
        None, description="Environment of the training container."
    )
    env_from: Annotated[list[EnvironmentSource], Field(max_length=64)] | None = Field(
        None, description="Environment from ConfigMaps and Secrets."
    )
    volume_mounts: Annotated[list[VolumeMount], Field(max_length=64), KeyedBy("mountPath")] | None = Field(
        None, description="Mounts in the training container."
    )
    resources: Resources | None = Field(
        None,
        description="Requests and limits. Those of podTemplate skip head and submitter, which have parts of their own.",
    )
    security_context: Open | None = Field(None, description="The pods' security context, as in a pod.")
    container_security_context: Open | None = Field(
        None, description="The containers' security context, as in a container."
    )
    image_pull_policy: Literal["Always", "IfNotPresent", "Never"] | None = Field(
        None, description="When the image is pulled. Absent: the default of Kubernetes."
    )
    runtime_class_name: Name | None = Field(None, description="The pods' RuntimeClass.")
    scheduler_name: Name | None = Field(None, description="The scheduler of the pods, such as one that places gangs.")
    topology_spread_constraints: Annotated[list[Open], Field(max_length=16)] | None = Field(
        None, description="How pods are spread over nodes and zones, as in a pod."
    )
    init_containers: Annotated[list[InitContainer], Field(max_length=16), KeyedBy("name")] | None = Field(
        None, description="Containers that run before the training program. Those of podTemplate skip the submitter."
    )
    resource_claims: Annotated[list[ResourceClaim], Field(max_length=16), KeyedBy("name")] | None = Field(
        None, description="Claims of devices. Those of podTemplate are for pods with workers."
    )
    host_network: bool | None = Field(None, description="Use the network of the node, as some RDMA networks require.")
    host_ipc: bool | None = Field(None, alias="hostIPC", description="Use the IPC namespace of the node.")


class PodTemplate(RoleTemplate):
    """An overlay on every pod of the job, with a part for each role of a pod."""

    head: RoleTemplate | None = Field(None, description="For the head of a Ray cluster, which runs the driver.")
    worker: RoleTemplate | None = Field(None, description="For pods with workers, also the pod of backend local.")
    submitter: RoleTemplate | None = Field(None, description="For the pod that submits a Ray job and follows its log.")
    preprocess: RoleTemplate | None = Field(None, description="For the pods of the stage before training on GPUs.")

    def parts(self) -> Iterator[tuple[str, RoleTemplate]]:
        """Yield each part with its path, beginning with the overlay on every pod."""
        yield "podTemplate", self
        for role in ROLES:
            part = getattr(self, role)
            if part is not None:
                yield f"podTemplate.{role}", part


class ChildMetadata(KubernetesSection):
    """Labels and annotations of the Job or RayJob itself, for example for Kueue or for cost reports."""

    labels: Labels | None = Field(None, description="Labels. Those of the operator cannot be replaced.")
    annotations: Annotations | None = Field(None, description="Annotations.")
