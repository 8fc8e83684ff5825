"""Benchmarks on a full cluster with a node: from `kubectl apply` to the first training step."""
