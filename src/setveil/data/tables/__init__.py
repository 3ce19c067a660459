"""Records from and to Python's tables and matrices."""
