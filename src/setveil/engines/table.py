"""The engines by name."""

from __future__ import annotations

from setveil.errors import ParameterError

IN_MEMORY = "local"
"""The engine that holds all records."""
ENGINES: dict[str, str] = {
    IN_MEMORY: "",
    "blocks": "setveil.pipeline.parts.onblocks:open_blocks",
    "spark": "setveil.pipeline.parts.onspark:open_spark",
}
"""Where each of the others opens its source of records; it is loaded when it is used."""


def check_name(engine: str) -> None:
    """Refuse an engine that is not there."""
    if engine not in ENGINES:
        raise ParameterError("engine", engine, f"choose one of {', '.join(ENGINES)}")
