"""Benchmarks of the operator on a control plane of its own: etcd, a kube-apiserver, no nodes that run pods."""
