"""Records, bags and their vocabulary, and where they come from."""
