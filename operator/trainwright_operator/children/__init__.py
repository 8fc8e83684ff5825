"""What a job starts in the cluster: pure builders of manifests, and the readers of what becomes of them."""
