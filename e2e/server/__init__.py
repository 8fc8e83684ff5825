"""The operator's TLS server, in the test's own process, before a real API server."""
