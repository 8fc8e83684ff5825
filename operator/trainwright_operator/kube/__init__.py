"""The Kubernetes API: connection, client, errors, resources, leader election."""
