"""One evaluation of one output, for tests named after the requirement they hold."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from deliberate import Case, Session
from deliberate.evaluators import Evaluator
from deliberate.library import Library
from deliberate.providers.scripted import Scripted
from deliberate.types import Evaluation

Judge = Callable[..., Awaitable[Evaluation]]


@pytest.fixture
def judge(tmp_path: Path) -> Judge:
    """Gives the evaluation of an output, in the test's own folder as workspace."""

    async def evaluate(evaluator: Evaluator, output: str = "", *, reference: str | None = None) -> Evaluation:
        library = Library(home=tmp_path / "home", workspace=tmp_path)
        session = Session(
            ledger=":memory:", library=library, env={}, providers={"*": Scripted(lambda _: "SCORE: 5\nFEEDBACK: x")}
        )
        async with session:
            case = Case(output=output, task="T", reference=reference, workspace=str(tmp_path))
            return await session.evaluate(case, evaluator)

    return evaluate
