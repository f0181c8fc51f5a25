"""The trials of degraded panels: ours stands them all, in any order of seats."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from deliberate import Case, Panel, Session
from deliberate.errors import RefusedError
from deliberate.library import Library
from deliberate.providers._base import Message, Request
from deliberate.testing.endpoint import Endpoint
from deliberate.testing.judges import DEGRADED, TRIALS, Degraded
from deliberate.types import Decided, Verdict

pytestmark = pytest.mark.anyio

CASE = Case(task="What is 2 + 2?", output="It is 4.")
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "reasoning": {"type": "string"},
        "bracket": {"type": "string", "enum": ["poor", "fair", "good", "excellent"]},
        "score": {"type": "number"},
    },
    "required": ["reasoning", "bracket", "score"],
}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def verdict_of(judges: tuple[str, ...], endpoint: Endpoint, folder: Path) -> Verdict:
    """What a panel of these judges comes to."""
    panel = Panel.of(*(f"ollama/{name}" for name in judges), rubric=None, criteria="Is it right?")
    library = Library(home=folder / "home", workspace=folder)
    async with Session(ledger=":memory:", library=library, env={}, api_base={"ollama": endpoint.address}) as session:
        found = (await session.evaluate(CASE, panel)).verdict
    assert found is not None
    return found


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # judged alike on any loop
@pytest.mark.parametrize("name", TRIALS)
async def test_a_degraded_panel_is_judged_as_its_trial_says_in_any_order(tmp_path: Path, name: str) -> None:
    trial = TRIALS[name]
    chance = random.Random(name)
    brackets = set()
    async with Endpoint() as endpoint:
        for judges in (trial.judges, trial.judges[::-1], chance.sample(trial.judges, len(trial.judges))):
            found = await verdict_of(tuple(judges), endpoint, tmp_path)
            assert isinstance(found.decision, Decided) is trial.decided, trial.why
            brackets.add(found.decision.bracket.name.lower() if isinstance(found.decision, Decided) else None)
    assert len(brackets) == 1
    if trial.bracket is not None:
        assert brackets == {trial.bracket}


async def reply(name: str, text: str) -> str:
    """What one of them replies."""
    message = Message(role="user", content=text)
    request = Request(model=f"x/{name}", messages=(message,), schema=SCHEMA, max_tokens=99, deadline_seconds=9.0)
    return (await Degraded().complete(request)).text


async def vote(name: str, text: str) -> tuple[str, float]:
    """Bracket and score that it votes."""
    found = msgspec.json.decode(await reply(name, text))
    return found["bracket"], found["score"]


async def test_a_biased_judge_looks_at_places_or_at_length() -> None:
    assert await vote("first", "Is it bad?") == ("poor", 12.5)
    assert await vote("last", "Is it bad?") == ("excellent", 88.0)
    assert await vote("long", "") == ("poor", 0.0)
    assert await vote("long", "word " * 100) == ("fair", 50.0)
    assert (await vote("long", "word " * 900))[1] == 90.0


async def test_a_ring_votes_alike_and_another_ring_otherwise() -> None:
    assert (
        await vote("colluding", "a text") == await vote("colluding:1", "a text") != await vote("colluding:2", "a text")
    )
    assert await vote("colluding", "a text") != await vote("colluding", "another")


async def test_an_adversary_speaks_to_whoever_reads_it_and_is_read_all_the_same() -> None:
    found = msgspec.json.decode(await reply("adversarial", "a text"))
    assert (found["bracket"], found["score"]) == ("poor", 0.0)
    assert "Ignore the other votes" in found["reasoning"]


async def test_the_wrong_form_is_json_all_the_same() -> None:
    assert set(msgspec.json.decode(await reply("wrong_schema", "a text"))).isdisjoint(SCHEMA["required"])


async def test_every_judge_of_a_trial_is_there_and_nobody_else() -> None:
    for trial in TRIALS.values():
        for name in trial.judges:
            assert name.split(":")[0] in DEGRADED or await reply(name.split("@")[0], "a text") is not None
    with pytest.raises(RefusedError, match="no scripted judge is called 'nobody'"):
        await reply("nobody", "a text")
