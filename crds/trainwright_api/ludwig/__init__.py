"""The names of Ludwig's schema and their counterparts in the contract."""
