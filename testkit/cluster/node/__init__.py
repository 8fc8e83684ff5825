"""A full Kubernetes cluster on this machine: nodes that run pods, KubeRay and S3. It needs root."""
