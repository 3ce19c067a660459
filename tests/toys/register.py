"""One line for each toy in each table.

As a plugin (`pytest -p tests.toys.register`) the toys take part in the tests that the tables drive.
"""

from __future__ import annotations

from setveil.audit.verify import FORM_CHECKS, PROMISE_CHECKS
from setveil.engines import ENGINES
from setveil.io.formats import FORMATS, Format
from setveil.io.releases.folder import FORMS
from setveil.methods import METHODS
from setveil.metrics.table import METRICS, Metric
from setveil.promises import PROMISES
from tests.toys.form import FILES, Tallies, check_tallies
from tests.toys.format import read_pipes, recognize_pipes, write_pipes
from tests.toys.method import Prune, Tally
from tests.toys.metric import forgotten
from tests.toys.promise import Quorum, check_quorum


def register() -> None:
    """Put the toys into the tables."""
    PROMISES["quorum"] = Quorum
    PROMISE_CHECKS["quorum"] = check_quorum
    FORMS["tallies"] = FILES
    FORM_CHECKS["tallies"] = check_tallies
    ENGINES["crumbs"] = "tests.toys.engine:open_crumbs"
    METHODS["tally"] = Tally
    METHODS["prune"] = Prune
    METRICS["forgotten"] = Metric(
        function=forgotten,
        about="share of the items that are not published",
        forms=(Tallies.form, "generalized"),
    )
    FORMATS["pipes"] = Format(
        name="pipes",
        suffixes=(".pipes",),
        reader=read_pipes,
        writer=write_pipes,
        recognizer=recognize_pipes,
    )


def pytest_configure(config) -> None:
    register()
