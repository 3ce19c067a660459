"""Releases do not change: what was verified is what is written."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np


class Frozen:
    """A dataclass whose arrays are read-only, here and where it arrives when it is sent to another process."""

    def __post_init__(self) -> None:
        for each in fields(self):  # type: ignore[arg-type]
            array = getattr(self, each.name)
            if isinstance(array, np.ndarray) and array.flags.writeable:
                view = array.view()
                view.flags.writeable = False
                object.__setattr__(self, each.name, view)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        Frozen.__post_init__(self)
