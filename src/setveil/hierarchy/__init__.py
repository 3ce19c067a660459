"""How items generalize: trees over the items."""
