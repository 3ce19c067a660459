"""The terms of query logs, and the report of reading one."""
