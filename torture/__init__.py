"""Campaigns that try to break setveil: `make torture`. Each is one line in `torture.table`."""
