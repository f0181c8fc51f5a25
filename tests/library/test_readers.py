"""Whatever stands under whatever key, a reader reads it or says what is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deliberate.errors import ConfigError
from deliberate.library import Library, read_card, read_panel, read_plan, read_rubric
from deliberate.types import canonical

Strategy = st.SearchStrategy[object]

WORDS = st.sampled_from(
    (
        *(
            "",
            " ",
            "x",
            "a/b",
            "general",
            "sceptic",
            "lower",
            "plurality",
            "nearest",
            "independent",
            "dimension",
            "vote",
        ),
        *(
            "chair",
            "all",
            "evaluator",
            "rubric.yaml",
            "exact",
            "weighted_mean",
            "tests",
            "good",
            "cap",
            "./x.md",
            "é\n",
        ),
    )
)
PLAIN: Strategy = st.none() | st.booleans() | st.integers(-2, 3) | st.sampled_from([0.5, 1.0, 1e308, -0.0]) | WORDS


def under(keys: Sequence[str], inner: Strategy = PLAIN) -> Strategy:
    """Mappings of some of the keys, and seldom of others, to anything."""
    values = PLAIN | inner | st.lists(PLAIN | inner, max_size=3)
    return st.dictionaries(st.sampled_from((*keys, *keys, "other", "a b")), values, max_size=len(keys))


SEAT = under(["agent", "human", "each", "model", "weight", "family", "duty", "stage", "name"])
PANEL = under(
    [
        *("name", "seats", "model", "rubric", "criteria", "protocol", "rule", "tie", "bracket_score", "quorum"),
        *("independence", "spend", "seed"),
    ],
    SEAT | under(["type", "params"]),
)
PART = under(["type", "params", "weight"])
GATE = under(["part", "min_score", "min_bracket", "max_blockers", "effect", "cap"])
PLAN = under(
    ["parts", "combine", "gates", "require", "limits", "cases"],
    under(["tests", "jury"], PART) | GATE | under(["by", "on_missing", "min_coverage", "from", "id", "in_flight"]),
)
CARD = under(["name", "description", "model", "family", "temperature", "max_tokens", "weight"])
DIMENSION = under(["name", "weight", "description", "question", "affects"])
SHEET = under(["categories", "dimensions", "severity", "eligibility", "os", "deliberate-kind"], DIMENSION)
SKILL = under(["name", "kind", "description", "metadata", "license"], SHEET)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("readers")


def try_reading(path: Path, text: str, read: Callable[[Path], object]) -> None:
    path.write_text(text, encoding="utf-8")
    with suppress(ConfigError):
        canonical(read(path))  # what is read can be hashed


@given(PANEL)
def test_any_panel(folder: Path, panel: dict[str, object]) -> None:
    library = Library(folder / "home", folder / "work")
    text = json.dumps({"deliberate": 1, "seats": [{"model": "a/b"}]} | panel)
    try_reading(folder / "x.panel.yaml", text, lambda path: read_panel(path, documents=library, model="c/d"))


@given(PLAN)
def test_any_plan(folder: Path, plan: dict[str, object]) -> None:
    text = json.dumps({"deliberate": 1, "parts": {"tests": {"type": "exact"}}} | plan)
    try_reading(folder / "x.plan.yaml", text, lambda path: read_plan(path).plan)


@given(CARD)
def test_any_card(folder: Path, card: dict[str, object]) -> None:
    text = json.dumps({"name": "x", "description": "d"} | card)
    try_reading(folder / "x.md", f"---\n{text}\n---\npersona\n", read_card)


@given(SKILL, SHEET)
def test_any_rubric(folder: Path, skill: dict[str, object], sheet: dict[str, object]) -> None:
    (folder / "rubric.yaml").write_text(json.dumps(sheet), encoding="utf-8")
    metadata = {"deliberate-kind": "evaluator", "deliberate-rubric": "rubric.yaml"}
    for front in ({"name": "x", "description": "d", "metadata": metadata} | skill, skill):
        try_reading(folder / "draft.md", f"---\n{json.dumps(front)}\n---\nbody\n", read_rubric)
