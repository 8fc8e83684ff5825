"""Generates the CRD and the reference page from the models."""
