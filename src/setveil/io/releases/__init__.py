"""Release folders: how each published form is written and read back."""
