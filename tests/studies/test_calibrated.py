"""What a study says of a judge is kept only where it is known by which rubric and version the votes were cast."""

from __future__ import annotations

from pathlib import Path

import pytest

from deliberate.errors import ConfigError
from deliberate.library import Library, judge_digest
from deliberate.studies._study import Study
from deliberate.studies.calibrated import calibrated
from deliberate.studies.compare import compare_votes
from deliberate.studies.votes import Columns, VoteTable, read_votes
from deliberate.types import Judge

AT = "2026-11-21T00:00:00Z"


def made(folder: Path, *more: str) -> tuple[VoteTable, Study]:
    """Six votes of one judge with gold, and further columns of each row."""
    path = folder / "votes.jsonl"
    rows = [
        f'{{"item": "q{at}", "rater": "m/x", "vote": {at % 2}, "gold": {int(at > 2)}, {more[at % len(more)]}}}'
        for at in range(6)
    ]
    path.write_text("\n".join(rows))
    table = read_votes(path, columns=Columns(gold="gold"))
    return table, compare_votes(table, draws=100)


def test_a_file_may_say_rubric_and_version(tmp_path: Path) -> None:
    table, study = made(tmp_path, '"rubric": "general", "version": "m/x-2026-08"')
    rubric = Library(home=tmp_path).rubric
    (one,) = calibrated(table, study, rubric=rubric, at=AT)
    assert (one.judge, one.rubric, one.version, one.n, one.at) == ("m/x", "general", "m/x-2026-08", 6, AT)
    assert one.judge_digest == judge_digest(Judge(model="m/x"))
    assert one.rubric_digest == rubric("general").digest
    assert one.base_rates == {"0": 0.5, "1": 0.5}
    assert one.kappa == study["m/x"].kappa.value


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (('"vote_of": 1',), "do not say by which rubric and version"),
        (('"rubric": "general", "version": "a"', '"rubric": "general", "version": "b"'), "several rubrics or versions"),
        (('"version": "a"',), "judged by no rubric"),
        (('"rubric": "general", "rubric_digest": "old", "version": "a"',), "'general' has changed since m/x judged"),
    ],
)
def test_votes_of_unknown_or_several_origins_are_refused(tmp_path: Path, more: tuple[str, ...], message: str) -> None:
    table, study = made(tmp_path, *more)
    with pytest.raises(ConfigError, match=message):
        calibrated(table, study, rubric=Library(home=tmp_path).rubric, at=AT)
