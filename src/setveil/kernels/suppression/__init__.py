"""Kernels of Suppression: minimal moles, and which items to give up for them."""
