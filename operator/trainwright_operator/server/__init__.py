"""The TLS server of every operator pod: admission, progress, health, metrics."""
