"""Benchmarks of the whole way on a cluster with a node: from `kubectl apply` to the first training step."""
