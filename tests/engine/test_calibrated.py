"""Only judges that were measured count: people always do, and free criteria cannot be measured."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from deliberate.engine._calibrated import refuse_uncalibrated
from deliberate.errors import ConfigError
from deliberate.library import (
    Calibrated,
    Library,
    judge_digest,
    read_calibrations,
    version_of,
    why_not,
    write_calibrations,
)
from deliberate.types import Absent, Answer, Judge, Key, Panel


def known(judge: Judge, rubric: str, digest: str, version: str = "m/x-1") -> Calibrated:
    return Calibrated(
        judge=judge.model,
        judge_digest=judge_digest(judge),
        rubric=rubric,
        rubric_digest=digest,
        version=version,
        n=40,
        kappa=0.6,
        low=0.5,
        high=0.7,
        weights="quadratic",
        exact=0.8,
        base_rates={"poor": 1.0},
        at="2026-11-01T00:00:00Z",
    )


def test_a_measurement_holds_for_judge_rubric_and_version(tmp_path: Path) -> None:
    judge = Judge(model="m/x")
    one = known(judge, "general", "d1")
    write_calibrations(tmp_path, [one])
    write_calibrations(tmp_path, [known(judge, "general", "d1", "m/x-2"), one])
    assert [each.version for each in read_calibrations(tmp_path)] == ["m/x-1", "m/x-2"]
    held = read_calibrations(tmp_path)
    assert not why_not(held, judge, rubric="general", rubric_digest="d1")
    assert not why_not(held, judge, rubric="general", rubric_digest="d1", version="m/x-2")
    told = why_not(held, judge, rubric="general", rubric_digest="d1", version="m/x-3")
    assert told == "m/x: stale, calibrated as m/x-1, m/x-2, answered as m/x-3"
    assert "rubric 'general' changed since 2026-11-01" in why_not(held, judge, rubric="general", rubric_digest="d2")
    other = Judge(model="m/x", persona="You are strict.")
    assert "persona or settings changed" in why_not(held, other, rubric="general", rubric_digest="d1")
    assert "never calibrated by rubric 'code-review'" in why_not(held, judge, rubric="code-review", rubric_digest="d1")


def test_people_need_none_and_every_judge_that_lacks_one_is_named(tmp_path: Path) -> None:
    library = Library(home=tmp_path)
    judge = Judge(model="m/x")
    held = [known(judge, "general", library.rubric("general").digest)]
    refuse_uncalibrated([Panel.of(judge, Judge(model="maria", human=True))], held, rubric=library.rubric)
    with pytest.raises(ConfigError, match="m/y was never calibrated by rubric 'general'; m/z was never") as caught:
        refuse_uncalibrated([Panel.of("m/x", "m/y", "m/z"), Panel.of("m/y")], held, rubric=library.rubric)
    assert str(caught.value).count("m/y was never") == 1
    with pytest.raises(ConfigError, match="judges by free criteria"):
        refuse_uncalibrated([Panel.of("m/x", criteria="Is it short?")], held, rubric=library.rubric)


def test_the_version_of_a_local_model_is_that_of_its_weights() -> None:
    answer = Answer(key=Key("k"), reply=Absent(reason="refused"), model="local/m", requested={}, effective={})
    assert version_of(answer) == "local/m"
    assert version_of(msgspec.structs.replace(answer, effective={"weights": "0123456789abcdef"})) == (
        "local/m@0123456789ab"
    )
