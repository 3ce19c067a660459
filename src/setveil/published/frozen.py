"""Dataclasses whose arrays cannot be changed."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


class Frozen:
    """A dataclass whose arrays are read-only, also after it was sent to another process."""

    def __post_init__(self: DataclassInstance) -> None:
        for each in fields(self):
            array = getattr(self, each.name)
            if isinstance(array, np.ndarray) and array.flags.writeable:
                view = array.view()
                view.flags.writeable = False
                object.__setattr__(self, each.name, view)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        Frozen.__post_init__(self)  # type: ignore[arg-type]
