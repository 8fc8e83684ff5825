"""Validates plain data: the result is a valid job, or its mistakes."""
