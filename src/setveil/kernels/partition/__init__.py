"""Hot loops of Partition: splitting, the buckets of one split, and the leftover between them."""
