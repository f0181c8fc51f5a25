"""Exact, contains and regex: 100 or 0, and a typed error for what cannot be set up."""

from __future__ import annotations

import anyio
import pytest

from deliberate import Case
from deliberate.errors import ConfigError
from deliberate.evaluators import Contains, Evaluator, Exact, NotContains, Regex
from deliberate.evaluators._phrases import folded
from deliberate.types import Unscored
from tests.evaluators.conftest import Open

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # compared alike on any loop
@pytest.mark.parametrize(
    ("evaluator", "output", "score"),
    [
        (Exact(expected="42"), "42", 100.0),
        (Exact(expected="42"), "42\n", 0.0),
        (Exact(expected="42", trim=True), " 42\n", 100.0),
        (Exact(expected="Yes"), "yes", 0.0),
        (Exact(expected="Yes", ignore_case=True), "yes", 100.0),
        (Exact(), "the reference", 100.0),
        (Contains(expected=("a", "b")), "a and b", 100.0),
        (Contains(expected=("a", "x")), "a and b", 0.0),
        (Contains(expected=("a", "x"), require="any"), "a and b", 100.0),
        (Contains(expected=("a", "b", "x"), require=2), "a and b", 100.0),
        (Contains(expected=("a", "b", "x"), require=3), "a and b", 0.0),
        (Contains(expected=("A",)), "a", 0.0),
        (Contains(expected=("A",), ignore_case=True), "a", 100.0),
        (Contains(expected=("cat",), whole_words=True), "concatenate", 0.0),
        (Contains(expected=("cat",), whole_words=True), "a cat.", 100.0),
        (Contains(expected="one phrase"), "just one phrase", 100.0),
        (Contains(expected=("cat",), whole_words=True), "concat cats _cat cat", 100.0),
        (NotContains(unwanted="TODO"), "done", 100.0),
        (NotContains(unwanted=("FIXME", "TODO")), "a TODO", 0.0),
        (NotContains(unwanted=("todo",), ignore_case=True), "a TODO", 0.0),
        (NotContains(unwanted=("todo",), whole_words=True), "todos", 100.0),
        (Contains(), "it is the reference, is it?", 100.0),
        (Regex(pattern=r"^\d+$"), "42", 100.0),
        (Regex(pattern=r"^\d+$"), "x\n42", 0.0),
        (Regex(pattern=r"^\d+$", multiline=True), "x\n42", 100.0),
        (Regex(pattern="yes", ignore_case=True), "YES", 100.0),
        (Regex(pattern="PRIVATE KEY", absent=True), "harmless", 100.0),
        (Regex(pattern="PRIVATE KEY", absent=True), "a PRIVATE KEY", 0.0),
    ],
)
async def test_text_is_compared_as_asked(opened: Open, evaluator: Evaluator, output: str, score: float) -> None:
    async with opened() as session:
        found = await session.evaluate(Case(output=output, reference="the reference"), evaluator)
    assert found.score == score
    assert found.evaluator == evaluator.name
    assert found.reason
    assert found.usage.calls == 0


@pytest.mark.parametrize("evaluator", [Exact(), Contains()])
async def test_nothing_to_compare_with_is_an_error_before_anything_runs(opened: Open, evaluator: Evaluator) -> None:
    async with opened() as session:
        with pytest.raises(ConfigError, match="nothing to"):
            await session.evaluate(Case(output="x"), evaluator)


def test_an_empty_phrase_is_refused() -> None:
    for phrase in ("", " "):
        with pytest.raises(ConfigError, match="says nothing"):
            Contains(expected=(phrase,))
        with pytest.raises(ConfigError, match="says nothing"):
            NotContains(unwanted=phrase)
    with pytest.raises(ConfigError, match="nothing to look for"):
        NotContains(unwanted=())


@pytest.mark.parametrize("require", [0, 3, -1, True])
def test_no_more_phrases_can_be_required_than_there_are(require: int) -> None:
    with pytest.raises(ConfigError, match="of 2 phrases"):
        Contains(expected=("a", "b"), require=require)


def test_a_pattern_that_does_not_compile_is_refused_when_it_is_made() -> None:
    with pytest.raises(ConfigError, match="is no pattern"):
        Regex(pattern="(")
    with pytest.raises(ConfigError, match="needs time"):
        Regex(pattern="a", timeout_seconds=0)


async def test_a_catastrophic_pattern_is_a_failed_reading_and_the_loop_runs_on(opened: Open) -> None:
    gaps: list[float] = []

    async def ticks() -> None:
        while True:
            before = anyio.current_time()
            await anyio.sleep(0.005)
            gaps.append(anyio.current_time() - before)

    async with opened() as session, anyio.create_task_group() as tasks:
        tasks.start_soon(ticks)
        found = await session.evaluate(Case(output="a" * 61 + "!"), Regex(pattern=r"^(?:a|aa)+$", timeout_seconds=0.2))
        tasks.cancel_scope.cancel()
    assert isinstance(found.outcome, Unscored)
    assert found.outcome.why == "failed"
    assert len(gaps) > 5


def test_folding_piece_by_piece_is_folding_at_once() -> None:
    text = "aÉßǅİ" * 120_000
    assert folded(text) == text.casefold()
