"""Hot loops of global recoding: threats, the search for them, and raising nodes to end them."""
