"""Rubrics proposed from what was judged: mined, written, approved, dismissed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deliberate.errors import ConfigError, UnknownName
from deliberate.library import Library, lint
from deliberate.studies.history import Judged
from deliberate.studies.learn import (
    Dismissal,
    Mining,
    approve,
    dismiss,
    dismissed,
    mine,
    propose,
    proposed,
    slug,
)
from deliberate.types import Case, DimensionScore, Finding, Rubric


def judged(category: str, number: int = 0, *, blames: str = "", weights: Mapping[str, float] | None = None) -> Judged:
    shares = weights or {"accuracy": 0.5, "compliance": 0.3, "formatting": 0.2}
    found = [Finding(severity="important", dimension=blames, title="Totals\n are wrong \x1b[31m")] if blames else []
    return Judged(
        at="2026-11-01",
        case=f"{category}{number}",
        category=category,
        rubric="general",
        dimensions=tuple(
            DimensionScore(dimension=name, weight=weight, judged=70.0, adjusted=70.0) for name, weight in shares.items()
        ),
        findings=tuple(found),
    )


FINANCE = [judged("Finance", number, blames="accuracy") for number in range(3)]


def test_s0_50_a_category_that_recurs_with_the_same_criteria_is_proposed() -> None:
    (found,) = mine(FINANCE)
    assert (found.category, found.samples, found.confidence) == ("finance", 3, 0.95)
    assert found.rubric.name == "finance"
    assert found.rubric.categories == ("Finance",)
    weights = {one.name: one.weight for one in found.rubric.dimensions}
    assert weights == {"accuracy": 0.67, "compliance": 0.2, "formatting": 0.13}
    assert "- Found before: Totals are wrong ⟨U+001B⟩[31m. Is it so here?" in found.rubric.body


@pytest.mark.parametrize(
    ("events", "mining"),
    [
        (FINANCE[:2], Mining()),
        ([*FINANCE, judged("a"), judged("b")], Mining()),
        ([judged("", number) for number in range(5)], Mining()),
        ([judged("x", number, weights={f"d{number}": 0.5, f"e{number}": 0.5}) for number in range(4)], Mining()),
        ([judged("x", number, weights={"only": 1.0}) for number in range(4)], Mining()),
        (FINANCE, Mining(min_samples=4)),
        (FINANCE, Mining(min_confidence=0.96)),
        ([], Mining()),
    ],
    ids=["few", "rare", "no category", "other criteria each time", "one criterion", "samples", "confidence", "none"],
)
def test_s0_50_what_is_rare_or_inconsistent_is_not_proposed(events: list[Judged], mining: Mining) -> None:
    assert mine(events, mining=mining) == ()


def test_s0_50_a_category_that_has_a_rubric_needs_no_other() -> None:
    assert mine(FINANCE, known=[Rubric(name="mine", body="b", categories=("FINANCE",))]) == ()
    taken = mine(FINANCE, known=[Rubric(name="finance", body="b")])
    assert taken[0].rubric.name == "finance-learned"


def test_names_become_names_of_rubrics() -> None:
    assert (slug("Financial Report"), slug("?"), slug("Ünïcode 2")) == ("financial-report", "rubric", "n-code-2")


@given(st.lists(st.floats(0.01, 1.0), min_size=2, max_size=8))
def test_proposed_weights_sum_to_one(weights: list[float]) -> None:
    named = {f"d{at}": weight for at, weight in enumerate(weights)}
    for one in mine([judged("x", number, weights=named) for number in range(3)]):
        assert sum(each.weight for each in one.rubric.dimensions) == pytest.approx(1.0, abs=1e-6)
        assert all(each.weight > 0 for each in one.rubric.dimensions)


def test_s0_48_and_s0_49_a_proposal_is_written_and_used_only_once_approved(tmp_path: Path) -> None:
    (place,) = propose(mine(FINANCE), tmp_path)
    assert place == tmp_path / "evaluators" / "proposed" / "finance"
    assert not [one for one in lint(place) if one.level == "error"]
    case = Case(output="o", category="finance")
    assert Library(home=tmp_path, workspace=tmp_path).choose(case).rubric.name == "general"
    assert [(one.name, approved) for one, approved in proposed(tmp_path)] == [("finance", False)]
    approve("finance", tmp_path)
    assert [approved for _, approved in proposed(tmp_path)] == [True]
    assert Library(home=tmp_path, workspace=tmp_path).choose(case).rubric.name == "finance"
    path = place / "SKILL.md"
    path.write_text(path.read_text(encoding="utf-8") + "\n- One more.\n", encoding="utf-8")
    assert [approved for _, approved in proposed(tmp_path)] == [False]
    assert Library(home=tmp_path, workspace=tmp_path).choose(case).rubric.name == "general"


def test_a_proposal_that_lies_there_stays_as_it_is(tmp_path: Path) -> None:
    assert len(propose(mine(FINANCE), tmp_path)) == 1
    assert propose(mine(FINANCE), tmp_path) == ()
    assert proposed(tmp_path / "nowhere") == ()


def test_s0_49_what_was_dismissed_comes_again_only_on_much_stronger_evidence(tmp_path: Path) -> None:
    propose(mine(FINANCE), tmp_path)
    dismiss("finance", tmp_path)
    assert proposed(tmp_path) == ()
    assert dismissed(tmp_path) == {"finance": Dismissal(samples=3, confidence=0.95)}
    assert mine(FINANCE, dismissals=dismissed(tmp_path)) == ()
    more = [judged("Finance", number) for number in range(6)]
    assert len(mine(more, dismissals=dismissed(tmp_path))) == 1
    weak = {"finance": Dismissal(samples=3, confidence=0.7)}
    assert len(mine(FINANCE, dismissals=weak)) == 1


@pytest.mark.parametrize("act", [approve, dismiss])
def test_a_proposal_that_is_not_there_is_named(tmp_path: Path, act: object) -> None:
    assert callable(act)
    with pytest.raises(UnknownName, match=r"unknown proposal 'x'.*deliberate learn ls"):
        act("x", tmp_path)


def test_a_broken_memory_of_dismissals_says_what_to_do(tmp_path: Path) -> None:
    folder = tmp_path / "evaluators" / "proposed"
    folder.mkdir(parents=True)
    (folder / "dismissed.json").write_text("[1]", encoding="utf-8")
    with pytest.raises(ConfigError, match="delete it to forget them"):
        dismissed(tmp_path)
