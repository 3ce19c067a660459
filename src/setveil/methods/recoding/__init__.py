"""Global recoding: one cut of the tree for all records, with or without suppressed nodes."""
