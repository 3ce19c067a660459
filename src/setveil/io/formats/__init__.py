"""The data formats: one reader and one writer each."""
