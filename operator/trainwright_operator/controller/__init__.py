"""The loop: queue, reconciler, apply, events."""
