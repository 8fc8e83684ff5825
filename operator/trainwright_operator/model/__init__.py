"""The plain data that decisions read and produce: observed objects, plans, names and times."""
