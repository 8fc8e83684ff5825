"""Exports of a trained model: a graph for other runtimes, and the transform beside it."""
