"""Laws of every evaluator that asks no model: a score on its scale or a reason, and the same bytes again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import anyio
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from deliberate import Case, Session, combine
from deliberate.evaluators import (
    Contains,
    Evaluator,
    Exact,
    FileJson,
    JsonSchema,
    MultiMetric,
    NoScore,
    NotContains,
    Regex,
    RegexPattern,
    Similarity,
    kind_of,
)
from deliberate.plugins import names
from deliberate.types import Evaluation, Scored

NUMBER = r"n: (\S+)"
FREE: Mapping[str, Evaluator] = {
    "contains": Contains(expected=("a", "b"), require="any", ignore_case=True),
    "exact": Exact(expected="n: 1", trim=True),
    "file_json": FileJson(scale="0..1", score_key="a.0"),
    "json_schema": JsonSchema(schema={"type": "object", "properties": {"a": {"type": "number"}}}),
    "multi_metric": MultiMetric(patterns={"a": (NUMBER, 2), "b": (r"m: (\S+)", 1)}, on_missing="exclude"),
    "no_score": NoScore(),
    "not_contains": NotContains(unwanted="a"),
    "regex": Regex(pattern="[0-9]"),
    "regex_pattern": RegexPattern(pattern=NUMBER, scale="0..1", which="mean"),
    "similarity": Similarity(expected="n: 1"),
}
ELSEWHERE = {"composite", "pytest", "script", "static_analysis", "test_runner"}
"""Those that run programs, and the plan, are tested for themselves."""

NUMBERS = st.one_of(st.floats(-2, 2).map(repr), st.sampled_from(["1e400", "-0", "87%", "1,000", "nan", "", "1.2.3"]))
OUTPUTS = st.one_of(
    st.text(max_size=40),
    st.builds("n: {} m: {}".format, NUMBERS, NUMBERS),
    st.recursive(
        st.none() | st.floats() | st.text(max_size=5), lambda inner: st.dictionaries(st.text(max_size=2), inner)
    ).map(json.dumps),
)


def evaluated(plan: Evaluator, outputs: list[str], folder: Path) -> list[Evaluation]:
    """The evaluation of each output, which lies in a file of the workspace too."""

    async def run() -> list[Evaluation]:
        found: list[Evaluation] = []
        async with Session(ledger=":memory:", env={}) as session:
            for output in outputs:
                (folder / "results.json").write_text(output, encoding="utf-8", errors="replace")
                found.append(await session.evaluate(Case(output=output, workspace=str(folder)), plan))
        return found

    return anyio.run(run)


def test_every_free_evaluator_is_under_the_laws() -> None:
    free = {name for name in names("evaluators") if not kind_of(name).spends_tokens}
    assert free - ELSEWHERE <= FREE.keys()


@given(output=OUTPUTS.filter(lambda text: text.isprintable() or text.isascii()))
@example(output="")
@example(output="\x00\x01")
@example(output="n: 1e400 m: -1")
def test_a_score_lies_on_the_scale_and_what_failed_is_no_number(
    output: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("case")
    parts: dict[str, Any] = {name: (one, 1.0) for name, one in FREE.items()}
    plan = combine(on_missing="exclude", min_coverage=0.0, **parts)
    found, again = evaluated(plan, [output, output], folder)
    assert found.digest == again.digest
    for part in (*(part.evaluation for part in found.parts), found):
        if isinstance(part.outcome, Scored):
            assert 0 <= part.outcome.score <= 100
        else:
            assert part.outcome.detail
        assert part.reason
        assert part.fingerprint
        assert part.usage.calls == 0
    seen = [part.evaluation.score for part in found.parts if part.evaluation.score is not None]
    assert found.score is not None
    assert min(seen) <= found.score <= max(seen)


@pytest.mark.parametrize("by", names("aggregation"))
@settings(max_examples=5)  # a session each
@given(chance=st.randoms(use_true_random=False), factor=st.sampled_from([1e-9, 0.5, 3.0, 1e9]))
def test_neither_the_order_of_parts_nor_the_unit_of_weight_changes_the_whole(
    by: str, chance: Random, factor: float, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("case")
    weighted: dict[str, Any] = {name: (one, chance.randint(1, 9)) for name, one in FREE.items()}
    shuffled = list(weighted)
    chance.shuffle(shuffled)
    options: dict[str, Any] = {"by": by, "on_missing": "exclude", "min_coverage": 0.0}
    output = "n: 0.25 m: 0.5 a"
    (one,) = evaluated(combine(**options, **weighted), [output], folder)
    other_parts: dict[str, Any] = {name: (weighted[name][0], weighted[name][1] * factor) for name in shuffled}
    (other,) = evaluated(combine(**options, **other_parts), [output], folder)
    assert one.outcome == other.outcome
    assert sorted(one.missing) == sorted(other.missing)
