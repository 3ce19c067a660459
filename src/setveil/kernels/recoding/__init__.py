"""Hot loops of global recoding: threats, the search for them, and how they are raised."""
