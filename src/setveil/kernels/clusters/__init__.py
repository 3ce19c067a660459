"""Kernels for the text of disassociated releases."""
