"""Helpers for people who work on setveil."""
