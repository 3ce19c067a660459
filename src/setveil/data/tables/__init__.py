"""Tables and matrices as people have them in Python, turned into records."""
