"""Where loops run."""
