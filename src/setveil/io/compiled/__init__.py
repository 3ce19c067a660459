"""Text of large files, written and read by compiled loops: arrays in, arrays out."""
