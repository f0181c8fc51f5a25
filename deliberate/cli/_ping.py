"""``judge ping``: one easy question to a judge, and its reply as it came and as it was read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from deliberate.cli._read import addresses
from deliberate.cli._table import print_json, print_rows
from deliberate.engine import Session
from deliberate.errors import ConfigError, UnknownName
from deliberate.gates import EXIT
from deliberate.library import Library, judge_of
from deliberate.types import Absent, Ballot, Case, Judge, Panel, Seat

__all__ = ["ping"]

_CASE = Case(task="What is 2 + 2? Answer with the number alone.", output="4", id="ping")


async def ping(*, name: str, model: str | None, api_base: Sequence[str] | None, as_json: bool) -> int:
    """Asks it whether "4" answers "What is 2 + 2?"."""
    judge = _judge(name, model)
    panel = Panel(seats=(Seat(name="judge", judge=judge),), rubric="general")
    async with Session(
        ledger=":memory:", library=Library(workspace=Path.cwd()), api_base=addresses(api_base)
    ) as session:
        evaluation = await session.evaluate(_CASE, panel)
        verdict = evaluation.verdict
        answer = next(iter(verdict.answers.values())) if verdict is not None else None
        attempts = await session.ledger.reader.attempts(answer.key) if answer is not None else ()
    reply = None if answer is None else answer.reply
    if as_json:
        print_json({"judge": msgspec.to_builtins(judge), "answer": answer, "attempts": attempts})
    else:
        rows = [("asked", 'whether "4" answers "What is 2 + 2?"'), ("model", judge.model)]
        rows += [(f"reply {one.number}", one.reply or f"({one.cause})") for one in attempts]
        rows.append(("read as", _read_as(reply)))
        print_rows(rows)
    return 0 if isinstance(reply, Ballot) else EXIT["no_verdict"]


def _read_as(reply: object) -> str:
    if isinstance(reply, Ballot):
        return f"{reply.bracket.label} {reply.score:.0f}"
    return f"{reply.state}: {reply.detail}" if isinstance(reply, Absent) else "nothing"


def _judge(name: str, model: str | None) -> Judge:
    if "/" in name:
        return Judge(model=name)
    library = Library(workspace=Path.cwd())
    try:
        card = library.card(name)
    except UnknownName as error:
        raise ConfigError(str(error), where="NAME", hint="or give a model, as in openai/NAME") from None
    chosen = model or card.model
    if chosen is None:
        raise ConfigError(
            f"card {name} names no model", where="NAME", hint=f"deliberate judge ping {name} --model MODEL"
        )
    return judge_of(card, model=chosen)
