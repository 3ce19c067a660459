"""Verification of groups of people with columns beside their sets."""
