"""Benchmarks: ours against the shortest hand-written program, side by side. Never run by the tests."""
