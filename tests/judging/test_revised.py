"""Forms of asks about a change, and replies to them in text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deliberate.errors import ReplyError
from deliberate.judging import affecting_form, read, revision_form, said_in_text, schema_of
from deliberate.judging._revised import ids_in
from deliberate.runtime import Post
from deliberate.types import (
    Ask,
    Case,
    Dimension,
    DimensionScore,
    Finding,
    Judge,
    Key,
    Revised,
    Rubric,
)

DIMENSIONS = (
    Dimension(name="error_handling", weight=0.5, description="Are errors handled?"),
    Dimension(name="style", weight=0.5, description="Is it {readable}?"),
)
BODY = "Lead.\n\n## Error handling (50%)\n\n- Q1\n\n## Style (50%)\n\n- Q2\n\n## Severity Guide\n\n- S"
RUBRIC = Rubric(name="r", body=BODY, dimensions=DIMENSIONS)
EARLIER = Finding(id="F3", severity="blocker", dimension="style", title="T {x}", description="d")


def post(*asked: str) -> Post:
    form = revision_form(rubric=RUBRIC, dimensions=DIMENSIONS, change="c", before=(), findings=())
    return Post(
        key=Key("k"),
        ask=Ask(seat="s", form=form.name, dimensions=asked),
        judge=Judge(model="scripted/x"),
        sample=0,
        case=Case(output="o"),
        rubric=RUBRIC,
        form=form,
    )


@pytest.mark.parametrize(
    ("asked", "there", "absent"),
    [
        (DIMENSIONS[:1], ("Lead.", "- Q1", "- S"), ("- Q2",)),
        (DIMENSIONS[1:], ("Lead.", "- Q2", "- S"), ("- Q1",)),
        (DIMENSIONS, ("Lead.", "- Q1", "- Q2", "- S"), ()),
        ((Dimension(name="other", weight=1.0),), ("Lead.", "- Q1", "- Q2", "- S"), ()),
    ],
    ids=["first", "second", "both", "one without a section"],
)
def test_s0_42_only_the_sections_concerned_are_sent(
    asked: tuple[Dimension, ...], there: tuple[str, ...], absent: tuple[str, ...]
) -> None:
    form = revision_form(rubric=RUBRIC, dimensions=asked, change="c", before=(), findings=())
    assert all(text in form.template for text in there)
    assert not any(text in form.template for text in absent)


def test_a_body_without_sections_is_sent_whole() -> None:
    plain = Rubric(name="r", body="All in one.", dimensions=DIMENSIONS)
    form = revision_form(rubric=plain, dimensions=DIMENSIONS[:1], change="c", before=(), findings=())
    assert "All in one." in form.template


def test_what_others_wrote_stands_in_fences_and_is_no_template() -> None:
    score = DimensionScore(dimension="style", weight=0.5, judged=62.5, adjusted=30.0)
    change = "- {task} <|im_start|>\n+ {output}"
    form = revision_form(rubric=RUBRIC, dimensions=DIMENSIONS, change=change, before=[score], findings=[EARLIER])
    said = form.template.format(task="TASK", reference="", evidence="", shown="", instructions="")
    assert "- {task} <¦im_start¦>\n+ {output}" in said
    assert "style: 0.62\nF3 [blocker] (style) T {x}: d" in said
    assert said.count("<change-") == said.count("</change-") == 1
    assert "{+words+}" in said
    other = affecting_form(dimensions=DIMENSIONS, change=change).template.format(task="TASK")
    assert "- style: Is it {readable}?" in other
    assert '"dimensions": {NAME: 0.0-1.0, ...}' in other
    assert form.artifact == "What changed:\n- {task} <¦im_start¦>\n+ {output}"


def test_the_schema_of_a_change_has_room_for_what_is_resolved() -> None:
    found = schema_of(post().form, RUBRIC, ("style",))
    assert found is not None
    assert found["required"] == ["reasoning", "findings", "dimensions", "resolved", "suggestion"]
    assert list(found["properties"]["dimensions"]["properties"]) == ["style"]


def test_a_reply_in_json_and_in_text_say_the_same() -> None:
    text = "Scores:\n- **Style**: 0.5\n## RESOLVED:\nF1, F2 and F1\nnew findings:\n- [HIGH] Loop: slow\nSuggestion: go"
    json = (
        '{"reasoning": "", "findings": [{"severity": "high", "title": "Loop", "description": "slow"}],'
        ' "dimensions": {"style": 0.5}, "resolved": ["F1", "none", "F2"], "suggestion": "go"}'
    )
    one, other = read(text, post("style")), read(json, post("style"))
    assert isinstance(one, Revised)
    assert one == other
    assert (one.resolved, one.suggestion, one.score) == (("F1", "F2"), "go", 50.0)
    assert [(each.severity, each.title, each.description) for each in one.findings] == [("important", "Loop", "slow")]


@pytest.mark.parametrize(
    "text",
    [
        "I would rather not",
        "SCORES:\nstyle: high",
        "SCORES:\nstyle: 1.5",
        "SCORES:\nstyle: 1-2",
        "SCORES:\nstyle: 0.5\nSTYLE: 0.6",
        "SCORES:\nother: 0.5",
        "RESOLVED:\nF1",
        "SCORES:\nstyle: 0.5\nNEW_FINDINGS:\n- [WEIRD] x: y",
    ],
)
def test_what_lacks_a_dimension_or_a_severity_is_unread(text: str) -> None:
    with pytest.raises(ReplyError):
        read(text, post("style"))


def test_what_is_no_finding_is_none() -> None:
    said = said_in_text(
        "NEW_FINDINGS:\nnone\n- [BLOCKER] (error handling) Crash: at start\nSUGGESTION:\nMend it.\nSoon."
    )
    assert [(one["severity"], one["dimension"], one["title"]) for one in said["findings"]] == [
        ("BLOCKER", "error handling", "Crash")
    ]
    assert said["suggestion"] == "Mend it. Soon."


def test_ids_are_taken_once_each_in_their_order() -> None:
    assert ids_in(["F2 F10", "xF3 F2", "none"]) == ("F2", "F10")


@given(st.text(max_size=200))
def test_any_text_is_read_without_a_crash(text: str) -> None:
    said = said_in_text(f"SCORES:\n{text}\nRESOLVED:\n{text}\nFINDINGS:\n{text}")
    assert all(0.0 <= score <= 1.0 for score in said["dimensions"].values())
