"""Slow, plain twins of the fast code: standard library only, nothing of setveil."""
