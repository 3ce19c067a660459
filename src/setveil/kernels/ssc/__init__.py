"""Kernels of SSC: centres of clusters, clusters that grow, and clusters that exchange members."""
