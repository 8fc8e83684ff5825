"""Benchmarks: our programs against the shortest hand-written ones, side by side. The tests never run them."""
