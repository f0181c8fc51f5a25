"""Evaluators made of functions: what they may return, their parameters, and where they run."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from deliberate import Case, combine, evaluator
from deliberate.errors import ConfigError
from deliberate.evaluators import FunctionEvaluator, evaluator_of, fingerprint_of, own_evaluators
from deliberate.library import Library
from deliberate.runtime import Runtime
from deliberate.types import Evaluation, Scored, Spec, Unscored
from tests.evaluators.conftest import Open

pytestmark = pytest.mark.anyio


async def read(opened: Open, asked: FunctionEvaluator, output: str = "x") -> Evaluation:
    async with opened() as session:
        return await session.evaluate(Case(output=output), asked)


async def test_true_and_false_are_100_and_0_with_a_reason_of_ones_own(opened: Open) -> None:
    @evaluator
    def short(case: Case) -> bool:
        """Whether it is short.

        More of it.
        """
        return len(case.output) < 3

    @evaluator
    def told(case: Case) -> tuple[bool, str]:
        return case.output == "x", "because"

    assert (short.name, short.description, short.spends_tokens) == ("short", "Whether it is short.", False)
    found = await read(opened, short)
    assert (found.evaluator, found.score, found.reason) == ("short", 100.0, "short says yes")
    assert (await read(opened, short, "long")).score == 0.0
    assert (await read(opened, told)).reason == "because"


async def test_a_number_needs_a_scale_to_be_a_score(opened: Open) -> None:
    @evaluator(scale="0..10", name="length")
    def scaled(case: Case) -> float:
        return len(case.output)

    @evaluator
    def bare(case: Case) -> int:
        return len(case.output)

    @evaluator
    def unsaid(case: Case):  # type: ignore[no-untyped-def]  # noqa: ANN202  what it returns is not known before
        return len(case.output)

    found = await read(opened, scaled, "four")
    assert (found.evaluator, found.score) == ("length", 40.0)
    assert isinstance((await read(opened, scaled, "x" * 11)).outcome, Unscored)
    assert (await read(opened, bare, "four")).raw == 4.0
    with pytest.raises(ConfigError, match="no declared scale"):
        combine(a=(bare, 1))
    assert "expected true or false, a finite number with @evaluator" in (await read(opened, unsaid)).reason


@pytest.mark.parametrize("said", [None, "yes", float("nan"), float("inf"), (1, 2, 3)])
async def test_anything_else_is_a_failed_part(opened: Open, said: object) -> None:
    @evaluator(scale="0..1")
    def odd(case: Case):  # type: ignore[no-untyped-def]  # noqa: ANN202, ARG001
        return said

    found = await read(opened, odd)
    assert isinstance(found.outcome, Unscored)
    assert found.outcome.why == "failed"


async def test_what_a_function_raises_is_a_failed_part(opened: Open) -> None:
    @evaluator
    def broken(case: Case) -> bool:
        raise ZeroDivisionError(case.output)

    found = await read(opened, broken)
    assert isinstance(found.outcome, Unscored)
    assert found.outcome.detail == "ZeroDivisionError: x"


async def test_a_plain_function_runs_in_a_thread_and_an_async_one_in_the_loop(opened: Open) -> None:
    ran: list[bool] = []

    @evaluator
    def plain(case: Case) -> bool:  # noqa: ARG001
        ran.append(threading.current_thread() is threading.main_thread())
        return True

    @evaluator(spends_tokens=True)
    async def awaited(case: Case, *, runtime: Runtime, previous: Evaluation | None = None) -> Evaluation:  # noqa: ARG001
        ran.append(threading.current_thread() is threading.main_thread())
        return Evaluation(evaluator="other", outcome=Scored(score=float(runtime.call_seconds > 0), raw=1.0))

    await read(opened, plain)
    found = await read(opened, awaited)
    assert ran == [False, True]
    assert (found.evaluator, found.score, awaited.spends_tokens) == ("awaited", 1.0, True)


async def test_the_signature_is_the_schema(opened: Open) -> None:
    @evaluator
    def counts(case: Case, *, words: list[str] = ["x"], least: int = 1) -> bool:  # noqa: B006  it is read, never changed
        return sum(case.output.count(word) for word in words) >= least

    assert (await read(opened, counts(words=["a"], least=2), "aa")).score == 100.0
    assert (await read(opened, counts(least=2)(words=["a"]), "a")).score == 0.0
    for wrong, said in (({"leest": 1}, "unknown parameter 'leest'"), ({"least": "1"}, "Expected `int`, got `str`")):
        with pytest.raises(ConfigError, match=said):
            counts(**wrong)


def nothing() -> bool:
    return True


def required(case: Case, *, word: str) -> bool:
    return word in case.output


def anything(case: Case, **more: str) -> bool:
    return case.output in more


@pytest.mark.parametrize(
    ("function", "said"),
    [(nothing, "takes no case"), (required, "'word' has no default"), (anything, "'more' has no name of its own")],
)
def test_a_signature_that_is_no_schema_is_refused(function: Callable[..., bool], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        evaluator(function)
    with pytest.raises(ConfigError, match="is not a scale"):
        evaluator(scale="high")(nothing)


def test_parameters_and_code_tell_one_from_another() -> None:
    def made(text: str) -> FunctionEvaluator:
        space: dict[str, object] = {}
        exec(f"def same(case, *, least=1):\n    return {text}\n", space)  # noqa: S102  two functions of one name
        return evaluator(space["same"])  # type: ignore[call-overload, no-any-return]

    one, other = made("True"), made("False")
    prints = {fingerprint_of(each) for each in (one, other, one(least=2))}
    assert len(prints) == 3
    assert fingerprint_of(made("True")) == fingerprint_of(one)
    assert fingerprint_of(combine(a=(one, 1))) != fingerprint_of(combine(a=(other, 1)))


def test_a_module_of_ones_own_brings_its_evaluators_by_name(install: Callable[..., None]) -> None:
    source = "from deliberate import evaluator, Case\nfrom deliberate.evaluators import Regex\n\n"
    source += "@evaluator\ndef mine(case: Case, *, n: int = 1) -> bool:\n    return True\n"
    install("own", modules={"own_checks": source, "own_exact": source.replace("mine", "exact")}, parts={})
    import own_checks  # type: ignore[import-not-found]  # noqa: PLC0415  it is installed for this test
    import own_exact  # type: ignore[import-not-found]  # noqa: PLC0415

    own = own_evaluators([own_checks])
    assert list(own) == ["mine"]
    built = evaluator_of(Spec(type="mine", params={"n": 2}), panel=Library().panel, own=own)
    assert repr(built) == "mine(n=2)"
    with pytest.raises(ConfigError, match="own_exact brings an evaluator 'exact', and there is one"):
        own_evaluators([own_exact])
