"""The Kubernetes that the tests run on, built and started on this machine from package registries alone."""
