"""The adapter between kopf and the operator: settings, kopf's HTTP session, and the relay to the informer."""
