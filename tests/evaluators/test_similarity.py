"""Similarity: a declared scale, and a reason that says what it cannot see."""

from __future__ import annotations

import importlib.util

import pytest

from deliberate import Case
from deliberate.errors import ConfigError
from deliberate.evaluators import Similarity
from tests.evaluators.conftest import Open

pytestmark = pytest.mark.anyio


async def test_letters_are_compared_on_a_declared_scale(opened: Open) -> None:
    async with opened() as session:
        same = await session.evaluate(Case(output="abc", reference="abc"), Similarity())
        other = await session.evaluate(Case(output="abc"), Similarity(expected="xyz"))
    assert (same.score, other.score) == (100.0, 0.0)


async def test_words_are_compared_and_negation_is_not_seen(opened: Open) -> None:
    if importlib.util.find_spec("wordllama") is None:
        pytest.skip("the extra local: pip install 'deliberate-eval[local]'")
    near = Case(output="The server is not running.", reference="The server is running.")
    far = Case(output="Bake the bread for an hour.", reference="The server is running.")
    async with opened() as session:
        alike = await session.evaluate(near, Similarity(by="embedding"))
        apart = await session.evaluate(far, Similarity(by="embedding"))
    assert alike.score is not None
    assert apart.score is not None
    assert alike.score > 90
    assert apart.score < 65
    assert "blind to negation" in alike.reason


async def test_nothing_to_compare_with_is_an_error(opened: Open) -> None:
    async with opened() as session:
        with pytest.raises(ConfigError, match="nothing to compare with"):
            await session.evaluate(Case(output="x"), Similarity())
