"""The building blocks of the contract: sections, constraints, unions."""
