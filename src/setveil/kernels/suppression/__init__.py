"""Kernels of Suppression: minimal moles, and which items to suppress for them."""
