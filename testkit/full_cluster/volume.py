"""The storage of a job's data, cache and run: a bucket, or a volume behind a persistent volume claim."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from testkit.cluster.kubectl import Kubectl
from testkit.full_cluster import jobs, restricted
from testkit.full_cluster.bucket import Bucket
from testkit.full_cluster.full_cluster import FullCluster

MOUNTED = "/data"
SIZE = "1Gi"


@dataclass(frozen=True)
class Volume:
    kubectl: Kubectl
    namespace: str
    claim: str
    folder: Path | None = None
    """The folder of its files on this machine, visible to all nodes of our own cluster. None on any other cluster."""

    @classmethod
    def make(cls, full_cluster: FullCluster, namespace: str, name: str) -> Self:
        """Create the claim. On our own cluster all nodes can use it; on another cluster its default storage class
        decides.
        """
        folder = full_cluster.place.running / "volumes" / f"{namespace}-{name}" if full_cluster.place else None
        made = cls(full_cluster.kubectl, namespace, name, folder)
        if made.folder is not None:
            made.folder.mkdir(parents=True)
            # Kubernetes gives the files of a hostPath to nobody.
            made.folder.chmod(0o777)
            made._apply(made._persistent_volume(made.folder))
        made._apply(made._persistent_volume_claim(), made._pod(full_cluster.image("trainwright-operator")))
        full_cluster.kubectl("wait", f"-n={namespace}", f"pod/{name}", "--for=condition=Ready", "--timeout=120s")
        return made

    @property
    def pod_template(self) -> Mapping[str, Any]:
        """The fields of a TrainingJob that mount the claim at MOUNTED."""
        return {
            "volumes": [{"name": self.claim, "persistentVolumeClaim": {"claimName": self.claim}}],
            "volumeMounts": [{"name": self.claim, "mountPath": MOUNTED}],
        }

    def put(self, file: Path, name: str) -> str:
        """Store the file. Return its path in the pods."""
        text = base64.b64encode(file.read_bytes()).decode()
        self._run('mkdir -p "$(dirname "$0")" && base64 -d > "$0"', name, stdin=text)
        return f"{MOUNTED}/{name}"

    def read(self, name: str) -> bytes:
        if self.folder is not None:
            return (self.folder / name).read_bytes()
        return base64.b64decode(self._run('base64 "$0"', name))

    def names(self, folder: str = ".") -> Sequence[str]:
        """Return the names of all files under the folder, as `read` takes them."""
        return sorted(name.removeprefix("./") for name in self._run('find "$0" -type f', folder).splitlines())

    def remove(self) -> None:
        """Delete the claim without waiting. It disappears with the last pod that uses it."""
        at_once = ("--wait=false", "--ignore-not-found")
        self.kubectl("delete", f"-n={self.namespace}", f"pod/{self.claim}", f"pvc/{self.claim}", *at_once)
        if self.folder is not None:
            self.kubectl("delete", f"pv/{self._volume_name}", *at_once)
            shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def _volume_name(self) -> str:
        return f"{self.namespace}-{self.claim}"

    def _run(self, script: str, name: str, stdin: str = "") -> str:
        script = f"cd {MOUNTED} && {script}"
        words = ("exec", "-i", f"-n={self.namespace}", self.claim, "--", "sh", "-c", script, name)
        return self.kubectl(*words, stdin=stdin)

    def _apply(self, *objects: Mapping[str, Any]) -> None:
        wanted = {"apiVersion": "v1", "kind": "List", "items": objects}
        self.kubectl("apply", "-f", "-", stdin=json.dumps(wanted))

    def _persistent_volume(self, folder: Path) -> Mapping[str, Any]:
        spec = {
            "capacity": {"storage": SIZE},
            "accessModes": ["ReadWriteMany"],
            "persistentVolumeReclaimPolicy": "Retain",
            "storageClassName": "",
            "claimRef": {"namespace": self.namespace, "name": self.claim},
            "hostPath": {"path": str(folder), "type": "Directory"},
        }
        return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": self._volume_name}, "spec": spec}

    def _persistent_volume_claim(self) -> Mapping[str, Any]:
        spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": SIZE}}}
        if self.folder is not None:
            own = {"accessModes": ["ReadWriteMany"], "storageClassName": "", "volumeName": self._volume_name}
            spec = {**spec, **own}
        return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": self._metadata, "spec": spec}

    def _pod(self, image: str) -> Mapping[str, Any]:
        made = restricted.pod(self.claim, image, ["sleep", "infinity"])
        spec = made["spec"]
        spec["terminationGracePeriodSeconds"] = 0
        spec["securityContext"]["fsGroup"] = 1000
        spec["volumes"] += self.pod_template["volumes"]
        spec["containers"][0]["volumeMounts"] += self.pod_template["volumeMounts"]
        return {**made, "metadata": self._metadata}

    @property
    def _metadata(self) -> Mapping[str, Any]:
        return {"name": self.claim, "namespace": self.namespace}


@dataclass(frozen=True)
class StorageLocation:
    root: str
    """The prefix of the URIs or paths in a job."""
    spec: Mapping[str, Any]
    """The fields of a TrainingJob that give access to it."""
    put: Callable[[Path, str], str]
    """Store a local file under a name. Returns the path or URI that a job uses."""
    content: Callable[[str], bytes]
    """The content of the file with this name."""

    def read(self, location: str) -> bytes:
        """The content of the file at the path that a job gives."""
        return self.content(location.removeprefix(self.root))


def in_bucket(bucket: Bucket) -> StorageLocation:
    return StorageLocation(bucket.uri(""), {"credentials": {"secretName": jobs.KEYS}}, bucket.upload, bucket.read)


def on_claim(volume: Volume) -> StorageLocation:
    return StorageLocation(f"{MOUNTED}/", {"podTemplate": volume.pod_template}, volume.put, volume.read)
