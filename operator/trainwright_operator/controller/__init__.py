"""The control loop: queue, reconciler, apply, events."""
