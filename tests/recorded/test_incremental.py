"""The edits that judging in part is measured on, and the figures made of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from benchmarks.incremental import PAIRS, Edit, page, summary, told
from deliberate.evaluators._revision import change_between
from deliberate.library import Library


def row(name: str, decision: str, *, tokens: int, score: float) -> dict[str, Any]:
    side = {
        "decision": decision,
        "why": "w",
        "changed": 0.1,
        "affected": [],
        "score": 60.0,
        "tokens": 100,
        "prompt": 200,
    }
    again = {**side, "tokens": tokens, "prompt": 2 * tokens, "score": score}
    return {"id": name, "again": again, "whole": side}


def test_s0_44a_at_least_thirty_real_edits_lie_here_each_by_a_bundled_rubric() -> None:
    edits = [Edit(**json.loads(line)) for line in PAIRS.read_text("utf-8").splitlines()]
    assert len(edits) >= 30
    assert len({edit.id for edit in edits}) == len({edit.after for edit in edits}) == len(edits)
    known = {one.name for one in Library().rubrics()}
    for edit in edits:
        assert edit.rubric in known
        assert edit.task
        assert 0.0 < change_between(edit.before, edit.after).share < 1.0


def test_shares_saved_are_of_sums_and_scores_are_held_against_a_full_evaluation() -> None:
    rows = [row("a", "incremental", tokens=40, score=62.5), row("b", "full", tokens=120, score=60.0)]
    assert told(rows[0]) == {"saved": {"tokens": 0.6, "prompt": 0.6}, "apart": 2.5, "other_bracket": False}
    found = summary(rows)
    assert found["all"]["tokens_saved"] == pytest.approx(0.2)
    assert found["incremental"] == {
        "pairs": 1,
        "tokens_saved": 0.6,
        "prompt_saved": 0.6,
        "score_differs": 1,
        "differs_by_more_than_2": 1,
        "differs_by_more_than_5": 0,
        "other_bracket": 0,
        "median_apart": 2.5,
        "largest_apart": 2.5,
    }
    assert told(row("c", "incremental", tokens=40, score=80.0))["other_bracket"]
    text = page({"machine": {"model": "m", "runtime": "r"}, "summary": found, "pairs": rows, "of": 2})
    assert "| a | incremental | 10% | 40 | 100 | 60% |" in text
    assert "| b | full | 10% | 120 | 100 | -20% |" in text
