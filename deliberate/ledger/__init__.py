"""The record: content keys to bodies, in one SQLite file that survives being killed.

``open_ledger`` is the writing side, ``read_ledger`` the reading side for reports, ``verify`` the audit. Rules for
whoever edits this room: nothing is acknowledged before the commit that holds it; the first body under a key stays;
one writer thread a process, no lock on the ledger longer than one group; after an error of writing nothing more is
written. Read ``_ledger``, ``_writer`` and ``_rows`` in this order.
"""

from deliberate.ledger._audit import verify
from deliberate.ledger._ledger import Ledger, default_path, open_ledger
from deliberate.ledger._reader import Reader, read_ledger
from deliberate.ledger._records import Audit, Label, Run, RunStatus, Step

__all__ = [
    "Audit",
    "Label",
    "Ledger",
    "Reader",
    "Run",
    "RunStatus",
    "Step",
    "default_path",
    "open_ledger",
    "read_ledger",
    "verify",
]
