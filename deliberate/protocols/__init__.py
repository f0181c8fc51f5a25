"""Who is asked what next: pure deliberation.

``_base`` says what a protocol is, ``_advance`` plays one, ``_conclude`` makes the verdict. To add a protocol: a file
in this room.
"""

from deliberate.protocols._advance import advance, protocol_of
from deliberate.protocols._base import BALLOT, Protocol
from deliberate.protocols._conclude import conclude, redecide
from deliberate.protocols._live import batches, live
from deliberate.protocols._price import price
from deliberate.protocols._settled import settled

__all__ = [
    "BALLOT",
    "Protocol",
    "advance",
    "batches",
    "conclude",
    "live",
    "price",
    "protocol_of",
    "redecide",
    "settled",
]
