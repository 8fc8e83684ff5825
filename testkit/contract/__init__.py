"""Objects that the contract allows, and objects with mistakes, for the API server and pydantic to validate."""
