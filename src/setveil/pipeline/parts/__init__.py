"""Releases that are made, verified, written and measured part by part."""
