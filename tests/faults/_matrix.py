"""What every row of the fault matrix does: a run of many cases against the endpoint, held against the invariants."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from deliberate import Case, Panel, Session
from deliberate.ledger import verify
from deliberate.library import Library
from deliberate.testing.endpoint import FAULTS, Endpoint, Script
from deliberate.types import Absent, Ballot, Decided, Evaluation, Undecided

MODELS = ("seeded-a", "seeded-b", "seeded-c", "seeded-d", "seeded-e")

LASTING = frozenset({"content_filter", "filtered_prompt", "refusal", "length", "prose", "null_content", "tool_call"})
"""Faults that are the judge's own word if they go on: no retry turns them into a vote."""

NEVER = frozenset({"bad_request", "bad_key", "encoded", "forbidden", "no_such_model", "quota", "redirect"})
"""Faults that no retry can help."""

OTHER_WORDS = frozenset({"surrogate", "no_response_format"})
"""Faults that leave a vote, in other words."""

PASSING = tuple(name for name in FAULTS if name not in LASTING | NEVER | OTHER_WORDS | {"silent", "drip", "huge"})
"""Faults after which the same ask is answered."""


class Seen(NamedTuple):
    """What a run gave: evaluations by case, and what the endpoint saw."""

    evaluations: Mapping[str, Evaluation]
    requests: int
    faults: int
    most_in_flight: int

    @property
    def digests(self) -> dict[str, str]:
        """The decision digest of each case."""
        return {name: one.verdict.digest for name, one in self.evaluations.items() if one.verdict is not None}

    @property
    def votes(self) -> int:
        """Ballots that came."""
        return sum(isinstance(reply, Ballot) for reply in self.replies)

    @property
    def replies(self) -> Iterator[object]:
        """Every seat's reply."""
        for one in self.evaluations.values():
            assert one.verdict is not None
            yield from (answer.reply for answer in one.verdict.answers.values())


def cases(number: int) -> Iterator[Case]:
    """So many cases."""
    return (Case(id=f"q{at}", output=f"{at + at}", task=f"What is {at} + {at}?") for at in range(number))


def panel(models: Iterable[str] = MODELS) -> Panel:
    """Five judges of the endpoint."""
    return Panel.of(*(f"ollama/{model}" for model in models), rubric=None, criteria="Is it right?")


async def judged(
    number: int,
    endpoint: Endpoint,
    place: Path,
    *,
    models: Iterable[str] = MODELS,
    **options: Any,  # noqa: ANN401  those of a session
) -> Seen:
    """The cases of a run, judged to the end."""
    before = endpoint.stats
    library = Library(home=place.parent / "home", workspace=place.parent)
    evaluations: dict[str, Evaluation] = {}
    async with (
        Session(
            ledger=place, library=library, env={}, api_base={"ollama": endpoint.address}, source="matrix", **options
        ) as session,
        session.stream(cases(number), panel(models)) as stream,
    ):
        async for case, evaluation in stream:
            evaluations[case.id] = evaluation
    after = endpoint.stats
    return Seen(evaluations, after.requests - before.requests, after.faults - before.faults, after.most_in_flight)


def failing(script: Script, *, attempts: int) -> Script:
    """The script, for the first attempts at an ask only."""
    return lambda call: script(call) if call.attempt <= attempts else None


def dead(models: set[str]) -> Script:
    """Some models that are not there."""
    return lambda call: "no_such_model" if call.body.get("model") in models else None


def on_first(name: str) -> Script:
    """A fault at every first attempt."""
    return lambda call: name if call.attempt == 1 else None


async def check(seen: Seen, ledger: Path, *, cases: int, seats: int = len(MODELS)) -> None:
    """I1, I2, I4, I8 and that the record is whole, whatever happened."""
    assert (await verify(ledger)).sound
    assert len(seen.evaluations) == cases
    with closing(sqlite3.connect(ledger)) as connection:
        bodies = [
            msgspec.json.decode(body) for (body,) in connection.execute("SELECT body FROM step WHERE kind = 'Answer'")
        ]
        replies: dict[str, list[str]] = {}
        for key, reply in connection.execute("SELECT key, reply FROM attempt ORDER BY id"):
            replies.setdefault(key, []).append(reply)
        (twice,) = connection.execute("SELECT count(*) - count(DISTINCT run || path) FROM run_step").fetchone()
    # I1: one terminal record a key; I2: a vote's words are in one reply that came for its key.
    keys = Counter(body["key"] for body in bodies)
    assert twice == 0
    assert set(keys.values()) <= {1}
    for body in bodies:
        if body["reply"]["type"] == "Ballot" and body["reply"].get("reason"):
            assert any(body["reply"]["reason"][:20] in reply for reply in replies[body["key"]])
    # I4: decided only with a quorum, and what did not come is no number.
    for one in seen.evaluations.values():
        assert one.verdict is not None
        valid = sum(isinstance(answer.reply, Ballot) for answer in one.verdict.answers.values())
        if valid > seats // 2:
            assert isinstance(one.verdict.decision, Decided)
            assert one.score is not None
        else:
            assert isinstance(one.verdict.decision, Undecided)
            assert one.score is None
    assert all(isinstance(reply, (Ballot, Absent)) for reply in seen.replies)
