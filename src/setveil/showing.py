"""How a thing shows itself: in a notebook, as a chart, as a page.

Charts and pages are made by `report`, which knows all the folders below it. A type in one of these
folders cannot import `report`, but the front door knows every public name, so what is shown is
asked of it, and only when something is shown. No other module may import the front door."""

from __future__ import annotations

from typing import Any


class Shown:
    """A thing that notebooks show as HTML, and that can be drawn."""

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        import setveil

        return setveil.html(self)

    def plot(self) -> Any:
        """A chart of it, as Altair makes it.

        Raises:
            MissingExtraError: if Altair is not installed (the extra `charts`).
        """
        import setveil

        return setveil.plot(self)


def page_of(thing: object) -> str:
    """A page about it: one HTML file that needs nothing else."""
    import setveil

    return setveil.page(thing)


def values_of(thing: object) -> dict[str, Any]:
    """The same as a page shows, as plain values for programs."""
    import setveil

    return setveil.values(thing)
