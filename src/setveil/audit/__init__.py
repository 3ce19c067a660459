"""Does it hold? Verification and exposure, independent of methods, kernels and engines."""

from setveil.audit.exposure import Exposure, exposure
from setveil.audit.verdict import Check, Verdict, Witness
from setveil.audit.verify import verify

__all__ = ["Check", "Exposure", "Verdict", "Witness", "exposure", "verify"]
