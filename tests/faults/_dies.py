"""``deliberate`` in a process that kills itself: ``python -m tests.faults._dies POINT TIMES ARGUMENTS``.

The points: ``send`` (before a request), ``reply`` (after its answer), ``store`` (when a vote is queued), ``commit``
(in a transaction, before its end), ``committed`` (after it), ``anchor`` and ``report`` (before each is put in place).
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from deliberate.cli import main
from deliberate.cli._results import Results
from deliberate.ledger import Ledger, _writer
from deliberate.ledger._rows import Rows
from deliberate.providers.openai_compatible import OpenAICompatible

POINTS = ("send", "reply", "store", "commit", "committed", "anchor", "report")


def dying(times: int) -> Callable[[], None]:
    """What kills this process when it is called that often."""
    left = times

    def die() -> None:
        nonlocal left
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)

    return die


def before(owner: Any, name: str, die: Callable[[], None]) -> None:  # noqa: ANN401  a class or a module
    """Has it called before a function of that name."""
    inner = getattr(owner, name)

    def wrapped(*arguments: Any, **named: Any) -> Any:  # noqa: ANN401  whatever it takes
        die()
        return inner(*arguments, **named)

    setattr(owner, name, wrapped)


def arm(point: str, times: int) -> None:
    """Lays the trap."""
    die = dying(times)
    if point in {"send", "reply"}:
        inner = OpenAICompatible.complete

        async def complete(self: OpenAICompatible, request: Any) -> Any:  # noqa: ANN401  as the provider has it
            if point == "send":
                die()
            found = await inner(self, request)
            if point == "reply":
                die()
            return found

        OpenAICompatible.complete = complete  # type: ignore[method-assign]
    elif point == "store":
        before(Ledger, "put", die)
    elif point == "commit":
        before(Rows, "attempt", die)
    elif point == "committed":
        before(Rows, "landed", die)
    elif point == "anchor":
        before(_writer, "write_anchor", die)
    else:
        before(Results, "place", die)


if __name__ == "__main__":
    arm(sys.argv[1], int(sys.argv[2]))
    sys.argv[1:] = sys.argv[3:]
    main()
