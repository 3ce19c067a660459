"""The tests of setveil."""
