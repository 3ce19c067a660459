"""Verification of typical bags: one published bag for each group of people."""
