"""A run in a pod: the entry point, how it ended for the operator, and the tail of its log."""
