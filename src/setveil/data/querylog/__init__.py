"""The terms of query logs, and what was found in one."""
