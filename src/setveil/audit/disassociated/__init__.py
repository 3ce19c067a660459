"""Verification of disassociated data: its form, Guarantee 1, l-diversity, and whether the original is one of the possible worlds."""
