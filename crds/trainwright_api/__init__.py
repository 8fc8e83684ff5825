"""The contract: one resource, `TrainingJob`, as pydantic models. Imports pydantic, nothing of ours."""
