"""The disassociated form: clusters of records whose items are published in unlinked chunks."""
