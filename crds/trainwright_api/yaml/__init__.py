"""Parses YAML 1.2 into plain data, with the path of every mistake."""
