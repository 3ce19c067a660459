"""Attack: what an adversary with known items can do with a release, measured against the
original."""
