"""A run whose judge replies as real models do on their worst days: each reply ends as its class says."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from deliberate import Case, Panel, Session
from deliberate.library import Library
from deliberate.providers._base import Request, Response
from deliberate.providers.scripted import Scripted
from deliberate.testing.endpoint import Endpoint
from deliberate.types import Absent, Ballot, Decided
from tests.faults._matrix import Seen, check

pytestmark = pytest.mark.anyio

VOTE = '{"reasoning": "Because.", "findings": [], "suggestion": "", "bracket": "good", "score": 70}'
UNREAD = (
    "```json\n\n```",
    "Good, I would say: 70 of 100.",
    "SCORE: 70",
    "[70]",
    "null",
    "<think>I wonder whether 70",
    VOTE[:-1],
    VOTE.replace(": 70", ": 70 // or 71"),
    VOTE.replace('"Because."', '"Be\ncause."'),
    VOTE + " Or rather: " + VOTE.replace("70", "20"),
    VOTE.replace('"score": 70', '"score": 20, "score": 70'),
    VOTE.replace("70", "NaN"),
    VOTE.replace("70", "1e999"),
    VOTE.replace("70", "true"),
    VOTE.replace("70", '"70"'),
    VOTE.replace("70", "101"),
    VOTE.replace("70", "-1"),
    VOTE.replace("70", "9.2e124"),
    VOTE.replace("good", "g\u200bood"),
    VOTE.replace("good", "superb"),
    VOTE.replace("good", "poor"),
    VOTE.replace("[]", "[" * 5_000 + "]" * 5_000),
    VOTE.replace("[]", '[{"severity": "odd", "title": "t"}]'),
    "{}",
)
"""Twice in a row: the first time a repair is asked for, the second time the ballot is unread."""

VOTES = (
    VOTE,
    f"```json\n{VOTE}\n```",
    f'<think>Perhaps {{"score": 3}}?</think>\n{VOTE}',
    f"  {VOTE}\n\n",
    VOTE.replace("good", "GOOD"),
    VOTE.replace("Because.", "Because of what it says: \\ud83d"),
    VOTE.replace("Because.", "Because of what it says: \\u0000\\u202e"),
)
REPLIES = (*UNREAD, *VOTES)


class Ugly(Scripted):
    """The judge ``ugly`` replies to case n with the n-th reply, each time; ``mends`` only the first time."""

    async def complete(self, request: Request) -> Response:
        text = "\n".join(message.content for message in request.messages)
        number = re.search(r"Case number (\d+)\.", text)
        assert number is not None
        repaired = request.messages[-1].content.startswith("Your reply could not be read")
        if request.model == "scripted/ugly" or (request.model == "scripted/mends" and not repaired):
            return Response(text=REPLIES[int(number[1])], finish="stop", model=request.model)
        return await super().complete(msgspec.structs.replace(request, model="scripted/good:70"))


async def test_each_ugly_reply_is_unread_or_a_vote_and_the_others_decide(tmp_path: Path) -> None:
    cases = [Case(id=f"q{at}", task=f"Case number {at}.", output="A word.") for at in range(len(REPLIES))]
    panel = Panel.of("ollama/ugly", "ollama/mends", "ollama/good", rubric=None, criteria="Is it right?")
    async with Endpoint(judge=Ugly()) as endpoint:
        library = Library(home=tmp_path / "home", workspace=tmp_path)
        options = {"library": library, "env": {}, "api_base": {"ollama": endpoint.address}}
        async with (
            Session(ledger=tmp_path / "runs.db", **options) as session,  # type: ignore[arg-type]  # a mapping of several
            session.stream(cases, panel) as stream,
        ):
            found = {case.id: evaluation async for case, evaluation in stream}
        seen = Seen(found, endpoint.stats.requests, endpoint.stats.faults, endpoint.stats.most_in_flight)
    await check(seen, tmp_path / "runs.db", cases=len(REPLIES), seats=3)
    states: Counter[str] = Counter()
    for at in range(len(REPLIES)):
        verdict = found[f"q{at}"].verdict
        assert verdict is not None
        assert isinstance(verdict.decision, Decided)
        assert verdict.decision.score == 70.0
        ugly, mended, calm = (answer.reply for answer in verdict.answers.values())
        assert isinstance(mended, Ballot)
        assert isinstance(calm, Ballot)
        states[ugly.reason if isinstance(ugly, Absent) else "voted"] += 1
        assert isinstance(ugly, Absent) is (at < len(UNREAD)), REPLIES[at]
    assert states == {"unreadable": len(UNREAD), "voted": len(VOTES)}
    assert seen.requests == 3 * len(REPLIES) + 2 * len(UNREAD)  # I5: one repair for each that could not be read
