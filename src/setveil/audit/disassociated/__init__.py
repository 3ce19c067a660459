"""Verification of disassociated data: its form, its promise, and its original."""
