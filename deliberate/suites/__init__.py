"""Task suites: does a skill make a subject do better on real tasks?

``compare`` turns results into an outcome and is pure; ``trial`` gets the results; ``run`` is the whole of it, from
files to artifact. Read ``records``, ``compare`` and ``trial`` in this order.
"""

from deliberate.suites.compare import Bar
from deliberate.suites.lint import lint
from deliberate.suites.records import Outcome, TaskResult, Trial
from deliberate.suites.run import Order, Ran, run_suite
from deliberate.suites.subjects import Subject, calling, mocked, modeled, running

__all__ = [
    "Bar",
    "Order",
    "Outcome",
    "Ran",
    "Subject",
    "TaskResult",
    "Trial",
    "calling",
    "lint",
    "mocked",
    "modeled",
    "run_suite",
    "running",
]
