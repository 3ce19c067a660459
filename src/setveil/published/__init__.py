"""What is given out: the published forms."""
