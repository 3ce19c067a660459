"""How items generalize: trees of nodes over the items."""
