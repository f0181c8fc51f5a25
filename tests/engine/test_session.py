"""Sessions: one record, one set of doors, nothing left running; what is wrong is said before anything is spent."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import anyio
import msgspec
import pytest

from deliberate import Case, Panel, Session, combine, evaluate, judge
from deliberate.errors import ConfigError, LedgerError, RefusedError, UnknownName
from deliberate.evaluators import Exact, Script
from deliberate.library import Library
from deliberate.providers._base import Request
from deliberate.providers.scripted import Scripted
from deliberate.sandbox import SandboxRunner
from deliberate.types import (
    BallotCast,
    CaseFailed,
    Evaluation,
    Event,
    Judge,
    Plan,
    PlanPart,
    ResultReached,
    RunEnded,
    Seat,
    Spec,
    Verdict,
)

pytestmark = pytest.mark.anyio

CASE = Case(output="4", task="2 + 2?", id="q1")
PANEL = Panel.of("scripted/good:70", "scripted/good:60", "scripted/fair:40")


def noting(asked: list[Request], said: str = "x") -> Scripted:
    """A judge that writes down what it is asked."""

    def reply(request: Request) -> str:
        asked.append(request)
        return said

    return Scripted(reply)


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(home=tmp_path / "home", workspace=tmp_path)


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


async def test_the_same_question_is_read_back_with_the_same_decision_bytes(library: Library, ledger: Path) -> None:
    verdicts: list[Verdict] = []
    cast_at: tuple[str, ...] = ()
    for _ in range(2):
        async with Session(ledger=ledger, library=library, env={}) as session:
            found = await session.evaluate(CASE, PANEL)
            assert found.verdict is not None
            verdicts.append(found.verdict)
            cast_at = await session.read_back(found)
    assert verdicts[0].decision_bytes == verdicts[1].decision_bytes
    assert len(cast_at) == 3
    assert cast_at == tuple(sorted(cast_at))


async def test_fresh_asks_anew(library: Library, ledger: Path) -> None:
    asked: list[Request] = []
    provider = noting(asked, "SCORE: 5")
    for fresh in (False, False, True):
        async with Session(
            ledger=ledger, library=library, env={}, fresh=fresh, providers={"scripted": provider}
        ) as session:
            await session.evaluate(CASE, Panel.of("scripted/x"))
    assert len(asked) == 4  # the reply cannot be read: two asks the first time, none the second, two when fresh


async def test_the_result_and_its_case_are_in_the_ledger(library: Library, ledger: Path) -> None:
    async with Session(ledger=ledger, library=library, env={}) as session:
        found = await session.evaluate(CASE, PANEL)
        reader = session.ledger.reader
        (run,) = await reader.runs()
        (result,) = await reader.results(run.run)
        (case,) = await reader.steps(run.run, kinds=("Case",))
    assert run.status == "ok"
    assert msgspec.json.decode(result.body or b"", type=Evaluation) == found
    assert msgspec.json.decode(case.body or b"", type=Case) == CASE


async def test_a_result_and_the_end_of_its_run_are_one_commit(library: Library, ledger: Path) -> None:
    said: list[str] = []
    async with Session(ledger=ledger, library=library, env={}) as session:
        session.ledger._rows.connection.set_trace_callback(said.append)  # noqa: SLF001  what was committed with what
        await session.evaluate(CASE, PANEL)
    commits = "\n".join(said).split("COMMIT")
    (last,) = (commit for commit in commits if "UPDATE run SET status" in commit)
    assert "INSERT INTO step" in last
    assert "Evaluation" in last


async def test_events_tell_what_happened_in_order(library: Library) -> None:
    heard: list[Event] = []
    async with Session(ledger=":memory:", library=library, env={}, on_event=heard.append) as session:
        await session.evaluate(CASE, PANEL)
    names = [type(event).__name__ for event in heard]
    assert names[:2] == ["RunStarted", "CaseStarted"]
    assert names.count("BallotCast") == 3
    assert names[-3:] == ["RoundClosed", "ResultReached", "RunEnded"]
    reached = next(event for event in heard if isinstance(event, ResultReached))
    assert (reached.case, reached.why) == ("q1", "")


async def test_a_waiting_panel_leaves_the_run_incomplete(library: Library) -> None:
    heard: list[Event] = []
    seats = (Seat(name="p", judge=Judge(model="maria", human=True)),)
    async with Session(ledger=":memory:", library=library, env={}, on_event=heard.append) as session:
        await session.evaluate(CASE, Panel(seats=seats))
    assert [event.status for event in heard if isinstance(event, RunEnded)] == ["incomplete"]


async def test_many_cases_stream_out_as_they_finish(library: Library, ledger: Path) -> None:
    async def cases() -> AsyncIterator[Case]:
        for number in range(5):
            yield Case(output=str(number))

    sources: list[AsyncIterator[Case] | Iterator[Case]] = [
        cases(),
        (Case(output=str(number)) for number in range(5)),
        iter(()),
    ]
    for place, source in enumerate(sources):
        async with Session(ledger=ledger, library=library, env={}) as session:
            found: list[str] = []
            async with session.stream(source, PANEL) as reviews:
                async for case, review in reviews:
                    assert review.score is not None
                    found.append(case.output)
        assert sorted(found) == (["0", "1", "2", "3", "4"] if place < 2 else [])


async def test_a_stream_tells_its_events_beside_its_results(library: Library) -> None:
    heard: list[Event] = []
    others: list[Event] = []
    async with Session(
        ledger=":memory:", library=library, judge="scripted/good", env={}, on_event=others.append
    ) as session:
        async with session.stream(Case(id=str(number), output="x") for number in range(3)) as stream:
            events, more = stream.events, stream.events
            async with anyio.create_task_group() as tasks:

                async def listen() -> None:
                    async for event in events:
                        heard.append(event)  # noqa: PERF401  as they come

                tasks.start_soon(listen)
                await more.aclose()  # type: ignore[attr-defined]
                found = [case.id async for case, _ in stream]
        assert sorted(found) == ["0", "1", "2"]
    assert sum(isinstance(event, BallotCast) for event in heard) == 3
    assert sum(isinstance(event, ResultReached) for event in heard) == 3
    assert [event for event in others if event in heard] == heard


async def test_leaving_a_stream_early_leaves_nothing_running(library: Library, ledger: Path) -> None:
    pulled: list[int] = []

    def cases() -> Iterator[Case]:
        for number in range(1_000):
            pulled.append(number)
            yield Case(output=str(number))

    async with Session(ledger=ledger, library=library, env={}, in_flight=2) as session:
        async with session.stream(cases(), Panel.of("scripted/good@0.001")) as reviews:
            async for _ in reviews:
                break
        (run,) = await session.ledger.reader.runs()
    assert run.status == "interrupted"
    assert len(pulled) < 20


async def test_an_error_in_the_body_comes_out_as_itself(library: Library) -> None:
    with pytest.raises(ZeroDivisionError):
        async with Session(ledger=":memory:", library=library, env={}) as session:
            await session.evaluate(CASE, PANEL)
            _ = 1 // 0


async def test_cancelling_an_evaluation_leaves_the_session_usable(library: Library) -> None:
    async with Session(ledger=":memory:", library=library, env={}) as session:
        with anyio.move_on_after(0.05) as scope:
            await session.evaluate(CASE, Panel.of("scripted/hang"))
        assert scope.cancelled_caught
        assert (await session.evaluate(CASE, PANEL)).score is not None
        runs = await session.ledger.reader.runs()
    assert [run.status for run in runs] == ["ok", "interrupted"]


async def test_what_is_wrong_is_said_before_anything_is_asked(library: Library) -> None:
    asked: list[Request] = []
    provider = noting(asked)
    async with Session(ledger=":memory:", library=library, env={}, providers={"scripted": provider}) as session:
        with pytest.raises(ConfigError, match=r"OPENAI_API_KEY|cannot be asked on trio"):
            await session.evaluate(CASE, Panel.of("scripted/x", "openai/gpt-x"))
        with pytest.raises(UnknownName, match=r"unknown rubric 'genral'.*general"):
            await session.evaluate(CASE, Panel.of("scripted/x", rubric="genral"))
        with pytest.raises(ConfigError, match="no panel, judge or plan is named"):
            await session.evaluate(CASE)
    assert not asked


async def test_the_default_judge_is_what_the_session_or_the_environment_names(library: Library) -> None:
    for options in (
        {"judge": "scripted/fair:30"},
        {"judge": Panel.of("scripted/fair:30")},
        {"env": {"DELIBERATE_JUDGE": "scripted/fair:30"}},
    ):
        arguments = {"ledger": ":memory:", "library": library, "env": {}, **options}
        async with Session(**arguments) as session:  # type: ignore[arg-type]
            assert (await session.evaluate(CASE)).score == 30.0


async def test_a_panel_named_by_the_environment_is_looked_up(library: Library) -> None:
    async with Session(ledger=":memory:", library=library, env={"DELIBERATE_PANEL": "bord"}) as session:
        with pytest.raises(UnknownName, match="bord"):
            await session.evaluate(CASE)


async def test_a_plan_by_names_is_built(library: Library) -> None:
    part = PlanPart(name="same", spec=Spec(type="exact", params={"expected": "4"}))
    async with Session(ledger=":memory:", library=library, env={}) as session:
        assert (await session.evaluate(CASE, Plan(parts=(part,)))).score == 100.0


async def test_a_session_is_open_only_within_its_block(library: Library) -> None:
    session = Session(ledger=":memory:", library=library, env={})
    with pytest.raises(RuntimeError, match="only within"):
        await session.evaluate(CASE, PANEL)


async def test_an_exclusive_session_refuses_to_run_beside_another_of_the_same_plan(
    library: Library, ledger: Path
) -> None:
    async with (
        Session(ledger=ledger, library=library, env={}, exclusive=True) as one,
        Session(ledger=ledger, library=library, env={}, exclusive=True) as other,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(one.evaluate, CASE, Panel.of("scripted/good@0.3"))
        await anyio.sleep(0.1)
        with pytest.raises(LedgerError, match="is being executed"):
            await other.evaluate(CASE, Panel.of("scripted/good@0.3"))
        assert (await other.evaluate(CASE, PANEL)).score is not None


async def test_what_is_recorded_can_be_replayed_without_a_model(library: Library, tmp_path: Path) -> None:
    file = tmp_path / "recording.jsonl"
    async with Session(ledger=":memory:", library=library, env={}, record=file) as session:
        said = await session.evaluate(CASE, PANEL)
    dead = Scripted(lambda _: RefusedError("nobody is here"))
    async with Session(library=library, env={}, replay=file, providers={"scripted": dead}) as session:
        again = await session.evaluate(CASE, PANEL)
        other = await session.evaluate(Case(output="5"), PANEL)
    assert said.verdict is not None
    assert again.verdict is not None
    assert said.verdict.decision_bytes == again.verdict.decision_bytes
    assert other.score is None


async def test_an_estimate_asks_nobody(library: Library) -> None:
    asked: list[Request] = []
    provider = noting(asked)
    async with Session(ledger=":memory:", library=library, env={}, providers={"scripted": provider}) as session:
        found = await session.estimate(CASE, Panel.of("scripted/a", "scripted/b", rounds=3))
    assert (found.least_calls, found.most_calls) == (2, 6)
    assert 2 <= found.expected_calls <= 6
    assert (found.low_usd, found.worst_usd, found.unpriced) == (0.0, 0.0, ())
    assert found.tokens_in > 100
    assert not asked


async def test_an_unknown_price_is_unknown_and_never_zero(library: Library) -> None:
    class Unpriced(Scripted):
        async def worst_cost_usd(self, request: Request) -> float | None:  # noqa: ARG002
            return None

    async with Session(ledger=":memory:", library=library, env={}, providers={"scripted": Unpriced()}) as session:
        found = await session.estimate(CASE, PANEL)
        none = await session.estimate(CASE, Exact(expected="4"))
    assert (found.low_usd, found.expected_usd, found.worst_usd) == (None, None, None)
    assert found.unpriced == ("scripted/fair:40", "scripted/good:60", "scripted/good:70")
    assert (none.most_calls, none.worst_usd) == (0, 0.0)


async def test_a_script_runs_in_a_sandbox_or_where_it_is_trusted(library: Library) -> None:
    script = Script(command="""echo '{"score": 1}'""")
    async with Session(ledger=":memory:", library=library, env={}) as session:
        if await SandboxRunner(trust_code=False).tier() is None:
            with pytest.raises(ConfigError, match="trust"):
                await session.evaluate(CASE, script)
        else:
            assert (await session.evaluate(CASE, script)).score == 1.0


async def test_one_line_judges_an_output(library: Library) -> None:
    found = await judge(
        "4", "scripted/good:70", "scripted/good:60", task="2 + 2?", ledger=":memory:", library=library, env={}
    )
    assert found.score == 65.0
    by_criteria = await judge("4", "scripted/good:70", criteria="right?", ledger=":memory:", library=library, env={})
    assert by_criteria.score == 70.0
    with pytest.raises(ConfigError, match="no panel, judge or plan"):
        await judge("4", ledger=":memory:", library=library, env={})


async def test_one_line_evaluates_a_case(library: Library) -> None:
    assert (await evaluate(CASE, Exact(expected="4"), ledger=":memory:", library=library, env={})).score == 100.0


async def test_a_call_that_costs_nothing_costs_nothing_when_it_is_cut_off(library: Library) -> None:
    async with Session(ledger=":memory:", library=library, env={}, deadline_seconds=0.2) as session:
        found = await session.evaluate(CASE, Panel.of("scripted/hang"))
    assert found.score is None
    assert found.usage.cost_usd == 0.0


async def test_opening_a_session_reads_no_panel_and_the_default_is_looked_up_once(tmp_path: Path) -> None:
    read: list[str] = []

    class Noting(Library):
        def panel(self, name: str, *, model: str | None = None) -> Panel:
            read.append(name)
            return super().panel(name, model=model)

    library = Noting(home=tmp_path / "home", workspace=tmp_path)
    async with Session(ledger=":memory:", library=library, env={}) as session:
        await session.evaluate(CASE, PANEL)
        assert read == []
        runtime = await session.begin("work")
        assert (runtime.judge, runtime.judge) == ("", "")
        assert read == ["local"]
        await session.end(runtime, "ok")


async def test_a_case_that_cannot_be_evaluated_is_an_event_of_its_run(library: Library) -> None:
    events: list[Event] = []
    async with (
        Session(ledger=":memory:", library=library, on_event=events.append, trust_code=True) as session,
        session.stream([CASE], Script(command="exit 3")) as reviews,
    ):
        found = [review async for _, review in reviews]
    assert [one.score for one in found] == [None]
    (failed,) = [one for one in events if isinstance(one, CaseFailed)]
    assert (failed.case, "3" in failed.detail) == ("q1", True)


async def test_what_code_would_run_is_told_and_none_is(library: Library, tmp_path: Path) -> None:
    plan = combine(
        check=(Script(command=f"touch {tmp_path}/ran"), 1),
        net=(Script(command="true", network=True), 1),
        jury=(PANEL, 1),
    )
    async with Session(ledger=":memory:", library=library) as session:
        found = await session.code(plan)
        assert [(one.part, one.network) for one in found] == [("check", False), ("net", True)]
        assert {one.tier for one in found} == {await SandboxRunner(trust_code=False).tier()}
        assert await session.code(PANEL) == ()
    assert not (tmp_path / "ran").exists()
