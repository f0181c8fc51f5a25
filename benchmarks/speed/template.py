"""Writes down the request that ours sends, with a place for the judged text, so that the raw clients send the same.

python -m benchmarks.speed.template FILE
"""

from __future__ import annotations

import sys
from pathlib import Path

import anyio

from benchmarks.speed.scenario import CRITERIA, PLACE, TASK
from deliberate import Case, Judge, Panel, Seat, Session
from deliberate.providers._base import Request
from deliberate.providers._wire import body_of, parameters_of
from deliberate.providers.scripted import Scripted

__all__ = ["template"]


async def template() -> bytes:
    """The body of a request about ``PLACE``."""
    seen: list[bytes] = []

    def reply(request: Request) -> str:
        seen.append(body_of("judge-a", request, parameters_of(request, frozenset())))
        return '{"reasoning": "", "findings": [], "bracket": "good", "score": 63, "suggestion": ""}'

    panel = Panel(seats=(Seat(name="judge", judge=Judge(model="scripted/judge-a")),), rubric=None, criteria=CRITERIA)
    async with Session(ledger=":memory:", providers={"*": Scripted(reply)}) as session:
        await session.evaluate(Case(task=TASK, output=PLACE), panel)
    return seen[0]


if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(anyio.run(template))
