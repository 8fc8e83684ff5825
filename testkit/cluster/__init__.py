"""The Kubernetes of the tests, built and started on this machine from package registries alone."""
