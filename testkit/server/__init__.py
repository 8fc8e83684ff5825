"""The operator's TLS server, in the test's own process, with a real API server."""
