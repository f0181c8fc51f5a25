from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import anyio
import pytest

from deliberate import Session
from deliberate.errors import ConfigError
from deliberate.library import Library, read_suite
from deliberate.providers._base import Request
from deliberate.providers.scripted import Scripted
from deliberate.suites import Bar, Order, Ran, Subject, calling, modeled, run_suite
from deliberate.suites.compare import LEAST_BASELINE
from deliberate.suites.subjects import lanes_of
from deliberate.types import Judge

pytestmark = pytest.mark.anyio


def suite_in(folder: Path, *names: str, expected: str = "good", timeout: float = 300) -> Path:
    judge = {"type": "contains", "expected": [expected]}
    tasks = [{"id": one, "prompt": f"Do {one}.", "judge": judge, "timeout_seconds": timeout} for one in names]
    path = folder / "suite.yaml"
    path.write_text(json.dumps({"skill_id": "s", "version": "1.0", "tasks": tasks}), encoding="utf-8")
    return path


async def tried(order: Order, folder: Path, **options: Any) -> Ran:  # noqa: ANN401  a session's
    library = Library(home=folder, workspace=folder)
    given: dict[str, Any] = {"ledger": ":memory:", "providers": order.subject.providers, **options}
    async with Session(env={}, library=library, **given) as session:
        return await run_suite(order, session)


async def said_good(skill: str, prompt: str) -> str:  # noqa: ARG001
    return "good"


def order_of(folder: Path, subject: Subject, *names: str, **more: Any) -> Order:  # noqa: ANN401  an order's
    given: dict[str, Any] = {"candidate": "new", "baseline": "old", **more}
    return Order(suite=read_suite(suite_in(folder, *(names or ("a", "b")))), subject=subject, **given)


async def test_a_callable_gets_the_skill_and_the_prompt(tmp_path: Path) -> None:
    heard: list[tuple[str, str]] = []

    async def subject(skill: str, prompt: str) -> str:
        heard.append((skill, prompt))
        return "good"

    ran = await tried(order_of(tmp_path, calling(subject)), tmp_path)
    assert ran.outcome.verdict == "pass"
    assert set(heard) == {(skill, f"Do {name}.") for skill in ("old", "new") for name in "ab"}


async def test_the_candidate_waits_until_the_baseline_is_usable_and_then_both_take_turns(tmp_path: Path) -> None:
    heard: list[tuple[str, str]] = []

    async def subject(skill: str, prompt: str) -> str:
        heard.append((skill, prompt))
        return "good" if prompt != "Do t0." else "bad"

    names = [f"t{at}" for at in range(10)]
    await tried(order_of(tmp_path, calling(subject), *names, width=1), tmp_path, in_flight=1)
    sides = [skill for skill, _ in heard]
    least = round(LEAST_BASELINE * 10)
    assert sides[: least + 1] == ["old"] * (least + 1), "t0 fails, then two pass"
    assert [prompt for _, prompt in heard[3:6]] == ["Do t0.", "Do t1.", "Do t2."], "the candidate catches up,"
    assert sides[6:] == ["old", "new"] * 7, "and then they take turns"


async def test_a_subject_that_fails_is_not_a_failed_task(tmp_path: Path) -> None:
    async def subject(skill: str, prompt: str) -> str:
        if skill == "new" and prompt == "Do a.":
            raise ValueError("boom")
        return "good"

    ran = await tried(order_of(tmp_path, calling(subject)), tmp_path)
    assert ran.outcome.verdict == "error"
    assert ran.outcome.execution_pass_rate is None
    assert "ValueError: boom" in ran.outcome.reason


async def test_a_model_reads_the_skill_and_the_task_and_no_word_that_is_for_judges(tmp_path: Path) -> None:
    seen: list[Request] = []

    def reply(request: Request) -> str:
        seen.append(request)
        return "good"

    order = order_of(tmp_path, modeled("m/subject"), "a", candidate="Be {kind}.", baseline=None)
    ran = await tried(order, tmp_path, providers={"m": Scripted(reply)})
    assert ran.outcome.verdict == "pass"
    (message,) = seen[0].messages
    assert seen[0].schema is None
    assert seen[0].temperature is None
    assert "---BEGIN SKILL.MD---\nBe {kind}.\n---END SKILL.MD---" in message.content
    assert message.content.endswith("Task: Do a.")
    assert "judge" not in message.content


async def test_without_a_skill_the_task_stands_alone(tmp_path: Path) -> None:
    seen: list[str] = []

    def reply(request: Request) -> str:
        seen.append(request.messages[0].content)
        return "good"

    await tried(order_of(tmp_path, modeled("m/s"), "a", baseline=""), tmp_path, providers={"m": Scripted(reply)})
    assert seen[0] == "Do a."


async def test_what_was_answered_is_read_back_and_a_changed_task_is_asked_anew(tmp_path: Path) -> None:
    asked: list[str] = []

    async def subject(skill: str, prompt: str) -> str:  # noqa: ARG001
        asked.append(prompt)
        return "good"

    ledger = {"ledger": tmp_path / "l.db"}
    await tried(order_of(tmp_path, calling(subject, name="s"), "a", "b", baseline=None), tmp_path, **ledger)
    await tried(order_of(tmp_path, calling(subject, name="s"), "a", "c", baseline=None), tmp_path, **ledger)
    assert sorted(asked) == ["Do a.", "Do b.", "Do c."]
    await tried(order_of(tmp_path, calling(subject), "a", baseline=None), tmp_path, **ledger)
    assert sorted(asked) == ["Do a.", "Do a.", "Do b.", "Do c."], "one without a name is never read back"


@pytest.mark.parametrize("stop_after", range(1, 8))
async def test_cut_off_anywhere_it_goes_on_without_asking_twice(tmp_path: Path, stop_after: int) -> None:
    answered: list[tuple[str, str]] = []

    async def subject(skill: str, prompt: str) -> str:
        if len(answered) == stop_after and not resumed:
            scope.cancel()
            await anyio.sleep_forever()
        answered.append((skill, prompt))
        return "good"

    order = order_of(tmp_path, calling(subject, name="s"), *"abcd", width=1)
    resumed = False
    with anyio.CancelScope() as scope:
        await tried(order, tmp_path, ledger=tmp_path / "l.db", exclusive=True, in_flight=1)
    assert scope.cancelled_caught
    resumed = True
    ran = await tried(order, tmp_path, ledger=tmp_path / "l.db", exclusive=True)
    assert ran.outcome.verdict == "pass"
    assert len(answered) == len(set(answered)) == 8


async def test_a_cached_baseline_is_not_asked_and_any_change_asks_it_anew(tmp_path: Path) -> None:
    asked: list[str] = []

    async def subject(skill: str, prompt: str) -> str:  # noqa: ARG001
        asked.append(skill)
        return "good"

    order = order_of(tmp_path, calling(subject, name="s"), cache=tmp_path / "cache")
    assert not (await tried(order, tmp_path)).cached
    assert (await tried(order, tmp_path)).cached
    assert asked.count("old") == 2
    changed = order_of(tmp_path, calling(subject, name="s"), "a", "c", cache=tmp_path / "cache")
    assert not (await tried(changed, tmp_path)).cached


async def test_a_cached_baseline_that_is_too_weak_costs_no_call(tmp_path: Path) -> None:
    asked: list[str] = []

    async def subject(skill: str, prompt: str) -> str:  # noqa: ARG001
        asked.append(skill)
        return "bad"

    order = order_of(tmp_path, calling(subject, name="s"), cache=tmp_path / "cache")
    for _ in range(2):
        assert (await tried(order, tmp_path)).outcome.verdict == "error"
    assert asked == ["old", "old"]


async def test_a_callable_without_a_name_leaves_no_cached_baseline(tmp_path: Path) -> None:
    await tried(order_of(tmp_path, calling(said_good), cache=tmp_path / "cache"), tmp_path)
    assert not (tmp_path / "cache").exists()


async def test_a_cache_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(ConfigError, match="cannot be kept"):
        await tried(order_of(tmp_path, calling(said_good, name="s"), cache=tmp_path / "cache"), tmp_path)


async def test_a_spent_budget_leaves_it_incomplete(tmp_path: Path) -> None:
    ran = await tried(order_of(tmp_path, calling(said_good)), tmp_path, max_cost_usd=0.0)
    assert ran.outcome.incomplete
    assert "budget" in ran.outcome.reason


async def test_a_deadline_of_the_session_leaves_it_incomplete_and_one_of_the_task_fails_the_attempt(
    tmp_path: Path,
) -> None:
    async def subject(skill: str, prompt: str) -> str:  # noqa: ARG001
        await anyio.sleep_forever()
        return ""

    order = order_of(tmp_path, calling(subject), "a", baseline=None)
    assert (await tried(order, tmp_path, deadline_seconds=0.1)).outcome.incomplete
    short = Order(suite=read_suite(suite_in(tmp_path, "a", timeout=0.1)), subject=calling(subject), candidate="")
    ran = await tried(short, tmp_path)
    assert ran.outcome.verdict == "fail"
    assert (ran.trial.candidate or ())[0].passed is False


async def test_all_samples_are_made_and_only_the_first_k_count(tmp_path: Path) -> None:
    replies = iter(["bad", "good", "good", "good"])

    async def subject(skill: str, prompt: str) -> str:  # noqa: ARG001
        return next(replies)

    ran = await tried(order_of(tmp_path, calling(subject), "a", baseline=None, samples=4), tmp_path)
    (found,) = ran.trial.candidate or ()
    assert found.passed is False
    assert found.pass_at_k == 0.75


@pytest.mark.parametrize(("numbers", "flag"), [({"k": 0}, "--pass-k"), ({"k": 3, "samples": 2}, "--samples")])
def test_numbers_that_tell_nothing_are_refused(tmp_path: Path, numbers: dict[str, int], flag: str) -> None:
    with pytest.raises(ConfigError, match=flag):
        order_of(tmp_path, calling(said_good), **numbers)


async def test_a_weak_baseline_may_only_warn_and_then_nothing_waits(tmp_path: Path) -> None:
    async def subject(skill: str, prompt: str) -> str:  # noqa: ARG001
        return "good" if skill == "new" else "bad"

    ran = await tried(order_of(tmp_path, calling(subject), bar=Bar(weak_baseline="warn")), tmp_path)
    assert ran.outcome.verdict == "pass"
    assert ran.outcome.delta == 1.0
    assert "baseline pass rate 0 < 0.2" in ran.outcome.warnings


class OneAtATime(Scripted):
    """As a model in this process is."""

    most_in_flight: ClassVar[int | None] = 1


async def test_where_one_call_at_a_time_is_possible_attempts_at_a_task_follow_each_other(tmp_path: Path) -> None:
    heard: list[str] = []

    def say(request: Request) -> str:
        heard.append(request.artifact)
        return "bad"

    one = Subject(judge=Judge(model="one/m", temperature=1.0), providers={"one": OneAtATime(say)})
    await tried(order_of(tmp_path, one, "a", "b", "c", k=3, bar=Bar(weak_baseline="warn")), tmp_path)
    assert heard == [f"Do {name}." for name in "abc" for _ in range(6)], "two sides, three attempts each"


def test_how_many_calls_at_once_a_model_takes_is_its_providers_to_say() -> None:
    assert [lanes_of(modeled(f"{prefix}/m")) for prefix in ("local", "openai", "groq")] == [1, None, None]
