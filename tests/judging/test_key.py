"""The key of an ask: whatever could change the answer changes it, and nothing else does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from deliberate.judging import key_of
from deliberate.protocols import BALLOT
from deliberate.types import Ask, Ballot, Bracket, Case, Dimension, Evidence, FileRef, Judge, Key, Rubric, Seat

CASE = Case(output="4", task="2 + 2?", id="q1")
RUBRIC = Rubric(name="sums", body="Judge sums.", dimensions=(Dimension(name="right", weight=1.0),))
JUDGE = Judge(model="openai/gpt-x")
BALLOTED = Ballot(bracket=Bracket.GOOD, score=70.0)
BASE: Mapping[str, Any] = {
    "seat": Seat(name="one", judge=JUDGE),
    "case": CASE,
    "rubric": RUBRIC,
    "form": BALLOT,
    "protocol": "independent@1",
}
ASK = Ask(seat="one", form="ballot")


def key(ask: Ask = ASK, **more: object) -> Key:
    return key_of(ask, **{**BASE, **more})


def of(record: Any, **fields: object) -> Any:  # noqa: ANN401  any record
    return msgspec.structs.replace(record, **fields)


COUNTS: Mapping[str, Key] = {
    "output": key(case=of(CASE, output="4 ")),
    "task": key(case=of(CASE, task="2 + 2 ?")),
    "reference": key(case=of(CASE, reference="4")),
    "evidence": key(case=of(CASE, evidence=(Evidence(source="pytest", title="tests", text="1 passed"),))),
    "files": key(case=of(CASE, files=(FileRef(path="a.py", sha256="0" * 64, size=1),))),
    "rubric body": key(rubric=of(RUBRIC, body="Judge sums!")),
    "rubric weight": key(rubric=of(RUBRIC, dimensions=(Dimension(name="right", weight=1.0, description="sum"),))),
    "rubric severity": key(rubric=of(RUBRIC, severity="advisory")),
    "criteria": key(rubric=None, criteria="Is it right?"),
    "other criteria": key(rubric=None, criteria="Is it right."),
    "template": key(form=of(BALLOT, template=f"{BALLOT.template} ")),
    "wire": key(form=of(BALLOT, wire="score", scale="0..10")),
    "protocol": key(protocol="independent@2"),
    "model": key(seat=Seat(name="one", judge=of(JUDGE, model="openai/gpt-y"))),
    "persona": key(seat=Seat(name="one", judge=of(JUDGE, persona="You doubt."))),
    "temperature": key(seat=Seat(name="one", judge=of(JUDGE, temperature=0.2))),
    "max tokens": key(seat=Seat(name="one", judge=of(JUDGE, max_tokens=2001))),
    "sample": key(seat=Seat(name="one", judge=JUDGE, sample=1)),
    "role": key(of(ASK, role="sceptic")),
    "dimensions": key(of(ASK, dimensions=("right",))),
    "shown": key(shown=(BALLOTED,)),
    "shown otherwise": key(shown=(of(BALLOTED, reason="It is."),)),
}


def test_whatever_could_change_the_answer_changes_the_key() -> None:
    keys = {"": key(), **COUNTS}
    same = [name for name in keys if list(keys.values()).count(keys[name]) > 1]
    assert same == []


@pytest.mark.parametrize(
    "other",
    [
        key(case=of(CASE, id="q2")),
        key(case=of(CASE, workspace="elsewhere")),
        key(of(ASK, round=1)),
        key(of(ASK, seat="two"), seat=Seat(name="two", judge=JUDGE)),
        key(seat=Seat(name="one", judge=JUDGE, weight=2.0)),
    ],
    ids=["id", "workspace", "round", "seat", "weight"],
)
def test_place_and_weight_do_not(other: Key) -> None:
    assert other == key()
