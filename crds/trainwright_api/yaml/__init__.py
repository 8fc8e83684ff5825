"""YAML 1.2 to plain data, with the path of every value."""
