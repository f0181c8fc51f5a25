"""One decision whatever the way to the judges: asked natively, through litellm, or with no network at all."""

from __future__ import annotations

import pytest

from benchmarks.speed.client_deliberate import scripted
from benchmarks.speed.scenario import CRITERIA, JUDGES, TASK, mark_of, output_of, vote_of
from benchmarks.speed.stub import Stub, listening
from deliberate import Case, Judge, Panel, Seat, Session
from deliberate.providers._base import Provider, Settings
from deliberate.providers.litellm import LiteLLM
from deliberate.providers.openai_compatible import OpenAICompatible

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.timeout(180),  # litellm's import alone takes seconds
    # It silences pydantic's warnings at import, for the process; pytest forgets that after each test.
    pytest.mark.filterwarnings("ignore:.*`ReadOnly` qualifier.*:UserWarning"),
]

CASES = 12
PANEL = Panel(
    seats=tuple(Seat(name=name, judge=Judge(model=f"openai/{name}")) for name in JUDGES),
    rubric=None,
    criteria=CRITERIA,
)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def decided(provider: Provider) -> dict[str, bytes]:
    """The decision bytes of each case, asked by that provider."""
    cases = [Case(id=str(number), task=TASK, output=output_of(number, size=1000)) for number in range(CASES)]
    async with (
        Session(ledger=":memory:", providers={"*": provider}, in_flight=4) as session,
        session.stream(cases, PANEL) as stream,
    ):
        return {case.id: seen.verdict.decision_bytes async for case, seen in stream if seen.verdict is not None}


async def test_the_decision_bytes_are_the_same_with_a_network_and_without() -> None:
    stub = Stub(median_s=0.001, sigma=0.3, errors=0.0)
    async with listening(stub) as address:
        native = await decided(OpenAICompatible.open("openai", settings(address)))
    assert len(native) == CASES
    assert native == await decided(scripted())
    seen = stub.stats()
    # Every vote was asked for once, and no more at once than was allowed.
    assert seen["requests"] == CASES * len(JUDGES)
    assert 1 < seen["peak_in_flight"] <= 4
    assert seen["connections"] <= 4
    votes = [(case, judge) for case in range(CASES) for judge in JUDGES]
    assert seen["checksum"] == sum(mark_of(case, judge, vote_of(case, judge)) for case, judge in votes)


@pytest.mark.thorough
async def test_the_decision_bytes_are_the_same_through_litellm() -> None:
    stub = Stub(median_s=0.001, sigma=0.3, errors=0.0)
    async with listening(stub) as address:
        through = await decided(LiteLLM.open("openai", settings(address)))
    assert len(through) == CASES
    assert through == await decided(scripted())
    assert stub.stats()["votes"] == CASES * len(JUDGES)


async def test_what_fails_at_first_is_asked_again_and_no_vote_is_lost() -> None:
    stub = Stub(median_s=0.001, sigma=0.3, errors=0.12)
    async with listening(stub) as address:
        faulty = await decided(OpenAICompatible.open("openai", settings(address)))
    assert stub.stats()["faults"]
    assert faulty == await decided(scripted())


def settings(address: str) -> Settings:
    return Settings(api_base={"openai": address}, env={"OPENAI_API_KEY": "none"})
