"""What was lost: the measures, by name."""

from setveil.metrics.measure import measure
from setveil.metrics.table import METRICS

__all__ = ["METRICS", "measure"]
