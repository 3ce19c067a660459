"""What is shown: one `Report` object, as text for people and as JSON for programs."""

from setveil.report.report import Fact, Report, Section

__all__ = ["Fact", "Report", "Section"]
