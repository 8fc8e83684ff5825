"""A run in a pod: the entry point, the termination message for the operator, and the tail of the log."""
