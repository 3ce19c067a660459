"""The parts of `compare`: which cells there are, who runs them, and where they are kept."""
