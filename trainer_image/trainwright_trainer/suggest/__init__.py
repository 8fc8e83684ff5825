"""Suggest a job for a table: statistics of its columns, their types, the text of a file. docs/init.md has the rules."""
