"""Toys of everything that can be added, each in its own file with one line in each table.

As a plugin (`pytest -p tests.toys`) they take part in the tests that the tables drive.
"""

from setveil.audit.tables import FORM_CHECKS, PROMISE_CHECKS
from setveil.io.formats.table import FORMATS, Format
from setveil.io.releases.folder import FORMS
from setveil.methods import METHODS
from setveil.metrics.table import METRICS, Metric
from setveil.promises import PROMISES
from tests.toys.form import FILES, Tallies, check_tallies
from tests.toys.format import read_pipes, recognize_pipes, write_pipes
from tests.toys.method import Tally
from tests.toys.metric import forgotten
from tests.toys.promise import Quorum, check_quorum

PROMISES["quorum"] = Quorum
PROMISE_CHECKS["quorum"] = check_quorum
FORMS["tallies"] = FILES
FORM_CHECKS["tallies"] = check_tallies
METHODS["tally"] = Tally
METRICS["forgotten"] = Metric(
    function=forgotten, about="share of the items that are not published", forms=(Tallies.form,)
)
FORMATS["pipes"] = Format(
    name="pipes",
    suffixes=(".pipes",),
    reader=read_pipes,
    writer=write_pipes,
    recognizer=recognize_pipes,
)
