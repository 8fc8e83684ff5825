"""Hyperparameter search: many trials of one job, each an ordinary run. Only the subpackage `ray_tune` knows Ray."""
