"""Metrics: small mergeable states, one file for each type of output."""
