"""Random numbers from a seed."""

import numpy as np

from setveil.errors import ParameterError


def random_from(seed: object) -> np.random.Generator:
    """A random generator from a seed; without one it is seeded by the system."""
    if seed is not None and (
        not isinstance(seed, int | np.integer) or isinstance(seed, bool) or seed < 0
    ):
        raise ParameterError("seed", seed, "it must be a whole number of 0 or more, or None")
    return np.random.default_rng(None if seed is None else int(seed))
