"""From plain data to a valid job, or to its mistakes."""
