"""The observed state of the cluster: reflectors that list and watch, and the snapshot that a decision uses."""
