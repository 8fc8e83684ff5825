"""The images that the cluster's pods run, built on this machine without a container registry.

    from testkit.cluster import images
    images.build()                                                        # what has changed of ours
    images.load(["ctr", "--address", socket, "--namespace", "k8s.io"])    # what that containerd lacks

`layout.put_program` makes images of one static program.

An OCI layout is a folder of blobs named by their sha256. All images share one, so that a layer lies in it once, and
containerd is sent only the blobs that it lacks: a change of our code is one small layer.
"""

from testkit.cluster.images.building import build, build_modin
from testkit.cluster.images.containerd import load
from testkit.cluster.images.layout import StaticProgram

__all__ = ["StaticProgram", "build", "build_modin", "load"]
