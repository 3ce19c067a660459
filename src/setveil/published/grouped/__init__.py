"""The grouped form: columns beside the set, generalized for groups of people."""
