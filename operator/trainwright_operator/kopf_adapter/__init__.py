"""What lies between kopf and the operator: settings, the session that kopf reads by, the relay to the queue."""
