"""Kernels of SSC: matching bags, centres of clusters, clusters that grow and exchange members."""
