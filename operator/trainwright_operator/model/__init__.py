"""Plain data that decisions read and make: what is observed, plans, names, times."""
