"""Where the records of a run are, and where loops over them run: one file per engine."""

from __future__ import annotations

IN_MEMORY = "local"
"""The engine that holds all records."""
ENGINES: dict[str, str] = {
    IN_MEMORY: "setveil.engines.local:open_local",
    "blocks": "setveil.engines.blocks:open_blocks",
    "spark": "setveil.engines.spark:open_spark",
}
"""What opens the `Source` of each engine; its module is loaded when it is used."""
