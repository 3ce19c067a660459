"""Toys of everything that can be added, each in its own file."""
